defmodule EchoData.Conformance.EdgeStores do
  @moduledoc """
  E1 to E5: the holds relation, portfolios to assets, beside the systems that it relates.
  """

  @behaviour EchoData.Conformance.Transcript

  import ExUnit.Assertions

  alias EchoData.Bcs.{EdgeStore, PropertyStore}
  alias EchoData.{Bcs, BrandedId}

  @assets __MODULE__.Assets
  @portfolios __MODULE__.Portfolios
  @holds __MODULE__.Holds
  @stores [{@assets, "AST"}, {@portfolios, "PRT"}, {@holds, :holds, "PRT", "AST"}]

  @impl true
  def checks do
    [
      {"E1", "the relation runs under one tree with its systems, and has six verbs",
       &six_verbs/1},
      {"E2", "both ends are gated on every verb, the subject first", &both_ends_gated/1},
      {"E3", "the positions in a balance row are copied down as edges", &positions/1},
      {"E4", "200 edges of one subject and 50 holders of one object are ascending", &ascending/1},
      {"E5", "after one unlink the reverse index does not list the subject", &unlinked/1}
    ]
  end

  defp open(%{start: start}), do: start.({Bcs.Supervisor, @stores})

  defp mint(namespace, count), do: for(_ <- 1..count, do: BrandedId.generate!(namespace))

  defp six_verbs(surroundings) do
    tree = open(surroundings)
    children = for {name, _, _, _} <- Supervisor.which_children(tree), do: name
    assert Enum.sort(children) == Enum.sort(for store <- @stores, do: elem(store, 0))

    [portfolio, asset] = mint("PRT", 1) ++ mint("AST", 1)
    assert EdgeStore.link(@holds, portfolio, asset, %{quantity: 10}) == :ok
    assert EdgeStore.props(@holds, portfolio, asset) == {:ok, %{quantity: 10}}
    assert EdgeStore.from(@holds, portfolio) == {:ok, [{asset, %{quantity: 10}}]}
    assert EdgeStore.to(@holds, asset) == {:ok, [{portfolio, %{quantity: 10}}]}
    assert EdgeStore.degree(@holds, portfolio) == {:ok, 1}
    assert EdgeStore.link(@holds, portfolio, asset) == :ok
    assert EdgeStore.props(@holds, portfolio, asset) == {:ok, %{}}
    assert EdgeStore.unlink(@holds, portfolio, asset) == :ok
    assert EdgeStore.unlink(@holds, portfolio, asset) == {:error, :not_found}
    assert EdgeStore.props(@holds, portfolio, asset) == {:error, :not_found}
    "#{length(children)} children of one tree, #{EdgeStore.size(@holds)} edges left"
  end

  defp both_ends_gated(surroundings) do
    open(surroundings)
    [portfolio, asset] = mint("PRT", 1) ++ mint("AST", 1)
    decimal = "320636799581945"

    verbs = [
      &EdgeStore.link(@holds, &1, &2),
      &EdgeStore.link(@holds, &1, &2, %{quantity: 1}),
      &EdgeStore.unlink(@holds, &1, &2),
      &EdgeStore.props(@holds, &1, &2)
    ]

    pairs = [
      {asset, portfolio, :namespace},
      {portfolio, portfolio, :namespace},
      {decimal, portfolio, :invalid},
      {portfolio, decimal, :invalid},
      {asset, decimal, :namespace}
    ]

    of_two =
      for verb <- verbs, {subject, object, reason} <- pairs do
        assert verb.(subject, object) == {:error, reason}
      end

    readers = [
      {&EdgeStore.from(@holds, &1), asset},
      {&EdgeStore.from(@holds, &1, 10), asset},
      {&EdgeStore.to(@holds, &1), portfolio},
      {&EdgeStore.to(@holds, &1, 10), portfolio},
      {&EdgeStore.degree(@holds, &1), asset}
    ]

    of_one =
      for {verb, foreign} <- readers,
          {id, reason} <- [{foreign, :namespace}, {decimal, :invalid}] do
        assert verb.(id) == {:error, reason}
      end

    assert EdgeStore.size(@holds) == 0
    "#{length(of_two ++ of_one)} refusals, #{EdgeStore.size(@holds)} edges"
  end

  defp positions(surroundings) do
    open(surroundings)
    [portfolio] = mint("PRT", 1)
    positions = for {asset, n} <- Enum.with_index(mint("AST", 12), 1), do: {asset, n * 5}
    balance = %{cash: 250, positions: Map.new(positions)}
    assert PropertyStore.put(@portfolios, portfolio, balance) == :ok

    {:ok, %{positions: row}} = PropertyStore.get(@portfolios, portfolio)

    for {asset, quantity} <- row do
      assert PropertyStore.record_entity(@assets, asset) == :ok
      assert EdgeStore.link(@holds, portfolio, asset, %{quantity: quantity}) == :ok
    end

    wanted = for {asset, quantity} <- positions, do: {asset, %{quantity: quantity}}
    assert EdgeStore.from(@holds, portfolio) == {:ok, wanted}

    for {asset, quantity} <- positions do
      assert EdgeStore.to(@holds, asset) == {:ok, [{portfolio, %{quantity: quantity}}]}
    end

    "#{map_size(row)} positions, #{EdgeStore.size(@holds)} edges"
  end

  defp ascending(surroundings) do
    open(surroundings)
    [portfolio] = mint("PRT", 1)
    assets = mint("AST", 200)
    for asset <- Enum.shuffle(assets), do: :ok = EdgeStore.link(@holds, portfolio, asset)

    edges = for asset <- assets, do: {asset, %{}}
    assert EdgeStore.from(@holds, portfolio) == {:ok, edges}
    {:ok, head} = EdgeStore.from(@holds, portfolio, 10)
    assert head == Enum.take(edges, 10)
    {:ok, degree} = EdgeStore.degree(@holds, portfolio)
    assert degree == 200
    assert assets == Enum.sort(assets)

    [shared] = mint("AST", 1)
    holders = mint("PRT", 50)
    for holder <- Enum.shuffle(holders), do: :ok = EdgeStore.link(@holds, holder, shared)
    assert EdgeStore.to(@holds, shared) == {:ok, for(holder <- holders, do: {holder, %{}})}
    {:ok, to_degree} = EdgeStore.to_degree(@holds, shared)
    assert to_degree == 50
    assert holders == Enum.sort(holders)
    "#{degree} edges, a page head of #{length(head)}, #{to_degree} holders"
  end

  defp unlinked(surroundings) do
    open(surroundings)
    [portfolio, other] = mint("PRT", 2)
    assets = mint("AST", 200)
    edges = for asset <- assets, holder <- [portfolio, other], do: {holder, asset}
    assert EdgeStore.link_many(@holds, edges) == :ok
    sold = Enum.at(assets, 77)

    assert EdgeStore.unlink(@holds, portfolio, sold) == :ok
    {:ok, degree} = EdgeStore.degree(@holds, portfolio)
    assert degree == 199
    assert EdgeStore.to(@holds, sold) == {:ok, [{other, %{}}]}
    {:ok, held} = EdgeStore.from(@holds, portfolio)
    assert held == for(asset <- assets, asset != sold, do: {asset, %{}})
    assert :ets.all() |> Enum.filter(&(:ets.info(&1, :owner) == Process.whereis(@holds))) == []
    "degree #{degree}, #{length(held)} objects, no table"
  end
end
