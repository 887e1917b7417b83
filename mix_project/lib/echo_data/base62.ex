defmodule EchoData.Base62 do
  @moduledoc """
  Base62 text for snowflakes: digits `0-9A-Za-z` in ASCII order, eleven of them, padded with `0`.

  Texts of one width sort as their numbers do. The largest number is 2^63 - 1, `AzL8n0Y58m7`; what lies
  above is refused, never truncated.

      iex> EchoData.Base62.encode(274_557_032_793_636_864)
      "0KHTOWnGLuC"
      iex> EchoData.Base62.decode("0KHTOWnGLuC")
      {:ok, 274557032793636864}

  Every function is O(1): one native call.
  """

  import EchoData.Argument, only: [options!: 2, refuse!: 3]

  alias EchoData.Native

  @alphabet "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
  @width 11
  @max 0x7FFF_FFFF_FFFF_FFFF

  @typedoc "The fixed form: eleven bytes."
  @type t :: <<_::88>>

  @doc """
  The fixed form of a number.

  Raises `ArgumentError` for anything but an integer from 0 to 2^63 - 1.

      iex> EchoData.Base62.encode(62)
      "00000000010"
  """
  @spec encode(EchoData.Snowflake.t()) :: t
  def encode(number) when is_integer(number) and number >= 0 and number <= @max,
    do: Native.base62_encode(number)

  def encode(number), do: refuse!("number", "an integer in 0..2^63-1", number)

  @doc """
  The digits of a number in another form.

    * `:width` - bytes to pad to, at least 1, by default 11; a number with more digits keeps them all
    * `:pad` - `false` leaves the padding out

  `decode/1` reads the fixed form only. Raises `ArgumentError` as `encode/1` does, and for an option that is
  unknown or out of range.

      iex> EchoData.Base62.encode(62, width: 4)
      "0010"
      iex> EchoData.Base62.encode(62, pad: false)
      "10"
  """
  @spec encode(EchoData.Snowflake.t(), width: pos_integer, pad: boolean) :: binary
  def encode(number, options) do
    options = options!(options, width: @width, pad: true)
    width = width!(options[:width])
    digits = significant(encode(number))
    if pad!(options[:pad]), do: String.pad_leading(digits, width, "0"), else: digits
  end

  @doc """
  The number in a fixed form: `{:ok, number}`, or `:error` for any other term.

      iex> EchoData.Base62.decode("AzL8n0Y58m7")
      {:ok, 9223372036854775807}
      iex> EchoData.Base62.decode("zzzzzzzzzzz")
      :error
      iex> EchoData.Base62.decode(:not_text)
      :error
  """
  @spec decode(term) :: {:ok, EchoData.Snowflake.t()} | :error
  def decode(text), do: Native.base62_decode(text)

  @doc """
  The number in a fixed form. Raises `ArgumentError` where `decode/1` answers `:error`.

      iex> EchoData.Base62.decode!("00000000010")
      62
  """
  @spec decode!(term) :: EchoData.Snowflake.t()
  def decode!(text) do
    case decode(text) do
      {:ok, number} -> number
      :error -> refuse!("text", "eleven base62 digits worth at most 2^63-1", text)
    end
  end

  @doc """
  Whether a term is a fixed form.

      iex> EchoData.Base62.valid?("0KHTOWnGLuC")
      true
      iex> EchoData.Base62.valid?("KHTOWnGLuC")
      false
  """
  @spec valid?(term) :: boolean
  def valid?(text), do: decode(text) != :error

  @doc """
  The 62 digits, by value.

      iex> EchoData.Base62.alphabet()
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
  """
  @spec alphabet() :: <<_::496>>
  def alphabet, do: @alphabet

  defp significant(text) do
    case String.trim_leading(text, "0") do
      "" -> "0"
      digits -> digits
    end
  end

  defp width!(width) when is_integer(width) and width > 0, do: width
  defp width!(width), do: refuse!("width", "a positive integer", width)

  defp pad!(pad) when is_boolean(pad), do: pad
  defp pad!(pad), do: refuse!("pad", "true or false", pad)
end
