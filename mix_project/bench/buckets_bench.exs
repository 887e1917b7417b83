# Buckets beside an ETS `ordered_set` that expires by `:ets.select_delete/2`, and beside maps of maps.

defmodule EchoData.Bench.Maps do
  @moduledoc "Buckets as a map of maps: a value that its owner threads."

  import Bitwise

  @shift 22

  def new(options), do: {options[:bucket_bits], %{}}

  def put_by_snowflake({bits, maps}, snowflake, value) do
    put = &Map.put(&1, snowflake, value)
    {bits, Map.update(maps, snowflake >>> (@shift + bits), %{snowflake => value}, put)}
  end

  def put_many(buckets, rows),
    do: Enum.reduce(rows, buckets, fn {key, value}, all -> put_by_snowflake(all, key, value) end)

  def fetch_by_snowflake({bits, maps}, snowflake) do
    bucket = snowflake >>> (@shift + bits)

    case maps do
      %{^bucket => %{^snowflake => value}} -> {:ok, value}
      _other -> :error
    end
  end

  def expire_older_than({bits, maps}, instant) do
    first = (DateTime.to_unix(instant, :millisecond) - EchoData.Snowflake.epoch_ms()) >>> bits
    old = for {bucket, map} <- maps, bucket < first, do: {bucket, map_size(map)}
    expired = Enum.reduce(old, 0, fn {_bucket, size}, count -> count + size end)
    {expired, {bits, Map.drop(maps, Enum.map(old, &elem(&1, 0)))}}
  end

  def bucket_count({_bits, maps}), do: map_size(maps)
  def oldest_bucket({_bits, maps}), do: {:ok, maps |> Map.keys() |> Enum.min()}

  def entries({_bits, maps}, bucket), do: maps |> Map.get(bucket, %{}) |> Enum.sort()

  def close(_buckets), do: :ok
end

defmodule EchoData.Bench.Buckets do
  alias EchoData.Bench.Maps
  alias EchoData.Demo.Table
  alias EchoData.Twin.Race
  alias EchoData.{Bench, Buckets, Native, Snowflake, Twin}

  import Bitwise

  @sizes [10_000, 1_000_000]
  @bits 10
  @chunk 1000

  # What an expiry may take of its caller, in nanoseconds, however many expire.
  @expiry 100_000

  # Every round fills a store anew.
  @expiries 7

  # The peers visit all entries, or all buckets.
  @scans [rounds: 9]

  def run do
    for rows <- @sizes, {name, peer} <- [{"ETS", Twin.Buckets}, {"maps of maps", Maps}] do
      Bench.heading("#{Table.number(rows)} entries in buckets of 1.024 s", name)
      compare(peer, rows)
      expiries(peer, rows)
    end
  end

  # One id a millisecond; the bits below are as good as random.
  defp snowflake(at), do: (at <<< 22) + rem(at * 7919, 4096)

  defp fill(module, rows) do
    1..rows
    |> Stream.map(&{snowflake(&1), &1})
    |> Stream.chunk_every(@chunk)
    |> Enum.reduce(module.new(bucket_bits: @bits), &module.put_many(&2, &1))
  end

  defp compare(peer, rows) do
    {theirs, ours} = {fill(peer, rows), fill(Buckets, rows)}
    ids = 1..rows |> Enum.map(&snowflake/1) |> Enum.shuffle() |> Enum.chunk_every(@chunk)
    ids = Bench.supply(ids)

    both = fn what, work, options ->
      Bench.row(what, fn -> work.(peer, theirs) end, fn -> work.(Buckets, ours) end, options)
    end

    both.("fetch", fn module, store -> fetch(ids.(), module, store) end, units: @chunk)
    both.("overwrite", fn module, store -> put(ids.(), module, store) end, units: @chunk)
    middle = rows |> div(2) |> snowflake() |> bsr(22 + @bits)
    both.("entries of a bucket", fn module, store -> module.entries(store, middle) end, @scans)
    both.("oldest bucket", fn module, store -> module.oldest_bucket(store) end, [])
    both.("number of buckets", fn module, store -> module.bucket_count(store) end, @scans)
    Enum.each([{peer, theirs}, {Buckets, ours}], fn {module, store} -> module.close(store) end)
  end

  defp fetch([], _module, _store), do: :ok

  defp fetch([id | ids], module, store) do
    {:ok, _value} = module.fetch_by_snowflake(store, id)
    fetch(ids, module, store)
  end

  defp put([], _module, store), do: store

  defp put([id | ids], module, store),
    do: put(ids, module, module.put_by_snowflake(store, id, id))

  # Nine tenths, up to the next bucket.
  defp expiries(peer, rows) do
    instant = rows |> div(10) |> Kernel.*(9) |> snowflake() |> Snowflake.to_datetime()

    {laps, [expired]} =
      for(_ <- 1..@expiries, module <- [peer, Buckets], do: expiry(module, rows, instant))
      |> Enum.unzip()
      |> then(fn {laps, counts} -> {laps, Enum.uniq(counts)} end)

    [theirs, ours] = laps |> Enum.chunk_every(2) |> Enum.zip_with(& &1)
    Bench.laps("expiry of #{Table.number(expired)}", theirs, ours)
    %{median: median} = Race.spread(ours)
    Bench.figures("what it may take of its caller, and takes", @expiry, median, 1)
  end

  # In a process of its own, whose heap is gone afterwards.
  defp expiry(module, rows, instant) do
    Task.async(fn ->
      store = fill(module, rows)
      Native.drain()
      :erlang.garbage_collect()
      start = System.monotonic_time(:nanosecond)
      {expired, left} = module.expire_older_than(store, instant)
      took = System.monotonic_time(:nanosecond) - start
      module.close(left)
      {took / 1, expired}
    end)
    |> Task.await(:infinity)
  end
end

:rand.seed(:exsss, 1)
EchoData.Bench.Buckets.run()
