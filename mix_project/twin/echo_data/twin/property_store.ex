defmodule EchoData.Twin.PropertyStore do
  @moduledoc """
  `EchoData.Bcs.PropertyStore` on ETS: a process that owns an `ordered_set` and serves every call from its
  mailbox.

  Functions take and answer what those of the same name there do.
  """

  use GenServer

  alias EchoData.{Argument, Bcs, Ordered}
  alias EchoData.Twin.Table

  @type server :: GenServer.server()
  @type id :: EchoData.BrandedId.t()
  @type row :: {id, term}
  @type refusal :: {:error, :namespace | :invalid}
  @type refusal_at :: {:error, {:namespace | :invalid, non_neg_integer}}

  @doc "Starts a store; `:namespace` is required, `:name` is not."
  @spec start_link(name: GenServer.name(), namespace: EchoData.BrandedId.namespace()) ::
          GenServer.on_start()
  def start_link(options) do
    {namespace, options} = Keyword.pop!(options, :namespace)
    GenServer.start_link(__MODULE__, namespace, options)
  end

  @doc "One row. O(log n)."
  @spec put(server, id, term) :: :ok | refusal
  def put(server, id, value), do: GenServer.call(server, {:put, id, value})

  @doc "All rows, or none. O(rows log n)."
  @spec put_many(server, [row]) :: :ok | refusal_at
  def put_many(server, rows), do: GenServer.call(server, {:put_many, rows}, :infinity)

  @doc "`true` under an id, or nothing. O(log n)."
  @spec record_entity(server, term) :: :ok
  def record_entity(server, id) do
    _put_or_dropped = put(server, id, true)
    :ok
  end

  @doc "The value under an id. O(log n)."
  @spec get(server, id) :: {:ok, term} | {:error, :not_found} | refusal
  def get(server, id), do: GenServer.call(server, {:get, id})

  @doc "The rows of the ids that are there. O(ids log n)."
  @spec get_many(server, [id]) :: {:ok, [row]} | refusal_at
  def get_many(server, ids), do: GenServer.call(server, {:get_many, ids}, :infinity)

  @doc "Removes an id. O(log n)."
  @spec delete(server, id) :: :ok | {:error, :not_found} | refusal
  def delete(server, id), do: GenServer.call(server, {:delete, id})

  @doc "Removes an id and answers its value. O(log n)."
  @spec take(server, id) :: {:ok, term} | {:error, :not_found} | refusal
  def take(server, id), do: GenServer.call(server, {:take, id})

  @doc "Newest first, `:before` a cursor, with `:values` or without. O(page log n)."
  @spec page_desc(server, pos_integer, before: id | nil, values: boolean) ::
          {:ok, [id] | [row]} | refusal
  def page_desc(server, n, options \\ []) do
    {cursor, values} = Ordered.page_options!(options, :before, false)
    GenServer.call(server, {:page, :desc, cursor, Argument.count!(n), values}, :infinity)
  end

  @doc "Oldest first, `:after` a cursor, with `:values` or without. O(page log n)."
  @spec page_asc(server, pos_integer, after: id | nil, values: boolean) ::
          {:ok, [id] | [row]} | refusal
  def page_asc(server, n, options \\ []) do
    {cursor, values} = Ordered.page_options!(options, :after, false)
    GenServer.call(server, {:page, :asc, cursor, Argument.count!(n), values}, :infinity)
  end

  @doc "From `lo` on and below `hi`, oldest first. O(n)."
  @spec window(server, id, id, values: boolean) :: {:ok, [id] | [row]} | refusal
  def window(server, lo, hi, options \\ []) do
    GenServer.call(server, {:window, lo, hi, Ordered.values!(options, false)}, :infinity)
  end

  @doc "How many ids there are from `lo` on and below `hi`. O(n)."
  @spec count_window(server, id, id) :: {:ok, non_neg_integer} | refusal
  def count_window(server, lo, hi), do: GenServer.call(server, {:count, lo, hi}, :infinity)

  @doc "How many rows there are. O(1)."
  @spec size(server) :: non_neg_integer
  def size(server), do: info(server).rows

  @doc "Rows and bytes. O(1)."
  @spec info(server) :: %{rows: non_neg_integer, bytes: non_neg_integer}
  def info(server), do: GenServer.call(server, :info)

  @impl true
  def init(namespace),
    do: {:ok, %{namespace: namespace, table: :ets.new(__MODULE__, [:ordered_set, :protected])}}

  @impl true
  def handle_call(request, _from, %{namespace: namespace, table: table} = state),
    do: {:reply, answer(request, namespace, table), state}

  defp answer({:put, id, value}, namespace, table) do
    with {:ok, _snowflake} <- Bcs.gate(id, namespace) do
      true = :ets.insert(table, {id, value})
      :ok
    end
  end

  defp answer({:put_many, rows}, namespace, table) do
    with :ok <- gate_all(Enum.map(rows, &elem(&1, 0)), namespace, 0),
         do: Table.put_many(table, rows)
  end

  defp answer({:get, id}, namespace, table) do
    with {:ok, _snowflake} <- Bcs.gate(id, namespace), do: Table.get(table, id)
  end

  defp answer({:get_many, ids}, namespace, table) do
    with :ok <- gate_all(ids, namespace, 0), do: {:ok, Table.get_many(table, ids)}
  end

  defp answer({:delete, id}, namespace, table) do
    with {:ok, _snowflake} <- Bcs.gate(id, namespace), do: Table.delete(table, id)
  end

  defp answer({:take, id}, namespace, table) do
    with {:ok, _snowflake} <- Bcs.gate(id, namespace), do: Table.take(table, id)
  end

  defp answer({:page, order, nil, n, values}, _namespace, table),
    do: {:ok, Table.page(table, order, nil, n, values)}

  defp answer({:page, order, cursor, n, values}, namespace, table) do
    with {:ok, _snowflake} <- Bcs.gate(cursor, namespace),
         do: {:ok, Table.page(table, order, cursor, n, values)}
  end

  defp answer({:window, lo, hi, values}, namespace, table) do
    with {:ok, _snowflake} <- Bcs.gate(lo, namespace),
         {:ok, _snowflake} <- Bcs.gate(hi, namespace),
         do: {:ok, Table.window(table, lo, hi, values)}
  end

  defp answer({:count, lo, hi}, namespace, table) do
    with {:ok, _snowflake} <- Bcs.gate(lo, namespace),
         {:ok, _snowflake} <- Bcs.gate(hi, namespace),
         do: {:ok, Table.count(table, lo, hi)}
  end

  defp answer(:info, _namespace, table), do: Table.info(table)

  defp gate_all([], _namespace, _position), do: :ok

  defp gate_all([id | ids], namespace, position) do
    case Bcs.gate(id, namespace) do
      {:ok, _snowflake} -> gate_all(ids, namespace, position + 1)
      {:error, reason} -> {:error, {reason, position}}
    end
  end
end
