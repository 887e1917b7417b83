defmodule EchoData.Twin.RankedSet do
  @moduledoc """
  `EchoData.RankedSet` on ETS: a public `ordered_set` of `{group, score, id}` and a `set` of scores, used directly
  by every process. A change is two writes, and somebody may see the one without the other. What is asked of
  ranks is counted, along the group.

  Functions take and answer what those of the same name there do; names of groups are taken as they are.
  """

  alias EchoData.{Bcs, BrandedId}

  @enforce_keys [:namespace, :fields, :unique, :places, :scores]
  defstruct [:namespace, :fields, :unique, :places, :scores]

  @type t :: %__MODULE__{
          namespace: BrandedId.namespace(),
          fields: [{:integer | :float, :asc | :desc}],
          unique: boolean,
          places: :ets.table(),
          scores: :ets.table()
        }
  @type id :: BrandedId.t()
  @type row :: {non_neg_integer, id, term}
  @type refused :: {:error, :namespace | :invalid}

  @integers -0x8000_0000_0000_0000..0x7FFF_FFFF_FFFF_FFFF
  @largest_float 1.7976931348623157e308

  @doc "Tables that belong to the caller."
  @spec new(BrandedId.namespace(), keyword) :: t
  def new(namespace, options \\ []) do
    [places, scores] = for type <- [:ordered_set, :set], do: :ets.new(__MODULE__, [type, :public])
    fields = fields(options[:score] || :integer, options[:order] || :asc)
    unique = options[:unique] || false
    values = %{namespace: namespace, fields: fields, unique: unique}
    struct!(__MODULE__, Map.merge(values, %{places: places, scores: scores}))
  end

  defp fields({first, second}, {one, other}), do: [{first, one}, {second, other}]
  defp fields({first, second}, order), do: [{first, order}, {second, order}]
  defp fields(kind, order), do: [{kind, order}]

  @doc "Gives the tables up. O(n), in the background."
  @spec close(t) :: :ok
  def close(set) do
    for table <- [set.places, set.scores], do: :ets.delete(table)
    :ok
  end

  @doc "One score. O(log n)."
  @spec put(t, id, term, keyword) ::
          {:ok, :added | :updated | :unchanged} | {:error, :not_unique} | refused
  def put(set, id, score, options \\ []) do
    with {:ok, _snowflake} <- Bcs.gate(id, set.namespace) do
      {group, key} = {options[:group], key!(set, score)}
      old = old_key(set, group, id)

      cond do
        old == key or not admits?(List.wrap(options[:if]), old, key) -> {:ok, :unchanged}
        set.unique and tied?(set, group, key) -> {:error, :not_unique}
        true -> {:ok, write(set, group, id, old, key, score)}
      end
    end
  end

  defp admits?(conditions, old, key) do
    Enum.all?(conditions, fn
      :new -> old == nil
      :exists -> old != nil
      :greater -> old == nil or key > old
      :less -> old == nil or key < old
    end)
  end

  defp tied?(set, group, key), do: Enum.any?(members(set, group), &match?({^key, _, _}, &1))

  defp write(set, group, id, old, key, score) do
    if old, do: :ets.delete(set.places, {group, old, id})
    :ets.insert(set.places, {{group, key, id}, score})
    :ets.insert(set.scores, {{group, id}, key, score})
    if old, do: :updated, else: :added
  end

  @doc "All scores; of a member's the last. O(rows × log n)."
  @spec put_all(t, [{id, term}], keyword) ::
          {:ok, non_neg_integer} | {:error, :not_unique} | refused
  def put_all(set, rows, options \\ []) do
    gated =
      Enum.reduce_while(rows, [], fn {id, score}, gated ->
        case Bcs.gate(id, set.namespace) do
          {:ok, _snowflake} -> {:cont, [{id, {key!(set, score), score}} | gated]}
          refused -> {:halt, refused}
        end
      end)

    if is_list(gated),
      do: put_gated(set, options[:group], gated |> Enum.reverse() |> Map.new()),
      else: gated
  end

  defp put_gated(set, group, new) do
    stay = for {key, id, _score} <- members(set, group), not is_map_key(new, id), do: key
    keys = for {_id, {key, _score}} <- new, do: key

    if set.unique and length(Enum.uniq(keys ++ stay)) < length(keys ++ stay) do
      {:error, :not_unique}
    else
      done = for {id, {key, score}} <- new, do: replace(set, group, id, key, score)
      {:ok, Enum.count(done, &(&1 == :added))}
    end
  end

  defp replace(set, group, id, key, score),
    do: write(set, group, id, old_key(set, group, id), key, score)

  @doc "A sum. O(log n)."
  @spec increment(t, id, term, keyword) ::
          {:ok, term} | {:error, :overflow | :not_unique} | refused
  def increment(set, id, delta, options \\ []) do
    with {:ok, _snowflake} <- Bcs.gate(id, set.namespace),
         :ok <- numbers!(set, delta),
         {:ok, sum} <- sum(set, old_score(set, options[:group], id), delta),
         {:ok, _put} <- put(set, id, sum, Keyword.take(options, [:group])),
         do: {:ok, sum}
  end

  defp numbers!(set, delta) do
    _key = key!(set, delta)
    fields = if is_tuple(delta), do: Tuple.to_list(delta), else: [delta]
    if nil in fields, do: raise(ArgumentError, "delta must be a number"), else: :ok
  end

  defp old_score(set, group, id) do
    case :ets.lookup(set.scores, {group, id}) do
      [{_member, _key, score}] -> score
      [] -> nil
    end
  end

  defp sum(%{fields: [_one]}, old, delta), do: add(old, delta)

  defp sum(%{fields: [_first, _second]}, old, {first, second}) do
    {one, other} = old || {nil, nil}

    with {:ok, first} <- add(one, first),
         {:ok, second} <- add(other, second),
         do: {:ok, {first, second}}
  end

  defp add(nil, delta), do: {:ok, delta}

  defp add(old, delta) when is_integer(old),
    do: if((old + delta) in @integers, do: {:ok, old + delta}, else: {:error, :overflow})

  # A sum that is too large raises.
  defp add(old, delta) do
    {:ok, old + delta}
  rescue
    ArithmeticError -> {:error, :overflow}
  end

  @doc "Takes a member out. O(log n)."
  @spec delete(t, id, keyword) :: :ok | :error | refused
  def delete(set, id, options \\ []) do
    with {:ok, _snowflake} <- Bcs.gate(id, set.namespace) do
      group = options[:group]

      case :ets.take(set.scores, {group, id}) do
        [] ->
          :error

        [{_member, key, _score}] ->
          true = :ets.delete(set.places, {group, key, id})
          :ok
      end
    end
  end

  @doc "A member's score. O(1)."
  @spec score(t, id, keyword) :: {:ok, term} | :error | refused
  def score(set, id, options \\ []) do
    with {:ok, _snowflake} <- Bcs.gate(id, set.namespace) do
      case :ets.lookup(set.scores, {options[:group], id}) do
        [{_member, _key, score}] -> {:ok, score}
        [] -> :error
      end
    end
  end

  @doc "Where a member stands. O(n)."
  @spec rank(t, id, keyword) :: {:ok, non_neg_integer} | :error | refused
  def rank(set, id, options \\ []) do
    with {:ok, _snowflake} <- Bcs.gate(id, set.namespace) do
      case {old_key(set, options[:group], id), options[:ties] || :ordinal, options[:order]} do
        {nil, _ties, _order} -> :error
        {key, :ordinal, order} when order != :desc -> {:ok, before(set, options[:group], key, id)}
        _other -> set |> rows(options) |> find_rank(id)
      end
    end
  end

  # As whoever has an `ordered_set` counts.
  defp before(set, group, key, id) do
    {key, id} = {{:const, key}, {:const, id}}
    earlier = {:orelse, {:<, :"$1", key}, {:andalso, {:==, :"$1", key}, {:<, :"$2", id}}}
    :ets.select_count(set.places, [{{{group, :"$1", :"$2"}, :_}, [earlier], [true]}])
  end

  defp find_rank(rows, id),
    do: Enum.find_value(rows, :error, &(elem(&1, 1) == id && {:ok, elem(&1, 0)}))

  @doc "Where many stand. O(n)."
  @spec ranks(t, [id], keyword) :: [non_neg_integer | nil] | refused
  def ranks(set, ids, options \\ []) do
    case Enum.find(Enum.map(ids, &Bcs.gate(&1, set.namespace)), &match?({:error, _}, &1)) do
      nil ->
        ranks = for {rank, id, _score} <- rows(set, options), into: %{}, do: {id, rank}
        Enum.map(ids, &ranks[&1])

      refused ->
        refused
    end
  end

  @doc "The rank of a score. O(n)."
  @spec rank_for_score(t, term, keyword) :: non_neg_integer
  def rank_for_score(set, score, options \\ []) do
    key = key!(set, score)
    {keys, before?} = in_order(set, options)
    before = Enum.filter(keys, &before?.(&1, key))

    case options[:ties] do
      :dense -> before |> Enum.uniq() |> length()
      :max -> length(before) + max(Enum.count(keys, &(&1 == key)) - 1, 0)
      _first -> length(before)
    end
  end

  defp in_order(set, options) do
    keys = for {key, _id, _score} <- members(set, options[:group]), do: key
    if options[:order] == :desc, do: {keys, &>/2}, else: {keys, &</2}
  end

  @doc "Who stands at a place. O(n)."
  @spec select(t, integer, keyword) :: {:ok, {id, term}} | :error
  def select(set, place, options \\ []) do
    rows = rows(set, Keyword.put(options, :ties, :ordinal))

    case place >= 0 && Enum.at(rows, place) do
      {_rank, id, score} -> {:ok, {id, score}}
      _none -> :error
    end
  end

  @doc "How many members. O(n)."
  @spec count(t, keyword) :: non_neg_integer
  def count(set, options \\ []), do: set |> members(options[:group]) |> length()

  @doc "How many scores. O(n)."
  @spec count_distinct(t, keyword) :: non_neg_integer
  def count_distinct(set, options \\ []),
    do: set |> members(options[:group]) |> Enum.uniq_by(&elem(&1, 0)) |> length()

  @doc "How many between two bounds. O(n)."
  @spec count_between(t, term, term, keyword) :: non_neg_integer
  def count_between(set, lo, hi, options \\ []),
    do: set |> by_score(lo, hi, Keyword.take(options, [:group])) |> length()

  @doc "The rows with these ranks. O(n)."
  @spec by_rank(t, Range.t() | {integer | nil, integer | nil}, keyword) :: [row]
  def by_rank(set, %Range{first: first, last: last}, options) when first <= last,
    do: by_rank(set, {first, last}, options)

  def by_rank(_set, %Range{}, _options), do: []

  def by_rank(set, {first, last}, options) do
    set
    |> rows(options)
    |> Enum.filter(fn {rank, _, _} ->
      (first == nil or rank >= first) and (last == nil or rank <= last)
    end)
    |> limited(options)
  end

  @doc "The rows with these scores. O(n)."
  @spec by_score(t, term, term, keyword) :: [row]
  def by_score(set, lo, hi, options \\ []) do
    {above?, below?} = {bound(set, lo, &>=/2, &>/2), bound(set, hi, &<=/2, &</2)}

    set
    |> rows(options)
    |> Enum.filter(fn {_, _, score} -> above?.(key!(set, score)) and below?.(key!(set, score)) end)
    |> limited(options)
  end

  defp bound(_set, nil, _inside, _outside), do: fn _key -> true end

  defp bound(set, {:exclusive, score}, _inside, outside) do
    bound = key!(set, score)
    &outside.(&1, bound)
  end

  defp bound(set, score, inside, _outside) do
    bound = key!(set, score)
    &inside.(&1, bound)
  end

  @doc "A member between others. O(n)."
  @spec around(t, id, non_neg_integer, keyword) :: [row] | :error | refused
  def around(set, id, n, options \\ []) do
    with {:ok, place} <- rank(set, id, Keyword.put(options, :ties, :ordinal)) do
      first = max(place - n, 0)
      set |> rows(options) |> Enum.slice(first, place - first + 1 + min(n, 1_000_000))
    end
  end

  @doc "Takes the first. O(n)."
  @spec pop_min(t, non_neg_integer, keyword) :: [{id, term}]
  def pop_min(set, n, options \\ []), do: pop(set, n, Keyword.put(options, :order, :asc))

  @doc "Takes the last. O(n)."
  @spec pop_max(t, non_neg_integer, keyword) :: [{id, term}]
  def pop_max(set, n, options \\ []), do: pop(set, n, Keyword.put(options, :order, :desc))

  defp pop(set, n, options) do
    for {_rank, id, score} <- set |> rows(options) |> Enum.take(n) do
      :ok = delete(set, id, Keyword.take(options, [:group]))
      {id, score}
    end
  end

  @doc "The groups that have members. O(n)."
  @spec groups(t) :: [term]
  def groups(set),
    do: set.places |> :ets.select([{{{:"$1", :_, :_}, :_}, [], [:"$1"]}]) |> Enum.uniq()

  @doc "Takes all members out. O(n)."
  @spec drop_group(t, term) :: {:ok, non_neg_integer}
  def drop_group(set, group) do
    ids = for {_key, id, _score} <- members(set, group), do: id
    Enum.each(ids, &(:ok = delete(set, &1, group: group)))
    {:ok, length(ids)}
  end

  @doc "How many members in all groups. O(1)."
  @spec size(t) :: non_neg_integer
  def size(set), do: :ets.info(set.places, :size)

  # All rows of a group with their ranks.
  defp rows(set, options) do
    members = members(set, options[:group])
    members = if options[:order] == :desc, do: Enum.reverse(members), else: members

    {ties, _after} =
      members
      |> Enum.chunk_by(&elem(&1, 0))
      |> Enum.map_reduce({0, 0}, fn tie, {place, scores} ->
        {ranked(tie, options[:ties], place, scores), {place + length(tie), scores + 1}}
      end)

    Enum.concat(ties)
  end

  defp ranked(tie, ties, place, scores) do
    for {{_key, id, score}, at} <- Enum.with_index(tie) do
      rank =
        case ties do
          :competition -> place
          :max -> place + length(tie) - 1
          :dense -> scores
          _ordinal -> place + at
        end

      {rank, id, score}
    end
  end

  defp members(set, group),
    do: :ets.select(set.places, [{{{group, :"$1", :"$2"}, :"$3"}, [], [{{:"$1", :"$2", :"$3"}}]}])

  defp limited(rows, options) do
    case options[:limit] do
      limit when is_integer(limit) -> Enum.take(rows, limit)
      _all -> rows
    end
  end

  defp old_key(set, group, id) do
    case :ets.lookup(set.scores, {group, id}) do
      [{_member, key, _score}] -> key
      [] -> nil
    end
  end

  # A term whose order is that of the scores.
  defp key!(%{fields: [field]}, score), do: field_key!(field, score)

  defp key!(%{fields: [first, second]}, {one, other}),
    do: {field_key!(first, one), field_key!(second, other)}

  defp key!(_set, _score), do: raise(ArgumentError, "score must be a pair")

  defp field_key!({_kind, order}, nil), do: if(order == :asc, do: {0, 0}, else: {1, 0})

  defp field_key!({:integer, order}, number) when number in @integers,
    do: number_key(order, number)

  defp field_key!({:float, order}, number)
       when is_float(number) and abs(number) <= @largest_float,
       do: number_key(order, number + 0.0)

  defp field_key!({kind, _order}, _other), do: raise(ArgumentError, "score must be of #{kind}")

  defp number_key(:asc, number), do: {1, number}
  defp number_key(:desc, number), do: {0, -number}
end
