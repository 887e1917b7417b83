defmodule EchoData.BucketsSnapshot do
  @moduledoc """
  One moment of a bucket store, kept readable: several questions to `EchoData.Buckets` that are answered of
  the same moment.

  The functions that read a bucket store take a snapshot of it in its place, and answer as they would have
  at that moment, whatever is put and expires meanwhile. It is enumerable as its store is.

      iex> buckets = EchoData.Buckets.new(bucket_bits: 12)
      iex> EchoData.Buckets.put_by_snowflake(buckets, 1, :old)
      iex> snapshot = EchoData.Buckets.snapshot(buckets)
      iex> {1, _buckets} = EchoData.Buckets.expire_older_than(buckets, ~U[2026-01-01 00:00:00Z])
      iex> {EchoData.Buckets.size(snapshot), EchoData.Buckets.size(buckets)}
      {1, 0}
      iex> EchoData.BucketsSnapshot.release(snapshot)
      :ok

  What it costs, what it retains and when it ends are as with `EchoData.Snapshot`.
  """

  use EchoData.Moment, close: :buckets_close

  defimpl Inspect do
    alias EchoData.{Appearance, Native}

    def inspect(%{ref: ref}, _options),
      do: Appearance.of(@for, Native.buckets_bits(ref), Native.buckets_size(ref), "entries")
  end
end
