defmodule EchoData.RankedRecords do
  @moduledoc """
  What a property store with rank indexes must answer, by sorting a list for every question.

  The state is `%{id => record}`; an index is a declaration whose group and score are lists of paths, and whose
  fields are `{kind, order}`.
  """

  @type index :: %{
          name: atom,
          group: [[term]],
          score: [[term]],
          fields: [{:integer | :float, :asc | :desc}],
          unique: boolean
        }

  @doc "The index as the store is told of it."
  @spec declaration(index) :: {atom, keyword}
  def declaration(%{fields: [{kind, order}]} = index),
    do: {index.name, stated(index) ++ [kind: kind, order: order]}

  def declaration(%{fields: [{first, one}, {second, other}]} = index),
    do: {index.name, stated(index) ++ [kind: {first, second}, order: {one, other}]}

  defp stated(index), do: [group: index.group, score: index.score, unique: index.unique]

  @doc "The state after a put of all rows, or why it is refused."
  @spec put_many(map, [index], [{binary, term}]) ::
          {:ok, map} | {:error, {:bad_field, atom, list} | {:not_unique, atom}}
  def put_many(state, indexes, rows) do
    rows = Map.new(rows)
    bad = for {_id, row} <- Enum.sort(rows), index <- indexes, do: bad(index, row)

    case Enum.find(bad, & &1) do
      nil -> state |> Map.merge(rows) |> unique(indexes)
      bad -> {:error, bad}
    end
  end

  defp bad(index, row) do
    case evaluate(index, row) do
      {:bad, path} -> {:bad_field, index.name, path}
      _group_and_score -> nil
    end
  end

  defp unique(state, indexes) do
    twice? = fn index ->
      places = for {_id, row} <- state, do: evaluate(index, row)
      index.unique and Enum.uniq(places) != places
    end

    case Enum.find(indexes, twice?) do
      nil -> {:ok, state}
      index -> {:error, {:not_unique, index.name}}
    end
  end

  @doc "The group and the score of a record, each a list of its fields, or the path to what is wrong."
  @spec evaluate(index, term) :: {[term], [number | nil]} | {:bad, list}
  def evaluate(_index, row) when not is_map(row), do: {:bad, []}

  def evaluate(index, row) do
    group = for path <- index.group, do: field(row, path, [], &group_field?/1)

    score =
      for {path, {kind, _order}} <- Enum.zip(index.score, index.fields),
          do: field(row, path, [], &kind?(kind, &1))

    case Enum.find(group ++ score, &match?({:bad, _path}, &1)) do
      nil -> {unwrap(group), unwrap(score)}
      bad -> bad
    end
  end

  defp field(nil, _path, _walked, _right), do: {:field, nil}

  defp field(value, [], walked, right),
    do: if(right.(value), do: {:field, value}, else: {:bad, Enum.reverse(walked)})

  defp field(%{} = map, [key | path], walked, right),
    do: field(map[key], path, [key | walked], right)

  defp field(_other, _path, walked, _right), do: {:bad, Enum.reverse(walked)}

  defp unwrap(fields), do: for({:field, value} <- fields, do: value)

  defp kind?(:integer, value),
    do: is_integer(value) and value in -0x8000_0000_0000_0000..0x7FFF_FFFF_FFFF_FFFF

  defp kind?(:float, value), do: is_float(value)

  defp group_field?(value), do: kind?(:integer, value) or is_atom(value) or is_binary(value)

  @doc "The rows of a group with their ranks, in the order that is asked for."
  @spec standings(map, index, [term], atom, :asc | :desc) :: [{non_neg_integer, binary, [term]}]
  def standings(state, index, group, ties, order) do
    members =
      for {id, row} <- state,
          {^group, score} <- [evaluate(index, row)],
          do: {place(index, score), id, score}

    sorted = Enum.sort_by(members, fn {place, id, _score} -> {place, id} end)
    sorted = if order == :desc, do: Enum.reverse(sorted), else: sorted

    tied =
      sorted |> Enum.with_index() |> Enum.chunk_by(fn {{place, _id, _score}, _at} -> place end)

    for {tie, dense} <- Enum.with_index(tied), {{_place, id, score}, at} <- tie do
      {rank(ties, at, tie, dense), id, score}
    end
  end

  defp rank(:ordinal, at, _tie, _dense), do: at
  defp rank(:competition, _at, [{_member, first} | _rest], _dense), do: first
  defp rank(:dense, _at, _tie, dense), do: dense
  defp rank(:max, _at, [{_member, first} | _rest] = tie, _dense), do: first + length(tie) - 1

  @doc "The rank that a score has or would have."
  @spec rank_for_score(map, index, [term], [term], atom, :asc | :desc) :: non_neg_integer
  def rank_for_score(state, index, group, score, ties, order) do
    rows = standings(state, index, group, :ordinal, order)
    wanted = place(index, score)
    before? = &if(order == :asc, do: place(index, &1) < wanted, else: place(index, &1) > wanted)
    before = for {_rank, _id, other} <- rows, before?.(other), do: other
    same = Enum.count(rows, fn {_rank, _id, other} -> place(index, other) == wanted end)

    case ties do
      :dense -> before |> Enum.uniq_by(&place(index, &1)) |> length()
      :max -> length(before) + max(same - 1, 0)
      _first -> length(before)
    end
  end

  @doc "Where a score is in the index's own order."
  @spec place(index, [number | nil]) :: [tuple]
  def place(index, score) do
    for {value, {_kind, order}} <- Enum.zip(score, index.fields) do
      case {value, order} do
        {nil, :asc} -> {0, 0}
        {number, :asc} -> {1, number}
        {nil, :desc} -> {1, 0}
        {number, :desc} -> {0, -number}
      end
    end
  end
end
