defmodule EchoData.Buckets.DifferentialTest do
  @moduledoc """
  Random operations on buckets, on their twin in ETS and on a map of maps: every answer is the same.

  The operations follow from ExUnit's seed, which is printed with a failure.
  """

  use ExUnit.Case, async: true

  import Bitwise
  import EchoData.Differential

  alias EchoData.{BrandedId, Buckets, Snowflake, Twin, Values}

  @operations 3000
  @shift 22

  test "buckets answer what an ETS table does" do
    for bits <- [0, 3, 10, 40], space <- [8, 200, 5000] do
      stores = for module <- [Buckets, Twin.Buckets], do: {module, module.new(bucket_bits: bits)}
      for _ <- 1..@operations, do: assert_same(stores, operation(bits, space))
    end
  end

  test "buckets are a map of maps" do
    for bits <- [0, 3, 10], space <- [8, 200, 5000] do
      Enum.reduce(1..@operations, {Buckets.new(bucket_bits: bits), %{}}, fn _, {buckets, maps} ->
        {buckets, maps} = step(buckets, maps, bits, space)

        assert Buckets.size(buckets) ==
                 maps |> Map.values() |> Enum.map(&map_size/1) |> Enum.sum()

        assert Buckets.bucket_count(buckets) == map_size(maps)
        {buckets, maps}
      end)
      |> assert_equal()
    end
  end

  defp operation(bits, space) do
    snowflake = fn -> random_snowflake(space) end
    bucket = fn -> snowflake.() >>> (@shift + bits) end

    one_of([
      fn -> {:put, [random_id(space), Values.random(2)]} end,
      fn -> {:put_by_snowflake, [snowflake.(), :rand.uniform(100)]} end,
      fn -> {:put_many, [random_rows(space)]} end,
      fn -> {:fetch, [random_id(space)]} end,
      fn -> {:fetch_by_snowflake, [snowflake.()]} end,
      fn -> {:get_many, [random_keys(space)]} end,
      fn -> {:delete, [random_id(space)]} end,
      fn -> {:delete_by_snowflake, [snowflake.()]} end,
      fn -> {:take, [random_id(space)]} end,
      fn -> {:expire_older_than, [random_instant(space)]} end,
      fn -> {:bucket_at, [random_instant(space)]} end,
      fn -> {:entries, [bucket.()]} end,
      fn -> {:counts, []} end,
      fn -> {:bucket_count, []} end,
      fn -> {:oldest_bucket, []} end,
      fn -> {:newest_bucket, []} end,
      fn -> {:to_snowflake_list, []} end,
      fn -> {:size, []} end
    ])
  end

  defp step(buckets, maps, bits, space) do
    snowflake = random_snowflake(space)
    bucket = snowflake >>> (@shift + bits)

    case :rand.uniform(20) do
      1 ->
        instant = random_instant(space)
        ms = DateTime.to_unix(instant, :millisecond) - Snowflake.epoch_ms()
        {gone, maps} = Enum.split_with(maps, fn {bucket, _map} -> bucket < ms >>> bits end)
        count = gone |> Enum.map(fn {_bucket, map} -> map_size(map) end) |> Enum.sum()
        assert {^count, buckets} = Buckets.expire_older_than(buckets, instant)
        {buckets, Map.new(maps)}

      n when n < 8 ->
        map = maps |> Map.get(bucket, %{}) |> Map.delete(snowflake)
        maps = if map == %{}, do: Map.delete(maps, bucket), else: Map.put(maps, bucket, map)
        {Buckets.delete_by_snowflake(buckets, snowflake), maps}

      n ->
        maps = Map.update(maps, bucket, %{snowflake => n}, &Map.put(&1, snowflake, n))
        {Buckets.put_by_snowflake(buckets, snowflake, n), maps}
    end
  end

  defp assert_equal({buckets, maps}) do
    rows = for {_bucket, map} <- maps, row <- map, do: row
    assert Enum.to_list(buckets) == Enum.sort(rows)

    assert Buckets.counts(buckets) ==
             maps |> Enum.map(fn {n, map} -> {n, map_size(map)} end) |> Enum.sort()
  end

  defp one_of(operations), do: Enum.random(operations).()

  # Of a millisecond the first ids and the last.
  defp random_snowflake(space) do
    low = Enum.random([0, 1, (1 <<< @shift) - 1])
    ((:rand.uniform(space) - 1) <<< @shift) + low
  end

  # One in twenty is not let in; any namespace is.
  defp random_id(space) do
    case :rand.uniform(20) do
      1 -> Enum.random(["dif00000000001", "DIFzzzzzzzzzzz", "", nil, 7.0])
      n -> BrandedId.encode!(Enum.at(["DIF", "FID"], rem(n, 2)), random_snowflake(space))
    end
  end

  defp random_key(space), do: Enum.random([random_id(space), random_snowflake(space)])
  defp random_keys(space), do: for(_ <- 1..:rand.uniform(12), do: random_key(space))
  defp random_rows(space), do: for(key <- random_keys(space), do: {key, :rand.uniform(100)})

  # From before the epoch to after the last id.
  defp random_instant(space) do
    ms = :rand.uniform(space + 10) - 5
    DateTime.from_unix!(Snowflake.epoch_ms() + ms, :millisecond)
  end
end
