defmodule EchoData.BrandedId do
  @moduledoc """
  The branded id: three letters A to Z that say what an id names, then eleven base62 digits of a snowflake.

  Always fourteen bytes. Ids of one namespace sort, as bytes, by creation time.

      iex> EchoData.BrandedId.parse("USR0KHTOWnGLuC")
      {:ok, "USR", 274557032793636864}
      iex> EchoData.BrandedId.encode("USR", 274_557_032_793_636_864)
      {:ok, "USR0KHTOWnGLuC"}

  Functions that read an id take any term: one that is no id answers `:error`. Those with a `!` raise
  `ArgumentError` instead. Every function is O(1), one native call and no more than the answer allocated.
  """

  import EchoData.Argument, only: [refuse!: 3]

  alias EchoData.{Native, Snowflake}

  @max_u64 0xFFFF_FFFF_FFFF_FFFF

  @typedoc "Fourteen bytes."
  @type t :: <<_::112>>

  @typedoc "Three letters A to Z."
  @type namespace :: <<_::24>>

  @doc """
  Whether a term has the size of an id: a binary of fourteen bytes. For guards; `valid?/1` looks inside.

      iex> import EchoData.BrandedId, only: [is_branded: 1]
      iex> is_branded("USR0KHTOWnGLuC")
      true
      iex> is_branded("USR")
      false
  """
  defguard is_branded(term) when is_binary(term) and byte_size(term) == 14

  @doc """
  The two parts of an id: `{:ok, namespace, snowflake}` or `:error`.

      iex> EchoData.BrandedId.parse("usr0KHTOWnGLuC")
      :error
      iex> EchoData.BrandedId.parse("USRzzzzzzzzzzz")
      :error
  """
  @spec parse(term) :: {:ok, namespace, Snowflake.t()} | :error
  def parse(id), do: Native.branded_id_parse(id)

  @doc """
  As `parse/1`, with the placement hash of the snowflake: `{:ok, namespace, snowflake, hash32}` or `:error`.

      iex> EchoData.BrandedId.parse_hash("USR0KHTOWnGLuC")
      {:ok, "USR", 274557032793636864, 234878118}
  """
  @spec parse_hash(term) :: {:ok, namespace, Snowflake.t(), 0..0xFFFF_FFFF} | :error
  def parse_hash(id), do: Native.branded_id_parse_hash(id)

  @doc """
  The snowflake of an id: `{:ok, snowflake}` or `:error`.

      iex> EchoData.BrandedId.decode("ORD0NgWEfAEJfs")
      {:ok, 320636799581945856}
  """
  @spec decode(term) :: {:ok, Snowflake.t()} | :error
  def decode(id), do: Native.branded_id_decode(id)

  @doc """
  The snowflake of an id. Raises `ArgumentError` where `decode/1` answers `:error`.

      iex> EchoData.BrandedId.decode!("ORD0NgWEfAEJfs")
      320636799581945856
  """
  @spec decode!(term) :: Snowflake.t()
  def decode!(id) do
    case decode(id) do
      {:ok, snowflake} -> snowflake
      :error -> raise ArgumentError, "invalid branded id: #{inspect(id)}"
    end
  end

  @doc """
  The id of a snowflake in a namespace: `{:ok, id}`, or `:error` when either is not what it should be.

      iex> EchoData.BrandedId.encode("usr", 0)
      :error
  """
  @spec encode(term, term) :: {:ok, t} | :error
  def encode(namespace, snowflake), do: Native.branded_id_encode(namespace, snowflake)

  @doc """
  The id of a snowflake in a namespace. Raises `ArgumentError` where `encode/2` answers `:error`.

      iex> EchoData.BrandedId.encode!("USR", 0)
      "USR00000000000"
  """
  @spec encode!(term, term) :: t
  def encode!(namespace, snowflake) do
    case encode(namespace, snowflake) do
      {:ok, id} ->
        id

      :error ->
        raise ArgumentError,
              "namespace must be three letters A to Z and snowflake an integer in 0..2^63-1, " <>
                "got: #{inspect(namespace)} and #{inspect(snowflake)}"
    end
  end

  @doc """
  Mints an id in a namespace: `EchoData.Snowflake.next_branded/1`, with the same errors.
  """
  @spec generate!(namespace) :: t
  def generate!(namespace), do: Snowflake.next_branded(namespace)

  @doc """
  Whether a term is an id.

      iex> EchoData.BrandedId.valid?("USR0KHTOWnGLuC")
      true
      iex> EchoData.BrandedId.valid?(274_557_032_793_636_864)
      false
  """
  @spec valid?(term) :: boolean
  def valid?(id), do: decode(id) != :error

  @doc """
  The namespace of an id, or `:error`.

      iex> EchoData.BrandedId.namespace("USR0KHTOWnGLuC")
      "USR"
      iex> EchoData.BrandedId.namespace("USR")
      :error
  """
  @spec namespace(term) :: namespace | :error
  def namespace(id) do
    case parse(id) do
      {:ok, namespace, _snowflake} -> namespace
      :error -> :error
    end
  end

  @doc """
  The creation time of an id in milliseconds since 1970: `{:ok, ms}` or `:error`.

      iex> EchoData.BrandedId.unix_ms("USR0KHTOWnGLuC")
      {:ok, 1769526697641}
  """
  @spec unix_ms(term) :: {:ok, pos_integer} | :error
  def unix_ms(id) do
    case decode(id) do
      {:ok, snowflake} -> {:ok, Snowflake.unix_ms(snowflake)}
      :error -> :error
    end
  end

  @doc """
  The placement hash of a snowflake: 32 bits, the same on every machine and in every release.

  Defined for every number from 0 to 2^64 - 1. Raises `ArgumentError` for any other term.

      iex> EchoData.BrandedId.hash32(274_557_032_793_636_864)
      234878118
  """
  @spec hash32(0..0xFFFF_FFFF_FFFF_FFFF) :: 0..0xFFFF_FFFF
  def hash32(number) when is_integer(number) and number >= 0 and number <= @max_u64,
    do: Native.branded_id_hash32(number)

  def hash32(number), do: refuse!("number", "an integer in 0..2^64-1", number)

  @doc """
  Checks that the native codec and one written in Elixir agree on the format's fixed examples.

  Answers `{:ok, :native}`; runs when the application starts, before anything else. Raises `RuntimeError`
  when the library cannot be loaded or answers anything else: such a system must not write a single id.
  """
  @spec self_check!() :: {:ok, :native}
  defdelegate self_check!, to: EchoData.BrandedId.SelfCheck, as: :run!
end
