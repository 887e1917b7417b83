defmodule EchoData.RankedSetTest do
  use ExUnit.Case, async: true

  alias EchoData.{BrandedId, RankedSet, RankedSnapshot, Terms, Timeline}

  doctest RankedSet
  doctest RankedSnapshot

  @most 0x7FFF_FFFF_FFFF_FFFF
  @least -0x8000_0000_0000_0000
  @huge 1_000_000_000_000

  setup do
    {:ok, set: RankedSet.new("PLR")}
  end

  defp id(n), do: BrandedId.encode!("PLR", n)

  defp filled(scores, options \\ []) do
    set = RankedSet.new("PLR", options)
    rows = for {score, n} <- Enum.with_index(scores, 1), do: {id(n), score}
    {:ok, _added} = RankedSet.put_all(set, rows)
    set
  end

  defp ids(rows), do: Enum.map(rows, fn {_rank, id, _score} -> BrandedId.decode!(id) end)

  describe "a put" do
    test "answers what it did", %{set: set} do
      assert RankedSet.put(set, id(1), 5) == {:ok, :added}
      assert RankedSet.put(set, id(1), 5) == {:ok, :unchanged}
      assert RankedSet.put(set, id(1), 7) == {:ok, :updated}
      assert RankedSet.put(set, id(1), nil) == {:ok, :updated}
      assert RankedSet.score(set, id(1)) == {:ok, nil}
      assert RankedSet.delete(set, id(1)) == :ok
      assert RankedSet.delete(set, id(1)) == :error
      assert RankedSet.score(set, id(1)) == :error
    end

    test "is done when its conditions are met", %{set: set} do
      put = &RankedSet.put(set, id(1), &1, if: &2)
      assert put.(5, :exists) == {:ok, :unchanged}
      assert put.(5, :greater) == {:ok, :added}
      assert put.(6, :new) == {:ok, :unchanged}
      assert put.(4, :greater) == {:ok, :unchanged}
      assert put.(5, :greater) == {:ok, :unchanged}
      assert put.(6, [:exists, :greater]) == {:ok, :updated}
      assert put.(7, :less) == {:ok, :unchanged}
      assert put.(3, [:less, :exists, :less]) == {:ok, :updated}
      assert put.(9, []) == {:ok, :updated}
      assert RankedSet.put(set, id(2), 1, if: :less) == {:ok, :added}
      assert RankedSet.put(set, id(3), 1, if: :new) == {:ok, :added}
    end

    test "goes by the order of the set" do
      set = RankedSet.new("PLR", order: :desc)
      RankedSet.put(set, id(1), 5)
      assert RankedSet.put(set, id(1), 6, if: :greater) == {:ok, :unchanged}
      assert RankedSet.put(set, id(1), 4, if: :greater) == {:ok, :updated}
    end

    test "of all is whole: the last score of a member counts", %{set: set} do
      assert RankedSet.put_all(set, []) == {:ok, 0}
      assert RankedSet.put_all(set, [{id(1), 1}, {id(2), 2}, {id(1), 3}]) == {:ok, 2}
      assert RankedSet.put_all(set, [{id(1), 3}, {id(3), nil}], group: :other) == {:ok, 2}
      assert RankedSet.put_all(set, [{id(1), 4}, {id(3), 5}]) == {:ok, 1}
      assert Enum.to_list(set) == [{0, id(2), 2}, {1, id(1), 4}, {2, id(3), 5}]
    end

    test "is refused when a unique set has the score" do
      set = RankedSet.new("PLR", unique: true)
      assert RankedSet.put(set, id(1), 5) == {:ok, :added}
      assert RankedSet.put(set, id(1), 5) == {:ok, :unchanged}
      assert RankedSet.put(set, id(2), 5) == {:error, :not_unique}
      assert RankedSet.put(set, id(2), 5, group: 1) == {:ok, :added}
      assert RankedSet.put_all(set, [{id(2), 6}, {id(3), 6}]) == {:error, :not_unique}
      assert RankedSet.put_all(set, [{id(1), 6}, {id(2), 5}]) == {:ok, 1}
      assert RankedSet.increment(set, id(2), 1) == {:error, :not_unique}
      assert Enum.to_list(set) == [{0, id(2), 5}, {1, id(1), 6}]
    end

    test "of very many is one step", %{set: set} do
      rows = for n <- 1..20_000, do: {id(n), rem(n * 7919, 1000)}
      assert RankedSet.put_all(set, rows) == {:ok, 20_000}
      assert RankedSet.count_distinct(set) == 1000
      assert RankedSet.put_all(set, rows) == {:ok, 0}
      ranks = RankedSet.ranks(set, Enum.map(rows, &elem(&1, 0)))
      assert Enum.sort(ranks) == Enum.to_list(0..19_999)
      sorted = Enum.sort_by(rows, fn {id, score} -> {score, id} end)
      listed = for {{id, score}, rank} <- Enum.with_index(sorted), do: {rank, id, score}
      assert RankedSet.by_rank(set, {nil, nil}) == listed

      assert RankedSet.by_rank(set, {nil, nil}, order: :desc) ==
               listed |> Enum.reverse() |> Enum.map(&put_elem(&1, 0, 19_999 - elem(&1, 0)))

      dense = for {_rank, id, score} <- listed, do: {score, id, score}
      assert RankedSet.by_rank(set, {nil, nil}, ties: :dense) == dense

      assert RankedSet.by_rank(set, {10, nil}, ties: :dense, limit: 9000) ==
               dense |> Enum.drop(200) |> Enum.take(9000)

      assert RankedSet.by_score(set, 10, {:exclusive, 990}, ties: :dense) ==
               dense |> Enum.drop(200) |> Enum.drop(-200)

      assert RankedSet.around(set, id(1), 20_000) == listed
      assert RankedSet.pop_max(set, 5000) == sorted |> Enum.reverse() |> Enum.take(5000)
      assert RankedSet.pop_min(set, 15_000) == Enum.take(sorted, 15_000)
      assert {RankedSet.size(set), RankedSet.groups(set)} == {0, []}
    end
  end

  describe "scores" do
    test "are exact integers of 64 bits, with nil before them" do
      scores = [@least, @least + 1, -1, 0, 1, 2 ** 53, 2 ** 53 + 1, @most - 1, @most]
      set = filled(Enum.reverse([nil | scores]))
      assert for({_, _, score} <- set, do: score) == [nil | scores]

      for {score, at} <- Enum.with_index(scores, 1),
          do: assert(RankedSet.rank_for_score(set, score) == at)

      assert RankedSet.count_between(set, {:exclusive, nil}, nil) == 9
      assert RankedSet.count_between(set, nil, {:exclusive, nil}) == 0
    end

    test "are floats whose zeros are one" do
      scores = [-1.7e308, -1.0, -5.0e-324, 0.0, 5.0e-324, 1.0, 1.7e308]
      set = filled(scores, score: :float)
      assert for({_, _, score} <- set, do: score) == scores
      assert RankedSet.put(set, id(4), -0.0) == {:ok, :unchanged}
      assert RankedSet.rank_for_score(set, -0.0) == 3
      {:ok, zero} = RankedSet.increment(set, id(9), -0.0)
      assert <<zero::float>> == <<0.0::float>>
    end

    test "descend when the set does, and nil is last" do
      set = filled([1, nil, 3, 2], order: :desc)
      assert for({_, _, score} <- set, do: score) == [3, 2, 1, nil]
      assert RankedSet.rank_for_score(set, 2) == 1
      assert RankedSet.count_between(set, 3, 2) == 2
      assert RankedSet.count_between(set, 2, 3) == 0
    end

    test "can be pairs, each field in its order" do
      set = RankedSet.new("PLR", score: {:integer, :float}, order: {:desc, :asc})
      rows = [{id(1), {7, 2.0}}, {id(2), {9, 5.0}}, {id(3), {7, 1.0}}, {id(4), {7, nil}}]
      assert RankedSet.put_all(set, rows) == {:ok, 4}
      assert for({_, _, score} <- set, do: score) == [{9, 5.0}, {7, nil}, {7, 1.0}, {7, 2.0}]
      assert RankedSet.increment(set, id(1), {3, 0.5}) == {:ok, {10, 2.5}}
      assert RankedSet.increment(set, id(4), {0, 0.5}) == {:ok, {7, 0.5}}
      assert RankedSet.increment(set, id(5), {0, 0.0}) == {:ok, {0, 0.0}}
      assert RankedSet.select(set, 0) == {:ok, {id(1), {10, 2.5}}}
      assert RankedSet.count_between(set, {:exclusive, {9, 5.0}}, {7, 0.75}) == 1
      assert RankedSet.rank_for_score(set, {7, 0.75}) == 3
    end
  end

  describe "groups" do
    test "are rankings of their own, named by terms that come back", %{set: set} do
      groups = [
        nil,
        0,
        -7,
        @least,
        @most,
        2 ** 32,
        :a,
        true,
        :"ein Atom",
        :ünïcode,
        "",
        "a",
        "é\0"
      ]

      groups = groups ++ [:binary.copy("long", 1000), {1, 2}, {:a, "a"}, {"a", :a}, {nil, 1}]
      groups = groups ++ [List.to_tuple(Enum.to_list(1..20)), {"", ""}]

      for {group, n} <- Enum.with_index(groups) do
        assert RankedSet.put(set, id(1), n, group: group) == {:ok, :added}
        assert RankedSet.increment(set, id(2), n, group: group) == {:ok, n}
      end

      assert Enum.sort(RankedSet.groups(set)) == Enum.sort(groups)
      assert RankedSet.size(set) == 2 * length(groups)

      for {group, n} <- Enum.with_index(groups) do
        assert RankedSet.score(set, id(1), group: group) == {:ok, n}
        assert RankedSet.count(set, group: group) == 2
      end

      assert RankedSet.drop_group(set, {1, 2}) == {:ok, 2}
      assert RankedSet.drop_group(set, {1, 2}) == {:ok, 0}
      assert Enum.sort(RankedSet.groups(set)) == Enum.sort(groups -- [{1, 2}])
    end

    test "have a name however it is written", %{set: set} do
      same = [
        [nil, [], {}],
        [:a, [:a], {:a}],
        [{1, "b"}, [1, "b"]],
        [{"sub"}, binary_part("a sub", 2, 3)]
      ]

      for names <- same, put <- names do
        RankedSet.put(set, id(1), 1, group: put)
        for name <- names, do: assert(RankedSet.count(set, group: name) == 1)
      end

      assert RankedSet.size(set) == length(same)
    end

    test "that are unknown are empty", %{set: set} do
      RankedSet.put(set, id(1), 1)
      options = [group: "unknown"]
      assert RankedSet.count(set, options) == 0
      assert RankedSet.count_distinct(set, options) == 0
      assert RankedSet.count_between(set, nil, nil, options) == 0
      assert RankedSet.rank_for_score(set, 5, options) == 0
      assert RankedSet.rank(set, id(1), options) == :error
      assert RankedSet.ranks(set, [id(1)], options) == [nil]
      assert RankedSet.score(set, id(1), options) == :error
      assert RankedSet.select(set, 0, options) == :error
      assert RankedSet.around(set, id(1), 1, options) == :error
      assert RankedSet.by_rank(set, 0..9, options) == []
      assert RankedSet.by_score(set, nil, nil, options) == []
      assert RankedSet.pop_min(set, 3, options) == []
      assert RankedSet.delete(set, id(1), options) == :error
      assert RankedSet.drop_group(set, "unknown") == {:ok, 0}
      assert RankedSet.size(set) == 1
    end

    test "can be very many", %{set: set} do
      for n <- 1..3000, do: RankedSet.put(set, id(1), n, group: {:room, n})
      assert Enum.sort(RankedSet.groups(set)) == for(n <- 1..3000, do: {:room, n})
    end
  end

  describe "rows" do
    test "around a member are cut at the ends" do
      set = filled([10, 20, 30, 40, 50])
      around = &(set |> RankedSet.around(id(&1), &2) |> ids())
      assert around.(3, 1) == [2, 3, 4]
      assert around.(3, 0) == [3]
      assert around.(1, 2) == [1, 2, 3]
      assert around.(5, 9) == [1, 2, 3, 4, 5]

      assert RankedSet.around(set, id(2), 1, order: :desc) == [
               {2, id(3), 30},
               {3, id(2), 20},
               {4, id(1), 10}
             ]

      assert RankedSet.around(set, id(9), 1) == :error
    end

    test "of ranges whose ends are open, far or the wrong way round" do
      set = filled([10, 20, 30])
      by_rank = &(set |> RankedSet.by_rank(&1) |> ids())
      assert by_rank.({nil, 1}) == [1, 2]
      assert by_rank.({1, nil}) == [2, 3]
      assert by_rank.(-(10 ** 30)..(10 ** 30)) == [1, 2, 3]
      assert by_rank.({2, 1}) == []
      assert by_rank.(2..1) == []
      assert by_rank.(2..1//1) == []
      assert by_rank.(0..2//-1) == []
      assert by_rank.(5..9) == []
      assert by_rank.(-9..-1//1) == []
      assert RankedSet.by_rank(set, 0..2, limit: 2) |> ids() == [1, 2]
    end

    test "of a range of scores have their ranks in the group" do
      set = filled([10, 20, 20, 30])

      assert RankedSet.by_score(set, 15, nil, ties: :competition) == [
               {1, id(2), 20},
               {1, id(3), 20},
               {3, id(4), 30}
             ]

      assert RankedSet.by_score(set, nil, 20, order: :desc) == [
               {1, id(3), 20},
               {2, id(2), 20},
               {3, id(1), 10}
             ]

      assert RankedSet.by_score(set, 15, nil, limit: 1) |> ids() == [2]
      assert RankedSet.by_score(set, 15, nil, limit: 1, order: :desc) |> ids() == [4]
      assert RankedSet.by_score(set, 20, 15) == []
    end

    test "are popped from either end" do
      set = filled([10, 20, 20, 30])
      assert RankedSet.pop_min(set, 0) == []
      assert RankedSet.pop_min(set, 1) == [{id(1), 10}]
      assert RankedSet.pop_max(set, 2) == [{id(4), 30}, {id(3), 20}]
      assert RankedSet.pop_max(set, 2) == [{id(2), 20}]
      assert RankedSet.pop_min(set, 2) == []
    end

    test "are enumerated and collected", %{set: set} do
      assert Enum.into([{id(1), 3}, {id(2), 1}], set) == set
      RankedSet.put(set, id(3), 5, group: :other)
      assert Enum.to_list(set) == [{0, id(2), 1}, {1, id(1), 3}]
      assert {Enum.count(set), Enum.at(set, 1), Enum.at(set, 2)} == {2, {1, id(1), 3}, nil}
      assert {1, id(1), 3} in set
      refute {0, id(1), 3} in set
      refute :else in set
      assert Enum.take(set, -1) == [{1, id(1), 3}]

      assert_raise ArgumentError, ~r/:namespace/, fn ->
        Enum.into([{"ORD00000000001", 1}], set)
      end
    end
  end

  describe "counts that are huge" do
    test "reserve nothing" do
      set = filled([10, 20, 30])
      assert set |> RankedSet.around(id(2), @huge) |> ids() == [1, 2, 3]
      assert set |> RankedSet.around(id(2), 2 ** 70) |> ids() == [1, 2, 3]
      assert set |> RankedSet.by_rank(0..(10 ** 15)) |> ids() == [1, 2, 3]
      assert set |> RankedSet.by_score(nil, nil, limit: 2 ** 70) |> ids() == [1, 2, 3]

      for n <- [@huge, 2 ** 64, -@huge, -(2 ** 64)],
          do: assert(RankedSet.select(set, n) == :error)

      assert set |> RankedSet.pop_min(@huge) |> length() == 3
      assert RankedSet.pop_max(set, 2 ** 70) == []
    end
  end

  describe "a named set" do
    test "is used by its name, its pid and a snapshot" do
      start_supervised!({RankedSet, name: __MODULE__.Named, namespace: "PLR", order: :desc})
      assert RankedSet.put(__MODULE__.Named, id(1), 5) == {:ok, :added}
      pid = Process.whereis(__MODULE__.Named)
      snapshot = RankedSet.snapshot(pid)
      assert RankedSet.put(pid, id(2), 9) == {:ok, :added}
      assert RankedSet.rank({__MODULE__.Named, node()}, id(1)) == {:ok, 1}
      assert RankedSet.rank(snapshot, id(1)) == {:ok, 0}
      assert RankedSet.snapshot(snapshot) == snapshot
      assert Enum.to_list(snapshot) == [{0, id(1), 5}]
      assert inspect(snapshot) == "#EchoData.RankedSnapshot<PLR, 1 members>"
      assert_raise ArgumentError, fn -> RankedSet.put(snapshot, id(1), 1) end
      assert RankedSnapshot.release(snapshot) == :ok
      assert_raise ArgumentError, ~r/released/, fn -> RankedSet.size(snapshot) end

      assert %{rows: 2, namespace: "PLR", score: :integer, order: :desc, unique: false} =
               RankedSet.info(__MODULE__.Named)
    end

    test "of another kind says so", %{set: set} do
      timeline = Timeline.new("PLR")
      assert_raise ArgumentError, ~r/must be a ranked set/, fn -> RankedSet.size(timeline.ref) end

      assert_raise ArgumentError, ~r/is a ranked set/, fn ->
        Timeline.size(%{timeline | ref: set.ref})
      end
    end

    test "is described as it was made" do
      options = [score: {:float, :integer}, order: {:asc, :desc}, unique: true]
      set = RankedSet.new("PLR", options)
      assert set |> RankedSet.info() |> Map.take(Keyword.keys(options)) == Map.new(options)
      assert inspect(set) =~ ~r/^#EchoData.RankedSet<PLR, 0 members, \d+ bytes>$/
    end
  end

  describe "what is refused:" do
    test "ids, on every call, and nothing is changed" do
      set = filled([10, 20])

      calls = [
        &RankedSet.put(set, &1, 5),
        &RankedSet.put_all(set, [{id(7), 7}, {&1, 5}]),
        &RankedSet.increment(set, &1, 5),
        &RankedSet.delete(set, &1),
        &RankedSet.score(set, &1),
        &RankedSet.rank(set, &1),
        &RankedSet.ranks(set, [id(1), &1]),
        &RankedSet.around(set, &1, 1)
      ]

      for call <- calls do
        assert call.("ORD00000000001") == {:error, :namespace}
        for no_id <- Terms.no_ids(), do: assert(call.(no_id) == {:error, :invalid})
      end

      assert Enum.to_list(set) == [{0, id(1), 10}, {1, id(2), 20}]
    end

    test "scores of another kind, and nothing is changed" do
      bad = ["5", :five, [], {}, {1}, {1, 2, 3}, %{}, self()]

      for {options, good, wrong} <- [
            {[], 5, [5.0, {1, 2}, @most + 1, @least - 1, 2 ** 64, 10 ** 40 | bad]},
            {[score: :float], 5.0, [5, {1.0, 2.0} | bad]},
            {[score: {:integer, :float}], {5, 5.0},
             [5, 5.0, nil, {5, 5}, {5.0, 5.0}, {:a, 5.0} | bad]}
          ] do
        set = RankedSet.new("PLR", options)
        RankedSet.put(set, id(1), good)

        for score <- wrong do
          for {argument, call} <- [
                {"score", &RankedSet.put(set, id(1), &1)},
                {"score", &RankedSet.put_all(set, [{id(2), good}, {id(1), &1}])},
                {"delta", &RankedSet.increment(set, id(1), &1)},
                {"score", &RankedSet.rank_for_score(set, &1)},
                {"lo", &RankedSet.count_between(set, {:exclusive, &1}, good)},
                {"hi", &RankedSet.count_between(set, good, {:exclusive, &1})},
                {"lo", &RankedSet.by_score(set, {:exclusive, &1}, nil)}
              ] do
            assert_raise ArgumentError, ~r/^#{argument} must be /, fn -> call.(score) end
          end
        end

        assert_raise ArgumentError, ~r/^delta/, fn -> RankedSet.increment(set, id(1), nil) end
        assert Enum.to_list(set) == [{0, id(1), good}]
      end
    end

    test "arguments, by their names", %{set: set} do
      for {argument, call} <- [
            {"if", fn -> RankedSet.put(set, id(1), 1, if: [:new, :greater]) end},
            {"if", fn -> RankedSet.put(set, id(1), 1, if: [:new, :exists]) end},
            {"if", fn -> RankedSet.put(set, id(1), 1, if: [:greater, :less]) end},
            {"if", fn -> RankedSet.put(set, id(1), 1, if: :absent) end},
            {"if", fn -> RankedSet.put(set, id(1), 1, if: [:new | :exists]) end},
            {"if", fn -> RankedSet.put(set, id(1), 1, if: nil) end},
            {"group", fn -> RankedSet.put(set, id(1), 1, group: 1.5) end},
            {"group", fn -> RankedSet.put(set, id(1), 1, group: 2 ** 63) end},
            {"group", fn -> RankedSet.rank(set, id(1), group: {1, {2}}) end},
            {"group", fn -> RankedSet.count(set, group: [1 | 2]) end},
            {"group", fn -> RankedSet.count(set, group: %{a: 1}) end},
            {"group", fn -> RankedSet.count(set, group: <<1::3>>) end},
            {"group", fn -> RankedSet.drop_group(set, self()) end},
            {"group", fn -> RankedSet.put_all(set, [], group: 1.5) end},
            {"order", fn -> RankedSet.rank(set, id(1), order: :up) end},
            {"ties", fn -> RankedSet.rank(set, id(1), ties: :none) end},
            {"limit", fn -> RankedSet.by_rank(set, 0..1, limit: -1) end},
            {"limit", fn -> RankedSet.by_score(set, nil, nil, limit: :none) end},
            {"range", fn -> RankedSet.by_rank(set, 0..9//2) end},
            {"range", fn -> RankedSet.by_rank(set, {0, 1.5}) end},
            {"range", fn -> RankedSet.by_rank(set, 3) end},
            {"n", fn -> RankedSet.around(set, id(1), -1) end},
            {"n", fn -> RankedSet.pop_min(set, -1) end},
            {"n", fn -> RankedSet.pop_max(set, 1.0) end},
            {"place", fn -> RankedSet.select(set, 1.0) end},
            {"rows", fn -> RankedSet.put_all(set, %{}) end},
            {"rows", fn -> RankedSet.put_all(set, [{id(1), 1} | :tail]) end},
            {"rows", fn -> RankedSet.put_all(set, [{id(1), 1}, {id(2)}]) end},
            {"ids", fn -> RankedSet.ranks(set, id(1)) end},
            {"ids", fn -> RankedSet.ranks(set, [id(1) | :tail]) end},
            {"options", fn -> RankedSet.rank(set, id(1), :desc) end},
            {"options", fn -> RankedSet.by_score(set, nil, nil, [{:limit, 1} | :tail]) end},
            {"the options", fn -> RankedSet.by_rank(set, 0..1, limit: 1, tie: :dense) end},
            {"the options", fn -> RankedSet.rank(set, id(1), tie: :dense) end},
            {"the options", fn -> RankedSet.put(set, id(1), 1, ties: :dense) end},
            {"the options", fn -> RankedSet.delete(set, id(1), if: :new) end},
            {"the options are group, order, ties and",
             fn -> RankedSet.by_rank(set, 0..1, limits: 1) end},
            {"if must be possible: :new and :greater contradict",
             fn -> RankedSet.put(set, id(1), 1, if: [:greater, :new]) end},
            {"options", fn -> RankedSet.new("PLR", %{score: :float}) end},
            {"options", fn -> RankedSet.start_link(%{namespace: "PLR"}) end},
            {"score", fn -> RankedSet.new("PLR", score: :string) end},
            {"score", fn -> RankedSet.new("PLR", score: {:integer, :integer, :float}) end},
            {"order", fn -> RankedSet.new("PLR", order: :up) end},
            {"order", fn -> RankedSet.new("PLR", order: {:asc, :desc}) end},
            {"unique", fn -> RankedSet.new("PLR", unique: 1) end},
            {"access", fn -> RankedSet.new("PLR", access: :none) end},
            {"namespace", fn -> RankedSet.new("plr") end},
            {"namespace", fn -> RankedSet.start_link(name: :ranked) end},
            {"unknown", fn -> RankedSet.new("PLR", scores: :float) end}
          ] do
        assert_raise ArgumentError, ~r/^#{argument} /, call
      end

      assert RankedSet.size(set) == 0
    end
  end
end
