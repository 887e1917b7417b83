# Timelines and property stores beside an ETS `ordered_set` with the same rows, used raw, and beside the
# GenServer that is in front of it in a property store of old.

defmodule EchoData.Bench.Ordered do
  alias EchoData.Bcs.PropertyStore
  alias EchoData.{Bench, BrandedId, Timeline, Twin}
  alias EchoData.Demo.Table

  import Bitwise

  @namespace "EVT"
  @chunk 1000

  # The peer visits all rows.
  @scans [rounds: 9]

  # No call can be repeated: there are ids for so many rounds, and the trial.
  @once [rounds: 41, round_ns: 0]

  def run do
    for rows <- [10_000, 1_000_000], {name, kind, value} <- values() do
      Bench.heading("#{Table.number(rows)} rows, #{name} as values", "ETS")
      stores = fill(ids(0, rows), value)
      targets = targets(kind, rows)
      gets(stores, targets)
      reads(stores, rows, targets)
      memory(stores, rows, targets)
      writes(stores, rows, value.(rows), targets)
      drop(stores)
    end
  end

  defp values do
    [
      {"integers", :integer, & &1},
      {"maps of four fields", :map,
       &%{sku: "SKU-#{&1}", quantity: rem(&1, 100), price: &1 / 4, state: :open}}
    ]
  end

  defp targets(:integer, 1_000_000), do: %{get: 4, append: 3, window: 1000, bytes: 3}
  defp targets(:integer, _rows), do: %{get: 2, append: 3, bytes: 3}
  defp targets(:map, _rows), do: %{get: 1}

  # One id a millisecond, as of a store that is used; the bits below are as good as random.
  defp ids(from, count) do
    for at <- from..(from + count - 1),
        do: BrandedId.encode!(@namespace, (at <<< 22) + rem(at * 7919, 4096))
  end

  defp fill(ids, value) do
    rows = ids |> Enum.with_index() |> Enum.map(fn {id, at} -> {id, value.(at)} end)
    ets = :ets.new(:bench, [:ordered_set, :public])
    timeline = Timeline.new(@namespace)
    {:ok, twin} = Twin.PropertyStore.start_link(namespace: @namespace)
    {:ok, _pid} = PropertyStore.start_link(name: :bench, namespace: @namespace)

    for rows <- Enum.chunk_every(rows, @chunk) do
      :ets.insert(ets, rows)
      Enum.each(rows, fn {id, value} -> Timeline.put(timeline, id, value) end)
      Twin.PropertyStore.put_many(twin, rows)
      PropertyStore.put_many(:bench, rows)
    end

    shuffled = ids |> Enum.shuffle() |> Enum.chunk_every(@chunk)
    %{ets: ets, timeline: timeline, twin: twin, ours: :bench, ids: Bench.supply(shuffled)}
  end

  defp drop(%{ets: ets, timeline: timeline, twin: twin, ours: ours}) do
    :ets.delete(ets)
    Timeline.close(timeline)
    Enum.each([twin, ours], &GenServer.stop/1)
  end

  defp gets(%{ids: ids} = stores, targets) do
    options = [units: @chunk, target: targets[:get]]
    raw = fn -> lookup(ids.(), stores.ets) end
    ours = fn -> get(ids.(), stores.ours) end
    many = fn -> Timeline.get_many(stores.timeline, ids.()) end
    Bench.row("get: timeline", raw, fn -> fetch(ids.(), stores.timeline) end, options)
    Bench.row("get: property store", raw, ours, options)
    twin = fn -> twin_get(ids.(), stores.twin) end
    Bench.row("get: property store, ETS behind a GenServer", twin, ours, options)
    Bench.row("get of 1000 ids, each: timeline, in one call", raw, many, units: @chunk)
  end

  defp reads(%{ets: ets, timeline: timeline}, rows, targets) do
    latest = fn -> Timeline.latest(timeline, 100) end
    Bench.row("newest 100", fn -> newest(ets, :ets.last(ets), 100) end, latest)

    bounds = Bench.supply(for _ <- 1..100, do: bounds(:rand.uniform(rows - 100)))
    select = fn -> :ets.select(ets, between(bounds.())) end
    count = fn -> :ets.select_count(ets, counted(between(bounds.()))) end
    ours = fn -> window(timeline, bounds.()) end
    Bench.row("window of 100", select, ours, [target: targets[:window]] ++ @scans)
    Bench.row("count of a window of 100", count, fn -> counted(timeline, bounds.()) end, @scans)
  end

  defp memory(%{ets: ets, timeline: timeline}, rows, targets) do
    theirs = :ets.info(ets, :memory) * :erlang.system_info(:wordsize)
    # What was replaced while loading is not what a row costs.
    EchoData.Native.drain()
    ours = Timeline.info(timeline).bytes
    Bench.figures("bytes a row", theirs / rows, ours / rows, targets[:bytes])
  end

  # Appends go on where the rows end. Every round has ids of its own.
  defp writes(%{ids: ids, ets: ets, timeline: timeline} = stores, rows, value, targets) do
    overwritten = fn -> put(ids.(), timeline, value) end
    Bench.row("overwrite", fn -> insert(ids.(), ets, value) end, overwritten, units: @chunk)

    count = max(250, div(rows, 400))
    ids = rows |> ids((@once[:rounds] + 1) * count) |> Enum.chunk_every(count)
    new = for _subject <- 1..4, do: Bench.supply(ids)
    [new_raw, new_timeline, new_twin, new_ours] = new
    raw = fn -> insert(new_raw.(), ets, value) end
    appended = fn -> put(new_timeline.(), timeline, value) end
    twin = fn -> twin_put(new_twin.(), stores.twin, value) end
    ours = fn -> store_put(new_ours.(), stores.ours, value) end
    options = [units: count, target: targets[:append]] ++ @once
    Bench.row("append: timeline", raw, appended, options)
    Bench.row("append: property store, ETS behind a GenServer", twin, ours, options)
  end

  defp lookup([], _ets), do: :ok

  defp lookup([id | ids], ets) do
    [_row] = :ets.lookup(ets, id)
    lookup(ids, ets)
  end

  defp fetch([], _timeline), do: :ok

  defp fetch([id | ids], timeline) do
    {:ok, _value} = Timeline.fetch(timeline, id)
    fetch(ids, timeline)
  end

  defp get([], _store), do: :ok

  defp get([id | ids], store) do
    {:ok, _value} = PropertyStore.get(store, id)
    get(ids, store)
  end

  defp twin_get([], _store), do: :ok

  defp twin_get([id | ids], store) do
    {:ok, _value} = Twin.PropertyStore.get(store, id)
    twin_get(ids, store)
  end

  defp insert([], _ets, _value), do: :ok

  defp insert([id | ids], ets, value) do
    :ets.insert(ets, {id, value})
    insert(ids, ets, value)
  end

  defp put([], _timeline, _value), do: :ok

  defp put([id | ids], timeline, value) do
    Timeline.put(timeline, id, value)
    put(ids, timeline, value)
  end

  defp twin_put([], _store, _value), do: :ok

  defp twin_put([id | ids], store, value) do
    Twin.PropertyStore.put(store, id, value)
    twin_put(ids, store, value)
  end

  defp store_put([], _store, _value), do: :ok

  defp store_put([id | ids], store, value) do
    PropertyStore.put(store, id, value)
    store_put(ids, store, value)
  end

  defp newest(_ets, :"$end_of_table", _left), do: []
  defp newest(_ets, _id, 0), do: []

  defp newest(ets, id, left),
    do: :ets.lookup(ets, id) ++ newest(ets, :ets.prev(ets, id), left - 1)

  defp bounds(at), do: Enum.map([at, at + 100], &BrandedId.encode!(@namespace, &1 <<< 22))

  defp between([lo, hi]), do: [{{:"$1", :_}, [{:>=, :"$1", lo}, {:<, :"$1", hi}], [:"$_"]}]

  defp counted([{head, guards, _result}]), do: [{head, guards, [true]}]
  defp counted(timeline, [lo, hi]), do: Timeline.count_window(timeline, lo, hi)

  defp window(timeline, [lo, hi]), do: Timeline.window(timeline, lo, hi)
end

:rand.seed(:exsss, 1)
EchoData.Bench.Ordered.run()
