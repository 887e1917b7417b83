defmodule EchoData.Twin.Timeline do
  @moduledoc """
  `EchoData.Timeline` on ETS: a public `ordered_set`, used directly by every process.

  Functions take and answer what those of the same name there do.
  """

  alias EchoData.{Argument, BrandedId, Ordered, Snowflake}
  alias EchoData.Twin.Table

  @enforce_keys [:namespace, :table]
  defstruct [:namespace, :table]

  @type t :: %__MODULE__{namespace: BrandedId.namespace(), table: :ets.table()}
  @type id :: BrandedId.t()
  @type row :: {id, term}

  @doc "A table that belongs to the caller."
  @spec new(BrandedId.namespace()) :: t
  def new(namespace), do: %__MODULE__{namespace: namespace, table: Table.new()}

  @doc "Gives the table up. O(n), in the background."
  @spec close(t) :: :ok
  def close(%__MODULE__{table: table}), do: Table.close(table)

  @doc "One row. O(log n)."
  @spec put(t, id, term) :: :ok
  def put(%__MODULE__{table: table} = timeline, id, value) do
    gate!(timeline, id)
    true = :ets.insert(table, {id, value})
    :ok
  end

  @doc "One row under the snowflake of its id. O(log n)."
  @spec put_by_snowflake(t, Snowflake.t(), term) :: :ok
  def put_by_snowflake(timeline, snowflake, value),
    do: put(timeline, id(timeline, snowflake), value)

  @doc "One row under an id that is minted for it. O(log n)."
  @spec append(t, term) :: id
  def append(timeline, value) do
    id = BrandedId.generate!(timeline.namespace)
    put(timeline, id, value)
    id
  end

  @doc "All rows, or none. O(rows log n)."
  @spec put_many(t, [row]) :: :ok
  def put_many(%__MODULE__{table: table} = timeline, rows) do
    Enum.each(rows, fn {id, _value} -> gate!(timeline, id) end)
    Table.put_many(table, rows)
  end

  @doc "The value under an id. O(log n)."
  @spec fetch(t, id) :: {:ok, term} | :error
  def fetch(%__MODULE__{table: table} = timeline, id) do
    gate!(timeline, id)
    with {:error, :not_found} <- Table.get(table, id), do: :error
  end

  @doc "The rows of the ids that are there. O(ids log n)."
  @spec get_many(t, [id]) :: [row]
  def get_many(%__MODULE__{table: table} = timeline, ids) do
    Enum.each(ids, &gate!(timeline, &1))
    Table.get_many(table, ids)
  end

  @doc "Removes an id. O(log n)."
  @spec delete(t, id) :: :ok | :error
  def delete(%__MODULE__{table: table} = timeline, id) do
    gate!(timeline, id)
    with {:error, :not_found} <- Table.delete(table, id), do: :error
  end

  @doc "Removes an id and answers its value. O(log n)."
  @spec take(t, id) :: {:ok, term} | :error
  def take(%__MODULE__{table: table} = timeline, id) do
    gate!(timeline, id)
    with {:error, :not_found} <- Table.take(table, id), do: :error
  end

  @doc "The newest rows, newest first. O(page log n)."
  @spec latest(t, pos_integer) :: [row]
  def latest(timeline, n), do: page_desc(timeline, n)

  @doc "The rows after an id, oldest first. O(page log n)."
  @spec after_cursor(t, id, pos_integer) :: [row]
  def after_cursor(timeline, id, n) do
    gate!(timeline, id)
    page_asc(timeline, n, after: id)
  end

  @doc "The rows from a time on, oldest first. O(page log n)."
  @spec since(t, DateTime.t(), pos_integer) :: [row]
  def since(%__MODULE__{table: table} = timeline, datetime, n),
    do: Table.from(table, id(timeline, Snowflake.min_for(datetime)), Argument.count!(n))

  @doc "Newest first, `:before` a cursor, with `:values` or without. O(page log n)."
  @spec page_desc(t, pos_integer, before: id | nil, values: boolean) :: [row] | [id]
  def page_desc(timeline, n, options \\ []) do
    {cursor, values} = Ordered.page_options!(options, :before, true)
    page(timeline, :desc, cursor, n, values)
  end

  @doc "Oldest first, `:after` a cursor, with `:values` or without. O(page log n)."
  @spec page_asc(t, pos_integer, after: id | nil, values: boolean) :: [row] | [id]
  def page_asc(timeline, n, options \\ []) do
    {cursor, values} = Ordered.page_options!(options, :after, true)
    page(timeline, :asc, cursor, n, values)
  end

  @doc "From `lo` on and below `hi`, oldest first. O(n)."
  @spec window(t, id, id, values: boolean) :: [row] | [id]
  def window(%__MODULE__{table: table} = timeline, lo, hi, options \\ []) do
    Enum.each([lo, hi], &gate!(timeline, &1))
    Table.window(table, lo, hi, Ordered.values!(options, true))
  end

  @doc "How many ids there are from `lo` on and below `hi`. O(n)."
  @spec count_window(t, id, id) :: non_neg_integer
  def count_window(%__MODULE__{table: table} = timeline, lo, hi) do
    Enum.each([lo, hi], &gate!(timeline, &1))
    Table.count(table, lo, hi)
  end

  @doc "How many rows were minted at `from` or later and before `until`. O(n)."
  @spec window_count(t, DateTime.t(), DateTime.t()) :: non_neg_integer
  def window_count(timeline, from, until) do
    [lo, hi] = Enum.map([from, until], &id(timeline, Snowflake.min_for(&1)))
    count_window(timeline, lo, hi)
  end

  @doc "How many rows there are. O(1)."
  @spec size(t) :: non_neg_integer
  def size(timeline), do: info(timeline).rows

  @doc "Rows and bytes. O(1)."
  @spec info(t) :: %{rows: non_neg_integer, bytes: non_neg_integer}
  def info(%__MODULE__{table: table}), do: Table.info(table)

  defp page(%__MODULE__{table: table} = timeline, order, cursor, n, values) do
    if cursor, do: gate!(timeline, cursor)
    Table.page(table, order, cursor, Argument.count!(n), values)
  end

  defp id(%__MODULE__{namespace: namespace}, snowflake),
    do: BrandedId.encode!(namespace, snowflake)

  defp gate!(%__MODULE__{namespace: namespace}, id), do: Table.gate!(id, namespace)
end
