defmodule EchoMQ.KeyspaceTest do
  use ExUnit.Case, async: true

  alias EchoData.{BrandedId, Terms}
  alias EchoMQ.{CrossSlotError, Keyspace}

  doctest EchoMQ.Keyspace

  @id "ORD0NgWEfAEJfs"

  describe "keys" do
    test "of jobs are gated: no other term than an id makes one" do
      assert Keyspace.job_key("orders", @id) == "emq:{orders}:job:" <> @id

      for term <- ["32063679958194", "my-first-order", 320_636_799_581_945_856 | Terms.no_ids()] do
        assert_raise ArgumentError, "job_key requires a valid branded id", fn ->
          Keyspace.job_key("orders", term)
        end
      end
    end

    test "are built of lawful queues only, and the reason is told" do
      for {queue, reason} <- [
            {"", "a queue name must not be empty"},
            {"emq", "the queue name emq is reserved"},
            {"{orders}", "a queue name must not contain '{'"},
            {"orders}", "a queue name must not contain '}'"},
            {"emq:orders", "a queue name must not contain ':'"},
            {:orders, "queue must be a binary"},
            {~c"orders", "queue must be a binary"},
            {nil, "queue must be a binary"}
          ],
          build <- [
            &Keyspace.queue_key(&1, "pending"),
            &Keyspace.job_key(&1, @id),
            &Keyspace.prefix_bytes(&1, "job:"),
            &Keyspace.queue_slot/1,
            &Keyspace.partition(&1, 3),
            &Keyspace.partition(&1, [0..16383])
          ] do
        assert_raise ArgumentError, reason, fn -> build.(queue) end
      end
    end

    test "of a type leave the keys of jobs alone" do
      for type <- ["job:" <> @id, "job:1"] do
        assert_raise ArgumentError, ~r/made by job_key/, fn ->
          Keyspace.queue_key("orders", type)
        end
      end

      assert Keyspace.queue_key("orders", "job:") == "emq:{orders}:job:"
      assert Keyspace.queue_key("orders", "jobs") == "emq:{orders}:jobs"
    end

    test "are read back as they were built" do
      for _ <- 1..1000 do
        queue = Enum.random(["orders", "a b", <<0, 255>>, "emq2", "ünï"])
        type = :rand.bytes(:rand.uniform(20) - 1)
        id = BrandedId.encode!("JOB", :rand.uniform(1_000_000_000_000))
        assert Keyspace.parse(Keyspace.queue_key(queue, type)) == {:ok, {:queue, queue, type}}
        assert Keyspace.parse(Keyspace.job_key(queue, id)) == {:ok, {:job, queue, id}}
        assert Keyspace.parse(Keyspace.reserve(type)) == {:ok, {:reserve, type}}
      end
    end
  end

  describe "a key that is no binary is misuse:" do
    test "nothing answers for it" do
      for term <- [nil, :orders, ~c"orders", 105, <<1::1>>, {"a"}],
          read <- [
            &Keyspace.slot/1,
            &Keyspace.hashtag/1,
            &Keyspace.parse/1,
            &Keyspace.reserve/1,
            &Keyspace.queue_key("orders", &1),
            &Keyspace.slots([&1]),
            &Keyspace.slots(["a" | &1]),
            &Keyspace.slot_set(["a", &1]),
            &Keyspace.legal?([&1]),
            &Keyspace.check!([&1]),
            &Keyspace.check!(["a" | &1])
          ] do
        assert_raise ArgumentError, ~r/must be a (list of binaries|binary)/, fn -> read.(term) end
      end
    end
  end

  describe "many keys" do
    test "have the slots of each, in their order, however many calls it takes" do
      keys = for n <- 1..200_000, do: "emq:{queue#{rem(n, 1000)}}:#{n}"
      slots = Enum.map(keys, &Keyspace.slot/1)
      assert Keyspace.slots(keys) == slots
      assert Keyspace.slot_set(keys) == slots |> Enum.uniq() |> Enum.sort()
      refute Keyspace.legal?(keys)
      assert Keyspace.legal?(for n <- 1..200_000, do: "emq:{queue}:#{n}")
    end

    test "may be none" do
      assert Keyspace.slots([]) == []
      assert Keyspace.slot_set([]) == []
      assert Keyspace.legal?([])
      assert Keyspace.check!([]) == :ok
    end

    test "of several slots are named, not all of them and not at full length" do
      long = "{" <> String.duplicate("x", 1000) <> "}"
      keys = [long | for(n <- 1..9, do: "{queue#{n}}")]

      error = assert_raise CrossSlotError, fn -> Keyspace.check!(keys) end
      assert error.keys == for(key <- keys, do: {key, Keyspace.hashtag(key), Keyspace.slot(key)})
      message = Exception.message(error)
      assert message =~ ~r/^keys of 10 slots in one script: "\{x{63}"\.\.\. \(tag "x{64}"\.\.\., /
      assert message =~ ~s["{queue3}" (tag "queue3", slot #{Keyspace.slot("queue3")}), ...]
      refute message =~ "queue4"
    end
  end

  describe "partition" do
    test "of even parts is where redis-cli puts the slots of as many masters" do
      borders = [{0, 0}, {5460, 0}, {5461, 1}, {10_922, 1}, {10_923, 2}, {16_383, 2}]
      queues = queues_by_slot(Enum.map(borders, &elem(&1, 0)))
      for {slot, part} <- borders, do: assert(Keyspace.partition(queues[slot], 3) == part)
    end

    test "of a layout is the node that has the slot" do
      layout = [[0..104, 106..199], [105..105, 200..8191]]
      assert Keyspace.partition("orders", layout) == 1
      assert Keyspace.partition("fills", layout) == 1
      assert Keyspace.partition("payments", layout) == nil
      assert Keyspace.partition("orders", []) == nil
    end

    test "wants parts and ranges that can be" do
      for parts <- [0, -1, 16_385, 65_537, 2 ** 32 + 3, 2 ** 64 + 3, 1.0, nil, :all, "3"] do
        assert_raise ArgumentError, "parts must be in 1..16384", fn ->
          Keyspace.partition("orders", parts)
        end
      end

      for layout <- [
            [0..16_384],
            [-1..5],
            [5..4],
            [0..100//2],
            [nil],
            [:a],
            [{0, 1}],
            [0..9 | 1],
            [[0..9 | 1]]
          ] do
        assert_raise ArgumentError, ~r/layout must be|no range/, fn ->
          Keyspace.partition("orders", layout)
        end
      end

      assert_raise ArgumentError, "slot 10 is in two ranges", fn ->
        Keyspace.partition("orders", [0..10, 10..20])
      end
    end
  end

  # Names of queues for these slots.
  defp queues_by_slot(slots) do
    Stream.iterate(0, &(&1 + 1))
    |> Stream.map(&"queue#{&1}")
    |> Enum.reduce_while(%{}, fn queue, found ->
      slot = Keyspace.queue_slot(queue)
      found = if slot in slots, do: Map.put(found, slot, queue), else: found
      if map_size(found) == length(slots), do: {:halt, found}, else: {:cont, found}
    end)
  end
end
