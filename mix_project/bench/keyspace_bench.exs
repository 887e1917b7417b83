# What the slot of a key costs, beside a checksum written in Elixir, byte by byte: from a table, and bit by bit as
# one writes it without.

alias EchoData.{Bench, BrandedId}
alias EchoMQ.Keyspace

defmodule EchoData.Bench.ElixirSlots do
  import Bitwise

  @bits Enum.to_list(1..8)
  @table 0..255
         |> Enum.map(fn byte ->
           Enum.reduce(1..8, byte <<< 8, fn _bit, crc ->
             crc = crc <<< 1
             if (crc &&& 0x10000) == 0, do: crc, else: bxor(crc, 0x11021)
           end)
         end)
         |> List.to_tuple()

  def slot(key), do: key |> hashtag() |> crc(0) |> rem(16_384)

  def slot_bit_by_bit(key), do: key |> hashtag() |> crc_bit_by_bit(0) |> rem(16_384)

  defp hashtag(key) do
    with [_, behind] <- :binary.split(key, "{"),
         [tag, _] when tag != "" <- :binary.split(behind, "}") do
      tag
    else
      _no_tag -> key
    end
  end

  defp crc(<<byte, rest::binary>>, crc) do
    crc(rest, bxor(crc <<< 8 &&& 0xFFFF, elem(@table, bxor(crc >>> 8, byte))))
  end

  defp crc(<<>>, crc), do: crc

  defp crc_bit_by_bit(<<byte, rest::binary>>, crc) do
    crc = Enum.reduce(@bits, bxor(crc, byte <<< 8), fn _bit, crc -> shift(crc) end)
    crc_bit_by_bit(rest, crc)
  end

  defp crc_bit_by_bit(<<>>, crc), do: crc

  defp shift(crc) when (crc &&& 0x8000) == 0, do: crc <<< 1
  defp shift(crc), do: bxor(crc <<< 1 &&& 0xFFFF, 0x1021)
end

defmodule EchoData.Bench.Keyspace do
  alias EchoData.Bench.ElixirSlots

  @count 1000

  def run do
    :rand.seed(:exsss, 1)
    jobs = for _ <- 1..@count, do: Keyspace.job_key("orders", id())
    untagged = for key <- jobs, do: String.replace(key, ["{", "}"], "_")
    long = :binary.copy("x", 1_048_576)
    Enum.each([long | jobs ++ untagged], &check/1)

    Bench.heading("Slots", "Elixir")
    options = [units: @count]
    table = &ElixirSlots.slot/1
    bits = &ElixirSlots.slot_bit_by_bit/1
    row("slot of 31 bytes", untagged, table, [target: 20] ++ options)
    row("slot of 31 bytes, beside bit by bit", untagged, bits, [target: 20] ++ options)
    row("slot of 31 bytes, 6 of them the tag", jobs, table, options)
    row("slot of 1 MiB", [long], table, rounds: 9)
    each = fn -> Enum.map(untagged, table) end
    Bench.row("slots of 31 bytes each", each, fn -> Keyspace.slots(untagged) end, options)
  end

  defp id, do: BrandedId.encode!("ORD", :rand.uniform(0x7FFF_FFFF_FFFF_FFFF))

  defp check(key) do
    slot = Keyspace.slot(key)
    ^slot = ElixirSlots.slot(key)
    ^slot = ElixirSlots.slot_bit_by_bit(key)
    [^slot] = Keyspace.slots([key])
  end

  defp row(what, keys, peer, options),
    do: Bench.row(what, fn -> each(keys, peer) end, fn -> ours(keys) end, options)

  defp each([], _slot), do: :ok

  defp each([key | keys], slot) do
    slot.(key)
    each(keys, slot)
  end

  defp ours([]), do: :ok

  defp ours([key | keys]) do
    Keyspace.slot(key)
    ours(keys)
  end
end

EchoData.Bench.Keyspace.run()
