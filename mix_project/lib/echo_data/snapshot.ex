defmodule EchoData.Snapshot do
  @moduledoc """
  One moment of a property store or a timeline, kept readable.

  The functions that read a store take a snapshot of it in its place, and answer as they would have at that
  moment, whatever is written meanwhile; only `info/1` tells of the store as it is now. A snapshot is also
  enumerable: its rows, `{id, value}`, oldest first.

      iex> timeline = EchoData.Timeline.new("EVT")
      iex> EchoData.Timeline.put_by_snowflake(timeline, 1, :first)
      iex> snapshot = EchoData.Timeline.snapshot(timeline)
      iex> EchoData.Timeline.put_by_snowflake(timeline, 2, :second)
      iex> Enum.to_list(snapshot)
      [{"EVT00000000001", :first}]
      iex> EchoData.Timeline.size(snapshot)
      1

  Taking one costs less than a microsecond and no memory. While it is held, at most the memory that the
  store had at the moment is retained, however much is written. It ends with `release/1`, when it is garbage
  collected, or with its store, whichever comes first; using it then raises `ArgumentError`.

  `Enum.count/1` and `Enum.at/2` do not walk the rows: they cost O(1) and O(log n).
  """

  use EchoData.Moment, close: :ordered_close

  alias EchoData.{Enumeration, Native, Ordered}

  @doc false
  @spec closed!() :: no_return
  def closed!,
    do: raise(ArgumentError, "the snapshot was released, or its store is closed")

  defimpl Enumerable do
    def count(%{ref: ref}) do
      case Native.ordered_size(ref) do
        :closed -> EchoData.Snapshot.closed!()
        size -> {:ok, size}
      end
    end

    def member?(%{ref: ref}, {id, value}),
      do: ref |> Native.ordered_get(id) |> Enumeration.member?(value)

    def member?(snapshot, _no_row), do: snapshot |> count() |> Enumeration.no_member()

    def slice(%{ref: ref} = snapshot) do
      {:ok, size} = count(snapshot)
      read = &Ordered.slice(ref, &1, &2)
      {:ok, size, &Enumeration.slice(read, &1, &2, &3)}
    end

    def reduce(%{ref: ref}, acc, fun), do: Ordered.reduce(ref, acc, fun)
  end

  defimpl Inspect do
    alias EchoData.{Appearance, Native}

    def inspect(%{ref: ref}, _options),
      do: Appearance.of(@for, Native.ordered_namespace(ref), Native.ordered_size(ref), "rows")
  end
end
