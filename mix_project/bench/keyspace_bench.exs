# What the slot of a key costs, beside a checksum written in Elixir, byte by byte from a table, over the same tag.

alias EchoData.{Bench, BrandedId}
alias EchoMQ.Keyspace

defmodule EchoData.Bench.ElixirSlots do
  import Bitwise

  @table 0..255
         |> Enum.map(fn byte ->
           Enum.reduce(1..8, byte <<< 8, fn _bit, crc ->
             crc = crc <<< 1
             if (crc &&& 0x10000) == 0, do: crc, else: bxor(crc, 0x11021)
           end)
         end)
         |> List.to_tuple()

  def slot(key), do: key |> hashtag() |> crc(0) |> rem(16_384)

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
end

alias EchoData.Bench.ElixirSlots

job = "emq:{orders}:job:" <> BrandedId.encode!("ORD", 320_636_799_581_945_856)
untagged = String.replace(job, ["{", "}"], "_")
31 = byte_size(job)
long = :binary.copy("x", 1_048_576)
many = for n <- 1..1000, do: "emq:{queue#{n}}:pending"

for key <- [job, untagged, long | many], do: true = ElixirSlots.slot(key) == Keyspace.slot(key)
true = Enum.map(many, &ElixirSlots.slot/1) == Keyspace.slots(many)

Bench.heading("Slots", "Elixir")
row = &Bench.row/4
slot = fn key -> [fn -> ElixirSlots.slot(key) end, fn -> Keyspace.slot(key) end] end
[peer, ours] = slot.(untagged)
row.("slot of 31 bytes", peer, ours, target: 20)
[peer, ours] = slot.(job)
row.("slot of 31 bytes, tag of 6", peer, ours, [])
[peer, ours] = slot.(long)
row.("slot of 1 MiB", peer, ours, rounds: 9)

each = fn -> Enum.map(many, &ElixirSlots.slot/1) end
row.("slots of 1000 keys, each", each, fn -> Keyspace.slots(many) end, units: 1000)
