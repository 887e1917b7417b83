defmodule EchoData.RankedSnapshot do
  @moduledoc """
  One moment of a ranked set, kept readable: several questions to `EchoData.RankedSet` that are answered of the
  same moment.

  The functions that read a ranked set take a snapshot of it in its place, and answer as they would have at
  that moment, whatever is written meanwhile. It is enumerable as its set is.

      iex> alias EchoData.{RankedSet, RankedSnapshot}
      iex> set = RankedSet.new("PLR")
      iex> RankedSet.put(set, "PLR00000000001", 40)
      iex> snapshot = RankedSet.snapshot(set)
      iex> RankedSet.put(set, "PLR00000000002", 30)
      iex> for source <- [snapshot, set], do: RankedSet.rank(source, "PLR00000000001")
      [{:ok, 0}, {:ok, 1}]
      iex> RankedSnapshot.release(snapshot)
      :ok

  What it costs, what it retains and when it ends are as with `EchoData.Snapshot`.
  """

  use EchoData.Moment, close: :ranked_close

  defimpl Inspect do
    alias EchoData.{Appearance, Native}

    def inspect(%{ref: ref}, _options),
      do: Appearance.of(@for, Native.ranked_rule(ref), Native.ranked_size(ref), "members")
  end
end
