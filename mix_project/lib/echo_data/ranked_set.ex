defmodule EchoData.RankedSet do
  @moduledoc """
  Members ordered by score, in groups: leaderboards, priorities, percentiles. Where does a member, or a score,
  stand, and who stands at a place? Both are answered in O(log n), whatever the number of ties.

      iex> alias EchoData.RankedSet
      iex> set = RankedSet.new("PLR")
      iex> [ann, bob, cat, dan, eve] = for n <- 1..5, do: EchoData.BrandedId.encode!("PLR", n)
      iex> RankedSet.put_all(set, [{ann, 40}, {eve, 55}, {bob, 70}, {cat, 70}, {dan, 90}])
      {:ok, 5}
      iex> for ties <- [:ordinal, :competition, :dense, :max], do: RankedSet.rank(set, cat, ties: ties)
      [{:ok, 3}, {:ok, 2}, {:ok, 2}, {:ok, 3}]
      iex> RankedSet.by_rank(set, 0..1, order: :desc) == [{0, dan, 90}, {1, cat, 70}]
      true
      iex> RankedSet.rank_for_score(set, 60)
      2

  ## Members, scores, groups

  A *member* is an id of the set's namespace. It has one *score* in each *group* that it is in, and a group is
  a ranking of its own.

  A score is an integer, all of `-2^63..2^63-1` exactly, or a float, in which `-0.0` is `0.0`; or `nil`, which
  comes before every number. It can be a pair, `{points, time}`: the first field decides, and then the second.
  Each field ascends or, when the set is made so, descends; then the larger number comes before the smaller
  one, and `nil` after all. No integer is taken for a float and no float for an integer.

  The group is `nil`, unless the option `:group` names one: an integer of 64 bits, an atom or a binary; or
  several of these, as a tuple, or as a list, which names the same group. A group is there while it has
  members, and an unknown one is as an empty one.

  ## Ranks

  Ranks are counted from 0. Options of questions, all of them everywhere:

    * `:group` - which ranking, by default `nil`
    * `:order` - `:asc`, which is the set's own order, or `:desc`, its mirror image: the last is the first
    * `:ties` - how members with the same score stand, for `ann < eve < bob = cat < dan`:

  | `:ties` | rank | |
  |---|---|---|
  | `:ordinal` | by score, then by id: every member has its own | 0 1 2 3 4 |
  | `:competition` | how many members are before the tie | 0 1 2 2 4 |
  | `:dense` | how many different scores are before | 0 1 2 2 3 |
  | `:max` | the last place of the tie | 0 1 3 3 4 |

  Rows are `{rank, id, score}`. Where they are listed, their ranks are those in the whole group, counted along
  the walk and not by a search for each.

  ## A handle, or a process under a name

  `new/2` makes a handle, as `EchoData.Timeline.new/2` does: any process of the node may use it, the one that
  made it owns it, and it closes when its owner ends, with `close/1`, or when nobody refers to it any more; a
  call then raises `ArgumentError`. `start_link/1` starts a process that owns a set, which is used by its name
  or pid; that costs no message and does not wait for the process, as with `EchoData.Bcs.PropertyStore`. All
  functions take either, and those that read a snapshot, too.

  Every change is one step: no reader finds a member at a rank without its score, or counts that do not add up.

  A handle and a snapshot are enumerable, over the rows of the group `nil`, at the moment at which the
  enumeration begins. A handle is collectable: `Enum.into/2` puts all `{id, score}` into that group in one step.

  ## What is refused

  An id of another namespace answers `{:error, :namespace}` and what is no id `{:error, :invalid}`, of every
  function that takes ids; one bad id in a list refuses the whole. A score of another kind than the set's, a
  group that is none, an unknown option and conditions that no member can meet raise `ArgumentError`. Nothing
  is changed then.

  In the costs below n is the number of members. Walking is amortised O(1) a row.
  """

  import EchoData.Argument, only: [access!: 1, natural!: 2, options!: 2, refuse!: 3]

  alias EchoData.Bcs.Owner
  alias EchoData.RankedSet.Options
  alias EchoData.{BrandedId, Enumeration, Native, RankedSnapshot, Snapshot, Steps}

  @enforce_keys [:ref]
  defstruct [:ref]

  @typedoc "A handle. Its fields are private."
  @type t :: %__MODULE__{ref: reference}

  @typedoc "What can be changed: a set behind a handle, or that of a process."
  @type set :: t | GenServer.server()

  @typedoc "What can be read: a set as it is now, or as it was."
  @type source :: set | RankedSnapshot.t()

  @typedoc "One field of a score."
  @type field :: integer | float | nil

  @type score :: field | {field, field}

  @typedoc "A score, which is inside; one that is outside; or no bound."
  @type bound :: score | {:exclusive, score} | nil

  @type group_field :: integer | atom | binary

  @typedoc "A ranking. `nil` and the list without fields are the same, and so are one field and it in a list."
  @type group :: group_field | [group_field] | tuple

  @type rank :: non_neg_integer
  @type row :: {rank, BrandedId.t(), score}

  @type order :: :asc | :desc
  @type ties :: :ordinal | :competition | :dense | :max
  @type condition :: :new | :exists | :greater | :less

  @type query :: [group: group, order: order, ties: ties]
  @type listing :: [group: group, order: order, ties: ties, limit: pos_integer | :all]

  @type kind :: :integer | :float
  @type refused :: {:error, :namespace | :invalid}

  @typedoc "Options of `new/2` and `start_link/1`."
  @type set_options :: [
          score: kind | {kind, kind},
          order: order | {order, order},
          unique: boolean
        ]

  @own [score: :integer, order: :asc, unique: false]

  @doc """
  A new set of ids of a namespace, owned by the calling process.

    * `:score` - `:integer` (the default), `:float`, or a pair of them for scores of two fields
    * `:order` - the set's own ascending order: `:asc` (the default) or `:desc` by its numbers; for a pair one
      for both fields, or a pair
    * `:unique` - whether no two members of a group may have the same score, `nil` included; `false`
    * `:access` - what other processes may do: `:public` (the default) everything, `:protected` read,
      `:private` nothing but `info/1`; other uses raise `ArgumentError`

  Raises `ArgumentError` for anything else.
  """
  @spec new(BrandedId.namespace(), keyword) :: t
  def new(namespace, options \\ []) do
    options = options!(options, [{:access, :public} | @own])
    access = access!(Keyword.take(options, [:access]))
    {fields, unique} = own!(options)

    case Native.ranked_new(namespace, fields, unique, access) do
      :closed -> closed!()
      ref -> %__MODULE__{ref: ref}
    end
  end

  @doc """
  Starts a process that owns a set, linked to the caller. It starts empty, and its members are gone when it
  ends.

    * `:namespace` - of the ids; required
    * `:name` - as for `GenServer.start_link/3`
    * `:score`, `:order`, `:unique` - as in `new/2`

  Raises `ArgumentError` for other options.
  """
  @spec start_link(keyword) :: GenServer.on_start()
  def start_link(options) do
    options = options!(options, [:name, :namespace | @own])
    namespace = EchoData.Argument.namespace!("namespace", options[:namespace])
    {fields, unique} = own!(options)
    open = &Native.ranked_new_named(namespace, fields, unique, &1)
    Owner.start_link(__MODULE__, options[:name], open)
  end

  @doc "A child specification. Its id is the set's name."
  @spec child_spec(keyword) :: Supervisor.child_spec()
  def child_spec(options), do: Owner.child_spec(__MODULE__, options)

  @doc """
  Closes a set for everybody; its memory is given back in the background. O(1), also the second time. Raises
  `ArgumentError` when the caller may not write.
  """
  @spec close(t) :: :ok
  def close(%__MODULE__{ref: ref}) do
    Native.ranked_close(ref)
    :ok
  end

  @doc """
  Gives a member a score, in the place of the one that it has in the group. O(log n).

    * `:group` - the ranking
    * `:if` - a condition, or a list of conditions that are all to be met: `:new`, the member has no score;
      `:exists`, it has one; `:greater`, its score comes before this one in the set's own order, or it has
      none; `:less`, its score comes after this one, or it has none

  Answers `{:ok, :unchanged}` when the member has this score already, or when the conditions are not met, and
  `{:error, :not_unique}` when the set is unique and another member has the score.

      iex> set = EchoData.RankedSet.new("PLR")
      iex> for score <- [50, 40, 60], do: EchoData.RankedSet.put(set, "PLR00000000001", score, if: :greater)
      [{:ok, :added}, {:ok, :unchanged}, {:ok, :updated}]
  """
  @spec put(set, BrandedId.t(), score, group: group, if: condition | [condition]) ::
          {:ok, :added | :updated | :unchanged} | {:error, :not_unique} | refused
  def put(set, id, score, options \\ []) do
    {group, conditions} = Options.put!(options)

    set
    |> ref()
    |> Native.ranked_put(id, score, group, conditions)
    |> answer(set, :put, [id, score, options])
  end

  @doc """
  Gives many members their scores in one step: every reader sees all of them or none. Of scores for the same
  member the last counts. Answers how many are new to the group.

  O(rows log n), far less for rows that are neighbours. When a row is wrong nothing is put; the position of a
  score that is, counted from 0, is in the `ArgumentError`.
  """
  @spec put_all(set, [{BrandedId.t(), score}], group: group) ::
          {:ok, non_neg_integer} | {:error, :not_unique} | refused
  def put_all(set, rows, options \\ [])

  def put_all(set, rows, options) when is_list(rows) do
    {ref, group} = {ref(set), Options.group!(options)}

    ref
    |> Native.ranked_put_many(rows, group)
    |> Steps.publish(&Native.ranked_put_more(ref, &1), &Native.ranked_put_staged(ref, &1, group))
    |> answer(set, :put_all, [rows, options])
  end

  def put_all(_set, rows, _options), do: refuse!("rows", "a list of {id, score}", rows)

  @doc """
  Adds to a member's score, field by field, and answers the new one. A member that is not there, and a field
  that is `nil`, begin at zero. O(log n).

  A sum beyond `-2^63..2^63-1`, or beyond the floats, answers `{:error, :overflow}`, and the score stays. What
  is added is a number of the set's kind, or a pair of them: `nil` raises `ArgumentError`.
  """
  @spec increment(set, BrandedId.t(), number | {number, number}, group: group) ::
          {:ok, number | {number, number}} | {:error, :overflow | :not_unique} | refused
  def increment(set, id, delta, options \\ []) do
    set
    |> ref()
    |> Native.ranked_increment(id, delta, Options.group!(options))
    |> answer(set, :increment, [id, delta, options])
  end

  @doc "Takes a member out of a group; `:error` when it is not in it. O(log n)."
  @spec delete(set, BrandedId.t(), group: group) :: :ok | :error | refused
  def delete(set, id, options \\ []) do
    set
    |> ref()
    |> Native.ranked_delete(id, Options.group!(options))
    |> answer(set, :delete, [id, options])
  end

  @doc """
  Takes the `n` members with the smallest scores out of a group, the smallest first; all when there are not so
  many. O(members taken × log n).

  Raises `ArgumentError` unless `n` is a non-negative integer.
  """
  @spec pop_min(set, non_neg_integer, group: group) :: [{BrandedId.t(), score}]
  def pop_min(set, n, options \\ []), do: pop(set, n, :asc, options, :pop_min)

  @doc "As `pop_min/3`, from the other end: the largest first, and among equals the largest id."
  @spec pop_max(set, non_neg_integer, group: group) :: [{BrandedId.t(), score}]
  def pop_max(set, n, options \\ []), do: pop(set, n, :desc, options, :pop_max)

  @doc """
  Takes all members out of a group, and answers how many there were. O(log n), whatever their number, in one
  step; the memory is given back in the background.
  """
  @spec drop_group(set, group) :: {:ok, non_neg_integer}
  def drop_group(set, group),
    do: set |> ref() |> Native.ranked_drop_group(group) |> answer(set, :drop_group, [group])

  @doc "A member's score, or `:error`. O(log n)."
  @spec score(source, BrandedId.t(), query) :: {:ok, score} | :error | refused
  def score(source, id, options \\ []) do
    {group, _ties, _order} = Options.query!(options, :ordinal)
    source |> ref() |> Native.ranked_score(id, group) |> answer(source, :score, [id, options])
  end

  @doc "Where a member stands, or `:error`; `ties: :ordinal` unless it is said. O(log n)."
  @spec rank(source, BrandedId.t(), query) :: {:ok, rank} | :error | refused
  def rank(source, id, options \\ []) do
    source
    |> ref()
    |> Native.ranked_rank(id, Options.query!(options, :ordinal))
    |> answer(source, :rank, [id, options])
  end

  @doc """
  Where many members stand, all at one moment, in the order of the list; `nil` for those that are not there.

  O(ids log n), with the waits for memory overlapped: cheaper than as many `rank/3`.
  """
  @spec ranks(source, [BrandedId.t()], query) :: [rank | nil] | refused
  def ranks(source, ids, options \\ [])

  def ranks(source, ids, options) when is_list(ids) do
    source
    |> ref()
    |> Native.ranked_ranks(ids, Options.query!(options, :ordinal))
    |> Steps.finish(&Native.ranked_ranks_more/1)
    |> list(source, :ranks, [ids, options])
  end

  def ranks(_source, ids, _options), do: refuse!("ids", "a list", ids)

  @doc """
  The rank that a score has or, if nobody has it, would have; `ties: :competition` unless it is said, and
  `:ordinal` is the same. 0 in a group without members. O(log n).
  """
  @spec rank_for_score(source, score, query) :: rank
  def rank_for_score(source, score, options \\ []) do
    source
    |> ref()
    |> Native.ranked_rank_for_score(score, Options.query!(options, :competition))
    |> answer(source, :rank_for_score, [score, options])
  end

  @doc """
  Who stands at a place, every member in a place alone: `select(set, n)` is who has the ordinal rank `n`.
  `:error` when there is no such place. O(log n).
  """
  @spec select(source, integer, query) :: {:ok, {BrandedId.t(), score}} | :error
  def select(source, place, options \\ [])

  def select(source, place, options) when is_integer(place) do
    source
    |> ref()
    |> Native.ranked_select(place, Options.query!(options, :ordinal))
    |> answer(source, :select, [place, options])
  end

  def select(_source, place, _options), do: refuse!("place", "an integer", place)

  @doc "How many members a group has. O(log n)."
  @spec count(source, query) :: non_neg_integer
  def count(source, options \\ []) do
    {group, _ties, _order} = Options.query!(options, :ordinal)
    source |> ref() |> Native.ranked_count(group) |> answer(source, :count, [options])
  end

  @doc "How many different scores a group has. O(log n)."
  @spec count_distinct(source, query) :: non_neg_integer
  def count_distinct(source, options \\ []) do
    {group, _ties, _order} = Options.query!(options, :ordinal)
    answer = source |> ref() |> Native.ranked_count_distinct(group)
    answer(answer, source, :count_distinct, [options])
  end

  @doc """
  How many members of a group have a score from `lo` to `hi`, in the set's own order; 0 when the bounds are the
  wrong way round. O(log n).

      iex> set = EchoData.RankedSet.new("PLR")
      iex> for n <- 1..9, do: EchoData.RankedSet.put(set, EchoData.BrandedId.encode!("PLR", n), n)
      iex> EchoData.RankedSet.count_between(set, 3, {:exclusive, 7})
      4
      iex> EchoData.RankedSet.count_between(set, nil, 3)
      3
  """
  @spec count_between(source, bound, bound, query) :: non_neg_integer
  def count_between(source, lo, hi, options \\ []) do
    {group, _ties, _order} = Options.query!(options, :ordinal)

    source
    |> ref()
    |> Native.ranked_count_between(lo, hi, group)
    |> answer(source, :count_between, [lo, hi, options])
  end

  @doc """
  The rows whose ranks are in a range, `first..last`, or `{first, last}` in which `nil` is open. The range may
  reach beyond what there is, at either end. O(log n + rows).

  With `ties: :ordinal`, as it is unless it is said, these are exactly the members at the places of the range.
  With other ties all members of a tie are in, or none.

    * `:limit` - the most rows, or `:all`
  """
  @spec by_rank(source, Range.t() | {integer | nil, integer | nil}, listing) :: [row]
  def by_rank(source, range, options \\ []) do
    {first, last} = Options.range!(range)
    {query, limit} = Options.listing!(options, :ordinal)

    source
    |> ref()
    |> Native.ranked_by_rank(first, last, query, limit)
    |> listed(source, :by_rank, [range, options])
  end

  @doc """
  The rows whose scores are from `lo` to `hi`, in the set's own order: with `order: :desc` they are listed from
  `hi` to `lo`. O(log n + rows).

    * `:limit` - the most rows, or `:all`
  """
  @spec by_score(source, bound, bound, listing) :: [row]
  def by_score(source, lo, hi, options \\ []) do
    {query, limit} = Options.listing!(options, :ordinal)

    source
    |> ref()
    |> Native.ranked_by_score(lo, hi, query, limit)
    |> listed(source, :by_score, [lo, hi, options])
  end

  @doc """
  A member's row between those of up to `n` members on each side, or `:error` when it is not there.
  O(log n + rows).

  Raises `ArgumentError` unless `n` is a non-negative integer.
  """
  @spec around(source, BrandedId.t(), non_neg_integer, query) :: [row] | :error | refused
  def around(source, id, n, options \\ []) do
    source
    |> ref()
    |> Native.ranked_around(id, natural!("n", n), Options.query!(options, :ordinal))
    |> listed(source, :around, [id, n, options])
  end

  @doc "The groups that have members, in no order that means anything. O(groups)."
  @spec groups(source) :: [group]
  def groups(source) do
    ref = ref(source)
    answer = with :large <- Native.ranked_groups(ref), do: Native.ranked_groups_large(ref)
    list(answer, source, :groups, [])
  end

  @doc "How many members there are in all groups; one that is in two counts twice. O(1)."
  @spec size(source) :: non_neg_integer
  def size(source), do: source |> ref() |> Native.ranked_size() |> answer(source, :size, [])

  @doc """
  What a set holds in memory, as `EchoData.Bcs.PropertyStore.info/1` says it, with its `:namespace`, `:score`,
  `:order` and whether it is `:unique`.
  """
  @spec info(source) :: %{atom => term}
  def info(source) do
    with {namespace, fields, unique} <- Native.ranked_rule(ref(source)),
         %{} = memory <- Native.ranked_info(ref(source)) do
      {score, order} = Options.stated(fields)
      Map.merge(memory, %{namespace: namespace, score: score, order: order, unique: unique})
    else
      :closed -> elsewhere(source, :info, [])
    end
  end

  @doc """
  A set as it is now, kept readable: see `EchoData.RankedSnapshot`. Under a microsecond.

  Raises `ArgumentError` for a set on another node.
  """
  @spec snapshot(source) :: RankedSnapshot.t()
  def snapshot(source) do
    case source |> ref() |> Native.ranked_hold() do
      :closed -> elsewhere(source, :snapshot, [])
      :held -> source
      moment -> %RankedSnapshot{ref: moment}
    end
  end

  @doc false
  @spec reduce(reference, Enumerable.acc(), Enumerable.reducer()) :: Enumerable.result()
  def reduce(ref, acc, fun) do
    doors = {&Native.ranked_hold/1, &slice/3, &Native.ranked_close/1}
    Enumeration.reduce(ref, doors, acc, fun)
  end

  defp slice(ref, first, count) do
    ref
    |> Native.ranked_by_rank(first, first + count - 1, Options.query!([], :ordinal), :all)
    |> Steps.finish(&Native.ranked_more/1)
  end

  defp pop(set, n, order, options, function) do
    {ref, group, count} = {ref(set), Options.group!(options), natural!("n", n)}

    answer =
      with :large <- Native.ranked_pop(ref, count, order, group),
           do: Native.ranked_pop_large(ref, count, order, group)

    list(answer, set, function, [n, options])
  end

  defp own!(options) do
    fields = Options.fields!(options[:score], options[:order])
    {fields, Options.unique!(options[:unique])}
  end

  # What the native functions know a set by.
  defp ref(%module{ref: ref}) when module in [__MODULE__, RankedSnapshot], do: ref
  defp ref(server), do: server

  # Goes on with a call that found no open set natively.
  defp elsewhere(%__MODULE__{}, _function, _arguments), do: closed!()
  defp elsewhere(%RankedSnapshot{}, _function, _arguments), do: Snapshot.closed!()

  defp elsewhere(server, function, arguments),
    do: Owner.call(server, __MODULE__, function, arguments)

  defp answer(:closed, source, function, arguments), do: elsewhere(source, function, arguments)

  defp answer({:error, {reason, _position}}, _source, _function, _arguments),
    do: {:error, reason}

  defp answer(answer, _source, _function, _arguments), do: answer

  defp list({:ok, list}, _source, _function, _arguments), do: list
  defp list(other, source, function, arguments), do: answer(other, source, function, arguments)

  defp listed(answer, source, function, arguments),
    do: answer |> Steps.finish(&Native.ranked_more/1) |> list(source, function, arguments)

  @spec closed!() :: no_return
  defp closed!, do: raise(ArgumentError, "the store is closed")

  defimpl Enumerable, for: [EchoData.RankedSet, EchoData.RankedSnapshot] do
    alias EchoData.RankedSet

    def count(source), do: {:ok, RankedSet.count(source)}

    def member?(source, {rank, id, score}) when is_integer(rank),
      do: {:ok, RankedSet.select(source, rank) === {:ok, {id, score}}}

    def member?(source, _no_row), do: source |> count() |> Enumeration.no_member()

    def slice(source) do
      snapshot = RankedSet.snapshot(source)
      {:ok, RankedSet.count(snapshot), &slice(snapshot, &1, &2, &3)}
    end

    def reduce(%{ref: ref}, acc, fun), do: RankedSet.reduce(ref, acc, fun)

    defp slice(snapshot, first, length, step) do
      rows = RankedSet.by_rank(snapshot, {first, first + (length - 1) * step})
      Enum.take_every(rows, step)
    end
  end

  defimpl Collectable do
    def into(set), do: {[], &collect(set, &1, &2)}

    defp collect(_set, rows, {:cont, row}), do: [row | rows]
    defp collect(_set, _rows, :halt), do: :ok

    defp collect(set, rows, :done) do
      case EchoData.RankedSet.put_all(set, Enum.reverse(rows)) do
        {:ok, _added} -> set
        {:error, reason} -> raise ArgumentError, "rows cannot be put: #{inspect(reason)}"
      end
    end
  end

  defimpl Inspect do
    alias EchoData.{Appearance, Native}

    def inspect(%{ref: ref}, _options),
      do: Appearance.of(@for, Native.ranked_rule(ref), Native.ranked_info(ref), "members")
  end
end
