defmodule EchoData.Bcs.PropertyStoreTest do
  use ExUnit.Case, async: true

  import Bitwise

  alias EchoData.Bcs.PropertyStore
  alias EchoData.{BrandedId, Terms}

  doctest PropertyStore

  setup do
    {:ok, store: start_supervised!({PropertyStore, namespace: "ORD"})}
  end

  defp id(n), do: BrandedId.encode!("ORD", n)
  defp foreign(n), do: BrandedId.encode!("USR", n)

  # Numbers that have an id are none either.
  defp no_ids, do: ["320636799581945", 0, 2, 1 <<< 63, (1 <<< 64) - 1 | Terms.no_ids()]

  defp fill(store, range) do
    rows = for n <- range, do: {id(n), n}
    :ok = PropertyStore.put_many(store, rows)
    rows
  end

  test "what is put is got, replaced, taken and deleted", %{store: store} do
    assert PropertyStore.get(store, id(1)) == {:error, :not_found}
    assert PropertyStore.put(store, id(1), :a) == :ok
    assert PropertyStore.put(store, id(1), :b) == :ok
    assert PropertyStore.get(store, id(1)) == {:ok, :b}
    assert PropertyStore.size(store) == 1
    assert PropertyStore.take(store, id(1)) == {:ok, :b}
    assert PropertyStore.take(store, id(1)) == {:error, :not_found}
    assert PropertyStore.put(store, id(2), nil) == :ok
    assert PropertyStore.get(store, id(2)) == {:ok, nil}
    assert PropertyStore.delete(store, id(2)) == :ok
    assert PropertyStore.delete(store, id(2)) == {:error, :not_found}
    assert PropertyStore.size(store) == 0
  end

  test "ids that differ in the case of a letter are neighbours, not the same", %{store: store} do
    [upper, lower] = ["ORD0000000000A", "ORD0000000000a"]
    PropertyStore.put(store, upper, :upper)
    PropertyStore.put(store, lower, :lower)
    assert PropertyStore.delete(store, upper) == :ok
    assert PropertyStore.get(store, lower) == {:ok, :lower}
    assert PropertyStore.size(store) == 1
  end

  test "the ends of the id space are ids as others", %{store: store} do
    [low, high] = [id(0), id(0x7FFF_FFFF_FFFF_FFFF)]
    PropertyStore.put_many(store, [{high, :high}, {low, :low}])
    assert PropertyStore.page_asc(store, 10) == {:ok, [low, high]}
    assert PropertyStore.page_asc(store, 10, after: high) == {:ok, []}
    assert PropertyStore.page_desc(store, 10, before: low) == {:ok, []}
    assert PropertyStore.window(store, low, high) == {:ok, [low]}
    assert PropertyStore.count_window(store, low, high) == {:ok, 1}
  end

  test "every id is gated, and nothing is touched", %{store: store} do
    fill(store, 1..3)

    verbs = [
      &PropertyStore.put(store, &1, :value),
      &PropertyStore.get(store, &1),
      &PropertyStore.take(store, &1),
      &PropertyStore.delete(store, &1),
      &PropertyStore.window(store, &1, id(9)),
      &PropertyStore.window(store, id(0), &1),
      &PropertyStore.count_window(store, &1, id(9)),
      &PropertyStore.count_window(store, id(0), &1)
    ]

    cursors = [
      &PropertyStore.page_desc(store, 2, before: &1),
      &PropertyStore.page_asc(store, 2, after: &1)
    ]

    # A page without a cursor is a page.
    no_cursors = for term <- no_ids(), term != nil, do: term

    for {verbs, terms} <- [{verbs, no_ids()}, {cursors, no_cursors}], verb <- verbs do
      assert verb.(foreign(1)) == {:error, :namespace}
      for term <- terms, do: assert(verb.(term) == {:error, :invalid})
    end

    assert PropertyStore.page_asc(store, 9, values: true) ==
             {:ok, for(n <- 1..3, do: {id(n), n})}
  end

  test "record_entity stores true, and drops what is not let in", %{store: store} do
    assert PropertyStore.record_entity(store, id(1)) == :ok
    assert PropertyStore.get(store, id(1)) == {:ok, true}
    assert PropertyStore.record_entity(store, foreign(2)) == :ok
    assert PropertyStore.record_entity(store, "none") == :ok
    assert PropertyStore.size(store) == 1
  end

  test "pages go both ways from a cursor that need not be there", %{store: store} do
    fill(store, 2..20//2)
    assert PropertyStore.page_desc(store, 3) == {:ok, [id(20), id(18), id(16)]}
    assert PropertyStore.page_desc(store, 2, before: id(16)) == {:ok, [id(14), id(12)]}
    assert PropertyStore.page_desc(store, 2, before: id(13)) == {:ok, [id(12), id(10)]}
    assert PropertyStore.page_asc(store, 2) == {:ok, [id(2), id(4)]}
    assert PropertyStore.page_asc(store, 2, after: id(4)) == {:ok, [id(6), id(8)]}
    assert PropertyStore.page_asc(store, 1, after: id(5)) == {:ok, [id(6)]}
    assert PropertyStore.page_asc(store, 9, after: id(20)) == {:ok, []}
    assert PropertyStore.page_asc(store, 1, after: id(2), values: true) == {:ok, [{id(4), 4}]}
    assert PropertyStore.page_desc(store, 1 <<< 70) == {:ok, for(n <- 20..2//-2, do: id(n))}
  end

  test "a window is half-open, and empty when its bounds are the wrong way round",
       %{store: store} do
    fill(store, 1..9)
    assert PropertyStore.window(store, id(3), id(6)) == {:ok, [id(3), id(4), id(5)]}

    assert PropertyStore.window(store, id(8), id(99), values: true) ==
             {:ok, [{id(8), 8}, {id(9), 9}]}

    assert PropertyStore.window(store, id(6), id(3)) == {:ok, []}
    assert PropertyStore.window(store, id(6), id(6)) == {:ok, []}
    assert PropertyStore.count_window(store, id(3), id(6)) == {:ok, 3}
    assert PropertyStore.count_window(store, id(6), id(3)) == {:ok, 0}
  end

  test "a long read is the same in one call and in many", %{store: store} do
    rows = fill(store, 1..30_000)
    ids = Enum.map(rows, &elem(&1, 0))
    assert PropertyStore.page_asc(store, 40_000) == {:ok, ids}
    assert PropertyStore.page_desc(store, 40_000) == {:ok, Enum.reverse(ids)}
    assert PropertyStore.page_asc(store, 40_000, values: true) == {:ok, rows}

    assert PropertyStore.page_desc(store, 29_999, values: true) ==
             {:ok, rows |> tl() |> Enum.reverse()}

    assert PropertyStore.window(store, id(2), id(30_000), values: true) ==
             {:ok, rows |> tl() |> Enum.drop(-1)}

    assert PropertyStore.get_many(store, Enum.reverse(ids)) == {:ok, Enum.reverse(rows)}
    assert PropertyStore.info(store).snapshots == 0 or drained(store).snapshots == 0
  end

  test "many are got in the order that they are asked for, and as often", %{store: store} do
    fill(store, 1..5)
    asked = [id(4), id(9), id(1), id(4)]
    assert PropertyStore.get_many(store, asked) == {:ok, [{id(4), 4}, {id(1), 1}, {id(4), 4}]}
    assert PropertyStore.get_many(store, []) == {:ok, []}
  end

  test "the first id of a list that is not let in is named by its position", %{store: store} do
    rows = for n <- 1..3000, do: {id(n), n}
    ids = Enum.map(rows, &elem(&1, 0))

    for {wrong, reason} <- [{foreign(1), :namespace}, {"none", :invalid}], at <- [0, 5, 2999] do
      bad = rows |> List.replace_at(at, {wrong, :value}) |> List.insert_at(3001, {nil, :value})
      assert PropertyStore.put_many(store, bad) == {:error, {reason, at}}

      assert PropertyStore.get_many(store, List.replace_at(ids, at, wrong)) ==
               {:error, {reason, at}}
    end

    assert PropertyStore.size(store) == 0
  end

  test "of rows with the same id the last wins", %{store: store} do
    assert PropertyStore.put_many(store, [{id(1), :a}, {id(2), :b}, {id(1), :c}]) == :ok
    assert PropertyStore.get(store, id(1)) == {:ok, :c}
    assert PropertyStore.put_many(store, []) == :ok
    assert PropertyStore.size(store) == 2
  end

  test "misuse is an ArgumentError that names the argument", %{store: store} do
    for n <- [0, -1, 1.0, nil, :all] do
      assert_raise ArgumentError, ~r/^n must be a positive integer/, fn ->
        PropertyStore.page_desc(store, n)
      end

      assert_raise ArgumentError, ~r/^n must be/, fn -> PropertyStore.page_asc(store, n) end
    end

    assert_raise ArgumentError, ~r/unknown keys \[:after\]/, fn ->
      PropertyStore.page_desc(store, 1, after: id(1))
    end

    assert_raise ArgumentError, ~r/^values must be/, fn ->
      PropertyStore.window(store, id(1), id(2), values: 1)
    end

    for rows <- [:none, %{id(1) => 1}],
        do:
          assert_raise(ArgumentError, ~r/^rows must be/, fn ->
            PropertyStore.put_many(store, rows)
          end)

    for bad <- [:none, {id(1)}, {id(1), 1, 1}] do
      assert_raise ArgumentError, ~r/^rows must be a list .* position 1 /, fn ->
        PropertyStore.put_many(store, [{id(1), 1}, bad])
      end
    end

    assert_raise ArgumentError, ~r/^rows must be a list/, fn ->
      PropertyStore.put_many(store, [{id(1), 1} | :tail])
    end

    assert_raise ArgumentError, ~r/^ids must be a list/, fn ->
      PropertyStore.get_many(store, :none)
    end

    assert PropertyStore.size(store) == 0
  end

  test "a store that cannot be is refused before it is started" do
    for namespace <- [nil, "ord", "ORDER", :ORD] do
      assert_raise ArgumentError, ~r/^namespace must be/, fn ->
        PropertyStore.start_link(name: :never, namespace: namespace)
      end
    end

    assert_raise ArgumentError, ~r/unknown keys/, fn ->
      PropertyStore.start_link(namespace: "ORD", table: :orders)
    end

    assert_raise ArgumentError, ~r/^options must be a keyword list/, fn ->
      PropertyStore.start_link(%{namespace: "ORD"})
    end
  end

  test "a store answers to every kind of name, and to its pid" do
    start_supervised!({Registry, keys: :unique, name: __MODULE__.Registry})
    via = {:via, Registry, {__MODULE__.Registry, :store}}

    for name <- [__MODULE__.Local, {:global, __MODULE__}, via] do
      {:ok, pid} = PropertyStore.start_link(name: name, namespace: "ORD")
      assert PropertyStore.put(name, id(1), name) == :ok
      assert PropertyStore.get(pid, id(1)) == {:ok, name}
      assert PropertyStore.page_desc(name, 1) == {:ok, [id(1)]}
      assert PropertyStore.snapshot(name) |> Enum.to_list() == [{id(1), name}]
    end

    assert PropertyStore.size({__MODULE__.Local, node()}) == 1
  end

  test "a second store under a name is refused as any second process is" do
    {:ok, pid} = PropertyStore.start_link(name: __MODULE__.Twice, namespace: "ORD")
    start = PropertyStore.start_link(name: __MODULE__.Twice, namespace: "USR")
    assert start == {:error, {:already_started, pid}}
    assert PropertyStore.put(__MODULE__.Twice, id(1), :mine) == :ok
  end

  test "the owner serves callers of other nodes by the same functions", %{store: store} do
    request = &GenServer.call(store, {PropertyStore, &1, &2})
    assert request.(:put, [id(1), :a]) == {:ok, :ok}
    assert request.(:get, [id(1)]) == {:ok, {:ok, :a}}
    assert {:raise, %ArgumentError{message: "n must be" <> _}} = request.(:page_desc, [0])
    assert PropertyStore.size(store) == 1
  end

  test "info tells what is held in memory", %{store: store} do
    empty = PropertyStore.info(store)
    assert %{rows: 0, nodes: 0, payloads: 0, snapshots: 0} = empty
    fill(store, 1..1000)
    PropertyStore.put(store, id(1), Enum.to_list(1..100))
    full = drained(store)
    assert %{rows: 1000, payloads: 1, snapshots: 0} = full
    assert full.bytes in 16_000..60_000
  end

  test "info counts large values, and no longer when they are gone", %{store: store} do
    for n <- 1..10, do: PropertyStore.put(store, id(n), :binary.copy("large", 100_000))
    assert drained(store).bytes in 5_000_000..5_100_000
    for n <- 1..10, do: PropertyStore.put(store, id(n), :small)
    assert drained(store).bytes < 100_000
  end

  defp drained(store) do
    EchoData.Native.drain()
    PropertyStore.info(store)
  end
end
