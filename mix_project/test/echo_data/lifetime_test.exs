defmodule EchoData.LifetimeTest do
  @moduledoc """
  Stores end with their owners, at once and for everybody, and their memory is given back.
  """

  use ExUnit.Case, async: true

  import EchoData.Lifetime
  import EchoData.Mortal, only: [kill: 1, owner: 1]

  alias EchoData.Bcs.PropertyStore
  alias EchoData.{BrandedId, Mortal, Native, Timeline}

  @moduletag capture_log: true
  # A store keeps its latest versions for a while: up to 64 KB.
  @recent 100_000

  defp id(n), do: BrandedId.encode!("LIF", n)
  defp rows(count), do: for(n <- 1..count, do: {id(n), %{n: n, text: :binary.copy("t", 80)}})

  defp kind do
    %{
      module: Timeline,
      new: &Timeline.new("LIF", &1),
      size: &Native.ordered_size/1,
      left: &Native.ordered_left/1
    }
  end

  describe "a timeline" do
    test "is closed when its owner is known to be dead" do
      assert_closed_with_owner(kind(), 10_000, &Timeline.put(&1, id(1), :value))
    end

    test "raises on every call once it is closed" do
      assert_closed(kind(), [
        &Timeline.put(&1, id(1), :value),
        &Timeline.put_by_snowflake(&1, 1, :value),
        &Timeline.put_many(&1, [{id(1), :value}]),
        &Timeline.append(&1, :value),
        &Timeline.fetch(&1, id(1)),
        &Timeline.get_many(&1, [id(1)]),
        &Timeline.delete(&1, id(1)),
        &Timeline.take(&1, id(1)),
        &Timeline.latest(&1, 1),
        &Timeline.after_cursor(&1, id(1), 1),
        &Timeline.since(&1, ~U[2026-01-01 00:00:00Z], 1),
        &Timeline.window(&1, id(1), id(2)),
        &Timeline.count_window(&1, id(1), id(2)),
        &Timeline.size/1,
        &Timeline.info/1,
        &Timeline.snapshot/1,
        &Enum.to_list/1,
        &Enum.member?(&1, {id(1), :value}),
        &Enum.member?(&1, :row)
      ])
    end

    test "raises in the middle of an enumeration by positions, too" do
      timeline = Timeline.new("LIF")
      Timeline.put_many(timeline, rows(10))
      {:ok, 10, slice} = Enumerable.slice(timeline)
      assert [{_id, _value}] = slice.(9, 1, 1)
      Timeline.close(timeline)
      assert_raise ArgumentError, "the store is closed", fn -> slice.(9, 1, 1) end
    end

    test "gives all its memory back, whoever ends it" do
      assert_memory_back(kind(), fn timeline ->
        Timeline.put_many(timeline, rows(20_000))
        for {id, _} <- rows(500), do: Timeline.put(timeline, id, :replaced)
      end)
    end

    test "gives back what is replaced and deleted while it lives" do
      timeline = Timeline.new("LIF")
      Native.drain()
      before = Timeline.info(timeline).bytes

      for _ <- 1..3 do
        Timeline.put_many(timeline, rows(5_000))
        for {id, _} <- rows(5_000), do: :ok = Timeline.delete(timeline, id)
      end

      Native.drain()
      assert %{rows: 0, bytes: bytes} = Timeline.info(timeline)
      assert bytes < before + @recent
    end

    test "does not keep memory for a batch that is not let in" do
      timeline = Timeline.new("LIF")
      bad = rows(5_000) ++ [{"none", 1}]
      for _ <- 1..5, do: assert_raise(ArgumentError, fn -> Timeline.put_many(timeline, bad) end)
      Native.drain()
      assert %{rows: 0, nodes: 0, payloads: 0} = Timeline.info(timeline)
    end

    test "lets others do what its access says" do
      assert_access(kind(),
        own: {&Timeline.put(&1, id(1), :mine), :ok},
        reads: [
          &Timeline.fetch(&1, id(1)),
          &Timeline.latest(&1, 1),
          &Timeline.snapshot/1
        ],
        writes: [
          &Timeline.put(&1, id(2), :other),
          &Timeline.append(&1, 1),
          &Timeline.delete(&1, id(2)),
          &Timeline.put_many(&1, [{id(3), 3}])
        ]
      )
    end
  end

  describe "a property store" do
    test "is gone for every name when its process is known to be dead" do
      options = [name: __MODULE__.Gone, namespace: "LIF"]
      put = &PropertyStore.put(&1, id(1), :value)
      assert_gone(PropertyStore, options, put, {:get, &PropertyStore.get(&1, id(1))})
    end

    test "exits callers as GenServer.call does" do
      assert_exits(PropertyStore, [namespace: "LIF"], [
        &PropertyStore.put(&1, id(1), :value),
        &PropertyStore.put_many(&1, [{id(1), :value}]),
        &PropertyStore.record_entity(&1, id(1)),
        &PropertyStore.get(&1, id(1)),
        &PropertyStore.get_many(&1, [id(1)]),
        &PropertyStore.delete(&1, id(1)),
        &PropertyStore.take(&1, id(1)),
        &PropertyStore.page_desc(&1, 1),
        &PropertyStore.page_asc(&1, 1),
        &PropertyStore.window(&1, id(1), id(2)),
        &PropertyStore.count_window(&1, id(1), id(2)),
        &PropertyStore.size/1,
        &PropertyStore.info/1,
        &PropertyStore.snapshot/1
      ])
    end

    test "keeps the name that it took over from a predecessor that is just ending" do
      for n <- 1..500 do
        {:ok, first} = start_unlinked(PropertyStore, name: __MODULE__.Again, namespace: "LIF")
        monitor = Process.monitor(first)
        Process.exit(first, :kill)
        {:ok, second} = start_when_free(name: __MODULE__.Again, namespace: "LIF")
        assert PropertyStore.put(__MODULE__.Again, id(n), n) == :ok
        receive do: ({:DOWN, ^monitor, :process, ^first, :killed} -> :ok)
        assert Native.ordered_size(__MODULE__.Again) == 1
        assert PropertyStore.get(second, id(n)) == {:ok, n}
        kill(second)
      end
    end

    test "gives all its memory back" do
      {:ok, pid} = start_unlinked(PropertyStore, namespace: "LIF")
      %{store: ref} = :sys.get_state(pid)
      PropertyStore.put_many(pid, rows(20_000))
      kill(pid)
      Mortal.await_nothing_left(fn -> Native.ordered_left(ref) end)
    end
  end

  describe "a store that is closed in the middle" do
    test "of a batch takes all of it or nothing" do
      rows = rows(100_000)

      assert_whole_batch(kind(), &Timeline.put_many(&1, rows), :ok)
    end

    test "of a scan is an error, and no crash" do
      timeline = Timeline.new("LIF")
      Timeline.put_many(timeline, rows(50_000))
      ids = Enum.map(rows(50_000), &elem(&1, 0))

      assert_whole_scans(kind(), timeline, 50_000, [
        fn -> timeline |> Timeline.page_asc(50_000) |> length() end,
        fn -> Enum.count(timeline, &(&1 == &1)) end,
        fn -> timeline |> Timeline.get_many(ids) |> length() end
      ])
    end
  end

  test "ten thousand processes may die with a store and half a read of it" do
    rows = rows(300)

    for _ <- 1..10_000 do
      kill(
        owner(fn ->
          timeline = Timeline.new("LIF")
          Timeline.put_many(timeline, Enum.take(rows, 3))

          {:suspended, _, continue} =
            Enumerable.reduce(timeline, {:cont, 0}, fn _, n -> {:suspend, n} end)

          {timeline, continue}
        end)
      )
    end

    assert Native.drain() == :ok
  end

  defp start_when_free(options) do
    with {:error, {:already_started, _pid}} <- start_unlinked(PropertyStore, options),
         do: start_when_free(options)
  end
end
