defmodule EchoData.ConcurrencyTest do
  @moduledoc """
  What readers and writers see of each other.
  """

  use ExUnit.Case, async: true

  alias EchoData.Bcs.PropertyStore
  alias EchoData.{BrandedId, Native, Timeline}
  alias EchoData.Twin.Beside

  @rounds 200

  # A store keeps its latest versions for a while: up to 64 KB.
  @recent 100_000

  defp id(n), do: BrandedId.encode!("CON", n)

  test "a key that is replaced for ever is never absent" do
    timeline = Timeline.new("CON")
    Timeline.put_many(timeline, for(n <- 1..100, do: {id(n), {0, :binary.copy("v", 100)}}))
    replace = fn round -> Timeline.put(timeline, id(50), {round, :binary.copy("v", 100)}) end

    Beside.run(replace, fn ->
      for _ <- 1..50_000 do
        assert {:ok, {_round, <<_::800>>}} = Timeline.fetch(timeline, id(50))
      end
    end)
  end

  test "a batch is seen as a whole" do
    timeline = Timeline.new("CON")
    keys = for n <- 1..300, do: id(n * 7)
    put = fn round -> Timeline.put_many(timeline, Enum.map(keys, &{&1, round})) end
    put.(0)

    Beside.run(put, fn ->
      for _ <- 1..500 do
        assert [{300, _round}] = timeline |> Enum.frequencies_by(&elem(&1, 1)) |> swap()

        assert [{300, _round}] =
                 timeline
                 |> Timeline.get_many(keys)
                 |> Enum.frequencies_by(&elem(&1, 1))
                 |> swap()
      end
    end)
  end

  defp swap(frequencies), do: Enum.map(frequencies, fn {round, count} -> {count, round} end)

  test "keys that stay are in every scan once, whatever happens beside them" do
    timeline = Timeline.new("CON")
    stable = for n <- 1..250, do: id(n * 10)
    Timeline.put_many(timeline, Enum.map(stable, &{&1, :stable}))

    churn = fn round ->
      n = rem(round * 7919, 2500)
      if rem(n, 10) != 0, do: Timeline.put(timeline, id(n), :churn)
      n = rem(round * 104_729, 2500)
      if rem(n, 10) != 0, do: Timeline.delete(timeline, id(n))
    end

    scans = [
      fn -> Enum.to_list(timeline) end,
      fn -> Timeline.page_asc(timeline, 5000) end,
      fn -> timeline |> Timeline.page_desc(5000) |> Enum.reverse() end,
      fn -> Timeline.window(timeline, id(0), id(9999)) end,
      fn -> pages(timeline, []) end
    ]

    Beside.run(churn, fn ->
      for _ <- 1..100, scan <- scans do
        rows = scan.()
        assert for({id, :stable} <- rows, do: id) == stable
        assert rows == Enum.sort(rows)
      end
    end)
  end

  defp pages(timeline, []), do: pages(timeline, Timeline.page_asc(timeline, 40), [])

  defp pages(_timeline, [], rows), do: rows

  defp pages(timeline, page, rows) do
    {last, _} = List.last(page)
    pages(timeline, Timeline.after_cursor(timeline, last, 40), rows ++ page)
  end

  test "of several that take a key one gets it" do
    timeline = Timeline.new("CON")

    for round <- 1..@rounds do
      Timeline.put(timeline, id(round), :binary.copy("taken", 30))
      takes = for _ <- 1..4, do: Task.async(fn -> Timeline.take(timeline, id(round)) end)
      answers = Task.await_many(takes)
      assert Enum.count(answers, &match?({:ok, <<_::1200>>}, &1)) == 1
      assert Enum.count(answers, &(&1 == :error)) == 3
    end

    Native.drain()
    assert %{rows: 0, bytes: bytes} = Timeline.info(timeline)
    assert bytes < @recent
  end

  test "counters do not drift" do
    store = start_supervised!({PropertyStore, namespace: "CON"})

    writers =
      for _ <- 1..2 do
        Task.async(fn ->
          for _ <- 1..20_000 do
            key = id(:rand.uniform(10))

            case :rand.uniform(3) do
              1 -> PropertyStore.put(store, key, List.duplicate(:row, 10))
              2 -> PropertyStore.delete(store, key)
              3 -> assert PropertyStore.size(store) in 0..10
            end
          end
        end)
      end

    Task.await_many(writers, 60_000)
    {:ok, ids} = PropertyStore.page_asc(store, 100)
    assert PropertyStore.size(store) == length(ids)
    assert PropertyStore.count_window(store, id(0), id(99)) == {:ok, length(ids)}
    for id <- ids, do: :ok = PropertyStore.delete(store, id)
    Native.drain()
    assert %{rows: 0, bytes: bytes, snapshots: 0} = PropertyStore.info(store)
    assert bytes < @recent
  end

  test "writers lose and repeat nothing" do
    store = start_supervised!({PropertyStore, namespace: "CON"})

    for writer <- 0..3 do
      Task.async(fn ->
        for n <- 1..5000, do: :ok = PropertyStore.put(store, id(n * 4 + writer), writer)
      end)
    end
    |> Task.await_many(60_000)

    assert PropertyStore.size(store) == 20_000
    {:ok, rows} = PropertyStore.page_asc(store, 30_000, values: true)
    assert rows == for(n <- 4..20_003, do: {id(n), rem(n, 4)})
  end

  test "two processes that append mint different ids" do
    timeline = Timeline.new("CON")

    ids =
      for _ <- 1..4 do
        Task.async(fn -> for n <- 1..5000, do: Timeline.append(timeline, n) end)
      end
      |> Task.await_many(60_000)
      |> Enum.concat()

    assert Timeline.page_asc(timeline, 30_000, values: false) == Enum.sort(ids)
    assert Timeline.size(timeline) == 20_000
  end
end
