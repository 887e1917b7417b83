defmodule EchoData.Buckets do
  @moduledoc """
  Entries that expire with the stretch of time in which their ids were minted: sessions, receipts, windows
  for deduplication.

      iex> alias EchoData.Buckets
      iex> receipts = Buckets.new(bucket_bits: 12)
      iex> receipts = Buckets.put(receipts, "RCP0NgWEfAEJfs", :seen)
      iex> Buckets.fetch(receipts, "RCP0NgWEfAEJfs")
      {:ok, :seen}
      iex> {expired, receipts} = Buckets.expire_older_than(receipts, ~U[2027-01-01 00:00:00Z])
      iex> {expired, Buckets.size(receipts)}
      {1, 0}

  A bucket is not kept anywhere: it is the upper bits of a snowflake, `snowflake >>> (22 + bucket_bits)`, so
  its entries are neighbours and what is too old is cut off the tree at one id. That costs O(log n) whatever
  the number of entries, which is known exactly, and every reader sees all of a bucket or none of it. There
  are no timers for entries, and no sweep.

  | `bucket_bits` | a bucket lasts |
  |---|---|
  | 10 | 1.024 s |
  | 12 | 4.096 s |
  | 16 | 65.5 s |
  | 20 | 17.5 min |
  | 29 | 6.2 days |

  ## A handle, or a process under a name

  `new/1` makes a handle, as `EchoData.Timeline.new/2` does: any process of the node may use it, the one that
  made it owns it, and it closes when its owner ends, with `close/1`, or when nobody refers to it any more;
  a call then raises `ArgumentError`. `start_link/1` starts a process that owns a store and expires it by
  itself; it is used by its name or pid, which costs no message and does not wait for the process, as with
  `EchoData.Bcs.PropertyStore`. All functions take either, and those that read a snapshot, too.

  Functions that change buckets answer what they were given, so that calls can be chained, or threaded as
  those of a value.

  ## Ids

  An id of any namespace is let in, by its snowflake: ids that differ in their namespace only name the same
  entry. Who wants one namespace gates with `EchoData.Bcs.gate!/2` and puts by snowflake. Entries are listed
  as `{snowflake, value}`, oldest first. A malformed id raises `ArgumentError`, and nothing is touched.

  Values are what they are in `EchoData.Bcs.PropertyStore`, and so is what a reader sees.

  A handle and a snapshot are enumerable, over the moment at which the enumeration begins. A handle is
  collectable: `Enum.into/2` puts all rows in one step, by snowflake or by id.

  In the costs below n is the number of entries. Walking is amortised O(1) an entry.
  """

  import EchoData.Argument, only: [access!: 1, options!: 2, refuse!: 3, unix_ms!: 2]

  alias EchoData.Bcs.Owner
  alias EchoData.Buckets.Expiry
  alias EchoData.{BrandedId, BucketsSnapshot, Enumeration, Native, Snapshot, Snowflake, Steps}

  @bits 12
  @max_bits 40

  # The longest time that a timer of the VM can be set to.
  @max_every 0xFFFF_FFFF

  @enforce_keys [:ref]
  defstruct [:ref]

  @typedoc "A handle. Its fields are private."
  @type t :: %__MODULE__{ref: reference}

  @typedoc "What can be changed: buckets behind a handle, or those of a process."
  @type buckets :: t | GenServer.server()

  @typedoc "What can be read: buckets as they are now, or as they were."
  @type source :: buckets | BucketsSnapshot.t()

  @typedoc "The number of a bucket: the upper bits of its snowflakes."
  @type bucket :: non_neg_integer

  @typedoc "A value under its snowflake."
  @type entry :: {Snowflake.t(), term}

  @typedoc "Options of `start_link/1`."
  @type start_options :: [
          name: GenServer.name(),
          ttl: pos_integer,
          every: pos_integer,
          bucket_bits: 0..40,
          on_expire: (DateTime.t(), pos_integer -> term),
          clock: (() -> DateTime.t())
        ]

  @doc """
  New buckets, owned by the calling process.

    * `:bucket_bits` - a bucket lasts `2^bucket_bits` milliseconds; in `0..40`, by default 12
    * `:access` - what other processes may do: `:public` (the default) everything, `:protected` read,
      `:private` nothing but `size/1` and `info/1`; other uses raise `ArgumentError`

  Raises `ArgumentError` for anything else.
  """
  @spec new(bucket_bits: 0..40, access: :public | :protected | :private) :: t
  def new(options \\ []) do
    options = options!(options, bucket_bits: @bits, access: :public)
    access = access!(Keyword.take(options, [:access]))

    case Native.buckets_new(bits!(options[:bucket_bits]), access) do
      :closed -> closed!()
      ref -> %__MODULE__{ref: ref}
    end
  end

  @doc """
  Starts a process that owns buckets and expires them by itself, linked to the caller. It starts empty, and
  its entries are gone when it ends.

    * `:ttl` - how many milliseconds an entry is kept at least, from the time of its id; required
    * `:every` - how many milliseconds pass between two rounds of expiry, below 2^32; required
    * `:bucket_bits` - as in `new/1`
    * `:name` - as for `GenServer.start_link/3`
    * `:on_expire` - called after a round that dropped entries, with the instant before whose bucket all are
      gone and their number
    * `:clock` - what tells the time, by default `&DateTime.utc_now/0`

  An entry goes between `ttl` and `ttl` + a bucket's duration + `every` after the time of its id. An entry
  that is put when it is too old already stays until the next round.

  The callback runs in the process of the store: while it does there is no other round, but everybody on this
  node reads and writes. When it raises, throws or exits, that is logged, and the entries stay as they are: a
  callback cannot end the store, nor can the clock. A process that it links to the store can.

  When the application `:telemetry` is there, every round executes `[:echo_data, :buckets, :expire]` with the
  measurements `:count`, of entries, and `:duration`, in native units of time, and with the metadata `:name`,
  or the pid of a store without one, and `:instant`.

  Raises `ArgumentError` for other options.
  """
  @spec start_link(start_options) :: GenServer.on_start()
  def start_link(options) do
    checked =
      options!(options, [
        :name,
        :ttl,
        :every,
        :on_expire,
        bucket_bits: @bits,
        clock: &DateTime.utc_now/0
      ])

    bits = bits!(checked[:bucket_bits])
    expiry = Expiry.new!(checked)
    work = {every!(checked[:every]), &Expiry.round(expiry, &1)}
    Owner.start_link(__MODULE__, checked[:name], &Native.buckets_new_named(bits, &1), work)
  end

  @doc "A child specification. Its id is the store's name."
  @spec child_spec(start_options) :: Supervisor.child_spec()
  def child_spec(options), do: Owner.child_spec(__MODULE__, options)

  @doc """
  Has a store that was started with `start_link/1` do a round of expiry now, and answers how many entries it
  dropped. The next one is due after the usual time.

  One message to the store's process and back, and O(log n). Raises `ArgumentError` for other stores.
  """
  @spec expire(GenServer.server()) :: non_neg_integer
  def expire(%_struct{} = buckets),
    do: refuse!("server", "a store that was started with start_link/1", buckets)

  def expire(server), do: Owner.work(server)

  @doc """
  Closes buckets for everybody; their memory is given back in the background. O(1), also the second time.
  Raises `ArgumentError` when the caller may not write.
  """
  @spec close(t) :: :ok
  def close(%__MODULE__{ref: ref}) do
    Native.buckets_close(ref)
    :ok
  end

  @doc """
  Puts a value under an id, in the place of any other. O(log n); the newest id is appended in O(1).
  """
  @spec put(buckets, BrandedId.t(), term) :: buckets
  def put(buckets, id, value), do: put_at(buckets, id!(id), :put, value)

  @doc """
  As `put/3`, with the snowflake of the id. Raises `ArgumentError` unless it is an integer in `0..2^63-1`.
  """
  @spec put_by_snowflake(buckets, Snowflake.t(), term) :: buckets
  def put_by_snowflake(buckets, snowflake, value),
    do: put_at(buckets, snowflake!(snowflake), :put_by_snowflake, value)

  @doc """
  Puts all rows, `{id, value}` or `{snowflake, value}`, in one step: every reader sees all of them or none.
  Of rows with the same snowflake the last wins.

  O(rows log n), far less for rows that are neighbours. Raises `ArgumentError`, and puts nothing, when a row
  is wrong, naming its position from 0.
  """
  @spec put_many(buckets, [{BrandedId.t() | Snowflake.t(), term}]) :: buckets
  def put_many(buckets, rows) when is_list(rows) do
    store = ref(buckets)

    store
    |> Native.buckets_put_many(rows)
    |> Steps.publish(&Native.buckets_put_more(store, &1), &Native.buckets_put_staged(store, &1))
    |> answer!(buckets, :put_many, [rows])

    buckets
  end

  def put_many(_buckets, rows), do: refuse!("rows", "a list of {id, value}", rows)

  @doc "The value under an id, or `:error`. O(log n)."
  @spec fetch(source, BrandedId.t()) :: {:ok, term} | :error
  def fetch(source, id),
    do: source |> ref() |> Native.buckets_get(id!(id)) |> answer!(source, :fetch, [id])

  @doc "As `fetch/2`, with the snowflake of the id."
  @spec fetch_by_snowflake(source, Snowflake.t()) :: {:ok, term} | :error
  def fetch_by_snowflake(source, snowflake) do
    source
    |> ref()
    |> Native.buckets_get(snowflake!(snowflake))
    |> answer!(source, :fetch_by_snowflake, [snowflake])
  end

  @doc """
  The entries of many ids or snowflakes, all of one moment: those that are there, in the order of the list,
  each under what it was asked by.

  O(ids log n), with the waits for memory overlapped: cheaper than as many `fetch/2`.
  """
  @spec get_many(source, [BrandedId.t() | Snowflake.t()]) :: [
          {BrandedId.t() | Snowflake.t(), term}
        ]
  def get_many(source, ids) when is_list(ids) do
    source
    |> ref()
    |> Native.buckets_get_many(ids)
    |> Steps.finish(&Native.buckets_get_more/1)
    |> list!(source, :get_many, [ids])
  end

  def get_many(_source, ids), do: refuse!("ids", "a list", ids)

  @doc "Removes an id and its value, if it is there. O(log n)."
  @spec delete(buckets, BrandedId.t()) :: buckets
  def delete(buckets, id), do: delete_at(buckets, id!(id), :delete)

  @doc "As `delete/2`, with the snowflake of the id."
  @spec delete_by_snowflake(buckets, Snowflake.t()) :: buckets
  def delete_by_snowflake(buckets, snowflake),
    do: delete_at(buckets, snowflake!(snowflake), :delete_by_snowflake)

  @doc """
  Removes an id and answers its value, or `:error`; of several callers one gets it. O(log n).
  """
  @spec take(buckets, BrandedId.t()) :: {:ok, term} | :error
  def take(buckets, id),
    do: buckets |> ref() |> Native.buckets_take(id!(id)) |> answer!(buckets, :take, [id])

  @doc """
  Drops every bucket that is older than the bucket of a `DateTime`, and answers how many entries that were.

  The bucket of the instant itself stays as a whole, and so does whatever is younger, the future included. An
  instant before the epoch of ids drops nothing. O(log n) whatever is dropped, in one step; the memory is
  given back in the background.

      iex> alias EchoData.{Buckets, Snowflake}
      iex> buckets = Buckets.new(bucket_bits: 10)
      iex> noon = ~U[2026-03-01 12:00:00Z]
      iex> for seconds <- -3..3 do
      ...>   at = DateTime.add(noon, 10 * seconds, :second)
      ...>   Buckets.put_by_snowflake(buckets, Snowflake.min_for(at), seconds)
      ...> end
      iex> {expired, ^buckets} = Buckets.expire_older_than(buckets, noon)
      iex> {expired, Enum.map(buckets, &elem(&1, 1))}
      {3, [0, 1, 2, 3]}
  """
  @spec expire_older_than(buckets, DateTime.t()) :: {non_neg_integer, buckets}
  def expire_older_than(buckets, instant) do
    case Native.buckets_expire(ref(buckets), unix_ms!("instant", instant)) do
      :closed ->
        {expired, _buckets} = elsewhere(buckets, :expire_older_than, [instant])
        {expired, buckets}

      expired ->
        {expired, buckets}
    end
  end

  @doc "How many entries there are. O(1)."
  @spec size(source) :: non_neg_integer
  def size(source), do: source |> ref() |> Native.buckets_size() |> answer!(source, :size, [])

  @doc "How many buckets have entries. O(buckets log n)."
  @spec bucket_count(source) :: non_neg_integer
  def bucket_count(source), do: source |> walk(false) |> list!(source, :bucket_count, [])

  @doc "The buckets that have entries, each with their number, oldest first. O(buckets log n)."
  @spec counts(source) :: [{bucket, pos_integer}]
  def counts(source), do: source |> walk(true) |> list!(source, :counts, [])

  @doc "The oldest bucket that has entries, or `:error`. O(log n)."
  @spec oldest_bucket(source) :: {:ok, bucket} | :error
  def oldest_bucket(source), do: an_end(source, 0, :oldest_bucket)

  @doc "The newest bucket that has entries, or `:error`. O(log n)."
  @spec newest_bucket(source) :: {:ok, bucket} | :error
  def newest_bucket(source), do: an_end(source, 1, :newest_bucket)

  @doc """
  The entries of a bucket, oldest first; none of one that is not there. O(log n + entries).

  Raises `ArgumentError` unless the bucket is a non-negative integer.
  """
  @spec entries(source, bucket) :: [entry]
  def entries(source, bucket) do
    source
    |> ref()
    |> Native.buckets_entries(bucket!(bucket))
    |> Steps.finish(&Native.buckets_more/1)
    |> list!(source, :entries, [bucket])
  end

  @doc """
  The bucket of a `DateTime`, or `:error` when that is before the epoch of ids. O(1).

      iex> buckets = EchoData.Buckets.new(bucket_bits: 20)
      iex> {:ok, bucket} = EchoData.Buckets.bucket_at(buckets, ~U[2026-03-01 12:00:00Z])
      iex> EchoData.Buckets.bucket_start(buckets, bucket)
      ~U[2026-03-01 11:56:37.760Z]
  """
  @spec bucket_at(source, DateTime.t()) :: {:ok, bucket} | :error
  def bucket_at(source, instant) do
    case unix_ms!("instant", instant) - Snowflake.epoch_ms() do
      elapsed when elapsed >= 0 -> {:ok, Bitwise.bsr(elapsed, bits(source))}
      _before_the_epoch -> :error
    end
  end

  @doc "The first instant of a bucket. O(1). Raises `ArgumentError` when no `DateTime` is so late."
  @spec bucket_start(source, bucket) :: DateTime.t()
  def bucket_start(source, bucket) do
    elapsed = Bitwise.bsl(bucket!(bucket), bits(source))

    case DateTime.from_unix(Snowflake.epoch_ms() + elapsed, :millisecond) do
      {:ok, start} -> start
      {:error, _reason} -> refuse!("bucket", "one that begins in year 9999 or before", bucket)
    end
  end

  @doc "The snowflakes of all entries, oldest first. O(n)."
  @spec to_snowflake_list(source) :: [Snowflake.t()]
  def to_snowflake_list(source),
    do: source |> ref() |> slice(0, :all, false) |> list!(source, :to_snowflake_list, [])

  @doc """
  What buckets hold in memory, as `EchoData.Bcs.PropertyStore.info/1` says it, and their `:bucket_bits`.
  """
  @spec info(source) :: %{atom => non_neg_integer}
  def info(source) do
    case source |> ref() |> Native.buckets_info() do
      :closed -> elsewhere(source, :info, [])
      info -> Map.put(info, :bucket_bits, bits(source))
    end
  end

  @doc """
  Buckets as they are now, kept readable: see `EchoData.BucketsSnapshot`. Under a microsecond.

  Raises `ArgumentError` for a store on another node.
  """
  @spec snapshot(source) :: BucketsSnapshot.t()
  def snapshot(source) do
    case source |> ref() |> Native.buckets_hold() do
      :closed -> elsewhere(source, :snapshot, [])
      :held -> source
      moment -> %BucketsSnapshot{ref: moment}
    end
  end

  @doc false
  @spec reduce(reference, Enumerable.acc(), Enumerable.reducer()) :: Enumerable.result()
  def reduce(ref, acc, fun) do
    doors = {&Native.buckets_hold/1, &slice(&1, &2, &3, true), &Native.buckets_close/1}
    Enumeration.reduce(ref, doors, acc, fun)
  end

  @doc false
  @spec slice(term, non_neg_integer, non_neg_integer | :all, boolean) :: {:ok, list} | :closed
  def slice(store, first, count, values) do
    store
    |> Native.buckets_slice(first, count, values)
    |> Steps.finish(&Native.buckets_more/1)
  end

  defp put_at(buckets, key, function, value) do
    buckets
    |> ref()
    |> Native.buckets_put(key, value)
    |> answer!(buckets, function, [key, value])

    buckets
  end

  defp delete_at(buckets, key, function) do
    buckets |> ref() |> Native.buckets_delete(key) |> answer!(buckets, function, [key])
    buckets
  end

  defp walk(source, counts) do
    source
    |> ref()
    |> Native.buckets_walk(counts)
    |> Steps.finish(&Native.buckets_walk_more/1)
  end

  defp an_end(source, place, function) do
    case source |> ref() |> Native.buckets_ends() do
      :closed -> elsewhere(source, function, [])
      nil -> :error
      ends -> {:ok, elem(ends, place)}
    end
  end

  defp bits(source) do
    with :closed <- source |> ref() |> Native.buckets_bits(),
         do: elsewhere(source, :info, []).bucket_bits
  end

  # What the native functions know buckets by.
  defp ref(%module{ref: ref}) when module in [__MODULE__, BucketsSnapshot], do: ref
  defp ref(server), do: server

  # Goes on with a call that found no open store natively.
  defp elsewhere(%__MODULE__{}, _function, _arguments), do: closed!()
  defp elsewhere(%BucketsSnapshot{}, _function, _arguments), do: Snapshot.closed!()

  defp elsewhere(server, function, arguments),
    do: Owner.call(server, __MODULE__, function, arguments)

  defp answer!(:closed, source, function, arguments), do: elsewhere(source, function, arguments)
  defp answer!({:error, :not_found}, _source, _function, _arguments), do: :error

  defp answer!({:error, :invalid}, _source, _function, [key | _]), do: refuse_key!(key)

  defp answer!({:error, {:invalid, position}}, _source, function, _arguments) do
    list = if function == :put_many, do: "rows", else: "ids"

    raise ArgumentError,
          "#{list} must have branded ids or snowflakes, and the one at position #{position} is neither"
  end

  defp answer!(answer, _source, _function, _arguments), do: answer

  defp list!(answer, source, function, arguments) do
    case answer do
      {:ok, list} -> list
      refused -> answer!(refused, source, function, arguments)
    end
  end

  defp id!(id) when is_binary(id), do: id
  defp id!(other), do: refuse_id!(other)

  defp snowflake!(snowflake) when is_integer(snowflake), do: snowflake
  defp snowflake!(other), do: refuse_snowflake!(other)

  @spec refuse_key!(term) :: no_return
  defp refuse_key!(snowflake) when is_integer(snowflake), do: refuse_snowflake!(snowflake)
  defp refuse_key!(id), do: refuse_id!(id)

  @spec refuse_id!(term) :: no_return
  defp refuse_id!(id), do: refuse!("id", "a branded id", id)

  @spec refuse_snowflake!(term) :: no_return
  defp refuse_snowflake!(other), do: refuse!("snowflake", "an integer in 0..2^63-1", other)

  defp bucket!(bucket) when is_integer(bucket) and bucket >= 0, do: bucket
  defp bucket!(other), do: refuse!("bucket", "a non-negative integer", other)

  defp bits!(bits) when bits in 0..@max_bits, do: bits
  defp bits!(other), do: refuse!("bucket_bits", "an integer in 0..#{@max_bits}", other)

  defp every!(every) when every in 1..@max_every, do: every
  defp every!(other), do: refuse!("every", "an integer in 1..#{@max_every}", other)

  @spec closed!() :: no_return
  defp closed!, do: raise(ArgumentError, "the store is closed")

  defimpl Enumerable, for: [EchoData.Buckets, EchoData.BucketsSnapshot] do
    alias EchoData.{Buckets, Enumeration}

    def count(source), do: {:ok, Buckets.size(source)}

    def member?(source, {snowflake, value}) when snowflake in 0..0x7FFF_FFFF_FFFF_FFFF,
      do: {:ok, Buckets.fetch_by_snowflake(source, snowflake) === {:ok, value}}

    def member?(source, _no_entry), do: source |> count() |> Enumeration.no_member()

    def slice(source) do
      %{ref: ref} = snapshot = Buckets.snapshot(source)
      read = &Buckets.slice(ref, &1, &2, true)
      {:ok, Buckets.size(snapshot), &Enumeration.slice(read, &1, &2, &3)}
    end

    def reduce(%{ref: ref}, acc, fun), do: Buckets.reduce(ref, acc, fun)
  end

  defimpl Collectable do
    def into(buckets), do: {[], &collect(buckets, &1, &2)}

    defp collect(_buckets, rows, {:cont, row}), do: [row | rows]
    defp collect(_buckets, _rows, :halt), do: :ok

    defp collect(buckets, rows, :done),
      do: EchoData.Buckets.put_many(buckets, Enum.reverse(rows))
  end

  defimpl Inspect do
    alias EchoData.{Appearance, Native}

    def inspect(%{ref: ref}, _options),
      do: Appearance.of(@for, Native.buckets_bits(ref), Native.buckets_info(ref), "entries")
  end
end
