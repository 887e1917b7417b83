defmodule EchoData.Buckets.ConcurrencyTest do
  @moduledoc """
  What readers see of buckets that expire, and what ends buckets.
  """

  use ExUnit.Case, async: true

  alias EchoData.{Buckets, Mortal, Native, Snowflake}

  @size 3000

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
    for _ <- 1..1000 do
      {_, _, buckets} = owner = Mortal.owner(fn -> Buckets.new() end)
      Buckets.put_by_snowflake(buckets, 1, :value)
      Mortal.kill(owner)
      assert Native.buckets_size(buckets.ref) == :closed
    end
  end

  test "buckets give all their memory back, whoever ends them" do
    ends = [fn {_, _, buckets} -> Buckets.close(buckets) end, &Mortal.kill/1]

    for finish <- ends do
      {_, _, buckets} = owner = Mortal.owner(fn -> Buckets.new() end)
      Buckets.put_many(buckets, for(n <- 1..20_000, do: {n, %{n: :binary.copy("t", 80)}}))
      assert Buckets.info(buckets).bytes > 1_000_000
      assert Native.buckets_left(buckets.ref) == nil
      finish.(owner)
      Mortal.await_nothing_left(fn -> Native.buckets_left(buckets.ref) end)
    end
  end

  test "every call raises on closed buckets" do
    buckets = Buckets.new()
    assert Buckets.close(buckets) == :ok
    assert Buckets.close(buckets) == :ok

    calls = [
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
    ]

    for call <- calls do
      assert_raise ArgumentError, "the store is closed", fn -> call.(buckets) end
    end
  end

  test "others do what the access of buckets says" do
    for {access, read?, write?} <- [
          {:public, true, true},
          {:protected, true, false},
          {:private, false, false}
        ] do
      {_, _, buckets} = owner = Mortal.owner(fn -> Buckets.new(access: access) end)
      assert allowed?(fn -> Buckets.counts(buckets) end) == read?
      assert allowed?(fn -> Buckets.put_by_snowflake(buckets, 1, :other) end) == write?
      expire = fn -> Buckets.expire_older_than(buckets, ~U[2026-01-01 00:00:00Z]) end
      assert allowed?(expire) == write?
      Mortal.kill(owner)
    end
  end

  defp allowed?(fun) do
    fun.()
    true
  rescue
    error in ArgumentError ->
      assert error.message =~ "only its owner may"
      false
  end
end
