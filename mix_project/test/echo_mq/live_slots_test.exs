defmodule EchoMQ.LiveSlotsTest do
  @moduledoc """
  Slots as a real server tells them, of ten thousand random keys.
  """

  use ExUnit.Case, async: true

  alias EchoData.Conformance.{Redis, RedisServer}
  alias EchoMQ.Keyspace

  @keys 10_000
  @mebibyte 1_048_576

  # Commands on their way at once.
  @pipeline 500

  @tag timeout: 300_000
  test "every key has the slot that the server gives it" do
    server = start_supervised!({RedisServer, cluster: true})
    redis = server |> RedisServer.address() |> Redis.connect!()
    keys = long_keys() ++ for(_ <- 1..(@keys - length(long_keys())), do: random_key())
    assert length(keys) == @keys

    theirs =
      for keys <- Enum.chunk_every(keys, @pipeline),
          slot <- Redis.pipeline!(redis, for(key <- keys, do: ["CLUSTER", "KEYSLOT", key])),
          do: String.to_integer(slot)

    ours = Keyspace.slots(keys)

    for {key, theirs, ours} <- Enum.zip([keys, theirs, ours]), theirs != ours do
      flunk(
        "#{inspect(key, limit: 100, printable_limit: 100)}: the server says #{theirs}, we say " <>
          "#{ours} (seed #{ExUnit.configuration()[:seed]})"
      )
    end

    assert Enum.map(keys, &Keyspace.slot/1) == theirs
    assert theirs |> Enum.uniq() |> length() > div(@keys, 4)
  end

  defp long_keys do
    bytes = :rand.bytes(@mebibyte)
    tail = :binary.copy("x", @mebibyte)
    [bytes, tail, "{tag}" <> tail, tail <> "{tag}", "{" <> tail, "{#{tail}}", "{}" <> tail]
  end

  defp random_key do
    case :rand.uniform(9) do
      1 -> text()
      2 -> "#{text()}{#{text()}}#{text()}"
      3 -> "{" <> braces()
      4 -> "#{text()}{}#{text()}{#{text()}}"
      5 -> "#{text()}{#{text()}"
      6 -> "#{text()}}#{text()}{#{text()}}"
      7 -> "{{#{text()}}}#{text()}"
      8 -> Keyspace.queue_key("queue#{:rand.uniform(1000)}", text())
      9 -> :rand.bytes(:rand.uniform(100) - 1)
    end
  end

  defp braces, do: for(_ <- 1..:rand.uniform(12), into: "", do: Enum.random(["{", "}", "a"]))

  defp text do
    for _ <- 1..(:rand.uniform(9) - 1)//1, into: "" do
      Enum.random(["a", "Z", "0", ":", " ", "\0", "\r", "\n", "\r\n", "é", "→", <<0xFF>>, "}"])
    end
  end
end
