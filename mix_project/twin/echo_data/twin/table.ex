defmodule EchoData.Twin.Table do
  @moduledoc """
  What the twins do with an ETS `ordered_set` of `{id, value}`, in the idiom of its users: pages walk from
  key to key, windows and counts are match specifications with guards, which visit the whole table.
  """

  alias EchoData.{Bcs, BrandedId, Ordered, Snowflake}

  @type id :: BrandedId.t() | Snowflake.t()
  @type row :: {id, term}

  @doc "A public table that belongs to the caller."
  @spec new() :: :ets.table()
  def new, do: :ets.new(__MODULE__, [:ordered_set, :public])

  @doc "Gives a table up. O(n), in the background."
  @spec close(:ets.table()) :: :ok
  def close(table) do
    true = :ets.delete(table)
    :ok
  end

  @doc "Raises unless an id is one of a namespace."
  @spec gate!(term, BrandedId.namespace()) :: :ok
  def gate!(id, namespace) do
    case Bcs.gate(id, namespace) do
      {:ok, _snowflake} -> :ok
      {:error, _reason} -> raise ArgumentError, "id must be an id of namespace #{namespace}"
    end
  end

  @doc "The value under an id. O(log n)."
  @spec get(:ets.table(), id) :: {:ok, term} | {:error, :not_found}
  def get(table, id) do
    case :ets.lookup(table, id) do
      [{_id, value}] -> {:ok, value}
      [] -> {:error, :not_found}
    end
  end

  @doc "The rows of the ids that are there, in the order of the ids. O(ids log n)."
  @spec get_many(:ets.table(), [id]) :: [row]
  def get_many(table, ids), do: Enum.flat_map(ids, &:ets.lookup(table, &1))

  @doc "Puts all rows at once; of rows with the same id the last wins. O(rows log n)."
  @spec put_many(:ets.table(), [row]) :: :ok
  def put_many(table, rows) do
    true = :ets.insert(table, rows |> Map.new() |> Map.to_list())
    :ok
  end

  @doc "Removes an id. O(log n)."
  @spec delete(:ets.table(), id) :: :ok | {:error, :not_found}
  def delete(table, id) do
    with {:ok, _value} <- take(table, id), do: :ok
  end

  @doc "Removes an id and answers its value. O(log n)."
  @spec take(:ets.table(), id) :: {:ok, term} | {:error, :not_found}
  def take(table, id) do
    case :ets.take(table, id) do
      [{_id, value}] -> {:ok, value}
      [] -> {:error, :not_found}
    end
  end

  @doc "Up to `n` rows or ids beyond a cursor, or from the end when it is `nil`. O(n log rows)."
  @spec page(:ets.table(), Ordered.order(), id | nil, pos_integer, boolean) :: [row] | [id]
  def page(table, order, cursor, n, values),
    do: walk(table, order, first(table, order, cursor), n, values)

  @doc "Up to `n` rows from an id on, oldest first. O(n log rows)."
  @spec from(:ets.table(), id, pos_integer) :: [row]
  def from(table, id, n) do
    first = if :ets.member(table, id), do: id, else: :ets.next(table, id)
    walk(table, :asc, first, n, true)
  end

  @doc "The rows or ids from `lo` on and below `hi`, oldest first. O(rows)."
  @spec window(:ets.table(), id, id, boolean) :: [row] | [id]
  def window(table, lo, hi, values),
    do: :ets.select(table, between(lo, hi, if(values, do: :"$_", else: :"$1")))

  @doc "How many ids there are from `lo` on and below `hi`. O(rows)."
  @spec count(:ets.table(), id, id) :: non_neg_integer
  def count(table, lo, hi), do: :ets.select_count(table, between(lo, hi, true))

  @doc "Rows and bytes. O(1)."
  @spec info(:ets.table()) :: %{rows: non_neg_integer, bytes: non_neg_integer}
  def info(table) do
    words = :ets.info(table, :memory)
    %{rows: :ets.info(table, :size), bytes: words * :erlang.system_info(:wordsize)}
  end

  defp between(lo, hi, result),
    do: [{{:"$1", :_}, [{:>=, :"$1", lo}, {:<, :"$1", hi}], [result]}]

  defp first(table, :desc, nil), do: :ets.last(table)
  defp first(table, :asc, nil), do: :ets.first(table)
  defp first(table, order, cursor), do: beyond(table, order, cursor)

  defp beyond(table, :desc, id), do: :ets.prev(table, id)
  defp beyond(table, :asc, id), do: :ets.next(table, id)

  defp walk(_table, _order, :"$end_of_table", _n, _values), do: []
  defp walk(_table, _order, _id, 0, _values), do: []

  defp walk(table, order, id, n, false),
    do: [id | walk(table, order, beyond(table, order, id), n - 1, false)]

  defp walk(table, order, id, n, true),
    do: :ets.lookup(table, id) ++ walk(table, order, beyond(table, order, id), n - 1, true)
end
