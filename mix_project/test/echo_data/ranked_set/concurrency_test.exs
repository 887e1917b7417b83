defmodule EchoData.RankedSet.ConcurrencyTest do
  @moduledoc """
  What readers of a ranked set see while it is changed: ranks, scores and counts that agree, always.
  """

  use ExUnit.Case, async: true

  alias EchoData.{BrandedId, Native, RankedSet, RankedSnapshot}
  alias EchoData.Twin.Beside

  # A store keeps its latest versions for a while: up to 64 KB.
  @recent 100_000

  setup do
    {:ok, set: RankedSet.new("CON")}
  end

  defp id(n), do: BrandedId.encode!("CON", n)

  test "ranks, scores and counts agree while two writers run", %{set: set} do
    {:ok, _} = RankedSet.put_all(set, for(n <- 1..500, do: {id(n), rem(n, 50)}))

    write = fn first ->
      fn _round ->
        id = id(first + :rand.uniform(250))

        case :rand.uniform(12) do
          1 -> RankedSet.pop_min(set, 3)
          2 -> RankedSet.put_all(set, for(n <- 1..20, do: {id(first + n), :rand.uniform(50)}))
          n when n < 5 -> RankedSet.delete(set, id)
          n when n < 8 -> RankedSet.increment(set, id, 1)
          _ -> RankedSet.put(set, id, :rand.uniform(50))
        end
      end
    end

    look = fn -> Beside.look(fn -> assert_agreed(set) end, 300, 10) end
    Beside.run(write.(0), fn -> Beside.run(write.(250), look) end)
  end

  defp assert_agreed(set) do
    snapshot = RankedSet.snapshot(set)
    rows = RankedSet.by_rank(snapshot, {nil, nil})
    assert length(rows) == RankedSet.count(snapshot)
    scores = for {_rank, _id, score} <- rows, do: score
    assert scores == Enum.sort(scores)
    assert RankedSet.count_distinct(snapshot) == scores |> Enum.uniq() |> length()
    ids = for {_rank, id, _score} <- rows, do: id
    assert RankedSet.ranks(snapshot, ids) == Enum.to_list(0..(length(ids) - 1)//1)

    for {rank, id, score} <- Enum.take_random(rows, 20) do
      assert RankedSet.select(snapshot, rank) == {:ok, {id, score}}
      assert RankedSet.rank(snapshot, id) == {:ok, rank}
      assert RankedSet.score(snapshot, id) == {:ok, score}
      below = Enum.count(scores, &(&1 < score))
      assert RankedSet.rank(snapshot, id, ties: :competition) == {:ok, below}
      assert RankedSet.count_between(snapshot, nil, {:exclusive, score}) == below
    end

    RankedSnapshot.release(snapshot)
    length(rows)
  end

  test "a batch is seen as a whole, however many calls it takes", %{set: set} do
    ids = for n <- 1..1500, do: id(n)
    put = fn round -> {:ok, _} = RankedSet.put_all(set, for(id <- ids, do: {id, round})) end
    put.(0)

    look = fn ->
      rows = RankedSet.by_rank(set, {nil, nil})
      assert [score] = rows |> Enum.map(&elem(&1, 2)) |> Enum.uniq()
      assert length(rows) == 1500
      score
    end

    Beside.run(&put.(&1 + 1), fn -> Beside.look(look, 200, 2) end)
  end

  test "of several that add a member one does", %{set: set} do
    for n <- 1..300 do
      adds =
        for writer <- 1..4, do: Task.async(fn -> RankedSet.put(set, id(n), writer, if: :new) end)

      assert adds |> Task.await_many() |> Enum.frequencies() ==
               %{{:ok, :added} => 1, {:ok, :unchanged} => 3}
    end

    assert RankedSet.size(set) == 300
  end

  test "writers lose and repeat nothing", %{set: set} do
    for writer <- 0..3 do
      Task.async(fn ->
        for n <- 1..2000 do
          {:ok, :added} = RankedSet.put(set, id(writer * 2000 + n), n)
          {:ok, _sum} = RankedSet.increment(set, id(1), 1, group: :sums)
        end
      end)
    end
    |> Task.await_many(60_000)

    assert RankedSet.count(set) == 8000
    assert RankedSet.count_distinct(set) == 2000
    assert RankedSet.score(set, id(1), group: :sums) == {:ok, 8000}
  end

  test "a member is popped once", %{set: set} do
    {:ok, 4000} = RankedSet.put_all(set, for(n <- 1..4000, do: {id(n), rem(n, 7)}))

    pops =
      for pop <- [&RankedSet.pop_min/2, &RankedSet.pop_max/2],
          do: Task.async(fn -> popped(set, pop) end)

    popped = pops |> Task.await_many(60_000) |> Enum.concat()
    assert Enum.sort(popped) == for(n <- 1..4000, do: {id(n), rem(n, 7)})
    Native.drain()
    assert %{rows: 0, snapshots: 0, bytes: bytes} = RankedSet.info(set)
    assert bytes < @recent
  end

  defp popped(set, pop) do
    case pop.(set, 3) do
      [] -> []
      popped -> popped ++ popped(set, pop)
    end
  end
end
