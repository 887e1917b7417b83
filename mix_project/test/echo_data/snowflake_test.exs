defmodule EchoData.SnowflakeTest do
  use ExUnit.Case, async: true

  alias EchoData.{BrandedId, FreshVM, Snowflake, Terms}

  doctest Snowflake

  @max 0x7FFF_FFFF_FFFF_FFFF

  describe "minting" do
    test "is strictly increasing within a process" do
      ids = for _ <- 1..20_000, do: Snowflake.next()
      assert ids == ids |> Enum.sort() |> Enum.uniq()
    end

    test "is unique and increasing within every one of many processes" do
      runs =
        1..64
        |> Enum.map(fn _ -> Task.async(fn -> for _ <- 1..2_000, do: Snowflake.next() end) end)
        |> Task.await_many(:infinity)

      for ids <- runs, do: assert(ids == Enum.sort(ids))
      all = List.flatten(runs)
      assert MapSet.size(MapSet.new(all)) == length(all)
    end

    test "is unique without its node id, whatever the node ids of the processes" do
      ticks =
        1..32
        |> Enum.map(fn node ->
          Task.async(fn -> for _ <- 1..1_000, do: tick(Snowflake.next(node)) end)
        end)
        |> Task.await_many(:infinity)
        |> List.flatten()

      assert MapSet.size(MapSet.new(ticks)) == 32_000
    end

    test "carries the time and the node id" do
      before = System.system_time(:millisecond)
      id = Snowflake.next(1023)
      assert Snowflake.unix_ms(id) >= before
      assert Snowflake.node_id(id) == 1023
      assert Snowflake.valid?(id)
    end

    test "a node id out of range mints nothing" do
      for node_id <- [-1, 1024, 1.0, "1", :one] do
        assert_raise ArgumentError, ~r/^node_id must be/, fn -> Snowflake.next(node_id) end
        assert_raise ArgumentError, ~r/^node_id must be/, fn -> Snowflake.start(node_id) end
      end
    end

    test "next_branded is next and encode in one" do
      assert {:ok, "ORD", snowflake} = BrandedId.parse(Snowflake.next_branded("ORD"))
      assert Snowflake.next() > snowflake
    end
  end

  describe "start, in a fresh VM" do
    test "nothing is minted before it, then the first one decides" do
      vm = FreshVM.start!()

      for {function, arguments} <- [next: [], next: [3], next_branded: ["USR"]] do
        assert_raise RuntimeError, ~r/EchoData.Snowflake.start/, fn ->
          call(vm, function, arguments)
        end
      end

      assert call(vm, :start, [17]) == :ok
      assert call(vm, :start, [18]) == :ok
      assert call(vm, :start, []) == :ok
      assert Snowflake.node_id(call(vm, :next, [])) == 17
      assert Snowflake.node_id(call(vm, :next, [3])) == 3
    end

    test "takes the node id of the application environment" do
      vm = FreshVM.start!()
      FreshVM.call(vm, :application, :set_env, [:echo_data, :node_id, 99])
      assert call(vm, :start, []) == :ok
      assert Snowflake.node_id(call(vm, :next, [])) == 99
    end

    test "refuses a bad node id of the application environment" do
      vm = FreshVM.start!()
      FreshVM.call(vm, :application, :set_env, [:echo_data, :node_id, 1024])
      assert_raise ArgumentError, ~r/^node_id must be/, fn -> call(vm, :start, []) end
    end

    test "falls back on the name of the node" do
      vm = FreshVM.start!()
      assert call(vm, :start, [nil]) == :ok
      expected = :erlang.phash2(FreshVM.call(vm, :erlang, :node, []), 1024)
      assert Snowflake.node_id(call(vm, :next, [])) == expected
    end

    test "generate needs none and leaves the node id open" do
      vm = FreshVM.start!()
      first = call(vm, :generate, [])
      assert call(vm, :start, [17]) == :ok
      assert tick(call(vm, :next, [])) > tick(first)
      assert Snowflake.node_id(call(vm, :generate, [])) == 17
    end

    defp call(vm, function, arguments), do: FreshVM.call(vm, Snowflake, function, arguments)
  end

  describe "generate" do
    test "reads the explicit fields back" do
      id = Snowflake.generate(worker_id: 42, sequence: 123)
      assert Snowflake.worker_id(id) == 42
      assert Snowflake.sequence(id) == 123
      assert %{worker_id: 42, sequence: 123} = Snowflake.extract(id)
    end

    test "is unique without a sequence" do
      ids = for _ <- 1..10_000, do: Snowflake.generate(worker_id: 1)
      assert ids == ids |> Enum.sort() |> Enum.uniq()
    end

    test "refuses what it does not know, by name" do
      assert_raise ArgumentError, ~r/^worker_id must be/, fn ->
        Snowflake.generate(worker_id: 1024)
      end

      assert_raise ArgumentError, ~r/^sequence must be/, fn ->
        Snowflake.generate(sequence: 4096)
      end

      assert_raise ArgumentError, ~r/node/, fn -> Snowflake.generate(node: 1) end
      assert_raise ArgumentError, ~r/^options must be/, fn -> Snowflake.generate(1) end
    end
  end

  describe "fields" do
    test "take the id apart as it was put together" do
      for _ <- 1..1_000 do
        id = Terms.random_snowflake()
        <<0::1, timestamp::41, node_id::10, sequence::12>> = <<id::64>>

        assert Snowflake.unix_ms(id) == timestamp + Snowflake.epoch_ms()
        assert Snowflake.node_id(id) == node_id
        assert Snowflake.sequence(id) == sequence
        assert Snowflake.timestamp(id) == Snowflake.to_datetime(id)
        assert DateTime.to_unix(Snowflake.to_datetime(id), :millisecond) == Snowflake.unix_ms(id)

        assert Snowflake.extract(id) == %{
                 timestamp: Snowflake.to_datetime(id),
                 timestamp_ms: Snowflake.unix_ms(id),
                 worker_id: node_id,
                 sequence: sequence
               }
      end
    end

    test "are refused, by name, for what is not an id" do
      readers = [:unix_ms, :to_datetime, :timestamp, :node_id, :worker_id, :sequence, :extract]

      for reader <- readers, term <- [-1, @max + 1, 1.0, nil, "USR0KHTOWnGLuC"] do
        assert_raise ArgumentError, ~r/^snowflake must be/, fn ->
          apply(Snowflake, reader, [term])
        end
      end
    end

    test "valid? answers for any term" do
      for id <- [0, 1, @max], do: assert(Snowflake.valid?(id))
      for term <- Terms.no_ids(), do: refute(Snowflake.valid?(term))
    end
  end

  describe "min_for" do
    test "is the smallest id of its millisecond" do
      instant = ~U[2026-05-01 12:00:00.123Z]
      bound = Snowflake.min_for(instant)
      assert Snowflake.to_datetime(bound) == instant
      assert Snowflake.to_datetime(bound - 1) == ~U[2026-05-01 12:00:00.122Z]
    end

    test "cuts off what is finer than a millisecond" do
      assert Snowflake.min_for(~U[2026-05-01 12:00:00.123999Z]) ==
               Snowflake.min_for(~U[2026-05-01 12:00:00.123Z])
    end

    test "is clamped to the range of ids" do
      assert Snowflake.min_for(~U[2024-01-01 00:00:00.000Z]) == 0
      assert Snowflake.min_for(~U[2024-01-01 00:00:00.001Z]) == Bitwise.bsl(1, 22)
      assert Snowflake.min_for(~U[2023-12-31 23:59:59.999Z]) == 0
      assert Snowflake.min_for(~U[-0001-01-01 00:00:00Z]) == 0
      assert Snowflake.min_for(~U[2093-09-06 15:47:35.551Z]) == Bitwise.bsl(0x1FF_FFFF_FFFF, 22)
      assert Snowflake.min_for(~U[2093-09-06 15:47:35.552Z]) == @max
    end

    test "refuses, by name, what is not a DateTime" do
      for term <- [nil, 0, ~D[2026-05-01], ~N[2026-05-01 12:00:00]] do
        assert_raise ArgumentError, ~r/^datetime must be/, fn -> Snowflake.min_for(term) end
      end
    end
  end

  # What the generator orders, whatever the node id.
  defp tick(id), do: {Snowflake.unix_ms(id), Snowflake.sequence(id)}
end
