defmodule EchoData.Transcripts.PropertyStoresTest do
  @moduledoc """
  P1 to P5: three systems under one tree.
  """

  use ExUnit.Case, async: true

  import Bitwise

  alias EchoData.Bcs.PropertyStore
  alias EchoData.{Bcs, BrandedId, Snowflake}

  @stores [{__MODULE__.AST, "AST"}, {__MODULE__.PRT, "PRT"}, {__MODULE__.ORD, "ORD"}]

  setup do
    {:ok, tree: start_supervised!({Bcs.Supervisor, @stores})}
  end

  test "P1: three stores run under one tree, each for its own kind", %{tree: tree} do
    children = Supervisor.which_children(tree)

    assert Enum.sort(for {name, _, _, _} <- children, do: name) ==
             Enum.sort(for {name, _} <- @stores, do: name)

    for {name, namespace} <- @stores do
      id = BrandedId.generate!(namespace)
      assert PropertyStore.record_entity(name, id) == :ok
      assert PropertyStore.get(name, id) == {:ok, true}

      for {other, foreign} <- @stores, foreign != namespace do
        assert PropertyStore.get(other, id) == {:error, :namespace}
        assert PropertyStore.put(other, id, :mine) == {:error, :namespace}
      end

      assert PropertyStore.size(name) == 1
    end
  end

  test "P2: a decimal id is refused" do
    decimal = Integer.to_string(Snowflake.next())
    assert PropertyStore.put(__MODULE__.ORD, decimal, :value) == {:error, :invalid}
    assert PropertyStore.get(__MODULE__.ORD, String.slice(decimal, 0, 14)) == {:error, :invalid}
    assert PropertyStore.placement(decimal) == {:error, :invalid}
    assert PropertyStore.size(__MODULE__.ORD) == 0
  end

  test "P3: of 300 mints the newest five by byte order are the last five minted" do
    minted = for _ <- 1..300, do: BrandedId.generate!("ORD")
    Enum.each(Enum.shuffle(minted), &PropertyStore.record_entity(__MODULE__.ORD, &1))

    last_five = minted |> Enum.reverse() |> Enum.take(5)
    assert minted |> Enum.sort(:desc) |> Enum.take(5) == last_five
    assert PropertyStore.page_desc(__MODULE__.ORD, 5) == {:ok, last_five}
  end

  test "P4: a window between two synthetic cursors has its 100 of 100, ascending" do
    begin = DateTime.to_unix(~U[2026-03-01 12:00:00.000Z], :millisecond)
    ids = for step <- 0..299, do: BrandedId.encode!("ORD", snowflake(begin + step, step))
    Enum.each(Enum.shuffle(ids), &PropertyStore.put(__MODULE__.ORD, &1, :order))

    [from, until] = for step <- [100, 200], do: cursor("ORD", begin + step)
    wanted = Enum.slice(ids, 100, 100)
    assert PropertyStore.window(__MODULE__.ORD, from, until) == {:ok, wanted}
    assert PropertyStore.count_window(__MODULE__.ORD, from, until) == {:ok, 100}
    assert wanted == Enum.sort(wanted)
  end

  test "P5: the export list is the boundary" do
    verbs =
      ~w(child_spec count_window delete get get_many info page_asc page_desc placement put put_many)a ++
        ~w(record_entity size snapshot start_link take window)a

    exported = PropertyStore.__info__(:functions) |> Keyword.keys() |> Enum.uniq()
    assert Enum.sort(exported) == Enum.sort(verbs)
    assert :ets.all() |> Enum.filter(&(:ets.info(&1, :owner) in owners())) == []
  end

  defp owners, do: for({name, _} <- @stores, do: Process.whereis(name))

  defp snowflake(unix_ms, sequence),
    do: (unix_ms - Snowflake.epoch_ms()) <<< 22 ||| (sequence &&& 0xFFF)

  defp cursor(namespace, unix_ms) do
    BrandedId.encode!(namespace, Snowflake.min_for(DateTime.from_unix!(unix_ms, :millisecond)))
  end
end
