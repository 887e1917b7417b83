defmodule EchoData.Buckets.ConcurrencyTest do
  @moduledoc """
  What readers see of buckets that expire, and what ends buckets.
  """

  use ExUnit.Case, async: true

  import EchoData.Lifetime

  alias EchoData.{Buckets, Native, Snowflake}

  @size 3000

  defp kind do
    %{
      module: Buckets,
      new: &Buckets.new/1,
      size: &Native.buckets_size/1,
      left: &Native.buckets_left/1
    }
  end

  test "a reader inside a bucket that expires sees all of it or none" do
    buckets = Buckets.new(bucket_bits: 10)
    rows = for n <- 1..@size, do: {n, n}
    later = Snowflake.to_datetime(Bitwise.bsl(1024, 22))
    reader = Task.async(fn -> read(buckets, 0, 0) end)
    until_done(reader, buckets, rows, later)
    {all, none} = Task.await(reader)
    assert all >= 100 and none >= 100
  end

  # Until both were seen often enough.
  defp read(_buckets, all, none) when all >= 100 and none >= 100, do: {all, none}

  defp read(buckets, all, none) do
    snapshot = Buckets.snapshot(buckets)
    size = Buckets.size(snapshot)
    assert size in [0, @size]
    assert length(Buckets.entries(snapshot, 0)) == size
    assert Buckets.counts(snapshot) == List.duplicate({0, @size}, div(size, @size))
    assert length(Buckets.entries(buckets, 0)) in [0, @size]
    assert length(Buckets.to_snowflake_list(buckets)) in [0, @size]
    assert Enum.count(buckets, fn {n, value} -> n == value end) in [0, @size]
    if size == 0, do: read(buckets, all, none + 1), else: read(buckets, all + 1, none)
  end

  defp until_done(reader, buckets, rows, later) do
    Buckets.put_many(buckets, rows)
    assert {@size, _buckets} = Buckets.expire_older_than(buckets, later)
    if Process.alive?(reader.pid), do: until_done(reader, buckets, rows, later)
  end

  test "of several that expire at once each entry is counted once" do
    buckets = Buckets.new(bucket_bits: 0)

    for round <- 1..200 do
      Buckets.put_many(buckets, for(n <- 1..100, do: {Bitwise.bsl(n, 22), round}))
      later = Snowflake.to_datetime(Bitwise.bsl(101, 22))
      expire = fn -> buckets |> Buckets.expire_older_than(later) |> elem(0) end
      counts = Task.await_many(for _ <- 1..4, do: Task.async(expire))
      assert Enum.sort(counts) == [0, 0, 0, 100]
    end
  end

  test "buckets are closed when their owner is known to be dead" do
    assert_closed_with_owner(kind(), 1000, &Buckets.put_by_snowflake(&1, 1, :value))
  end

  test "buckets give all their memory back, whoever ends them" do
    rows = for n <- 1..20_000, do: {n, %{n: :binary.copy("t", 80)}}
    assert_memory_back(kind(), &Buckets.put_many(&1, rows))
  end

  test "every call raises on closed buckets" do
    assert_closed(kind(), [
      &Buckets.put_by_snowflake(&1, 1, :value),
      &Buckets.put_many(&1, [{1, :value}]),
      &Buckets.fetch_by_snowflake(&1, 1),
      &Buckets.get_many(&1, [1]),
      &Buckets.delete_by_snowflake(&1, 1),
      &Buckets.take(&1, "SES00000000001"),
      &Buckets.expire_older_than(&1, ~U[2026-01-01 00:00:00Z]),
      &Buckets.size/1,
      &Buckets.bucket_count/1,
      &Buckets.counts/1,
      &Buckets.oldest_bucket/1,
      &Buckets.entries(&1, 0),
      &Buckets.to_snowflake_list/1,
      &Buckets.info/1,
      &Buckets.snapshot/1,
      &Enum.to_list/1
    ])
  end

  test "others do what the access of buckets says" do
    assert_access(kind(),
      own: {&match?(%Buckets{}, Buckets.put_by_snowflake(&1, 1, :mine)), true},
      reads: [&Buckets.counts/1, &Buckets.fetch_by_snowflake(&1, 1), &Buckets.snapshot/1],
      writes: [
        &Buckets.put_by_snowflake(&1, 1, :other),
        &Buckets.expire_older_than(&1, ~U[2026-01-01 00:00:00Z])
      ]
    )
  end
end
