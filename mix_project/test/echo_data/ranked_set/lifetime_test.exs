defmodule EchoData.RankedSet.LifetimeTest do
  @moduledoc """
  Ranked sets end with their owners, at once and for everybody, and their memory is given back.
  """

  use ExUnit.Case, async: true

  import EchoData.Lifetime

  alias EchoData.{BrandedId, Native, RankedSet}

  @moduletag capture_log: true
  # A store keeps its latest versions for a while: up to 64 KB.
  @recent 100_000

  defp id(n), do: BrandedId.encode!("LIF", n)
  defp rows(count), do: for(n <- 1..count, do: {id(n), rem(n * 7919, 1000)})

  defp kind do
    %{
      module: RankedSet,
      new: &RankedSet.new("LIF", &1),
      size: &Native.ranked_size/1,
      left: &Native.ranked_left/1
    }
  end

  defp calls do
    [
      &RankedSet.put(&1, id(1), 1),
      &RankedSet.put_all(&1, [{id(1), 1}]),
      &RankedSet.put_all(&1, rows(3000)),
      &RankedSet.increment(&1, id(1), 1),
      &RankedSet.delete(&1, id(1)),
      &RankedSet.pop_min(&1, 1),
      &RankedSet.pop_max(&1, 1),
      &RankedSet.drop_group(&1, :a),
      &RankedSet.score(&1, id(1)),
      &RankedSet.rank(&1, id(1)),
      &RankedSet.ranks(&1, [id(1)]),
      &RankedSet.rank_for_score(&1, 1),
      &RankedSet.select(&1, 0),
      &RankedSet.count/1,
      &RankedSet.count_distinct/1,
      &RankedSet.count_between(&1, 1, 2),
      &RankedSet.by_rank(&1, 0..1),
      &RankedSet.by_score(&1, 0, 1),
      &RankedSet.around(&1, id(1), 1),
      &RankedSet.groups/1,
      &RankedSet.size/1,
      &RankedSet.info/1,
      &RankedSet.snapshot/1
    ]
  end

  test "a handle is closed when its owner is known to be dead" do
    assert_closed_with_owner(kind(), 2000, &RankedSet.put(&1, id(1), 1))
  end

  test "a handle raises on every call once it is closed" do
    enumerations = [&Enum.to_list/1, &Enum.member?(&1, {0, id(1), 1}), &Enum.member?(&1, :row)]
    assert_closed(kind(), enumerations ++ calls())
    set = RankedSet.new("LIF")
    RankedSet.close(set)
    assert inspect(set) == "#EchoData.RankedSet<LIF, closed>"
  end

  test "a named set exits callers as GenServer.call does" do
    assert_exits(RankedSet, [namespace: "LIF"], calls())
  end

  test "a named set is gone for every name when its process is known to be dead" do
    options = [name: __MODULE__.Gone, namespace: "LIF"]
    put = &RankedSet.put(&1, id(1), 1)
    assert_gone(RankedSet, options, put, {:rank, &RankedSet.rank(&1, id(1))})
  end

  test "a set gives all its memory back, whoever ends it" do
    assert_memory_back(kind(), fn set ->
      RankedSet.put_all(set, rows(20_000))
      for n <- 1..500, do: RankedSet.put(set, id(n), n, group: {:binary.copy("g", 90), n})
    end)
  end

  test "a set gives back what is deleted, popped and dropped while it lives" do
    set = RankedSet.new("LIF")
    Native.drain()
    before = RankedSet.info(set).bytes
    rows = rows(5000)

    removals = [
      fn -> for {id, _score} <- rows, do: :ok = RankedSet.delete(set, id) end,
      fn -> RankedSet.pop_min(set, 5000) end,
      fn -> for _ <- 1..5000, do: [_one] = RankedSet.pop_max(set, 1) end,
      fn -> {:ok, 5000} = RankedSet.drop_group(set, nil) end
    ]

    for remove <- removals do
      {:ok, 5000} = RankedSet.put_all(set, rows)
      for {id, score} <- rows, do: {:ok, _} = RankedSet.put(set, id, score + 1)
      remove.()
      Native.drain()
      assert %{rows: 0, bytes: bytes} = RankedSet.info(set)
      assert bytes < before + @recent
    end
  end

  test "a set does not keep memory for a list that is not let in" do
    set = RankedSet.new("LIF")

    for _ <- 1..5 do
      assert RankedSet.put_all(set, rows(5000) ++ [{"none", 1}]) == {:error, :invalid}
      bad = rows(5000) ++ [{id(1), "1"}]
      assert_raise ArgumentError, ~r/position 5000$/, fn -> RankedSet.put_all(set, bad) end
    end

    Native.drain()
    assert %{rows: 0, nodes: 0, payloads: 0} = RankedSet.info(set)
  end

  test "a set lets others do what its access says" do
    assert_access(kind(),
      own: {&RankedSet.put(&1, id(1), 1), {:ok, :added}},
      reads: [
        &RankedSet.rank(&1, id(1)),
        &RankedSet.by_rank(&1, 0..1),
        &RankedSet.groups/1,
        &RankedSet.snapshot/1
      ],
      writes: [
        &RankedSet.put(&1, id(2), 2),
        &RankedSet.put_all(&1, [{id(3), 3}]),
        &RankedSet.increment(&1, id(2), 2),
        &RankedSet.pop_min(&1, 1),
        &RankedSet.drop_group(&1, nil)
      ]
    )
  end

  test "a set that is closed in the middle of a batch takes all of it or nothing" do
    rows = rows(50_000)

    assert_whole_batch(kind(), &RankedSet.put_all(&1, rows), {:ok, 50_000})
  end

  test "a set that is closed in the middle of a scan is an error, and no crash" do
    set = RankedSet.new("LIF")
    rows = rows(50_000)
    {:ok, 50_000} = RankedSet.put_all(set, rows)
    ids = Enum.map(rows, &elem(&1, 0))

    assert_whole_scans(kind(), set, 50_000, [
      fn -> set |> RankedSet.by_rank({nil, nil}, ties: :max) |> length() end,
      fn -> set |> RankedSet.ranks(ids) |> length() end
    ])
  end
end
