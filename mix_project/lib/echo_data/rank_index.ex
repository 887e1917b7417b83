defmodule EchoData.RankIndex do
  @moduledoc """
  Records of a property store, ranked by their own fields: where does a record, or a score, stand, and which
  records stand there? All in O(log n), and never out of step with the records.

      iex> alias EchoData.Bcs.PropertyStore
      iex> alias EchoData.RankIndex
      iex> indexes = [points: [group: :room, score: :points], best: [score: :points, order: :desc]]
      iex> {:ok, store} = PropertyStore.start_link(namespace: "PLR", indexes: indexes)
      iex> [ann, bob, cat] = for n <- 1..3, do: EchoData.BrandedId.encode!("PLR", n)
      iex> PropertyStore.put(store, ann, %{room: "red", points: 40})
      iex> PropertyStore.put(store, bob, %{room: "red", points: 70})
      iex> PropertyStore.put(store, cat, %{room: "blue", points: 55})
      iex> RankIndex.rank(store, :points, bob)
      {:ok, 1}
      iex> RankIndex.rank(store, :points, %{room: "red", points: 50})
      {:ok, 1}
      iex> RankIndex.scan(store, :best, nil, by: :rank, range: 0..1) == [{0, bob, 70}, {1, cat, 55}]
      true
      iex> PropertyStore.put(store, cat, %{room: "blue", points: "many"})
      {:error, {:bad_field, :points, [:points]}}

  ## This, or `EchoData.RankedSet`

  Here, when what is ranked is a property of records that are kept anyway: every `put`, `take`, `delete` and
  `put_many` of the store moves the record in all of its indexes in the same step, so that no reader, on any
  process, at any moment, finds one without the other, and a snapshot of the store is one of its indexes.
  `EchoData.RankedSet`, when there is nothing but members and scores, or when scores are incremented, put
  under conditions or popped, or when a member is in several groups at once: it keeps no records and costs
  less.

  ## Declarations

  A store is started with `indexes: [name: declaration]`; `add_index/4` adds one to records that are there,
  and `remove_index/2` removes one. A
  declaration is a keyword list:

    * `:score` - what decides: a field, or a list of one or two, the first deciding before the second; required
    * `:group` - which ranking a record is in: a field, or a list of them; by default all are in one
    * `:kind` - `:integer`, the default, or `:float`; of two fields a pair may differ, `{:integer, :float}`
    * `:order` - `:asc`, the default, or `:desc`, or a pair of such
    * `:unique` - whether two records of a group must not have the same score; by default they may

  A *field* is a key of the record, which is a map: an atom, a binary or an integer; or a list of keys that
  lead into maps in it. So `score: [:points, :time]` are two fields, and `score: [[:stats, :points]]` is one.

  A record without the field, or with `nil` in it or on the way to it, has the score `nil`, which comes before
  every number, or the group `nil`. Else a score is a number of the field's kind, and a part of a group is an
  integer of 64 bits, an atom or a binary. A record that breaks that is refused by the function that puts it,
  with `{:error, {:bad_field, index, path}}`, where the path leads to what is wrong, and is empty if the record
  is no map. One whose place in a unique index is taken is refused with `{:error, {:not_unique, index}}`; the
  records of one `put_many` may exchange their places. Of several indexes the first that refuses is told.
  Nothing is changed then.

  ## Questions

  A group is said as in `EchoData.RankedSet`: `nil`, a field, or several as a tuple or a list. An unknown group
  is as an empty one. A score of two fields is a pair. Options of questions:

    * `:ties` - how records with the same score stand: `:ordinal`, `:competition`, `:dense` or `:max`, as in
      `EchoData.RankedSet`
    * `:order` - `:asc`, which is the index's own order, or `:desc`, its mirror image

  The functions take the store by its name or pid, or a snapshot of it, `EchoData.Snapshot`. An index that the
  store has not, a store without indexes, a score of another kind and an unknown option raise `ArgumentError`.

  In the costs below n is the number of records.
  """

  import EchoData.Argument, only: [boolean!: 2, limit!: 1, options!: 2, refuse!: 3]

  alias EchoData.Bcs.{Owner, PropertyStore}
  alias EchoData.{BrandedId, Native, RankedSet, Snapshot, Steps}
  alias EchoData.RankedSet.Options
  alias EchoData.RankIndex.{Declaration, Progress}

  @typedoc "A key of a record."
  @type key :: atom | binary | integer

  @typedoc "The keys that lead from a record to a value in it."
  @type path :: [key]

  @typedoc "A key, or a path."
  @type field :: key | path

  @type declaration :: [
          score: field | [field],
          group: field | [field],
          kind: RankedSet.kind() | {RankedSet.kind(), RankedSet.kind()},
          order: RankedSet.order() | {RankedSet.order(), RankedSet.order()},
          unique: boolean
        ]

  @type declarations :: [{name :: atom, declaration}]

  @typedoc "The name of an index."
  @type index :: atom

  @type query :: [ties: RankedSet.ties(), order: RankedSet.order()]

  @type row ::
          RankedSet.row() | {RankedSet.rank(), BrandedId.t(), RankedSet.score(), record :: map}

  @doc """
  Adds an index over all records, those that are there and those to come, in one step: no reader finds it
  without one of them.

  The declaration is as above. `on_progress: fun` is told from time to time, in the calling process, how many
  of how many records have been looked at: `fun.(done, all)`. It begins again when another writer was first.
  What it raises is raised when the work is done; it does not stop it.

  Answers `{:error, :exists}` if there is an index of this name, and `{:error, {:bad_field, name, path}}` or
  `{:error, {:not_unique, name}}` if a record that is there cannot be in it; nothing is changed then.
  O(n log n), on a dirty scheduler; the store is read and written meanwhile. Raises `ArgumentError` for a store
  that was started without `:indexes`.

      iex> alias EchoData.Bcs.PropertyStore
      iex> alias EchoData.RankIndex
      iex> {:ok, store} = PropertyStore.start_link(namespace: "PLR", indexes: [])
      iex> for n <- 1..3, do: PropertyStore.put(store, EchoData.BrandedId.encode!("PLR", n), %{age: 40 - n})
      iex> RankIndex.add_index(store, :age, [score: :age], on_progress: fn done, all ->
      ...>   send(self(), {:progress, done, all})
      ...> end)
      :ok
      iex> receive do: ({:progress, 3, 3} -> RankIndex.score_for_rank(store, :age, nil, 0))
      {:ok, 37}
  """
  @spec add_index(PropertyStore.server(), index, declaration,
          on_progress: (non_neg_integer, non_neg_integer -> term) | nil
        ) :: :ok | {:error, :exists} | PropertyStore.rejection()
  def add_index(store, name, declaration, options \\ []) do
    index = Declaration.one!(name, declaration)
    [on_progress: told] = options!(options, on_progress: nil)

    add = fn listener ->
      with :closed <- Native.rank_index_add(store, index, listener),
           do: call(store, :add_index, [name, declaration, options])
    end

    case told do
      nil -> add.(nil)
      told when is_function(told, 2) -> Progress.run(add, told)
      other -> refuse!("on_progress", "a function of two arguments", other)
    end
  end

  @doc """
  Removes an index, in one step; the records stay, and so does the index in snapshots that there are.

  Answers `{:error, :not_found}` if there is no index of this name. O(groups of all indexes + groups of this
  one × log n), on a dirty scheduler: its ranks are cut out, not walked. Raises `ArgumentError` for a store that
  was started without `:indexes`.

      iex> alias EchoData.Bcs.PropertyStore
      iex> alias EchoData.RankIndex
      iex> {:ok, store} = PropertyStore.start_link(namespace: "PLR", indexes: [age: [score: :age]])
      iex> {RankIndex.remove_index(store, :age), RankIndex.names(store)}
      {:ok, []}
      iex> RankIndex.remove_index(store, :age)
      {:error, :not_found}
  """
  @spec remove_index(PropertyStore.server(), index) :: :ok | {:error, :not_found}
  def remove_index(store, name) when is_atom(name) do
    store
    |> Native.rank_index_remove(name)
    |> answer(store, :remove_index, [name])
  end

  def remove_index(_store, name), do: refuse!("the name of an index", "an atom", name)

  @doc "The names of a store's indexes, in the order in which they were added. O(indexes)."
  @spec names(PropertyStore.source()) :: [index]
  def names(source),
    do: source |> ref() |> Native.rank_index_names() |> list(source, :names, [])

  @doc """
  The rank that a score has in a group or, if no record has it, would have; 0 in a group that is empty or
  unknown. O(log n).

  Ties stand as `:competition` unless it is said.
  """
  @spec rank_for_score(PropertyStore.source(), index, RankedSet.group(), RankedSet.score(), query) ::
          RankedSet.rank()
  def rank_for_score(source, index, group, score, options \\ []) do
    source
    |> ref()
    |> Native.rank_index_rank_for_score(index, score, query!(group, options, :competition))
    |> answer(source, :rank_for_score, [index, group, score, options])
  end

  @doc """
  The score of the record at a rank, every record in a place of its own; or `{:error, :out_of_range}`.
  O(log n).

      iex> alias EchoData.Bcs.PropertyStore
      iex> {:ok, store} = PropertyStore.start_link(namespace: "PLR", indexes: [age: [score: :age]])
      iex> PropertyStore.put(store, "PLR00000000001", %{age: 36})
      iex> for rank <- [0, 1, -1], do: EchoData.RankIndex.score_for_rank(store, :age, nil, rank)
      [{:ok, 36}, {:error, :out_of_range}, {:error, :out_of_range}]
  """
  @spec score_for_rank(PropertyStore.source(), index, RankedSet.group(), integer, query) ::
          {:ok, RankedSet.score()} | {:error, :out_of_range}
  def score_for_rank(source, index, group, rank, options \\ []),
    do: with(:skip <- at(source, index, group, rank, options), do: {:error, :out_of_range})

  @doc "As `score_for_rank/5`, with `:skip` for a rank that is out of range."
  @spec score_for_rank_else_skip(
          PropertyStore.source(),
          index,
          RankedSet.group(),
          integer,
          query
        ) ::
          {:ok, RankedSet.score()} | :skip
  def score_for_rank_else_skip(source, index, group, rank, options \\ []),
    do: at(source, index, group, rank, options)

  defp at(source, index, group, rank, options) when is_integer(rank) do
    answer =
      source
      |> ref()
      |> Native.rank_index_score_for_rank(index, rank, query!(group, options, :ordinal))

    case answer do
      :error -> :skip
      other -> answer(other, source, :score_for_rank_else_skip, [index, group, rank, options])
    end
  end

  defp at(_source, _index, _group, rank, _options), do: refuse!("rank", "an integer", rank)

  @doc "How many records a group has. O(log n)."
  @spec count(PropertyStore.source(), index, RankedSet.group()) :: non_neg_integer
  def count(source, index, group) do
    source
    |> ref()
    |> Native.rank_index_count(index, group)
    |> answer(source, :count, [index, group])
  end

  @doc "How many different scores a group has; `nil` is one. O(log n)."
  @spec count_distinct(PropertyStore.source(), index, RankedSet.group()) :: non_neg_integer
  def count_distinct(source, index, group) do
    source
    |> ref()
    |> Native.rank_index_count_distinct(index, group)
    |> answer(source, :count_distinct, [index, group])
  end

  @doc """
  The rank of the record under an id, in the group that it is in; or the rank that a record, a map, would
  have, which need not be in the store: by the index's own fields. O(log n).

  Ties stand as `:ordinal` unless it is said; a record that is given, which has no id, is before those with
  the same score. `{:error, {:bad_field, index, path}}` for a record that the index would refuse.
  """
  @spec rank(PropertyStore.source(), index, map | BrandedId.t(), query) ::
          {:ok, RankedSet.rank()}
          | {:error, :not_found}
          | {:error, {:bad_field, index, path}}
          | PropertyStore.refusal()
  def rank(source, index, record_or_id, options \\ []) do
    source
    |> ref()
    |> Native.rank_index_rank(index, record_or_id, query!(nil, options, :ordinal))
    |> answer(source, :rank, [index, record_or_id, options])
  end

  @doc """
  The records of a group, in the order of their ranks: `[{rank, id, score}]`. O(log n + rows).

    * `:by` - what the range is of: `:rank`, the default, or `:value`, which is the score
    * `:range` - `first..last`, or `{first, last}`, in which `nil` is open; by default all
    * `:reverse` - the same rows, the last first
    * `:limit` - at most so many rows, from where the list begins; by default `:all`
    * `:values` - rows with their records, `{rank, id, score, record}`
    * `:ties`, `:order` - as above; `:ordinal` unless it is said

  Of ranks, a low end below 0 means from the start, and a high end past the last one to the end. With ordinal
  ties the range has exactly the records at these places; else all of a tie are in it or none.

  Of scores, both ends are in the range, `{:exclusive, score}` is not. Scores are compared in the index's own
  order: of one that descends, a range goes from the larger score to the smaller.

  A range whose ends are the wrong way round is empty. All rows are of one moment.

      iex> alias EchoData.Bcs.PropertyStore
      iex> {:ok, store} = PropertyStore.start_link(namespace: "PLR", indexes: [age: [score: :age]])
      iex> for n <- 1..4, do: PropertyStore.put(store, "PLR0000000000\#{n}", %{age: 10 * n})
      iex> EchoData.RankIndex.scan(store, :age, nil, range: -5..1)
      [{0, "PLR00000000001", 10}, {1, "PLR00000000002", 20}]
      iex> EchoData.RankIndex.scan(store, :age, nil, by: :value, range: {20, nil}, reverse: true, limit: 1)
      [{3, "PLR00000000004", 40}]
  """
  @spec scan(PropertyStore.source(), index, RankedSet.group(),
          by: :rank | :value,
          range: Range.t() | {RankedSet.bound(), RankedSet.bound()},
          reverse: boolean,
          limit: pos_integer | :all,
          values: boolean,
          ties: RankedSet.ties(),
          order: RankedSet.order()
        ) :: [row]
  def scan(source, index, group, options \\ []) do
    unless Keyword.keyword?(options), do: refuse!("options", "a keyword list", options)
    defaults = [by: :rank, range: {nil, nil}, reverse: false, limit: :all, values: false]
    {own, query} = Keyword.split(options, Keyword.keys(defaults))
    own = Keyword.merge(defaults, own)
    reverse = boolean!("reverse", own[:reverse])
    known = "by, range, reverse, limit, values, ties and order"
    listing = {index, query!(group, query, :ordinal, known), boolean!("values", own[:values])}

    rows =
      source
      |> ref()
      |> rows(own[:by], own[:range], listing, limit!(own[:limit]), reverse)
      |> Steps.finish(&Native.rank_index_more/1)

    case rows do
      {:ok, rows} when reverse -> Enum.reverse(rows)
      other -> list(other, source, :scan, [index, group, options])
    end
  end

  defp rows(ref, :rank, range, listing, limit, last),
    do: Native.rank_index_by_rank(ref, listing, Options.range!(range), limit, last)

  defp rows(ref, :value, first..last//step, listing, limit, reverse) when step in [1, -1],
    do: rows(ref, :value, {first, last}, listing, limit, reverse)

  defp rows(ref, :value, {_low, _high} = range, listing, limit, last),
    do: Native.rank_index_by_value(ref, listing, range, limit, last)

  defp rows(_ref, :value, range, _listing, _limit, _last),
    do: refuse!("range", "first..last, or {first, last} in which nil is open", range)

  defp rows(_ref, by, _range, _listing, _limit, _last), do: refuse!("by", ":rank or :value", by)

  defp query!(group, options, ties, known \\ "ties and order") do
    case Options.query!(options, ties, known) do
      {nil, ties, order} -> {group, ties, order}
      _grouped -> refuse!("options", known, options)
    end
  end

  # What the native functions know a store by.
  defp ref(%Snapshot{ref: ref}), do: ref
  defp ref(server), do: server

  defp answer(:closed, source, function, arguments), do: call(source, function, arguments)
  defp answer(answer, _source, _function, _arguments), do: answer

  defp list({:ok, list}, _source, _function, _arguments), do: list
  defp list(:closed, source, function, arguments), do: call(source, function, arguments)

  defp call(source, function, arguments),
    do: Owner.call(source, __MODULE__, function, arguments)
end
