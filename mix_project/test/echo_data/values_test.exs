defmodule EchoData.ValuesTest do
  @moduledoc """
  What is put comes back as it was, whatever it is.
  """

  use ExUnit.Case, async: true

  import Bitwise

  alias EchoData.{BrandedId, Native, Timeline, Values}

  @deepest 10_000

  setup do
    {:ok, timeline: Timeline.new("VAL")}
  end

  defp id(n \\ 1), do: BrandedId.encode!("VAL", n)

  defp assert_kept(timeline, value) do
    Timeline.put(timeline, id(), value)
    {:ok, kept} = Timeline.fetch(timeline, id())

    assert same?(kept, value),
           "#{inspect(value, limit: 20)} came back as #{inspect(kept, limit: 20)}"

    assert [{_id, listed}] = Timeline.latest(timeline, 1)
    assert same?(listed, value)
  end

  # The external format tells 0.0 from -0.0, which `===` does not on every OTP.
  defp same?(left, right),
    do: left === right and :erlang.term_to_binary(left) == :erlang.term_to_binary(right)

  test "values of every form come back", %{timeline: timeline} do
    for value <- Values.edges() do
      assert_kept(timeline, value)
      assert_kept(timeline, [value, {value, %{key: value}} | value])
      assert_kept(timeline, %{value => value})
    end
  end

  test "random values come back, alone and in a batch", %{timeline: timeline} do
    values = for _ <- 1..300, do: Values.random()
    for value <- values, do: assert_kept(timeline, value)

    rows = for {value, n} <- Enum.with_index(values, 10), do: {id(n), value}
    Timeline.put_many(timeline, rows)
    assert Timeline.get_many(timeline, Enum.map(rows, &elem(&1, 0))) === rows
  end

  test "maps come back whatever the order of their keys", %{timeline: timeline} do
    for size <- [2, 31, 32, 33, 200] do
      keys = Enum.shuffle(Enum.map(1..size, &{&1, :key}) ++ Enum.map(1..size, &"key #{&1}"))
      assert_kept(timeline, Map.new(keys, &{&1, &1}))
    end
  end

  test "a value may be nested deep, a deeper one is refused", %{timeline: timeline} do
    nest = fn wrap, depth -> Enum.reduce(1..depth, :core, fn _, inner -> wrap.(inner) end) end

    wraps = [
      &[&1],
      &{&1},
      &%{key: &1},
      &%{&1 => :value},
      &[:head | &1],
      &[&1 | :tail],
      &{1, &1, 2}
    ]

    for wrap <- wraps do
      assert_kept(timeline, nest.(wrap, 5000))
    end

    for wrap <- wraps, wrap.(1) != [:head | 1] do
      assert_kept(timeline, nest.(wrap, @deepest))

      assert_raise ArgumentError, "value must not be nested deeper than #{@deepest}", fn ->
        Timeline.put(timeline, id(), nest.(wrap, @deepest + 1))
      end
    end

    assert_kept(timeline, nest.(&[:head | &1], 100_000))
  end

  test "deep values are published and dropped by dirty and background threads, too",
       %{timeline: timeline} do
    deep = Enum.reduce(1..5000, :core, fn _, inner -> {inner} end)
    rows = for n <- 1..1500, do: {id(n), deep}
    Timeline.put_many(timeline, rows)
    assert Timeline.fetch(timeline, id(1500)) === {:ok, deep}
    Timeline.close(timeline)
    Native.drain()
    assert Native.ordered_left(timeline.ref) == %{bytes: 0, nodes: 0, payloads: 0, versions: 0}
  end

  test "a batch with a value that is too deep puts nothing", %{timeline: timeline} do
    deep = Enum.reduce(0..@deepest, :core, fn _, inner -> [inner] end)
    rows = for(n <- 1..100, do: {id(n), n}) ++ [{id(101), deep}]
    assert_raise ArgumentError, ~r/nested deeper/, fn -> Timeline.put_many(timeline, rows) end
    assert Timeline.size(timeline) == 0
  end

  test "long and wide values come back", %{timeline: timeline} do
    assert_kept(timeline, Enum.to_list(1..100_000))
    assert_kept(timeline, List.to_tuple(Enum.to_list(1..100_000)))
    assert_kept(timeline, Map.new(1..50_000, &{&1, -&1}))
    assert_kept(timeline, :binary.copy("long", 1 <<< 20))
  end

  test "a binary does not pin the larger one that it was a part of", %{timeline: timeline} do
    large = :binary.copy("x", 1 <<< 20)
    Timeline.put(timeline, id(), binary_part(large, 10, 100))
    {:ok, read} = Timeline.fetch(timeline, id())
    assert :binary.referenced_byte_size(read) < 1000
    assert byte_size(large) == 1 <<< 20
  end

  test "a binary that was read outlives its row and its store", %{timeline: timeline} do
    binary = :binary.copy("outlive ", 100)
    Timeline.put(timeline, id(), {binary, [binary]})
    {:ok, {read, [again]}} = Timeline.fetch(timeline, id())
    Timeline.put(timeline, id(), :other)
    Timeline.close(timeline)
    Native.drain()
    :erlang.garbage_collect()
    assert read == binary and again == binary
  end

  test "reading makes no atoms, and what is read is a term like any other", %{timeline: timeline} do
    value = %{list: [:a, "b", 3.0], pid: self(), fun: &String.upcase/1}
    Timeline.put(timeline, id(), value)
    atoms = :erlang.system_info(:atom_count)
    {:ok, %{fun: fun, pid: pid} = read} = Timeline.fetch(timeline, id())
    assert :erlang.system_info(:atom_count) == atoms
    assert fun.("up") == "UP"
    send(pid, {:read, read})
    assert_receive {:read, ^value}
  end
end
