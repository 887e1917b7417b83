defmodule EchoData.Leaderboard do
  @moduledoc """
  Rankings of windows of time: of today, of this hour, of the last seven days, of all time. An entry counts in all
  windows that its moment is in, and every reader sees it in all of them or in none.

      iex> alias EchoData.{BrandedId, Leaderboard, Snowflake}
      iex> board = Leaderboard.new("PLR", windows: [:all_time, {:day, 1}])
      iex> [ann, bob] = for n <- 1..2, do: BrandedId.encode!("PLR", n)
      iex> [monday, tuesday] = [~U[2026-03-02 12:00:00Z], ~U[2026-03-03 12:00:00Z]]
      iex> enter = &Leaderboard.enter(board, &1, &2, entry: Snowflake.min_for(&3))
      iex> enter.(ann, 90, monday)
      {:ok, [:all_time, {:day, 1}]}
      iex> enter.(bob, 70, tuesday)
      {:ok, [:all_time, {:day, 1}]}
      iex> enter.(ann, 60, tuesday)
      {:ok, [{:day, 1}]}
      iex> Leaderboard.top(board, :all_time, 10) == [{0, ann, 90}, {1, bob, 70}]
      true
      iex> Leaderboard.top(board, {:day, 1}, 10, at: tuesday) == [{0, bob, 70}, {1, ann, 60}]
      true

  ## Entries

  What happens to a member is an *entry*: an id that was minted for the attempt, of any namespace, or its
  snowflake. Its time says which windows it is in, so an entry that arrives late counts where it belongs; and
  its place among all ids says which of two entries was earlier, also within a millisecond. Without `:entry`
  one is minted when `enter/4` is called.

  Which of a member's entries in a window count is the board's `:counts`: `:best`, `:last`, the one that was
  minted last, or `:sum`, of all of them, which an entry is then to be entered only once for.

  ## Places

  Members stand by their scores, by `order: :desc` the highest first and by `order: :asc` the lowest; of equal
  scores the earlier entry is ahead in both, so that no two members share a place. Of sums the earlier is the
  one that was reached first. Places are counted from 0, rows are `{place, member, score}`, and scores are
  integers of 64 bits or, if the board is made so, floats.

  ## Windows

    * `:all_time`
    * `{unit, count}`, such as `{:day, 1}` or `{:minute, 15}`: windows that follow each other; units are
      `:millisecond`, `:second`, `:minute`, `:hour`, `:day` and `:week`, all of UTC; weeks begin on Mondays,
      others at multiples of their width since 1970
    * `{unit, count, every: {unit, count}}`, such as `{:day, 7, every: {:day, 1}}`: windows that overlap, of which
      one begins at every step; an entry is put into all that it is in. A reader gets the one that ends with
      the step of its instant: the last seven days, today included

  `enter/4` and the readers take `group:`, as in `EchoData.RankedSet`: a room, a region, a game, each with all
  windows. Readers take `at:`, a `DateTime`, by default now.

  A window is one group of a ranked set, whose `EchoData.RankedSet.drop_group/2` cuts it off the tree, so
  `expire/2` costs O(log n) a window, however many members it has. The board does not expire by itself:
  have a timer call it as often as the smallest window ends.

  A board is behind a handle, as an `EchoData.RankedSet` is: any process may use it, and it ends with its owner.

  In the costs below n is the number of members in all windows.
  """

  import EchoData.Argument, only: [access!: 1, count!: 1, options!: 2, refuse!: 3, unix_ms!: 2]

  alias EchoData.Leaderboard.Window
  alias EchoData.{BrandedId, Native, RankedSet, RankedSnapshot, Snowflake}

  @enforce_keys [:set, :windows, :counts, :cut]
  defstruct [:set, :windows, :counts, :cut]

  @typedoc "A board, or a snapshot of it. Its fields are private."
  @type t :: %__MODULE__{
          set: RankedSet.t() | RankedSnapshot.t(),
          windows: [Window.t()],
          counts: :best | :last | :sum,
          cut: :atomics.atomics_ref()
        }

  @type unit :: :millisecond | :second | :minute | :hour | :day | :week
  @type window ::
          :all_time
          | {unit, pos_integer}
          | {unit, pos_integer, [{:every, {unit, pos_integer}}]}

  @type place :: non_neg_integer
  @type row :: {place, BrandedId.t(), number}
  @type query :: [at: DateTime.t(), group: RankedSet.group()]
  @type refused :: {:error, :namespace | :invalid}

  @windows [:all_time, {:day, 1}, {:hour, 1}]

  @doc """
  A new board for members of a namespace, owned by the calling process.

    * `:windows` - by default `[:all_time, {:day, 1}, {:hour, 1}]`
    * `:counts` - `:best` (the default), `:last` or `:sum`
    * `:order` - `:desc` (the default), the highest score first, or `:asc`, the lowest
    * `:score` - `:integer` (the default) or `:float`
    * `:access` - as in `EchoData.RankedSet.new/2`

  Raises `ArgumentError` for anything else.
  """
  @spec new(BrandedId.namespace(), keyword) :: t
  def new(namespace, options \\ []) do
    options =
      options!(options,
        windows: @windows,
        counts: :best,
        order: :desc,
        score: :integer,
        access: :public
      )

    windows = Window.all!(options[:windows])
    counts = one_of!("counts", [:best, :last, :sum], options[:counts])
    order = one_of!("order", [:asc, :desc], options[:order])
    score = one_of!("score", [:integer, :float], options[:score])
    access = access!(Keyword.take(options, [:access]))

    set = RankedSet.new(namespace, score: {score, :integer}, order: {order, :asc}, access: access)

    %__MODULE__{set: set, windows: windows, counts: counts, cut: :atomics.new(1, [])}
  end

  @doc "Closes a board for everybody. O(1), also the second time."
  @spec close(t) :: :ok
  def close(%__MODULE__{set: %RankedSet{} = set}), do: RankedSet.close(set)

  @doc """
  Enters what a member reached. Answers the windows in which its score or its place changed: those in which the
  entry counts.

    * `:entry` - the id of the attempt, or its snowflake
    * `:group` - the ranking

  Windows that were over at the instant of an expiry are not begun again: a late entry does not count in them.
  One that is entered at the same time may be, and is dropped by the next expiry.

  O(windows × log n), in one step; of over 128 windows on a dirty scheduler. `{:error, :overflow}` when a sum is
  out of range, in any window; nothing is changed then. Raises `ArgumentError` for a score of another kind than
  the board's and for an entry that is no id, and `RuntimeError` when an entry is to be minted before
  `EchoData.Snowflake.start/1`.
  """
  @spec enter(t, BrandedId.t(), number,
          entry: BrandedId.t() | Snowflake.t(),
          group: RankedSet.group()
        ) :: {:ok, [window]} | {:error, :overflow} | refused
  def enter(%__MODULE__{set: %{ref: ref}} = board, member, score, options \\ []) do
    options = options!(options, [:entry, :group])
    entry = entry!(options)
    places = places(board, Snowflake.unix_ms(entry))
    groups = for {window, start} <- places, do: group(window, start, options[:group])

    entered =
      with :large <- Native.leaderboard_enter(ref, member, score, entry, groups, board.counts),
           do: Native.leaderboard_enter_large(ref, member, score, entry, groups, board.counts)

    case entered do
      {:ok, puts} -> {:ok, changed(places, puts)}
      :closed -> raise ArgumentError, "the store is closed"
      refused -> refused
    end
  end

  # The windows that an entry counts in, but for those that are cut off.
  defp places(board, ms) do
    cut = :atomics.get(board.cut, 1)

    for window <- board.windows,
        start <- Window.starts(window, ms),
        not Window.over?(window, start, cut),
        do: {window, start}
  end

  defp changed(places, puts) do
    places
    |> Enum.zip(puts)
    |> Enum.reject(&match?({_place, :unchanged}, &1))
    |> Enum.map(fn {{window, _start}, _put} -> window.said end)
    |> Enum.dedup()
  end

  defp entry!(options) do
    case Keyword.fetch(options, :entry) do
      :error -> Snowflake.next()
      {:ok, snowflake} when is_integer(snowflake) -> valid_entry!(snowflake)
      {:ok, id} -> decoded_entry!(id)
    end
  end

  defp valid_entry!(snowflake),
    do: if(Snowflake.valid?(snowflake), do: snowflake, else: refuse_entry!(snowflake))

  defp decoded_entry!(id) do
    case BrandedId.decode(id) do
      {:ok, snowflake} -> snowflake
      :error -> refuse_entry!(id)
    end
  end

  @doc "The first `n` rows of a window. O(log n + rows)."
  @spec top(t, window, pos_integer, query) :: [row]
  def top(board, window, n, options \\ []),
    do: by_place(board, window, {0, count!(n) - 1}, options)

  @doc """
  The rows at a range of places, as `EchoData.RankedSet.by_rank/3` takes it. O(log n + rows).
  """
  @spec by_place(t, window, Range.t() | {integer | nil, integer | nil}, query) :: [row]
  def by_place(%__MODULE__{set: set} = board, window, range, options \\ []),
    do: set |> RankedSet.by_rank(range, asked(board, window, options)) |> rows()

  @doc "A member's row between those of up to `n` on each side; `:error` when it is not there. O(log n + rows)."
  @spec around(t, window, BrandedId.t(), non_neg_integer, query) :: [row] | :error | refused
  def around(%__MODULE__{set: set} = board, window, member, n, options \\ []),
    do: set |> RankedSet.around(member, n, asked(board, window, options)) |> rows()

  @doc "Where a member stands, or `:error`. O(log n)."
  @spec rank(t, window, BrandedId.t(), query) :: {:ok, place} | :error | refused
  def rank(%__MODULE__{set: set} = board, window, member, options \\ []),
    do: RankedSet.rank(set, member, asked(board, window, options))

  @doc "Where many members stand, all at one moment; `nil` for those that are not there. O(members log n)."
  @spec ranks(t, window, [BrandedId.t()], query) :: [place | nil] | refused
  def ranks(%__MODULE__{set: set} = board, window, members, options \\ []),
    do: RankedSet.ranks(set, members, asked(board, window, options))

  @doc "The score that counts, or `:error`. O(log n)."
  @spec score(t, window, BrandedId.t(), query) :: {:ok, number} | :error | refused
  def score(board, window, member, options \\ []) do
    with {:ok, {score, _entry}} <- counting(board, window, member, options), do: {:ok, score}
  end

  @doc "The snowflake of the entry that counts, of a sum the last one, or `:error`. O(log n)."
  @spec entry(t, window, BrandedId.t(), query) :: {:ok, Snowflake.t()} | :error | refused
  def entry(board, window, member, options \\ []) do
    with {:ok, {_score, entry}} <- counting(board, window, member, options), do: {:ok, entry}
  end

  defp counting(%__MODULE__{set: set} = board, window, member, options),
    do: RankedSet.score(set, member, asked(board, window, options))

  @doc "How many members have an entry in a window. O(log n)."
  @spec count(t, window, query) :: non_neg_integer
  def count(%__MODULE__{set: set} = board, window, options \\ []),
    do: RankedSet.count(set, asked(board, window, options))

  @doc """
  Drops all windows, of all groups, that are over at an instant, and answers how many members they had, one in
  several counted for each. O(windows log n), however many members they have.

  Raises `ArgumentError` for a snapshot, and when the caller may not write; nothing is cut off then.
  """
  @spec expire(t, DateTime.t()) :: {:ok, non_neg_integer}
  def expire(%__MODULE__{set: set} = board, instant \\ DateTime.utc_now()) do
    ms = unix_ms!("instant", instant)
    :ok = writable!(set)
    cut(board.cut, ms, :atomics.get(board.cut, 1))

    dropped =
      for group <- RankedSet.groups(set), over?(board, group, ms) do
        {:ok, members} = RankedSet.drop_group(set, group)
        members
      end

    {:ok, Enum.sum(dropped)}
  end

  # No window is this group: nothing is dropped, but whoever may not drop is told so.
  defp writable!(set) do
    {:ok, 0} = RankedSet.drop_group(set, nil)
    :ok
  end

  # The later of two expiries counts.
  defp cut(cut, ms, before) when ms > before do
    case :atomics.compare_exchange(cut, 1, before, ms) do
      :ok -> :ok
      other -> cut(cut, ms, other)
    end
  end

  defp cut(_cut, _ms, _before), do: :ok

  defp over?(board, group, ms) do
    window = Enum.at(board.windows, elem(group, 0))
    Window.over?(window, elem(group, 1), ms)
  end

  @doc """
  A board as it is now, kept readable: several questions that are answered of the same moment. It is released
  by `release/1`, or when it is garbage collected. Under a microsecond.
  """
  @spec snapshot(t) :: t
  def snapshot(%__MODULE__{set: set} = board), do: %{board | set: RankedSet.snapshot(set)}

  @doc "Gives a snapshot up at once. O(1); the second time, too."
  @spec release(t) :: :ok
  def release(%__MODULE__{set: %RankedSnapshot{} = snapshot}),
    do: RankedSnapshot.release(snapshot)

  @doc "What a board holds in memory, as `EchoData.RankedSet.info/1` says it, and its `:windows`."
  @spec info(t) :: %{atom => term}
  def info(%__MODULE__{set: set, windows: windows}) do
    info = set |> RankedSet.info() |> Map.drop([:unique])
    {{score, _entry}, {order, _earlier_first}} = {info.score, info.order}
    Map.merge(info, %{score: score, order: order, windows: Enum.map(windows, & &1.said)})
  end

  # The options of a ranked set for what is asked of a window.
  defp asked(board, window, options) do
    options = options!(options, [:at, :group])
    window = window!(board, window)
    at = Keyword.get_lazy(options, :at, &DateTime.utc_now/0)
    [group: group(window, Window.start(window, unix_ms!("at", at)), options[:group])]
  end

  defp window!(board, said) do
    Enum.find(board.windows, &(&1.said == said)) ||
      refuse!("window", "one of #{inspect(Enum.map(board.windows, & &1.said))}", said)
  end

  # A window's group: its number, when it began, and the fields of the group in it.
  defp group(window, start, none) when none in [nil, [nil], {nil}], do: {window.number, start}

  defp group(window, start, fields) when is_tuple(fields),
    do: List.to_tuple([window.number, start | Tuple.to_list(fields)])

  defp group(window, start, fields) when is_list(fields), do: [window.number, start | fields]
  defp group(window, start, field), do: {window.number, start, field}

  defp rows(rows) when is_list(rows),
    do: for({place, member, {score, _entry}} <- rows, do: {place, member, score})

  defp rows(refused), do: refused

  defp one_of!(name, choices, chosen) do
    if chosen in choices, do: chosen, else: refuse!(name, "one of #{inspect(choices)}", chosen)
  end

  @spec refuse_entry!(term) :: no_return
  defp refuse_entry!(other), do: refuse!("entry", "a branded id or a snowflake", other)

  defimpl Inspect do
    def inspect(board, _options) do
      windows = Enum.map_join(board.windows, ", ", &Kernel.inspect(&1.said))
      "#EchoData.Leaderboard<#{windows}, #{Kernel.inspect(board.set)}>"
    end
  end
end
