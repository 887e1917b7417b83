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

  Unlike the other snapshots it is not enumerable, and neither is a relation: edges are asked for by an id at
  one of their ends, and the ids are kept where they belong, in a property store of the subjects, say. All
  edges of a moment are those of all subjects:

      iex> follows = EchoData.Edges.new("USR", "USR")
      iex> [ann, bob, cat] = for n <- 1..3, do: EchoData.BrandedId.encode!("USR", n)
      iex> EchoData.Edges.add_many(follows, [{ann, bob}, {ann, cat, :close}, {cat, ann}])
      iex> snapshot = EchoData.Edges.snapshot(follows)
      iex> edges =
      ...>   for subject <- [ann, bob, cat],
      ...>       {:ok, objects} = EchoData.Bcs.EdgeStore.from(snapshot, subject),
      ...>       {object, props} <- objects,
      ...>       do: {subject, object, props}
      iex> edges == [{ann, bob, nil}, {ann, cat, :close}, {cat, ann, nil}]
      true

  What it costs, what it retains and when it ends are as with `EchoData.Snapshot`.
  """

  use EchoData.Moment, close: :relation_close

  defimpl Inspect do
    alias EchoData.{Appearance, Native}

    def inspect(%{ref: ref}, _options),
      do: Appearance.of(@for, Native.relation_rule(ref), Native.relation_size(ref), "edges")
  end
end
