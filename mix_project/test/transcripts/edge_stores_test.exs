defmodule EchoData.Transcripts.EdgeStoresTest do
  @moduledoc """
  E1 to E5: the holds relation, portfolios to assets, beside the systems that it relates.
  """

  use ExUnit.Case, async: true

  alias EchoData.Bcs.{EdgeStore, PropertyStore}
  alias EchoData.{Bcs, BrandedId}

  @assets __MODULE__.Assets
  @portfolios __MODULE__.Portfolios
  @holds __MODULE__.Holds
  @stores [{@assets, "AST"}, {@portfolios, "PRT"}, {@holds, :holds, "PRT", "AST"}]

  setup do
    {:ok, tree: start_supervised!({Bcs.Supervisor, @stores})}
  end

  defp mint(namespace, count), do: for(_ <- 1..count, do: BrandedId.generate!(namespace))

  test "E1: the relation runs under one tree with its systems, and has six verbs", %{tree: tree} do
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
  end

  test "E2: both ends are gated on every verb, the subject first" do
    [portfolio, asset] = mint("PRT", 1) ++ mint("AST", 1)
    decimal = "320636799581945"

    verbs = [
      &EdgeStore.link(@holds, &1, &2),
      &EdgeStore.link(@holds, &1, &2, %{quantity: 1}),
      &EdgeStore.unlink(@holds, &1, &2),
      &EdgeStore.props(@holds, &1, &2)
    ]

    for verb <- verbs do
      assert verb.(asset, portfolio) == {:error, :namespace}
      assert verb.(portfolio, portfolio) == {:error, :namespace}
      assert verb.(decimal, portfolio) == {:error, :invalid}
      assert verb.(portfolio, decimal) == {:error, :invalid}
      assert verb.(asset, decimal) == {:error, :namespace}
    end

    for {verb, wrong} <- [
          {&EdgeStore.from(@holds, &1), asset},
          {&EdgeStore.from(@holds, &1, 10), asset},
          {&EdgeStore.to(@holds, &1), portfolio},
          {&EdgeStore.to(@holds, &1, 10), portfolio},
          {&EdgeStore.degree(@holds, &1), asset}
        ] do
      assert verb.(wrong) == {:error, :namespace}
      assert verb.(decimal) == {:error, :invalid}
    end

    assert EdgeStore.size(@holds) == 0
  end

  test "E3: the positions in a balance row are copied down as edges" do
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
  end

  test "E4: 200 edges of one subject and 50 holders of one object are ascending" do
    [portfolio] = mint("PRT", 1)
    assets = mint("AST", 200)
    for asset <- Enum.shuffle(assets), do: :ok = EdgeStore.link(@holds, portfolio, asset)

    edges = for asset <- assets, do: {asset, %{}}
    assert EdgeStore.from(@holds, portfolio) == {:ok, edges}
    assert EdgeStore.from(@holds, portfolio, 10) == {:ok, Enum.take(edges, 10)}
    assert EdgeStore.degree(@holds, portfolio) == {:ok, 200}
    assert assets == Enum.sort(assets)

    [shared] = mint("AST", 1)
    holders = mint("PRT", 50)
    for holder <- Enum.shuffle(holders), do: :ok = EdgeStore.link(@holds, holder, shared)
    assert EdgeStore.to(@holds, shared) == {:ok, for(holder <- holders, do: {holder, %{}})}
    assert EdgeStore.to_degree(@holds, shared) == {:ok, 50}
    assert holders == Enum.sort(holders)
  end

  test "E5: after one unlink the reverse index does not list the subject" do
    [portfolio, other] = mint("PRT", 2)
    assets = mint("AST", 200)
    EdgeStore.link_many(@holds, for(asset <- assets, id <- [portfolio, other], do: {id, asset}))
    sold = Enum.at(assets, 77)

    assert EdgeStore.unlink(@holds, portfolio, sold) == :ok
    assert EdgeStore.degree(@holds, portfolio) == {:ok, 199}
    assert EdgeStore.to(@holds, sold) == {:ok, [{other, %{}}]}
    {:ok, held} = EdgeStore.from(@holds, portfolio)
    assert held == for(asset <- assets, asset != sold, do: {asset, %{}})
    assert :ets.all() |> Enum.filter(&(:ets.info(&1, :owner) == Process.whereis(@holds))) == []
  end
end
