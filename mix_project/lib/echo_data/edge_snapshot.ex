defmodule EchoData.EdgeSnapshot do
  @moduledoc """
  One moment of a relation, kept readable: several questions to an `EchoData.Bcs.EdgeStore`, or to an
  `EchoData.Edges`, that are answered of the same moment.

  The functions that read a relation take a snapshot of it in its place, and answer as they would have at
  that moment, whatever is linked and unlinked meanwhile.

      iex> edges = EchoData.Edges.new("PRT", "AST")
      iex> EchoData.Edges.add_by_snowflake(edges, 1, 2)
      iex> snapshot = EchoData.Edges.snapshot(edges)
      iex> EchoData.Edges.add_by_snowflake(edges, 1, 3)
      iex> {EchoData.Edges.size(snapshot), EchoData.Edges.size(edges)}
      {1, 2}
      iex> EchoData.EdgeSnapshot.release(snapshot)
      :ok

  What it costs, what it retains and when it ends are as with `EchoData.Snapshot`.
  """

  use EchoData.Moment, close: :relation_close

  defimpl Inspect do
    def inspect(%{ref: ref}, _options) do
      size =
        with edges when edges != :closed <- EchoData.Native.relation_size(ref),
             do: "#{edges} edges"

      EchoData.Relation.inspect("EchoData.EdgeSnapshot", ref, size)
    end
  end
end
