defmodule EchoData.Snowflake do
  @moduledoc """
  Time-ordered ids of 63 bits, minted without locks.

  | bits | field | range |
  |---|---|---|
  | 22..62 | milliseconds since 2024-01-01T00:00:00Z | 41 bits, until September 2093 |
  | 12..21 | node id | 0..1023 |
  | 0..11 | sequence | 0..4095 |

  One generator serves the VM, a single atomic cell that lives as long as the VM does. Ids of one node
  strictly increase, whatever the number of processes that mint: a clock that steps back changes nothing,
  and more than 4096 ids in a millisecond borrow from the next one. No two ids of one generator are equal,
  also when their node ids differ.

  `start/1` fixes the node id of the VM, once. Give every VM of a cluster its own, or two of them can mint
  the same id.

      iex> EchoData.Snowflake.start(7)
      iex> EchoData.Snowflake.next() < EchoData.Snowflake.next()
      true

  Every function here is O(1). An argument that is not what the function takes raises `ArgumentError`.
  """

  import Bitwise
  import EchoData.Argument, only: [options!: 2, refuse!: 3, unix_ms!: 2]

  alias EchoData.Native

  @epoch_ms 1_704_067_200_000
  @timestamp_shift 22
  @node_shift 12
  @max 0x7FFF_FFFF_FFFF_FFFF
  @max_timestamp @max >>> @timestamp_shift
  @max_node 1023
  @max_sequence 4095

  @typedoc "An id: 0 to 2^63 - 1."
  @type t :: 0..0x7FFF_FFFF_FFFF_FFFF

  @typedoc "The VM that minted an id."
  @type node_id :: 0..1023

  defguardp is_snowflake(term) when is_integer(term) and term >= 0 and term <= @max
  defguardp is_node_id(term) when is_integer(term) and term >= 0 and term <= @max_node
  defguardp is_sequence(term) when is_integer(term) and term >= 0 and term <= @max_sequence

  @doc """
  Fixes the node id of this VM: the application environment's `config :echo_data, node_id: 0..1023`, or
  else a hash of `node()`.

  A second call answers `:ok` and changes nothing.
  """
  @spec start() :: :ok
  def start, do: start(default_node_id())

  @doc """
  Fixes the node id of this VM. `nil` stands for the default of `start/0`.

  A second call answers `:ok` and changes nothing. Raises `ArgumentError` for a node id outside 0..1023,
  started or not.
  """
  @spec start(node_id | nil) :: :ok
  def start(nil), do: start()
  def start(node_id), do: node_id |> node_id!() |> Native.snowflake_start()

  @doc """
  Mints an id with the node id of this VM.

  Costs one native call and one reading of the clock. Raises `RuntimeError` before `start/1`.
  """
  @spec next() :: t
  def next, do: Native.snowflake_next()

  @doc """
  Mints an id with another node id, from the same generator.

  Raises `RuntimeError` before `start/1`, and `ArgumentError` for a node id outside 0..1023.
  """
  @spec next(node_id) :: t
  def next(node_id), do: node_id |> node_id!() |> Native.snowflake_next_as()

  @doc """
  Mints an id and writes it with a namespace, in one native call.

  Raises `RuntimeError` before `start/1`, and `ArgumentError` for a namespace that is not three letters A to Z.

      iex> EchoData.Snowflake.start(7)
      iex> <<"USR", payload::binary-size(11)>> = EchoData.Snowflake.next_branded("USR")
      iex> EchoData.Base62.valid?(payload)
      true
  """
  @spec next_branded(EchoData.BrandedId.namespace()) :: EchoData.BrandedId.t()
  def next_branded(namespace), do: Native.snowflake_next_branded(namespace)

  @doc """
  The creation time, in milliseconds since 1970-01-01T00:00:00Z.

      iex> EchoData.Snowflake.unix_ms(274_557_032_793_636_864)
      1769526697641
  """
  @spec unix_ms(t) :: pos_integer
  def unix_ms(snowflake), do: (snowflake!(snowflake) >>> @timestamp_shift) + @epoch_ms

  @doc """
  The creation time in UTC, to the millisecond.

      iex> EchoData.Snowflake.to_datetime(274_557_032_793_636_864)
      ~U[2026-01-27 15:11:37.641Z]
  """
  @spec to_datetime(t) :: DateTime.t()
  def to_datetime(snowflake), do: snowflake |> unix_ms() |> DateTime.from_unix!(:millisecond)

  @doc """
  The node id of the VM that minted the id.

      iex> EchoData.Snowflake.node_id(EchoData.Snowflake.generate(worker_id: 7))
      7
  """
  @spec node_id(t) :: node_id
  def node_id(snowflake), do: snowflake!(snowflake) >>> @node_shift &&& @max_node

  @doc """
  The place of the id among those of its millisecond, 0 to 4095.

      iex> EchoData.Snowflake.sequence(274_557_032_793_636_864)
      0
  """
  @spec sequence(t) :: 0..4095
  def sequence(snowflake), do: snowflake!(snowflake) &&& @max_sequence

  @doc """
  The smallest id at or after an instant: the synthetic cursor that makes a time a bound.

  Ids know milliseconds, so anything finer in `datetime` is cut off. An instant before 2024 has no id and
  answers 0; one after the last of the 41 bits answers the largest id, 2^63 - 1.

      iex> EchoData.Snowflake.min_for(~U[2026-01-27 15:11:37.641Z])
      274557032793636864
      iex> EchoData.Snowflake.min_for(~U[1999-12-31 23:59:59Z])
      0
  """
  @spec min_for(DateTime.t()) :: t
  def min_for(datetime) do
    case unix_ms!("datetime", datetime) - @epoch_ms do
      elapsed when elapsed < 0 -> 0
      elapsed when elapsed > @max_timestamp -> @max
      elapsed -> elapsed <<< @timestamp_shift
    end
  end

  @doc """
  Whether a term is an id: an integer from 0 to 2^63 - 1. True and false, never an error.

      iex> EchoData.Snowflake.valid?(9_223_372_036_854_775_807)
      true
      iex> EchoData.Snowflake.valid?(-1)
      false
  """
  @spec valid?(term) :: boolean
  def valid?(term), do: is_snowflake(term)

  @doc """
  2024-01-01T00:00:00Z in milliseconds since 1970, where timestamps begin.

      iex> EchoData.Snowflake.epoch_ms()
      1704067200000
  """
  @spec epoch_ms() :: pos_integer
  def epoch_ms, do: @epoch_ms

  @doc """
  Mints an id without asking for `start/1` first, from the same generator: the older form of `next/0`.

    * `:worker_id` - the node id, by default the one of `start/1` or, before it, the one that `start/0`
      would choose
    * `:sequence` - 0..4095, put in place of the minted sequence: the uniqueness of such an id is the
      caller's affair

  Raises `ArgumentError` for a value out of range and for an unknown option.
  """
  @spec generate(worker_id: node_id, sequence: 0..4095) :: t
  def generate(options \\ []) do
    options = options!(options, [:worker_id, :sequence])
    worker_id = worker_id!(options[:worker_id])

    case options[:sequence] do
      nil -> Native.snowflake_mint(worker_id)
      sequence -> with_sequence(Native.snowflake_mint(worker_id), sequence)
    end
  end

  @doc "The older name of `to_datetime/1`."
  @spec timestamp(t) :: DateTime.t()
  def timestamp(snowflake), do: to_datetime(snowflake)

  @doc "The older name of `node_id/1`."
  @spec worker_id(t) :: node_id
  def worker_id(snowflake), do: node_id(snowflake)

  @doc """
  All fields at once; `:timestamp` as a DateTime, `:timestamp_ms` in milliseconds since 1970.

      iex> EchoData.Snowflake.extract(274_557_032_793_636_864)
      %{timestamp: ~U[2026-01-27 15:11:37.641Z], timestamp_ms: 1769526697641, worker_id: 0, sequence: 0}
  """
  @spec extract(t) :: %{
          timestamp: DateTime.t(),
          timestamp_ms: pos_integer,
          worker_id: node_id,
          sequence: 0..4095
        }
  def extract(snowflake) do
    %{
      timestamp: to_datetime(snowflake),
      timestamp_ms: unix_ms(snowflake),
      worker_id: node_id(snowflake),
      sequence: sequence(snowflake)
    }
  end

  defp default_node_id do
    Application.get_env(:echo_data, :node_id) || :erlang.phash2(node(), @max_node + 1)
  end

  defp worker_id!(nil), do: Native.snowflake_node() || node_id!(default_node_id())
  defp worker_id!(worker_id) when is_node_id(worker_id), do: worker_id
  defp worker_id!(worker_id), do: refuse!("worker_id", "an integer in 0..1023", worker_id)

  defp with_sequence(snowflake, sequence) when is_sequence(sequence),
    do: snowflake - sequence(snowflake) + sequence

  defp with_sequence(_snowflake, sequence),
    do: refuse!("sequence", "an integer in 0..4095", sequence)

  defp snowflake!(snowflake) when is_snowflake(snowflake), do: snowflake
  defp snowflake!(term), do: refuse!("snowflake", "an integer in 0..2^63-1", term)

  defp node_id!(node_id) when is_node_id(node_id), do: node_id
  defp node_id!(term), do: refuse!("node_id", "an integer in 0..1023", term)
end
