defmodule EchoData.Bcs.PropertyStore do
  @moduledoc """
  A supervised system that owns one kind of entity: values under the ids of one namespace.

      iex> alias EchoData.Bcs.PropertyStore
      iex> {:ok, _pid} = PropertyStore.start_link(name: :orders, namespace: "ORD")
      iex> PropertyStore.put(:orders, "ORD0NgWEfAEJfs", %{total: 100})
      :ok
      iex> PropertyStore.get(:orders, "ORD0NgWEfAEJfs")
      {:ok, %{total: 100}}
      iex> PropertyStore.get(:orders, "USR0NgWEfAEJfs")
      {:error, :namespace}
      iex> PropertyStore.get(:orders, "not an id")
      {:error, :invalid}

  The process owns the store; it does not stand in its way. A call does not go through its mailbox: the
  caller works on the store itself, so one store serves all schedulers at once. The rows belong to the
  process: they are gone when it ends, a restarted store is empty, and a call to a store that is not there
  exits as `GenServer.call/2` does. The server is a name or a pid, of any kind that `GenServer.call/2`
  takes; a local name or pid costs no message, a server on another node costs two.

  ## What a reader sees

  A call works on one version of the store: what was put before it began is there, a batch is there as a
  whole or not at all, and no reader waits for a writer. `snapshot/1` keeps a version for several calls;
  functions that read take a snapshot in the place of the server.

  ## Ids

  Every id is gated before anything is touched: `{:error, :namespace}` for an id of another kind,
  `{:error, :invalid}` for any other term.

  ## Values

  Any term. Small integers, atoms, floats and short binaries cost nothing beyond the row; other terms are
  kept as bytes. A binary over 64 bytes is read back without a copy, and keeps the value that it is part of
  in memory while it is used. A map of more than 32 keys is built anew by every read, a smaller one is
  copied. Pids, references and functions come back equal, but do not keep alive what
  they stand for. Nesting deeper than 10,000 raises `ArgumentError`.

  ## Indexes

  A store that is started with `:indexes` keeps its records, which are maps then, ranked by their fields, and
  answers the questions of `EchoData.RankIndex`. All functions here have the same answers for it; a change
  costs as much again for each index. What an index cannot rank is refused, and nothing is changed:
  `{:error, {:bad_field, index, path}}` for a record that is no map, or a field of a wrong type, and
  `{:error, {:not_unique, index}}`.

  In the costs below n is the number of rows. Walking is amortised O(1) a row.
  """

  import EchoData.Argument, only: [namespace!: 2, options!: 2]

  alias EchoData.Bcs.Owner
  alias EchoData.{BrandedId, Native, Ordered, RankIndex, Snapshot}
  alias EchoData.RankIndex.Declaration

  @typedoc "A running store."
  @type server :: GenServer.server()

  @typedoc "What can be read: a store as it is now, or as it was."
  @type source :: server | Snapshot.t()

  @typedoc "Why an id was not let in."
  @type refusal :: {:error, :namespace | :invalid}

  @typedoc "Why an index did not let a record in: see `EchoData.RankIndex`."
  @type rejection :: {:error, {:bad_field, atom, RankIndex.path()} | {:not_unique, atom}}

  @typedoc "Why a list was not let in: the reason and the position of the first id that is wrong, from 0."
  @type refusal_at :: {:error, {:namespace | :invalid, non_neg_integer}}

  @typedoc "How a store is started."
  @type option ::
          {:name, GenServer.name()}
          | {:namespace, BrandedId.namespace()}
          | {:indexes, RankIndex.declarations()}

  @typedoc "A value under its id."
  @type row :: {BrandedId.t(), term}

  @doc """
  Starts a store, linked to the caller.

    * `:namespace` - what ids it lets in, three letters A to Z; required
    * `:name` - as for `GenServer.start_link/3`
    * `:indexes` - what its records are ranked by, `[name: declaration]`: see `EchoData.RankIndex`. An empty
      list makes a store to which indexes can be added later

  Raises `ArgumentError` for anything else.
  """
  @spec start_link([option]) :: GenServer.on_start()
  def start_link(options) do
    options = options!(options, [:name, :namespace, :indexes])
    namespace = namespace!("namespace", options[:namespace])
    Owner.start_link(__MODULE__, options[:name], opener(namespace, options[:indexes]))
  end

  defp opener(namespace, nil), do: &Native.property_store_new(namespace, &1)

  defp opener(namespace, indexes) do
    indexes = Declaration.all!(indexes)
    &Native.property_store_new_indexed(namespace, &1, indexes)
  end

  @doc "A child specification. Its id is the store's name."
  @spec child_spec([option]) :: Supervisor.child_spec()
  def child_spec(options), do: Owner.child_spec(__MODULE__, options)

  @doc """
  Puts a value under an id, in the place of any other. O(log n); the newest id is appended in O(1).
  """
  @spec put(server, BrandedId.t(), term) :: :ok | refusal | rejection
  def put(server, id, value) do
    with :closed <- Native.ordered_put(server, id, value),
         do: call(server, :put, [id, value])
  end

  @doc """
  Puts all rows in one step: every reader sees all of them or none. Of rows with the same id the last wins.

  When an id is not let in, nothing is put and its position is told. O(rows log n), far less for rows that
  are neighbours. Raises `ArgumentError` for anything but a list of `{id, value}`.

      iex> alias EchoData.Bcs.PropertyStore
      iex> {:ok, store} = PropertyStore.start_link(namespace: "ORD")
      iex> PropertyStore.put_many(store, [{"ORD00000000001", :a}, {"USR00000000002", :b}])
      {:error, {:namespace, 1}}
      iex> PropertyStore.size(store)
      0
  """
  @spec put_many(server, [row]) :: :ok | refusal_at | rejection
  def put_many(server, rows) do
    with :closed <- Ordered.put_many(server, rows), do: call(server, :put_many, [rows])
  end

  @doc """
  Records that an entity exists: puts `true` under its id. An id that is not let in is dropped silently, and
  so is every one if there are indexes, for which `true` is no record.

  The entity is there for the next call. O(log n).
  """
  @spec record_entity(server, term) :: :ok
  def record_entity(server, id) do
    _put_or_dropped = put(server, id, true)
    :ok
  end

  @doc "The value under an id. O(log n)."
  @spec get(source, BrandedId.t()) :: {:ok, term} | {:error, :not_found} | refusal
  def get(source, id) do
    with :closed <- Native.ordered_get(source, id), do: call(source, :get, [id])
  end

  @doc """
  The rows of many ids, all of one moment: those that are there, in the order of the ids. When an id is not
  let in, its position is told.

  O(ids log n), with the waits for memory overlapped: cheaper than as many `get/2`. Raises `ArgumentError`
  for anything but a list.

      iex> alias EchoData.Bcs.PropertyStore
      iex> {:ok, store} = PropertyStore.start_link(namespace: "ORD")
      iex> PropertyStore.put(store, "ORD00000000002", :b)
      iex> PropertyStore.get_many(store, ["ORD00000000002", "ORD00000000001"])
      {:ok, [{"ORD00000000002", :b}]}
  """
  @spec get_many(source, [BrandedId.t()]) :: {:ok, [row]} | refusal_at
  def get_many(source, ids) do
    with :closed <- Ordered.get_many(source, ids), do: call(source, :get_many, [ids])
  end

  @doc "Removes an id and its value. O(log n)."
  @spec delete(server, BrandedId.t()) :: :ok | {:error, :not_found} | refusal
  def delete(server, id) do
    with :closed <- Native.ordered_delete(server, id), do: call(server, :delete, [id])
  end

  @doc "Removes an id and answers its value; of several callers one gets it. O(log n)."
  @spec take(server, BrandedId.t()) :: {:ok, term} | {:error, :not_found} | refusal
  def take(server, id) do
    with :closed <- Native.ordered_take(server, id), do: call(server, :take, [id])
  end

  @doc """
  Up to `n` ids, newest first. O(log n + page).

    * `:before` - only ids older than this one, which need not be there
    * `:values` - rows in the place of ids

  Raises `ArgumentError` unless `n` is a positive integer.

      iex> alias EchoData.Bcs.PropertyStore
      iex> {:ok, store} = PropertyStore.start_link(namespace: "ORD")
      iex> PropertyStore.put_many(store, [{"ORD00000000001", :a}, {"ORD00000000002", :b}])
      iex> PropertyStore.page_desc(store, 10)
      {:ok, ["ORD00000000002", "ORD00000000001"]}
      iex> PropertyStore.page_desc(store, 10, before: "ORD00000000002", values: true)
      {:ok, [{"ORD00000000001", :a}]}
  """
  @spec page_desc(source, pos_integer, before: BrandedId.t() | nil, values: boolean) ::
          {:ok, [BrandedId.t()] | [row]} | refusal
  def page_desc(source, n, options \\ []) do
    {cursor, values} = Ordered.page_options!(options, :before, false)

    with :closed <- Ordered.page(source, :desc, cursor, n, values),
         do: call(source, :page_desc, [n, options])
  end

  @doc """
  Up to `n` ids, oldest first. As `page_desc/3`, with `:after` for `:before`.
  """
  @spec page_asc(source, pos_integer, after: BrandedId.t() | nil, values: boolean) ::
          {:ok, [BrandedId.t()] | [row]} | refusal
  def page_asc(source, n, options \\ []) do
    {cursor, values} = Ordered.page_options!(options, :after, false)

    with :closed <- Ordered.page(source, :asc, cursor, n, values),
         do: call(source, :page_asc, [n, options])
  end

  @doc """
  The ids from `lo` on and below `hi`, oldest first. The bounds need not be there. O(log n + window).

    * `:values` - rows in the place of ids
  """
  @spec window(source, BrandedId.t(), BrandedId.t(), values: boolean) ::
          {:ok, [BrandedId.t()] | [row]} | refusal
  def window(source, lo, hi, options \\ []) do
    values = Ordered.values!(options, false)

    with :closed <- Ordered.window(source, lo, hi, values),
         do: call(source, :window, [lo, hi, options])
  end

  @doc "How many ids there are from `lo` on and below `hi`. O(log n), whatever their number."
  @spec count_window(source, BrandedId.t(), BrandedId.t()) :: {:ok, non_neg_integer} | refusal
  def count_window(source, lo, hi) do
    with :closed <- Native.ordered_count(source, lo, hi),
         do: call(source, :count_window, [lo, hi])
  end

  @doc "How many rows there are. O(1)."
  @spec size(source) :: non_neg_integer
  def size(source) do
    with :closed <- Native.ordered_size(source), do: call(source, :size, [])
  end

  @doc """
  What the store holds in memory, which `:erlang.memory/0` does not count. O(snapshots).

    * `:rows` - rows now
    * `:bytes` - of everything below and their management, old versions included
    * `:nodes` - nodes of the tree
    * `:payloads` - values that are not kept in the row itself
    * `:versions` - versions that are not reclaimed yet; about one at rest
    * `:snapshots` - snapshots that are held
  """
  @spec info(source) :: %{atom => non_neg_integer}
  def info(source) do
    with :closed <- Native.ordered_info(source), do: call(source, :info, [])
  end

  @doc """
  The store as it is now, kept readable: see `EchoData.Snapshot`. Under a microsecond.

  Raises `ArgumentError` for a store on another node.
  """
  @spec snapshot(source) :: Snapshot.t()
  def snapshot(%Snapshot{} = snapshot), do: snapshot

  def snapshot(server) do
    case Native.ordered_hold(server) do
      :closed -> call(server, :snapshot, [])
      moment -> %Snapshot{ref: moment}
    end
  end

  @doc """
  Where an id is placed among partitions: its `EchoData.BrandedId.hash32/1`. Asks no store. O(1).

      iex> EchoData.Bcs.PropertyStore.placement("USR0KHTOWnGLuC")
      {:ok, 234878118}
      iex> EchoData.Bcs.PropertyStore.placement("USR")
      {:error, :invalid}
  """
  @spec placement(term) :: {:ok, 0..0xFFFF_FFFF} | {:error, :invalid}
  def placement(id) do
    case Native.branded_id_parse_hash(id) do
      {:ok, _namespace, _snowflake, hash} -> {:ok, hash}
      :error -> {:error, :invalid}
    end
  end

  defp call(source, function, arguments),
    do: Owner.call(source, __MODULE__, function, arguments)
end
