defmodule EchoData.Timeline do
  @moduledoc """
  Values in the order of time: an ordered store behind a handle, under the ids of one namespace.

      iex> alias EchoData.Timeline
      iex> timeline = Timeline.new("EVT")
      iex> Timeline.put(timeline, "EVT0NgWEfAEJfs", :login)
      :ok
      iex> Timeline.fetch(timeline, "EVT0NgWEfAEJfs")
      {:ok, :login}
      iex> Timeline.latest(timeline, 10)
      [{"EVT0NgWEfAEJfs", :login}]

  The handle can be given to any process of the node; all work on the same rows at once, without messages
  and without waiting for each other. The process that made the timeline owns it: the timeline closes when
  its owner ends, before anybody who monitors the owner hears of it, or with `close/1`, or when nobody
  refers to it any more. A call on a closed timeline raises `ArgumentError`.

  Rows are `{id, value}`. A wrong or malformed id raises `ArgumentError`, and nothing is touched. What a
  reader sees and what a value may be is told in `EchoData.Bcs.PropertyStore`; functions that read take an
  `EchoData.Snapshot` in the place of the timeline.

  A timeline is enumerable, oldest first, over a snapshot that is taken when the enumeration begins. It is
  collectable: `Enum.into/2` puts all rows in one step.

  In the costs below n is the number of rows. Walking is amortised O(1) a row.
  """

  import EchoData.Argument, only: [access!: 1, refuse!: 3, unix_ms!: 2]

  alias EchoData.{Bcs, BrandedId, Native, Ordered, Snapshot, Snowflake}

  @enforce_keys [:ref]
  defstruct [:ref]

  @typedoc "A timeline. Its fields are private."
  @type t :: %__MODULE__{ref: reference}

  @typedoc "What can be read: a timeline as it is now, or as it was."
  @type source :: t | Snapshot.t()

  @typedoc "A value under its id."
  @type row :: {BrandedId.t(), term}

  @doc """
  A new timeline for ids of `namespace`, owned by the calling process.

    * `:access` - what other processes may do: `:public` (the default) everything, `:protected` read,
      `:private` nothing but `size/1` and `info/1`; other uses raise `ArgumentError`

  Raises `ArgumentError` unless `namespace` is three letters A to Z.
  """
  @spec new(BrandedId.namespace(), access: :public | :protected | :private) :: t
  def new(namespace, options \\ []) do
    case Native.timeline_new(namespace, access!(options)) do
      :closed -> closed!()
      ref -> %__MODULE__{ref: ref}
    end
  end

  @doc """
  Closes the timeline for everybody; its memory is given back in the background. O(1), also the second
  time. Raises `ArgumentError` when the caller may not write.
  """
  @spec close(t) :: :ok
  def close(%__MODULE__{ref: ref}) do
    Native.ordered_close(ref)
    :ok
  end

  @doc """
  Puts a value under an id, in the place of any other. O(log n); the newest id is appended in O(1).
  """
  @spec put(t, BrandedId.t(), term) :: :ok
  def put(%{ref: ref} = timeline, id, value) do
    case Native.ordered_put(ref, id, value) do
      :ok -> :ok
      refused -> refuse_id!(refused, timeline, id)
    end
  end

  @doc """
  As `put/3`, with the snowflake of the id. Raises `ArgumentError` unless it is an integer in `0..2^63-1`.
  """
  @spec put_by_snowflake(t, Snowflake.t(), term) :: :ok
  def put_by_snowflake(%{ref: ref}, snowflake, value),
    do: open!(Native.timeline_put_by_snowflake(ref, snowflake, value))

  @doc """
  Mints an id, puts the value under it and answers the id. O(1), in one native call.

  Raises `RuntimeError` before `EchoData.Snowflake.start/1`.
  """
  @spec append(t, term) :: BrandedId.t()
  def append(%{ref: ref}, value), do: open!(Native.timeline_append(ref, value))

  @doc """
  Puts all rows in one step: every reader sees all of them or none. Of rows with the same id the last wins.

  O(rows log n), far less for rows that are neighbours. Raises `ArgumentError`, and puts nothing, when an
  id is wrong, naming its position from 0.
  """
  @spec put_many(t, [row]) :: :ok
  def put_many(%{ref: ref} = timeline, rows) do
    case Ordered.put_many(ref, rows) do
      :ok -> :ok
      refused -> refuse_at!(refused, timeline, "rows")
    end
  end

  @doc "The value under an id, or `:error`. O(log n)."
  @spec fetch(source, BrandedId.t()) :: {:ok, term} | :error
  def fetch(%{ref: ref} = source, id), do: found(Native.ordered_get(ref, id), source, id)

  @doc """
  The rows of many ids, all of one moment: those that are there, in the order of the ids.

  O(ids log n), with the waits for memory overlapped: cheaper than as many `fetch/2`.
  """
  @spec get_many(source, [BrandedId.t()]) :: [row]
  def get_many(%{ref: ref} = source, ids) do
    case Ordered.get_many(ref, ids) do
      {:ok, rows} -> rows
      refused -> refuse_at!(refused, source, "ids")
    end
  end

  @doc "Removes an id and its value: `:ok`, or `:error` when it was not there. O(log n)."
  @spec delete(t, BrandedId.t()) :: :ok | :error
  def delete(%{ref: ref} = timeline, id) do
    case Native.ordered_delete(ref, id) do
      :ok -> :ok
      refused -> found(refused, timeline, id)
    end
  end

  @doc """
  Removes an id and answers its value, or `:error`; of several callers one gets it. O(log n).
  """
  @spec take(t, BrandedId.t()) :: {:ok, term} | :error
  def take(%{ref: ref} = timeline, id),
    do: found(Native.ordered_take(ref, id), timeline, id)

  @doc """
  The newest `n` rows, newest first: `page_desc/3` without a cursor.

  O(log n + page). Raises `ArgumentError` unless `n` is a positive integer; so do all functions here.
  """
  @spec latest(source, pos_integer) :: [row]
  def latest(source, n), do: page(source, :desc, nil, n, true)

  @doc """
  Up to `n` rows after an id, which need not be there, oldest first: `page_asc/3` with a cursor.
  """
  @spec after_cursor(source, BrandedId.t(), pos_integer) :: [row]
  def after_cursor(source, id, n) when is_binary(id), do: page(source, :asc, id, n, true)
  def after_cursor(source, id, _n), do: refuse_id!({:error, :invalid}, source, id)

  @doc """
  Up to `n` rows minted at a `DateTime` or later, oldest first. O(log n + page).
  """
  @spec since(source, DateTime.t(), pos_integer) :: [row]
  def since(%{ref: ref}, datetime, n),
    do: answered!(Ordered.since(ref, unix_ms!("datetime", datetime), n))

  @doc """
  Up to `n` rows, newest first. O(log n + page).

    * `:before` - only rows with an id older than this one, which need not be there
    * `:values` - `false` for ids in the place of rows
  """
  @spec page_desc(source, pos_integer, before: BrandedId.t() | nil, values: boolean) ::
          [row] | [BrandedId.t()]
  def page_desc(source, n, options \\ []) do
    {cursor, values} = Ordered.page_options!(options, :before, true)
    page(source, :desc, cursor, n, values)
  end

  @doc """
  Up to `n` rows, oldest first. As `page_desc/3`, with `:after` for `:before`.
  """
  @spec page_asc(source, pos_integer, after: BrandedId.t() | nil, values: boolean) ::
          [row] | [BrandedId.t()]
  def page_asc(source, n, options \\ []) do
    {cursor, values} = Ordered.page_options!(options, :after, true)
    page(source, :asc, cursor, n, values)
  end

  @doc """
  The rows from the id `lo` on and below the id `hi`, oldest first. O(log n + window).

    * `:values` - `false` for ids in the place of rows
  """
  @spec window(source, BrandedId.t(), BrandedId.t(), values: boolean) :: [row] | [BrandedId.t()]
  def window(%{ref: ref} = source, lo, hi, options \\ []) do
    case Ordered.window(ref, lo, hi, Ordered.values!(options, true)) do
      {:ok, rows} -> rows
      refused -> refuse_bounds!(refused, source, lo, hi)
    end
  end

  @doc "How many ids there are from `lo` on and below `hi`. O(log n), whatever their number."
  @spec count_window(source, BrandedId.t(), BrandedId.t()) :: non_neg_integer
  def count_window(%{ref: ref} = source, lo, hi) do
    case Native.ordered_count(ref, lo, hi) do
      {:ok, count} -> count
      refused -> refuse_bounds!(refused, source, lo, hi)
    end
  end

  @doc """
  How many rows were minted at `from` or later and before `until`, two `DateTime`s. O(log n).
  """
  @spec window_count(source, DateTime.t(), DateTime.t()) :: non_neg_integer
  def window_count(%{ref: ref}, from, until) do
    [from, until] = [unix_ms!("from", from), unix_ms!("until", until)]
    answered!(Native.ordered_count_between(ref, from, until))
  end

  @doc "How many rows there are. O(1)."
  @spec size(source) :: non_neg_integer
  def size(%{ref: ref}), do: open!(Native.ordered_size(ref))

  @doc "What the timeline holds in memory: see `EchoData.Bcs.PropertyStore.info/1`."
  @spec info(source) :: %{atom => non_neg_integer}
  def info(%{ref: ref}), do: open!(Native.ordered_info(ref))

  @doc "The timeline as it is now, kept readable: see `EchoData.Snapshot`. Under a microsecond."
  @spec snapshot(source) :: Snapshot.t()
  def snapshot(%{ref: ref} = source) do
    case open!(Native.ordered_hold(ref)) do
      :held -> source
      moment -> %Snapshot{ref: moment}
    end
  end

  defp page(%{ref: ref} = source, order, cursor, n, values) do
    case Ordered.page(ref, order, cursor, n, values) do
      {:ok, rows} -> rows
      refused -> refuse_id!(refused, source, cursor)
    end
  end

  defp found({:ok, _value} = ok, _source, _id), do: ok
  defp found({:error, :not_found}, _source, _id), do: :error
  defp found(refused, source, id), do: refuse_id!(refused, source, id)

  defp open!(:closed), do: closed!()
  defp open!(answer), do: answer

  defp answered!({:ok, answer}), do: answer
  defp answered!(:closed), do: closed!()

  @spec refuse_id!(term, source, term) :: no_return
  defp refuse_id!(:closed, _source, _id), do: closed!()

  defp refuse_id!({:error, _reason}, source, id),
    do: refuse!("id", "an id of namespace #{namespace(source)}", id)

  @spec refuse_bounds!(term, source, term, term) :: no_return
  defp refuse_bounds!(refused, source, lo, hi) do
    wrong = if match?({:ok, _}, Bcs.gate(lo, namespace(source))), do: hi, else: lo
    refuse_id!(refused, source, wrong)
  end

  @spec refuse_at!(term, source, String.t()) :: no_return
  defp refuse_at!(:closed, _source, _argument), do: closed!()

  defp refuse_at!({:error, {_reason, position}}, source, argument) do
    raise ArgumentError,
          "#{argument} must have ids of namespace #{namespace(source)}, " <>
            "and the one at position #{position} is none"
  end

  defp namespace(%{ref: ref}), do: Native.ordered_namespace(ref)

  @spec closed!() :: no_return
  defp closed!, do: raise(ArgumentError, "the store is closed")

  defimpl Enumerable do
    alias EchoData.{Enumeration, Native, Ordered, Timeline}

    def count(timeline), do: {:ok, Timeline.size(timeline)}

    def member?(%{ref: ref}, {id, value}),
      do: ref |> Native.ordered_get(id) |> Enumeration.member?(value)

    def member?(timeline, _no_row), do: timeline |> count() |> Enumeration.no_member()

    def slice(timeline), do: timeline |> Timeline.snapshot() |> Enumerable.slice()

    def reduce(%{ref: ref}, acc, fun), do: Ordered.reduce(ref, acc, fun)
  end

  defimpl Collectable do
    def into(timeline), do: {[], &collect(timeline, &1, &2)}

    defp collect(_timeline, rows, {:cont, row}), do: [row | rows]
    defp collect(_timeline, _rows, :halt), do: :ok

    defp collect(timeline, rows, :done) do
      EchoData.Timeline.put_many(timeline, Enum.reverse(rows))
      timeline
    end
  end

  defimpl Inspect do
    alias EchoData.{Appearance, Native}

    def inspect(%{ref: ref}, _options),
      do: Appearance.of(@for, Native.ordered_namespace(ref), Native.ordered_info(ref), "rows")
  end
end
