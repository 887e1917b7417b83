defmodule EchoData.Conformance.PropertyStores do
  @moduledoc """
  P1 to P5: three systems under one tree.
  """

  @behaviour EchoData.Conformance.Transcript

  import Bitwise
  import ExUnit.Assertions

  alias EchoData.Bcs.PropertyStore
  alias EchoData.{Bcs, BrandedId, Snowflake}

  @orders __MODULE__.ORD
  @stores [{__MODULE__.AST, "AST"}, {__MODULE__.PRT, "PRT"}, {@orders, "ORD"}]

  @verbs ~w(child_spec count_window delete get get_many info page_asc page_desc placement put put_many)a ++
           ~w(record_entity size snapshot start_link take window)a

  @impl true
  def checks do
    [
      {"P1", "three stores run under one tree, each for its own kind", &one_tree/1},
      {"P2", "a decimal id is refused", &decimal_refused/1},
      {"P3", "the newest five by byte order are the last five minted", &newest/1},
      {"P4", "a window between two synthetic cursors has all of its ids, ascending", &window/1},
      {"P5", "the export list is the boundary", &boundary/1}
    ]
  end

  defp open(%{start: start}), do: start.({Bcs.Supervisor, @stores})

  defp one_tree(surroundings) do
    tree = open(surroundings)
    children = for {name, _, _, _} <- Supervisor.which_children(tree), do: name
    assert Enum.sort(children) == Enum.sort(for {name, _} <- @stores, do: name)

    refused =
      for {name, namespace} <- @stores, {other, _} <- @stores, other != name do
        id = BrandedId.generate!(namespace)
        assert PropertyStore.record_entity(name, id) == :ok
        assert PropertyStore.get(name, id) == {:ok, true}
        assert PropertyStore.get(other, id) == {:error, :namespace}
        assert PropertyStore.put(other, id, :mine) == {:error, :namespace}
      end

    for {name, _} <- @stores, do: assert(PropertyStore.size(name) == 2)
    "#{length(children)} stores, #{length(refused)} foreign ids refused"
  end

  defp decimal_refused(surroundings) do
    open(surroundings)
    decimal = Integer.to_string(Snowflake.next())
    assert PropertyStore.put(@orders, decimal, :value) == {:error, :invalid}
    assert PropertyStore.get(@orders, String.slice(decimal, 0, 14)) == {:error, :invalid}
    assert PropertyStore.placement(decimal) == {:error, :invalid}
    assert PropertyStore.size(@orders) == 0
    "#{decimal} is :invalid"
  end

  defp newest(surroundings) do
    open(surroundings)
    minted = for _ <- 1..300, do: BrandedId.generate!("ORD")
    Enum.each(Enum.shuffle(minted), &PropertyStore.record_entity(@orders, &1))

    last_five = minted |> Enum.reverse() |> Enum.take(5)
    assert minted |> Enum.sort(:desc) |> Enum.take(5) == last_five
    assert PropertyStore.page_desc(@orders, 5) == {:ok, last_five}
    "5 of #{PropertyStore.size(@orders)}, the newest #{hd(last_five)}"
  end

  defp window(surroundings) do
    open(surroundings)
    begin = DateTime.to_unix(~U[2026-03-01 12:00:00.000Z], :millisecond)
    ids = for step <- 0..299, do: BrandedId.encode!("ORD", snowflake(begin + step, step))
    Enum.each(Enum.shuffle(ids), &PropertyStore.put(@orders, &1, :order))

    [from, until] = for step <- [100, 200], do: cursor("ORD", begin + step)
    wanted = Enum.slice(ids, 100, 100)
    assert PropertyStore.window(@orders, from, until) == {:ok, wanted}
    assert PropertyStore.count_window(@orders, from, until) == {:ok, 100}
    assert wanted == Enum.sort(wanted)
    "#{length(wanted)} of 100 in [#{from}, #{until})"
  end

  defp boundary(surroundings) do
    open(surroundings)
    exported = PropertyStore.__info__(:functions) |> Keyword.keys() |> Enum.uniq()
    assert Enum.sort(exported) == Enum.sort(@verbs)
    owners = for {name, _} <- @stores, do: Process.whereis(name)
    assert :ets.all() |> Enum.filter(&(:ets.info(&1, :owner) in owners)) == []
    "#{length(exported)} functions, no table"
  end

  defp snowflake(unix_ms, sequence),
    do: (unix_ms - Snowflake.epoch_ms()) <<< 22 ||| (sequence &&& 0xFFF)

  defp cursor(namespace, unix_ms) do
    BrandedId.encode!(namespace, Snowflake.min_for(DateTime.from_unix!(unix_ms, :millisecond)))
  end
end
