defmodule EchoData.RankedSet.WorkedCaseTest do
  @moduledoc """
  ann 40, eve 55, bob 70, cat 70, dan 90, with ids minted in the order ann, bob, cat, dan, eve: what a ranked set
  answers of them.
  """

  use ExUnit.Case, async: true

  alias EchoData.{BrandedId, RankedSet}

  @names [ann: 1, bob: 2, cat: 3, dan: 4, eve: 5, fay: 6, gus: 7, hal: 8]
  @scores [ann: 40, eve: 55, bob: 70, cat: 70, dan: 90]

  setup do
    set = RankedSet.new("PLR")
    assert RankedSet.put_all(set, rows(@scores)) == {:ok, 5}
    {:ok, set: set}
  end

  defp id(name), do: BrandedId.encode!("PLR", @names[name])
  defp rows(scores), do: for({name, score} <- scores, do: {id(name), score})

  defp names(ids) do
    by_id = Map.new(@names, fn {name, _number} -> {id(name), name} end)
    Enum.map(ids, &by_id[&1])
  end

  defp named(rows), do: rows |> Enum.map(&elem(&1, 1)) |> names()
  defp rank(set, name, ties), do: RankedSet.rank(set, id(name), ties: ties)

  test "1: four ways to stand in a tie", %{set: set} do
    members = [:ann, :eve, :bob, :cat, :dan]

    for {ties, ranks} <- [
          ordinal: [0, 1, 2, 3, 4],
          dense: [0, 1, 2, 2, 3],
          competition: [0, 1, 2, 2, 4],
          max: [0, 1, 3, 3, 4]
        ] do
      assert RankedSet.ranks(set, Enum.map(members, &id/1), ties: ties) == ranks
      assert Enum.map(members, &rank(set, &1, ties)) == Enum.map(ranks, &{:ok, &1})
      assert for({rank, _, _} <- RankedSet.by_rank(set, 0..9, ties: ties), do: rank) == ranks
      assert set |> RankedSet.by_rank({nil, nil}, ties: ties) |> named() == members
    end
  end

  test "2: the rank of a score that nobody has", %{set: set} do
    for {score, competition, dense} <- [{10, 0, 0}, {60, 2, 2}, {75, 4, 3}, {1000, 5, 4}] do
      assert RankedSet.rank_for_score(set, score) == competition
      assert RankedSet.rank_for_score(set, score, ties: :competition) == competition
      assert RankedSet.rank_for_score(set, score, ties: :dense) == dense
    end
  end

  test "3: select is the inverse of the ordinal rank", %{set: set} do
    assert RankedSet.select(set, 5) == :error
    assert RankedSet.select(set, -1) == :error

    for order <- [:asc, :desc], {name, score} <- @scores do
      {:ok, place} = RankedSet.rank(set, id(name), order: order)
      assert RankedSet.select(set, place, order: order) == {:ok, {id(name), score}}
    end
  end

  test "4: what a deletion does to those behind", %{set: set} do
    for {gone, left} <- [bob: 3, cat: 2] do
      assert RankedSet.delete(set, id(gone)) == :ok
      assert rank(set, :dan, :competition) == {:ok, left}
      assert rank(set, :dan, :dense) == {:ok, if(gone == :bob, do: 3, else: 2)}
    end
  end

  test "5: size and distinct scores", %{set: set} do
    assert {RankedSet.size(set), RankedSet.count(set), RankedSet.count_distinct(set)} == {5, 5, 4}
    assert RankedSet.put_all(set, rows(fay: 70, gus: 70, hal: 70)) == {:ok, 3}
    assert {RankedSet.size(set), RankedSet.count_distinct(set)} == {8, 4}
  end

  test "6: ranges of dense ranks", %{set: set} do
    by_rank = &(set |> RankedSet.by_rank(&1, ties: :dense) |> named())
    assert by_rank.(2..2) == [:bob, :cat]
    assert by_rank.({3, nil}) == [:dan]
    assert by_rank.(-3..1) == [:ann, :eve]
    assert by_rank.(3..9) == [:dan]
  end

  test "7: an ordinal range inside a tie has exactly its rows", %{set: set} do
    assert RankedSet.by_rank(set, 1..2) == [{1, id(:eve), 55}, {2, id(:bob), 70}]
  end

  test "8: counts between scores", %{set: set} do
    assert RankedSet.count_between(set, {:exclusive, 70}, {:exclusive, 90}) == 0
    assert RankedSet.count_between(set, 70, 70) == 2
    assert RankedSet.count_between(set, 90, 70) == 0
  end

  # No float of Erlang is infinite: the sum of two large ones would be.
  test "9: an overflow is an error and keeps the score", %{set: set} do
    floats = RankedSet.new("PLR", score: :float)

    for {set, most} <- [{floats, 1.7e308}, {set, 0x7FFF_FFFF_FFFF_FFFF}], sign <- [1, -1] do
      {:ok, _added} = RankedSet.put(set, id(:fay), sign * most)
      assert RankedSet.increment(set, id(:fay), sign * most) == {:error, :overflow}
      assert RankedSet.score(set, id(:fay)) == {:ok, sign * most}
    end
  end

  test "10: one bad score rejects all", %{set: set} do
    rows = rows(fay: 1, gus: 2.0, hal: 3)
    assert_raise ArgumentError, ~r/position 1$/, fn -> RankedSet.put_all(set, rows) end
    assert RankedSet.size(set) == 5
  end
end
