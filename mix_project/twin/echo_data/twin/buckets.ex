defmodule EchoData.Twin.Buckets do
  @moduledoc """
  `EchoData.Buckets` on ETS: a public `ordered_set` of `{snowflake, value}`, used directly by every process,
  which expires by `:ets.select_delete/2`.

  Functions take and answer what those of the same name there do.
  """

  import Bitwise

  alias EchoData.{BrandedId, Snowflake}
  alias EchoData.Twin.Table

  @enforce_keys [:bits, :table]
  defstruct [:bits, :table]

  @type t :: %__MODULE__{bits: 0..40, table: :ets.table()}
  @type key :: BrandedId.t() | Snowflake.t()
  @type bucket :: non_neg_integer

  @timestamp_shift 22

  @doc "A table that belongs to the caller."
  @spec new(bucket_bits: 0..40) :: t
  def new(options),
    do: %__MODULE__{bits: Keyword.fetch!(options, :bucket_bits), table: Table.new()}

  @doc "Gives the table up. O(n), in the background."
  @spec close(t) :: :ok
  def close(%__MODULE__{table: table}), do: Table.close(table)

  @doc "One entry. O(log n)."
  @spec put(t, BrandedId.t(), term) :: t
  def put(buckets, id, value), do: put_many(buckets, [{branded!(id), value}])

  @doc "One entry under the snowflake of its id. O(log n)."
  @spec put_by_snowflake(t, Snowflake.t(), term) :: t
  def put_by_snowflake(buckets, snowflake, value),
    do: put_many(buckets, [{number!(snowflake), value}])

  @doc "All entries, or none. O(entries log n)."
  @spec put_many(t, [{key, term}]) :: t
  def put_many(%__MODULE__{table: table} = buckets, rows) do
    :ok = Table.put_many(table, for({key, value} <- rows, do: {snowflake!(key), value}))
    buckets
  end

  @doc "The value under an id. O(log n)."
  @spec fetch(t, BrandedId.t()) :: {:ok, term} | :error
  def fetch(buckets, id), do: fetch_by_snowflake(buckets, branded!(id))

  @doc "The value under the snowflake of an id. O(log n)."
  @spec fetch_by_snowflake(t, Snowflake.t()) :: {:ok, term} | :error
  def fetch_by_snowflake(%__MODULE__{table: table}, snowflake) do
    with {:error, :not_found} <- Table.get(table, number!(snowflake)), do: :error
  end

  @doc "The entries of the keys that are there. O(keys log n)."
  @spec get_many(t, [key]) :: [{key, term}]
  def get_many(%__MODULE__{table: table}, keys) do
    snowflakes = Enum.map(keys, &snowflake!/1)

    for {key, snowflake} <- Enum.zip(keys, snowflakes),
        {:ok, value} <- [Table.get(table, snowflake)],
        do: {key, value}
  end

  @doc "Removes an id. O(log n)."
  @spec delete(t, BrandedId.t()) :: t
  def delete(buckets, id), do: delete_by_snowflake(buckets, branded!(id))

  @doc "Removes the snowflake of an id. O(log n)."
  @spec delete_by_snowflake(t, Snowflake.t()) :: t
  def delete_by_snowflake(%__MODULE__{table: table} = buckets, snowflake) do
    true = :ets.delete(table, number!(snowflake))
    buckets
  end

  @doc "Removes an id and answers its value. O(log n)."
  @spec take(t, BrandedId.t()) :: {:ok, term} | :error
  def take(%__MODULE__{table: table}, id) do
    with {:error, :not_found} <- Table.take(table, branded!(id)), do: :error
  end

  @doc "Drops the buckets that are older than an instant's. O(n)."
  @spec expire_older_than(t, DateTime.t()) :: {non_neg_integer, t}
  def expire_older_than(%__MODULE__{table: table} = buckets, instant) do
    case bucket_at(buckets, instant) do
      {:ok, bucket} ->
        older = [{{:"$1", :_}, [{:<, :"$1", first(buckets, bucket)}], [true]}]
        {:ets.select_delete(table, older), buckets}

      :error ->
        {0, buckets}
    end
  end

  @doc "How many entries there are. O(1)."
  @spec size(t) :: non_neg_integer
  def size(%__MODULE__{table: table}), do: Table.info(table).rows

  @doc "How many buckets have entries. O(n)."
  @spec bucket_count(t) :: non_neg_integer
  def bucket_count(buckets), do: buckets |> counts() |> length()

  @doc "The buckets that have entries, each with their number. O(n)."
  @spec counts(t) :: [{bucket, pos_integer}]
  def counts(buckets) do
    buckets
    |> to_snowflake_list()
    |> Enum.frequencies_by(&bucket_of(buckets, &1))
    |> Enum.sort()
  end

  @doc "The oldest bucket that has entries. O(log n)."
  @spec oldest_bucket(t) :: {:ok, bucket} | :error
  def oldest_bucket(%__MODULE__{table: table} = buckets),
    do: bucket_of_key(buckets, :ets.first(table))

  @doc "The newest bucket that has entries. O(log n)."
  @spec newest_bucket(t) :: {:ok, bucket} | :error
  def newest_bucket(%__MODULE__{table: table} = buckets),
    do: bucket_of_key(buckets, :ets.last(table))

  @doc "The entries of a bucket, oldest first. O(n)."
  @spec entries(t, bucket) :: [{Snowflake.t(), term}]
  def entries(%__MODULE__{table: table} = buckets, bucket),
    do: Table.window(table, first(buckets, bucket), first(buckets, bucket + 1), true)

  @doc "The bucket of an instant."
  @spec bucket_at(t, DateTime.t()) :: {:ok, bucket} | :error
  def bucket_at(%__MODULE__{bits: bits}, instant) do
    case DateTime.to_unix(instant, :millisecond) - Snowflake.epoch_ms() do
      elapsed when elapsed < 0 -> :error
      elapsed -> {:ok, elapsed >>> bits}
    end
  end

  @doc "The snowflakes of all entries, oldest first. O(n)."
  @spec to_snowflake_list(t) :: [Snowflake.t()]
  def to_snowflake_list(%__MODULE__{table: table}),
    do: :ets.select(table, [{{:"$1", :_}, [], [:"$1"]}])

  defp bucket_of_key(_buckets, :"$end_of_table"), do: :error
  defp bucket_of_key(buckets, snowflake), do: {:ok, bucket_of(buckets, snowflake)}

  defp bucket_of(%__MODULE__{bits: bits}, snowflake), do: snowflake >>> (bits + @timestamp_shift)
  defp first(%__MODULE__{bits: bits}, bucket), do: bucket <<< (bits + @timestamp_shift)

  defp snowflake!(key) when is_binary(key), do: branded!(key)
  defp snowflake!(key), do: number!(key)

  defp branded!(id) when is_binary(id), do: BrandedId.decode!(id)
  defp branded!(_other), do: raise(ArgumentError, "id must be a branded id")

  defp number!(snowflake) do
    if is_integer(snowflake) and Snowflake.valid?(snowflake),
      do: snowflake,
      else: raise(ArgumentError, "snowflake must be an integer in 0..2^63-1")
  end
end
