# What an id costs, beside the same codec written in Elixir with tables.

alias EchoData.{Bcs, Bench, BrandedId, Snowflake}

defmodule EchoData.Bench.ElixirCodec do
  @digits EchoData.Base62.alphabet() |> String.to_charlist() |> List.to_tuple()
  @values 0..255
          |> Enum.map(fn byte -> Enum.find_index(Tuple.to_list(@digits), &(&1 == byte)) end)
          |> List.to_tuple()

  def parse(<<namespace::binary-size(3), a, b, c, d, e, f, g, h, i, j, k>>) do
    number =
      Enum.reduce_while([a, b, c, d, e, f, g, h, i, j, k], 0, fn byte, sum ->
        case elem(@values, byte) do
          nil -> {:halt, :error}
          value -> {:cont, sum * 62 + value}
        end
      end)

    if is_integer(number) and number <= 0x7FFF_FFFF_FFFF_FFFF and letters?(namespace),
      do: {:ok, namespace, number},
      else: :error
  end

  def encode(namespace, number), do: encode(number, 11, namespace, <<>>)

  defp encode(_number, 0, namespace, text), do: {:ok, namespace <> text}

  defp encode(number, left, namespace, text) do
    digit = elem(@digits, rem(number, 62))
    encode(div(number, 62), left - 1, namespace, <<digit, text::binary>>)
  end

  defp letters?(<<a, b, c>>), do: a in ?A..?Z and b in ?A..?Z and c in ?A..?Z
end

alias EchoData.Bench.ElixirCodec

Snowflake.start()
id = BrandedId.generate!("USR")
{:ok, "USR", snowflake} = ElixirCodec.parse(id)
{:ok, ^id} = ElixirCodec.encode("USR", snowflake)

Bench.heading("Ids", "Elixir")
Bench.row("parse", fn -> ElixirCodec.parse(id) end, fn -> BrandedId.parse(id) end)
Bench.row("gate", fn -> ElixirCodec.parse(id) end, fn -> Bcs.gate(id, "USR") end)

Bench.row("encode", fn -> ElixirCodec.encode("USR", snowflake) end, fn ->
  BrandedId.encode("USR", snowflake)
end)

unique = fn -> ElixirCodec.encode("USR", System.unique_integer([:positive, :monotonic])) end
Bench.row("mint, beside unique_integer", unique, fn -> BrandedId.generate!("USR") end)
