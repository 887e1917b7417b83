defmodule EchoData.Twin.Relation do
  @moduledoc """
  A relation in two ETS `ordered_set`s, `{{subject, object}, props}` and `{{object, subject}, props}`, in the
  idiom of its users: lists and counts are match specifications with half-bound keys, pages walk from key to
  key. A change is two writes, one after the other.
  """

  @enforce_keys [:from, :to]
  defstruct [:from, :to]

  @type t :: %__MODULE__{from: :ets.table(), to: :ets.table()}
  @type walk :: :from | :to
  @type id :: EchoData.BrandedId.t()
  @type neighbour :: {id, term}
  @type page :: {:asc | :desc, id | nil, pos_integer | :all, boolean}

  # Above and below every id.
  @above "~"
  @below ""

  @doc "Two tables that belong to the caller."
  @spec new(:public | :protected) :: t
  def new(access) do
    [from, to] = for _walk <- [:from, :to], do: :ets.new(__MODULE__, [:ordered_set, access])
    %__MODULE__{from: from, to: to}
  end

  @doc "Gives the tables up. O(n), in the background."
  @spec close(t) :: :ok
  def close(%__MODULE__{from: from, to: to}) do
    true = :ets.delete(from)
    true = :ets.delete(to)
    :ok
  end

  @doc "One edge. O(log n)."
  @spec link(t, id, id, term) :: :ok
  def link(%__MODULE__{from: from, to: to}, subject, object, props) do
    true = :ets.insert(from, {{subject, object}, props})
    true = :ets.insert(to, {{object, subject}, props})
    :ok
  end

  @doc "All edges; of edges with the same ends the last wins. O(edges log n)."
  @spec link_many(t, [{id, id, term}]) :: :ok
  def link_many(%__MODULE__{from: from, to: to}, edges) do
    rows = edges |> Map.new(fn {s, o, props} -> {{s, o}, props} end) |> Map.to_list()
    true = :ets.insert(from, rows)
    true = :ets.insert(to, for({{s, o}, props} <- rows, do: {{o, s}, props}))
    :ok
  end

  @doc "Removes an edge. O(log n)."
  @spec unlink(t, id, id) :: :ok | {:error, :not_found}
  def unlink(%__MODULE__{from: from, to: to}, subject, object) do
    case :ets.take(from, {subject, object}) do
      [] ->
        {:error, :not_found}

      [_edge] ->
        true = :ets.delete(to, {object, subject})
        :ok
    end
  end

  @doc "The props of an edge. O(log n)."
  @spec props(t, id, id) :: {:ok, term} | {:error, :not_found}
  def props(%__MODULE__{from: from}, subject, object) do
    case :ets.lookup(from, {subject, object}) do
      [{_ends, props}] -> {:ok, props}
      [] -> {:error, :not_found}
    end
  end

  @doc "The neighbours of an id, oldest first. O(log n + limit)."
  @spec neighbours(t, walk, id, pos_integer | :all) :: [neighbour]
  def neighbours(relation, walk, id, :all),
    do: relation |> table(walk) |> :ets.select(of(id, [], {{:"$1", :"$2"}}))

  def neighbours(relation, walk, id, limit) do
    case relation |> table(walk) |> :ets.select(of(id, [], {{:"$1", :"$2"}}), limit) do
      {rows, _continuation} -> rows
      :"$end_of_table" -> []
    end
  end

  @doc "A page of the neighbours of an id, beyond a cursor. O(page log n)."
  @spec page(t, walk, id, page) :: [neighbour] | [id]
  def page(relation, walk, id, {order, cursor, limit, values}) do
    start = {id, cursor || if(order == :asc, do: @below, else: @above)}
    relation |> table(walk) |> walk(order, start, limit, values)
  end

  @doc "How many neighbours an id has. O(their number)."
  @spec degree(t, walk, id) :: non_neg_integer
  def degree(relation, walk, id),
    do: relation |> table(walk) |> :ets.select_count(of(id, [], true))

  @doc "How many neighbours there are from `lo` on and below `hi`. O(their number)."
  @spec count(t, walk, id, id, id) :: non_neg_integer
  def count(relation, walk, id, lo, hi) do
    guards = [{:>=, :"$1", lo}, {:<, :"$1", hi}]
    relation |> table(walk) |> :ets.select_count(of(id, guards, true))
  end

  @doc "Makes `objects` the objects of a subject. O(objects before and after, log n each)."
  @spec replace(t, id, [neighbour]) :: map
  def replace(relation, subject, objects) do
    before = MapSet.new(neighbours(relation, :from, subject, :all), &elem(&1, 0))
    wanted = MapSet.new(objects, &elem(&1, 0))
    gone = MapSet.difference(before, wanted)
    for object <- gone, do: :ok = unlink(relation, subject, object)
    :ok = link_many(relation, for({object, props} <- objects, do: {subject, object, props}))
    kept = before |> MapSet.intersection(wanted) |> MapSet.size()
    %{added: MapSet.size(wanted) - kept, kept: kept, removed: MapSet.size(gone)}
  end

  @doc "Removes all edges of an id; answers how many there were. O(their number, log n each)."
  @spec drop(t, walk, id) :: non_neg_integer
  def drop(relation, walk, id) do
    others = neighbours(relation, walk, id, :all)
    {here, there} = {table(relation, walk), table(relation, other(walk))}

    for {other, _props} <- others do
      true = :ets.delete(here, {id, other})
      true = :ets.delete(there, {other, id})
    end

    length(others)
  end

  @doc "The objects that two subjects share, oldest first. O(objects of both)."
  @spec common(t, id, id) :: [id]
  def common(relation, subject, other) do
    others = MapSet.new(neighbours(relation, :from, other, :all), &elem(&1, 0))

    for {object, _props} <- neighbours(relation, :from, subject, :all),
        object in others,
        do: object
  end

  @doc "Edges and bytes. O(1)."
  @spec info(t) :: %{rows: non_neg_integer, bytes: non_neg_integer}
  def info(%__MODULE__{from: from, to: to}) do
    words = :ets.info(from, :memory) + :ets.info(to, :memory)
    %{rows: :ets.info(from, :size), bytes: words * :erlang.system_info(:wordsize)}
  end

  defp table(%__MODULE__{from: table}, :from), do: table
  defp table(%__MODULE__{to: table}, :to), do: table

  defp other(:from), do: :to
  defp other(:to), do: :from

  defp of(id, guards, result), do: [{{{id, :"$1"}, :"$2"}, guards, [result]}]

  defp walk(_table, _order, _from, 0, _values), do: []

  defp walk(table, order, {id, _other} = from, left, values) do
    case beyond(table, order, from) do
      {^id, other} = ends ->
        row = if values, do: {other, :ets.lookup_element(table, ends, 2)}, else: other
        [row | walk(table, order, ends, if(left == :all, do: :all, else: left - 1), values)]

      _end_or_other_id ->
        []
    end
  end

  defp beyond(table, :asc, ends), do: :ets.next(table, ends)
  defp beyond(table, :desc, ends), do: :ets.prev(table, ends)
end
