defmodule EchoData.SnapshotTest do
  use ExUnit.Case, async: true

  alias EchoData.Bcs.PropertyStore
  alias EchoData.{BrandedId, Native, Snapshot, Timeline}

  doctest Snapshot

  setup do
    store = start_supervised!({PropertyStore, namespace: "ORD"})
    rows = for n <- 1..1000, do: {id(n), n}
    PropertyStore.put_many(store, rows)
    {:ok, store: store, rows: rows}
  end

  defp id(n), do: BrandedId.encode!("ORD", n)

  test "every function that reads answers of its moment", %{store: store, rows: rows} do
    snapshot = PropertyStore.snapshot(store)
    for n <- 1..500, do: PropertyStore.delete(store, id(n))
    for n <- 501..1400, do: PropertyStore.put(store, id(n), :later)
    ids = Enum.map(rows, &elem(&1, 0))

    assert PropertyStore.get(snapshot, id(1)) == {:ok, 1}
    assert PropertyStore.get(snapshot, id(1001)) == {:error, :not_found}
    assert PropertyStore.get_many(snapshot, ids) == {:ok, rows}
    assert PropertyStore.page_asc(snapshot, 2000) == {:ok, ids}
    assert PropertyStore.page_desc(snapshot, 1, values: true) == {:ok, [{id(1000), 1000}]}
    assert PropertyStore.window(snapshot, id(1), id(3)) == {:ok, [id(1), id(2)]}
    assert PropertyStore.count_window(snapshot, id(1), id(3)) == {:ok, 2}
    assert PropertyStore.size(snapshot) == 1000
    assert Enum.to_list(snapshot) == rows
    assert PropertyStore.get(snapshot, "USR00000000001") == {:error, :namespace}
    assert PropertyStore.snapshot(snapshot) == snapshot

    assert Timeline.fetch(snapshot, id(1)) == {:ok, 1}
    assert Timeline.latest(snapshot, 1) == [{id(1000), 1000}]
    assert Timeline.get_many(snapshot, ids) == rows
    assert Timeline.snapshot(snapshot) == snapshot
  end

  test "what is held in memory is told of the store as it is now", %{store: store} do
    snapshot = PropertyStore.snapshot(store)
    for n <- 1..500, do: PropertyStore.delete(store, id(n))
    assert %{rows: 500, snapshots: 1} = PropertyStore.info(snapshot)
    assert PropertyStore.size(snapshot) == 1000
  end

  test "it cannot be changed", %{store: store} do
    snapshot = PropertyStore.snapshot(store)

    for change <- [
          &PropertyStore.put(&1, id(1), :new),
          &PropertyStore.put_many(&1, [{id(1), :new}]),
          &PropertyStore.delete(&1, id(1)),
          &PropertyStore.take(&1, id(1))
        ] do
      assert_raise ArgumentError, "a snapshot cannot be changed", fn -> change.(snapshot) end
    end

    assert PropertyStore.get(store, id(1)) == {:ok, 1}
  end

  test "that of a timeline cannot be changed, either" do
    timeline = Timeline.new("SNP")
    Timeline.put_by_snowflake(timeline, 1, :old)
    id = BrandedId.encode!("SNP", 1)
    snapshot = Timeline.snapshot(timeline)

    for change <- [
          &Timeline.put(&1, id, :new),
          &Timeline.put_by_snowflake(&1, 1, :new),
          &Timeline.append(&1, :new),
          &Timeline.put_many(&1, [{id, :new}]),
          &Timeline.delete(&1, id),
          &Timeline.take(&1, id)
        ] do
      assert_raise ArgumentError, "a snapshot cannot be changed", fn -> change.(snapshot) end
    end

    assert Enum.to_list(timeline) == [{id, :old}]
  end

  test "it is enumerable as a list of its rows is", %{store: store, rows: rows} do
    snapshot = PropertyStore.snapshot(store)
    assert Enum.count(snapshot) == 1000
    assert Enum.at(snapshot, 999) == {id(1000), 1000}
    assert Enum.at(snapshot, 1000) == nil
    assert Enum.slice(snapshot, 10..20//3) == Enum.slice(rows, 10..20//3)
    assert Enum.slice(snapshot, -3, 2) == Enum.slice(rows, -3, 2)
    assert {id(3), 3} in snapshot
    refute {id(3), 4} in snapshot

    assert Enum.reduce_while(snapshot, 0, fn {_, n}, sum ->
             if n > 300, do: {:halt, sum}, else: {:cont, sum + n}
           end) == 45_150

    assert snapshot |> Stream.map(&elem(&1, 1)) |> Stream.chunk_every(400) |> Enum.map(&length/1) ==
             [400, 400, 200]
  end

  test "it ends when it is released, once and for all", %{store: store} do
    snapshot = PropertyStore.snapshot(store)
    assert PropertyStore.info(store).snapshots == 1
    assert inspect(snapshot) == "#EchoData.Snapshot<ORD, 1000 rows>"
    assert Snapshot.release(snapshot) == :ok
    assert Snapshot.release(snapshot) == :ok
    Native.drain()
    assert PropertyStore.info(store).snapshots == 0
    assert_closed(snapshot)
  end

  test "it ends with its store", %{store: store} do
    snapshot = PropertyStore.snapshot(store)
    stop_supervised!(PropertyStore)
    assert_closed(snapshot)
  end

  test "it ends with the process that holds it", %{store: store} do
    task = Task.async(fn -> {PropertyStore.snapshot(store), :taken} |> elem(1) end)
    assert Task.await(task) == :taken
    await_no_snapshot(store)
  end

  test "it is readable by other processes while it is held", %{store: store, rows: rows} do
    snapshot = PropertyStore.snapshot(store)
    PropertyStore.put(store, id(1), :later)
    assert Task.await(Task.async(fn -> Enum.to_list(snapshot) end)) == rows
  end

  test "what it retains is bounded by the store as it was", %{store: store} do
    Native.drain()
    before = PropertyStore.info(store).bytes
    snapshot = PropertyStore.snapshot(store)
    for round <- 1..50, n <- 1..1000, do: PropertyStore.put(store, id(n), round)
    Native.drain()
    assert PropertyStore.info(store).bytes < 3 * before + 200_000
    assert PropertyStore.get(snapshot, id(1000)) == {:ok, 1000}
    Snapshot.release(snapshot)
    Native.drain()
    assert PropertyStore.info(store).bytes < 2 * before + 100_000
  end

  test "a read that ends early holds no moment", %{store: store} do
    ids = for n <- 1..100_000, do: id(n)
    assert PropertyStore.get_many(store, ids ++ ["none"]) == {:error, {:invalid, 100_000}}
    assert_no_moment(store)

    assert_raise ArgumentError, ~r/^ids must be a/, fn ->
      PropertyStore.get_many(store, ids ++ :improper)
    end

    assert_no_moment(store)
  end

  defp assert_no_moment(store) do
    Native.drain()
    assert PropertyStore.info(store).snapshots == 0
  end

  # The memory of a process goes after everybody has heard of its end.
  defp await_no_snapshot(store) do
    Native.drain()
    PropertyStore.info(store).snapshots == 0 || await_no_snapshot(store)
  end

  defp assert_closed(snapshot) do
    message = "the snapshot was released, or its store is closed"
    assert inspect(snapshot) == "#EchoData.Snapshot<ORD, closed>"

    for read <- [
          &PropertyStore.get(&1, id(1)),
          &PropertyStore.size/1,
          &PropertyStore.page_asc(&1, 1)
        ] do
      assert_raise ArgumentError, message, fn -> read.(snapshot) end
    end

    for enumerate <- [
          &Enum.to_list/1,
          &Enum.count/1,
          &Enum.at(&1, 0),
          &Enum.member?(&1, {id(1), 1}),
          &Enum.member?(&1, :row)
        ] do
      assert_raise ArgumentError, fn -> enumerate.(snapshot) end
    end

    assert_raise ArgumentError, fn -> Timeline.latest(snapshot, 1) end
  end
end
