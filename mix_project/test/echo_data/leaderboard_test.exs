defmodule EchoData.LeaderboardTest do
  use ExUnit.Case, async: true

  import Bitwise

  alias EchoData.{BrandedId, Leaderboard, RankedSet, Snowflake, Terms}
  alias EchoData.Twin.Beside

  doctest Leaderboard

  @noon ~U[2026-03-04 12:00:00.000Z]
  @most 0x7FFF_FFFF_FFFF_FFFF
  @day 86_400_000

  defp id(n), do: BrandedId.encode!("PLR", n)
  defp later(ms), do: DateTime.add(@noon, ms, :millisecond)

  # The `n`th id of the millisecond that is so much later than noon.
  defp entry(ms, n \\ 0), do: Snowflake.min_for(later(ms)) + n

  defp places(rows),
    do: for({place, id, score} <- rows, do: {place, BrandedId.decode!(id), score})

  describe "what counts" do
    test "is the best entry, in both directions" do
      for {order, best} <- [desc: 90, asc: 10], worse = 50 do
        board = Leaderboard.new("PLR", windows: [:all_time], order: order)
        assert Leaderboard.enter(board, id(1), worse, entry: entry(0)) == {:ok, [:all_time]}
        assert Leaderboard.enter(board, id(1), best, entry: entry(1)) == {:ok, [:all_time]}
        assert Leaderboard.enter(board, id(1), worse, entry: entry(2)) == {:ok, []}
        assert Leaderboard.score(board, :all_time, id(1)) == {:ok, best}
        assert Leaderboard.entry(board, :all_time, id(1)) == {:ok, entry(1)}
      end
    end

    test "is the earlier entry of equal ones, in both directions, whenever it arrives" do
      for order <- [:desc, :asc], arrivals <- [[1, 2, 3], [3, 2, 1], [2, 1, 3]] do
        board = Leaderboard.new("PLR", windows: [:all_time], order: order)
        # Of one millisecond.
        for n <- arrivals, do: Leaderboard.enter(board, id(10 - n), 70, entry: entry(0, n))

        assert board |> Leaderboard.top(:all_time, 9) |> places() == [
                 {0, 9, 70},
                 {1, 8, 70},
                 {2, 7, 70}
               ]

        # A later one of the same score changes nothing, an earlier one does.
        assert Leaderboard.enter(board, id(7), 70, entry: entry(9)) == {:ok, []}
        assert Leaderboard.enter(board, id(7), 70, entry: entry(-9)) == {:ok, [:all_time]}
        assert Leaderboard.rank(board, :all_time, id(7)) == {:ok, 0}
      end
    end

    test "is the last entry by its time, not by its arrival" do
      board = Leaderboard.new("PLR", windows: [:all_time], counts: :last)
      assert Leaderboard.enter(board, id(1), 50, entry: entry(5)) == {:ok, [:all_time]}
      assert Leaderboard.enter(board, id(1), 90, entry: entry(4)) == {:ok, []}
      assert Leaderboard.enter(board, id(1), 20, entry: entry(6)) == {:ok, [:all_time]}
      assert Leaderboard.score(board, :all_time, id(1)) == {:ok, 20}
    end

    test "is the sum, and whoever reached it first is ahead" do
      board = Leaderboard.new("PLR", windows: [:all_time, {:day, 1}], counts: :sum)

      for {n, score, ms} <- [{1, 30, 0}, {2, 70, 1}, {1, 40, 2}],
          do: Leaderboard.enter(board, id(n), score, entry: entry(ms))

      assert board |> Leaderboard.top(:all_time, 9) |> places() == [{0, 2, 70}, {1, 1, 70}]
      assert Leaderboard.entry(board, :all_time, id(1)) == {:ok, entry(2)}
      Leaderboard.enter(board, id(1), -10, entry: entry(-1))
      assert Leaderboard.score(board, :all_time, id(1)) == {:ok, 60}
      assert Leaderboard.entry(board, :all_time, id(1)) == {:ok, entry(2)}
    end

    test "is no sum out of range, in no window" do
      board = Leaderboard.new("PLR", windows: [{:day, 1}, :all_time], counts: :sum)
      Leaderboard.enter(board, id(1), @most, entry: entry(0))
      assert Leaderboard.enter(board, id(1), 1, entry: entry(@day)) == {:error, :overflow}
      assert Leaderboard.count(board, {:day, 1}, at: later(@day)) == 0
      assert Leaderboard.score(board, :all_time, id(1)) == {:ok, @most}

      floats = Leaderboard.new("PLR", windows: [:all_time], counts: :sum, score: :float)
      Leaderboard.enter(floats, id(1), 1.7e308, entry: entry(0))
      assert Leaderboard.enter(floats, id(1), 1.7e308, entry: entry(0)) == {:error, :overflow}
      assert Leaderboard.score(floats, :all_time, id(1)) == {:ok, 1.7e308}
    end

    test "is in every group by itself" do
      board = Leaderboard.new("PLR", windows: [{:day, 1}])

      for {group, score} <- [{nil, 1}, {"eu", 2}, {{"eu", 7}, 3}, {[:a, 1], 4}] do
        Leaderboard.enter(board, id(1), score, entry: entry(0), group: group)
        assert Leaderboard.score(board, {:day, 1}, id(1), at: @noon, group: group) == {:ok, score}
      end

      assert Leaderboard.top(board, {:day, 1}, 9, at: @noon, group: {:a, 1}) == [{0, id(1), 4}]

      for {group, score} <- [{[], 1}, {[nil], 1}, {{nil}, 1}, {["eu"], 2}],
          do:
            assert(
              Leaderboard.score(board, {:day, 1}, id(1), at: @noon, group: group) == {:ok, score}
            )

      assert Leaderboard.expire(board, later(@day)) == {:ok, 4}
    end

    test "is an entry that is minted unless it is said" do
      board = Leaderboard.new("PLR")
      before = Snowflake.next()
      {:ok, changed} = Leaderboard.enter(board, id(1), 5)
      assert changed == [:all_time, {:day, 1}, {:hour, 1}]
      assert {:ok, entry} = Leaderboard.entry(board, :all_time, id(1))
      assert entry in before..Snowflake.next()
      attempt = BrandedId.generate!("ATT")
      assert {:ok, [_ | _]} = Leaderboard.enter(board, id(2), 5, entry: attempt)
      assert Leaderboard.entry(board, :all_time, id(2)) == {:ok, BrandedId.decode!(attempt)}
    end
  end

  describe "windows" do
    test "begin at multiples of their width" do
      for {window, width} <- [
            {{:millisecond, 7}, 7},
            {{:minute, 15}, 900_000},
            {{:hour, 1}, 3_600_000},
            {{:day, 1}, @day}
          ] do
        board = Leaderboard.new("PLR", windows: [window])
        k = div(DateTime.to_unix(@noon, :millisecond), width)
        edge = k * width - DateTime.to_unix(@noon, :millisecond)

        for {n, ms} <- [{1, edge - 1}, {2, edge}, {3, edge + 1}],
            do: Leaderboard.enter(board, id(n), 9, entry: entry(ms))

        ids =
          &(board
            |> Leaderboard.top(window, 9, at: later(&1))
            |> Enum.map(fn {_, id, _} -> id end))

        assert {ids.(edge - 1), ids.(edge)} == {[id(1)], [id(2), id(3)]}
        assert ids.(edge + width) == []
      end
    end

    test "of weeks begin on Mondays" do
      board = Leaderboard.new("PLR", windows: [{:week, 1}])
      [sunday, monday] = [~U[2026-03-01 23:59:59.999Z], ~U[2026-03-02 00:00:00.000Z]]

      for {n, at} <- [{1, sunday}, {2, monday}],
          do: Leaderboard.enter(board, id(n), 9, entry: Snowflake.min_for(at))

      for {n, at} <- [{1, sunday}, {2, monday}],
          do: assert(Leaderboard.top(board, {:week, 1}, 9, at: at) == [{0, id(n), 9}])
    end

    test "that overlap hold the last steps, that of the instant included" do
      window = {:day, 7, every: {:day, 1}}
      board = Leaderboard.new("PLR", windows: [window])
      assert Leaderboard.enter(board, id(1), 9, entry: entry(0)) == {:ok, [window]}

      for days <- -1..8 do
        seen = Leaderboard.count(board, window, at: later(days * @day))
        assert {days, seen} == {days, if(days in 0..6, do: 1, else: 0)}
      end

      assert Leaderboard.expire(board, later(3 * @day)) == {:ok, 3}
      assert Leaderboard.count(board, window, at: later(6 * @day)) == 1
    end

    test "that are over are cut off, and do not begin again" do
      board = Leaderboard.new("PLR", windows: [:all_time, {:day, 1}, {:hour, 1}])
      for n <- 1..100, do: Leaderboard.enter(board, id(n), n, entry: entry(n * 60_000))
      assert Leaderboard.expire(board, @noon) == {:ok, 0}
      assert Leaderboard.expire(board, later(3_599_999)) == {:ok, 0}
      assert Leaderboard.expire(board, later(3_600_000)) == {:ok, 59}
      assert Leaderboard.count(board, {:hour, 1}, at: @noon) == 0
      late = Leaderboard.enter(board, id(1), 500, entry: entry(1))
      assert late == {:ok, [:all_time, {:day, 1}]}
      # An earlier expiry does not undo a later one.
      assert Leaderboard.expire(board, @noon) == {:ok, 0}

      assert Leaderboard.enter(board, id(2), 500, entry: entry(2)) ==
               {:ok, [:all_time, {:day, 1}]}

      assert Leaderboard.expire(board, later(12 * 3_600_000)) == {:ok, 141}
      assert Leaderboard.count(board, :all_time) == 100
      assert %{rows: 100} = Leaderboard.info(board)
    end

    test "stay as they are when who expires them may not write" do
      board = Leaderboard.new("PLR", windows: [{:day, 1}], access: :protected)
      snapshot = Leaderboard.snapshot(board)
      other = Task.async(fn -> catch_error(Leaderboard.expire(board, later(@day))) end)
      assert %ArgumentError{} = Task.await(other)

      assert_raise ArgumentError, ~r/snapshot/, fn ->
        Leaderboard.expire(snapshot, later(@day))
      end

      assert Leaderboard.enter(board, id(1), 5, entry: entry(0)) == {:ok, [{:day, 1}]}
    end
  end

  test "random entries count as a list of them says" do
    windows = [:all_time, {:second, 40}, {:minute, 1, every: {:second, 20}}]
    widths = %{{:second, 40} => {40, 40}, {:minute, 1, every: {:second, 20}} => {60, 20}}

    for counts <- [:best, :last, :sum], order <- [:asc, :desc] do
      board = Leaderboard.new("PLR", windows: windows, counts: counts, order: order)

      entries =
        for n <- Enum.shuffle(1..400) do
          entry = entry(:rand.uniform(200) * 1000, n)
          {member, score, group} = {:rand.uniform(15), :rand.uniform(6), Enum.random([nil, :a])}
          {:ok, _} = Leaderboard.enter(board, id(member), score, entry: entry, group: group)
          {member, score, entry, group}
        end

      for window <- windows, group <- [nil, :a], second <- 0..210//5 do
        at = later(second * 1000)

        inside =
          Enum.filter(entries, fn {_, _, entry, of} ->
            of == group and inside?(widths[window], entry, at)
          end)

        expected = inside |> standings(counts, order)
        options = [at: at, group: group]
        assert board |> Leaderboard.by_place(window, {nil, nil}, options) |> places() == expected
        assert Leaderboard.count(board, window, options) == length(expected)
      end
    end
  end

  defp inside?(nil, _entry, _at), do: true

  defp inside?({width, step}, entry, at) do
    [entry, at] = [div(Snowflake.unix_ms(entry), 1000), DateTime.to_unix(at)]
    start = at - rem(at, step) + step - width
    entry >= start and entry < start + width
  end

  defp standings(entries, counts, order) do
    sign = if order == :desc, do: -1, else: 1

    entries
    |> Enum.group_by(&elem(&1, 0), fn {_, score, entry, _} -> {sign * score, entry} end)
    |> Enum.map(fn {member, scored} -> {counting(scored, counts), member} end)
    |> Enum.sort()
    |> Enum.with_index(fn {{score, _entry}, member}, place -> {place, member, sign * score} end)
  end

  defp counting(scored, :best), do: Enum.min(scored)
  defp counting(scored, :last), do: Enum.max_by(scored, &elem(&1, 1))

  defp counting(scored, :sum) do
    {scores, entries} = Enum.unzip(scored)
    {Enum.sum(scores), Enum.max(entries)}
  end

  test "an entry is seen in all windows or in none" do
    windows = [:all_time, {:day, 1}, {:hour, 1}, {:minute, 1}, {:day, 7, every: {:day, 1}}]
    board = Leaderboard.new("PLR", windows: windows)
    options = [at: @noon]

    enter = fn round ->
      {:ok, ^windows} = Leaderboard.enter(board, id(1), round, entry: entry(0, band(round, 4095)))
    end

    enter.(0)

    look = fn ->
      snapshot = Leaderboard.snapshot(board)
      scores = for window <- windows, do: Leaderboard.score(snapshot, window, id(1), options)
      Leaderboard.release(snapshot)
      assert [{:ok, score}] = Enum.uniq(scores)
      score
    end

    Beside.run(&enter.(&1 + 1), fn -> Beside.look(look, 2000, 3) end)
  end

  test "readers answer as a ranked set does" do
    board = Leaderboard.new("PLR", windows: [{:day, 1}])
    for n <- 1..5, do: Leaderboard.enter(board, id(n), n * 10, entry: entry(n))
    options = [at: @noon]
    ask = &apply(Leaderboard, &1, [board, {:day, 1}] ++ &2 ++ [options])
    assert ask.(:top, [2]) == [{0, id(5), 50}, {1, id(4), 40}]
    assert ask.(:by_place, [3..9]) == [{3, id(2), 20}, {4, id(1), 10}]
    assert ask.(:around, [id(3), 1]) == [{1, id(4), 40}, {2, id(3), 30}, {3, id(2), 20}]
    assert ask.(:around, [id(9), 1]) == :error
    assert ask.(:ranks, [[id(1), id(9), id(5)]]) == [4, nil, 0]
    assert ask.(:rank, [id(9)]) == :error
    assert ask.(:score, [id(9)]) == :error
    assert ask.(:entry, [id(9)]) == :error
    assert ask.(:count, []) == 5
    assert Leaderboard.count(board, {:day, 1}, at: later(@day)) == 0

    assert %{rows: 5, namespace: "PLR", score: :integer, order: :desc, windows: [{:day, 1}]} =
             Leaderboard.info(board)

    assert inspect(board) =~
             ~r/^#EchoData.Leaderboard<{:day, 1}, #EchoData.RankedSet<PLR, 5 members, /
  end

  test "what is refused changes nothing" do
    board = Leaderboard.new("PLR", windows: [:all_time])
    assert Leaderboard.enter(board, "ORD00000000001", 5) == {:error, :namespace}

    for no_id <- Terms.no_ids(),
        do: assert(Leaderboard.enter(board, no_id, 5) == {:error, :invalid})

    assert Leaderboard.rank(board, :all_time, "ORD00000000001") == {:error, :namespace}
    assert Leaderboard.ranks(board, :all_time, [id(1), "none"]) == {:error, :invalid}

    for {argument, call} <- [
          {"score", fn -> Leaderboard.enter(board, id(1), 5.0) end},
          {"score", fn -> Leaderboard.enter(board, id(1), nil) end},
          {"score", fn -> Leaderboard.enter(board, id(1), "5") end},
          {"score", fn -> Leaderboard.enter(board, id(1), @most + 1) end},
          {"entry", fn -> Leaderboard.enter(board, id(1), 5, entry: -1) end},
          {"entry", fn -> Leaderboard.enter(board, id(1), 5, entry: @most + 1) end},
          {"entry", fn -> Leaderboard.enter(board, id(1), 5, entry: "none") end},
          {"entry", fn -> Leaderboard.enter(board, id(1), 5, entry: nil) end},
          {"group", fn -> Leaderboard.enter(board, id(1), 5, group: 1.5) end},
          {"group", fn -> Leaderboard.enter(board, id(1), 5, group: [1 | 2]) end},
          {"window", fn -> Leaderboard.top(board, {:day, 1}, 10) end},
          {"at", fn -> Leaderboard.top(board, :all_time, 10, at: 5) end},
          {"instant", fn -> Leaderboard.expire(board, ~D[2026-03-01]) end},
          {"n", fn -> Leaderboard.top(board, :all_time, 0) end},
          {"n", fn -> Leaderboard.around(board, :all_time, id(1), -1) end},
          {"windows", fn -> Leaderboard.new("PLR", windows: []) end},
          {"windows", fn -> Leaderboard.new("PLR", windows: [:all_time, :all_time]) end},
          {"windows", fn -> Leaderboard.new("PLR", windows: :all_time) end},
          {"window", fn -> Leaderboard.new("PLR", windows: [{:month, 1}]) end},
          {"window", fn -> Leaderboard.new("PLR", windows: [{:day, 0}]) end},
          {"window", fn -> Leaderboard.new("PLR", windows: [{:day, 1.5}]) end},
          {"window", fn -> Leaderboard.new("PLR", windows: [{:day, 1, every: {:hour, 7}}]) end},
          {"window", fn -> Leaderboard.new("PLR", windows: [{:day, 1, every: {:second, 1}}]) end},
          {"counts", fn -> Leaderboard.new("PLR", counts: :first) end},
          {"order", fn -> Leaderboard.new("PLR", order: :up) end},
          {"score", fn -> Leaderboard.new("PLR", score: {:integer, :integer}) end},
          {"access", fn -> Leaderboard.new("PLR", access: :none) end},
          {"windows", fn -> Leaderboard.new("PLR", windows: [:all_time | {:day, 1}]) end},
          {"options", fn -> Leaderboard.new("PLR", nil) end},
          {"options", fn -> Leaderboard.enter(board, id(1), 5, %{entry: 1}) end},
          {"options", fn -> Leaderboard.top(board, :all_time, 10, @noon) end},
          {"unknown", fn -> Leaderboard.enter(board, id(1), 5, at: @noon) end}
        ] do
      assert_raise ArgumentError, ~r/^#{argument} /, call
    end

    assert RankedSet.size(board.set) == 0

    assert_raise ArgumentError, ~r/snapshot/, fn ->
      board |> Leaderboard.snapshot() |> Leaderboard.enter(id(1), 5)
    end

    Leaderboard.close(board)
    assert_raise ArgumentError, ~r/closed/, fn -> Leaderboard.enter(board, id(1), 5) end
    assert_raise ArgumentError, ~r/closed/, fn -> Leaderboard.top(board, :all_time, 1) end
  end

  test "a set that is no board is not entered, and not asked" do
    set = RankedSet.new("PLR")

    assert_raise ArgumentError, ~r/must be that of a leaderboard/, fn ->
      EchoData.Native.leaderboard_enter(set.ref, id(1), 5, 1, [], :best)
    end

    for ask <- [&Leaderboard.top(&1, :all_time, 1), &Leaderboard.count(&1, :all_time)],
        no_board <- [set, :board],
        do: assert_raise(FunctionClauseError, fn -> ask.(no_board) end)
  end
end
