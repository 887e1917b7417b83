defmodule EchoData.BrandedId.Pure do
  @moduledoc false
  # The id format once more, in Elixir and straight from its definition: what the native codec is checked
  # against, and what the sigil uses while modules are compiled, when there is no native library yet.

  import Bitwise

  @alphabet ~c"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
  @width 11
  @max 0x7FFF_FFFF_FFFF_FFFF
  @multiplier 0xFF51AFD7ED558CCD

  @doc "`{:ok, id}`, or `:error` for anything but a namespace and a snowflake."
  @spec encode(term, term) :: {:ok, EchoData.BrandedId.t()} | :error
  def encode(namespace, snowflake) do
    if namespace?(namespace) and snowflake?(snowflake) do
      {:ok, namespace <> base62(snowflake)}
    else
      :error
    end
  end

  @doc "`{:ok, namespace, snowflake}`, or `:error` for any term that is not an id."
  @spec parse(term) :: {:ok, EchoData.BrandedId.namespace(), EchoData.Snowflake.t()} | :error
  def parse(<<namespace::binary-size(3), payload::binary-size(@width)>>) do
    with true <- namespace?(namespace),
         {:ok, snowflake} <- number(payload),
         true <- snowflake?(snowflake) do
      {:ok, namespace, snowflake}
    else
      _ -> :error
    end
  end

  def parse(_term), do: :error

  @doc "The placement hash, modulo 2^32."
  @spec hash32(non_neg_integer) :: 0..0xFFFF_FFFF
  def hash32(number) do
    mixed = bxor(number, number >>> 33) * @multiplier &&& 0xFFFF_FFFF_FFFF_FFFF
    bxor(mixed, mixed >>> 33) &&& 0xFFFF_FFFF
  end

  defp base62(number) do
    number
    |> Integer.digits(62)
    |> Enum.map(&Enum.at(@alphabet, &1))
    |> List.to_string()
    |> String.pad_leading(@width, "0")
  end

  defp number(payload) do
    digits = for <<byte <- payload>>, do: Enum.find_index(@alphabet, &(&1 == byte))
    if nil in digits, do: :error, else: {:ok, Integer.undigits(digits, 62)}
  end

  defp namespace?(<<a, b, c>>), do: a in ?A..?Z and b in ?A..?Z and c in ?A..?Z
  defp namespace?(_term), do: false

  defp snowflake?(term), do: is_integer(term) and term in 0..@max
end
