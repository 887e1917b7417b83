defmodule EchoData.TimelineTest do
  use ExUnit.Case, async: true

  import Bitwise

  alias EchoData.{BrandedId, Snowflake, Terms, Timeline}

  doctest Timeline

  setup do
    {:ok, timeline: Timeline.new("EVT")}
  end

  defp id(n), do: BrandedId.encode!("EVT", n)

  defp fill(timeline, range) do
    rows = for n <- range, do: {id(n), n}
    :ok = Timeline.put_many(timeline, rows)
    rows
  end

  test "what is put is fetched, replaced, taken and deleted", %{timeline: timeline} do
    assert Timeline.fetch(timeline, id(1)) == :error
    assert Timeline.put(timeline, id(1), :a) == :ok
    assert Timeline.put_by_snowflake(timeline, 1, :b) == :ok
    assert Timeline.fetch(timeline, id(1)) == {:ok, :b}
    assert Timeline.take(timeline, id(1)) == {:ok, :b}
    assert Timeline.take(timeline, id(1)) == :error
    assert Timeline.put(timeline, id(2), nil) == :ok
    assert Timeline.delete(timeline, id(2)) == :ok
    assert Timeline.delete(timeline, id(2)) == :error
    assert Timeline.size(timeline) == 0
  end

  test "append mints ids in their order", %{timeline: timeline} do
    ids = for n <- 1..100, do: Timeline.append(timeline, n)
    assert ids == Enum.sort(ids)
    assert Enum.all?(ids, &(BrandedId.namespace(&1) == "EVT"))
    assert Timeline.latest(timeline, 2) == [{Enum.at(ids, 99), 100}, {Enum.at(ids, 98), 99}]
    assert Timeline.page_asc(timeline, 200, values: false) == ids
  end

  test "pages go both ways from a cursor that need not be there", %{timeline: timeline} do
    fill(timeline, 2..20//2)
    assert Timeline.latest(timeline, 2) == [{id(20), 20}, {id(18), 18}]
    assert Timeline.page_desc(timeline, 2, before: id(17)) == [{id(16), 16}, {id(14), 14}]
    assert Timeline.after_cursor(timeline, id(4), 2) == [{id(6), 6}, {id(8), 8}]
    assert Timeline.after_cursor(timeline, id(5), 1) == [{id(6), 6}]
    assert Timeline.after_cursor(timeline, id(20), 5) == []
    assert Timeline.page_asc(timeline, 2, after: id(0), values: false) == [id(2), id(4)]
    assert Timeline.window(timeline, id(4), id(9)) == [{id(4), 4}, {id(6), 6}, {id(8), 8}]
    assert Timeline.window(timeline, id(9), id(4), values: false) == []
    assert Timeline.count_window(timeline, id(4), id(9)) == 3
    assert Timeline.get_many(timeline, [id(8), id(1), id(2)]) == [{id(8), 8}, {id(2), 2}]
  end

  test "instants are cut where their first id is", %{timeline: timeline} do
    noon = ~U[2026-03-01 12:00:00.000Z]
    at = &DateTime.add(noon, &1, :millisecond)
    for ms <- -2..2, do: Timeline.put_by_snowflake(timeline, Snowflake.min_for(at.(ms)), ms)
    Timeline.put_by_snowflake(timeline, Snowflake.min_for(noon) + (1 <<< 22) - 1, :last)

    assert timeline |> Timeline.since(noon, 10) |> Enum.map(&elem(&1, 1)) == [0, :last, 1, 2]
    assert timeline |> Timeline.since(at.(-5), 1) |> Enum.map(&elem(&1, 1)) == [-2]
    assert Timeline.since(timeline, at.(3), 10) == []
    assert Timeline.window_count(timeline, noon, at.(1)) == 2
    assert Timeline.window_count(timeline, at.(-1), noon) == 1
    assert Timeline.window_count(timeline, at.(1), noon) == 0
    assert Timeline.window_count(timeline, ~U[1999-01-01 00:00:00Z], at.(99)) == 6
  end

  test "instants after all ids have none, not the last one", %{timeline: timeline} do
    last_ms = ~U[2093-09-06 15:47:35.551Z]
    [after_all, far] = [DateTime.add(last_ms, 1, :millisecond), ~U[9999-12-31 23:59:59Z]]
    largest = (1 <<< 63) - 1
    Timeline.put_by_snowflake(timeline, largest, :last)

    assert Timeline.since(timeline, last_ms, 2) == [{id(largest), :last}]
    assert Timeline.window_count(timeline, last_ms, after_all) == 1
    assert Timeline.window_count(timeline, last_ms, far) == 1

    for instant <- [after_all, far] do
      assert Timeline.since(timeline, instant, 2) == []
      assert Timeline.window_count(timeline, instant, far) == 0
      assert Timeline.window_count(timeline, instant, last_ms) == 0
    end
  end

  test "a wrong or malformed id raises, and nothing is touched", %{timeline: timeline} do
    fill(timeline, 1..3)

    verbs = [
      &Timeline.put(timeline, &1, :value),
      &Timeline.fetch(timeline, &1),
      &Timeline.take(timeline, &1),
      &Timeline.delete(timeline, &1),
      &Timeline.after_cursor(timeline, &1, 5),
      &Timeline.window(timeline, &1, id(9)),
      &Timeline.window(timeline, id(0), &1),
      &Timeline.count_window(timeline, &1, id(9)),
      &Timeline.count_window(timeline, id(0), &1)
    ]

    cursors = [
      &Timeline.page_desc(timeline, 2, before: &1),
      &Timeline.page_asc(timeline, 2, after: &1)
    ]

    # Numbers that have an id are none either.
    wrong = ["USR00000000001", 0, 2, 1 <<< 63, (1 <<< 64) - 1 | Terms.no_ids()]
    # A page without a cursor is a page.
    no_cursors = for term <- wrong, term != nil, do: term

    for {verbs, terms} <- [{verbs, wrong}, {cursors, no_cursors}], verb <- verbs, term <- terms do
      message = "id must be an id of namespace EVT, got: #{inspect(term)}"
      assert_raise ArgumentError, message, fn -> verb.(term) end
    end

    for term <- [-1, 1 <<< 63, "1", nil] do
      assert_raise ArgumentError, ~r/^snowflake must be/, fn ->
        Timeline.put_by_snowflake(timeline, term, :value)
      end
    end

    assert Timeline.page_asc(timeline, 9, values: false) == [id(1), id(2), id(3)]
  end

  test "a batch with a wrong id puts nothing and names its position", %{timeline: timeline} do
    message = "rows must have ids of namespace EVT, and the one at position 1 is none"
    rows = [{id(1), 1}, {"USR00000000001", 2}]
    assert_raise ArgumentError, message, fn -> Timeline.put_many(timeline, rows) end

    assert_raise ArgumentError, ~r/position 1 /, fn ->
      Timeline.get_many(timeline, [id(1), :none])
    end

    assert Timeline.size(timeline) == 0
  end

  test "misuse is an ArgumentError that names the argument", %{timeline: timeline} do
    for n <- [0, -1, nil],
        page <- [
          &Timeline.latest(timeline, &1),
          &Timeline.after_cursor(timeline, id(1), &1),
          &Timeline.since(timeline, ~U[2026-01-01 00:00:00Z], &1),
          &Timeline.page_asc(timeline, &1)
        ] do
      assert_raise ArgumentError, ~r/^n must be a positive integer, got: /, fn -> page.(n) end
    end

    noon = ~U[2026-03-01 12:00:00Z]

    for instant <- [nil, 0, ~N[2026-03-01 12:00:00], id(1)],
        {name, call} <- [
          datetime: &Timeline.since(timeline, &1, 1),
          from: &Timeline.window_count(timeline, &1, noon),
          until: &Timeline.window_count(timeline, noon, &1)
        ] do
      assert_raise ArgumentError, ~r/^#{name} must be a DateTime, got: /, fn -> call.(instant) end
    end

    for namespace <- [nil, "evt", "EVTS"] do
      assert_raise ArgumentError, ~r/^namespace must be/, fn -> Timeline.new(namespace) end
    end

    for options <- [:protected, nil, %{}, [:values], [{:values, true} | :tail]],
        call <- [
          &Timeline.new("EVT", &1),
          &Timeline.page_asc(timeline, 1, &1),
          &Timeline.window(timeline, id(1), id(2), &1)
        ] do
      assert_raise ArgumentError, ~r/^options must be a keyword list, got: /, fn ->
        call.(options)
      end
    end

    assert_raise ArgumentError, ~r/^access must be/, fn -> Timeline.new("EVT", access: :all) end
    assert_raise ArgumentError, ~r/unknown keys/, fn -> Timeline.new("EVT", name: :events) end
  end

  test "it is enumerable, oldest first", %{timeline: timeline} do
    rows = fill(timeline, 1..1000)
    assert Enum.to_list(timeline) == rows
    assert Enum.count(timeline) == 1000
    assert Enum.at(timeline, -1) == {id(1000), 1000}
    assert Enum.slice(timeline, 300..302) == Enum.slice(rows, 300..302)
    assert {id(7), 7} in timeline
    refute {id(7), 7.0} in timeline
    refute {"none", 7} in timeline
    refute :row in timeline
    assert Enum.take(timeline, 2) == Enum.take(rows, 2)
    assert timeline |> Stream.zip(rows) |> Enum.all?(fn {row, same} -> row == same end)
    assert Enum.to_list(Timeline.new("EVT")) == []
  end

  test "asking whether a row is there holds no moment", %{timeline: timeline} do
    fill(timeline, 1..9)
    for n <- 1..20, do: assert({id(n), n} in timeline == n < 10)
    refute :row in timeline
    assert Timeline.info(timeline).snapshots == 0
  end

  test "an enumeration sees the moment at which it began", %{timeline: timeline} do
    rows = fill(timeline, 1..1000)

    seen =
      for {id, n} = row <- timeline do
        Timeline.delete(timeline, id)
        Timeline.put(timeline, id(n + 5000), n)
        row
      end

    assert seen == rows
    assert Timeline.size(timeline) == 1000
    EchoData.Native.drain()
    assert Timeline.info(timeline).snapshots == 0
  end

  test "it collects in one step, or not at all", %{timeline: timeline} do
    rows = for n <- 1..10, do: {id(n), n}
    assert Enum.into(rows, timeline) == timeline
    assert Enum.to_list(timeline) == rows

    assert_raise ArgumentError, ~r/position 1 /, fn ->
      Enum.into([{id(11), 11}, {"none", 12}], timeline)
    end

    assert Timeline.size(timeline) == 10
  end

  test "it shows its namespace, size and memory", %{timeline: timeline} do
    fill(timeline, 1..2)
    assert inspect(timeline) =~ ~r/^#EchoData.Timeline<EVT, 2 rows, \d+ bytes>$/
    Timeline.close(timeline)
    assert inspect(timeline) == "#EchoData.Timeline<EVT, closed>"
  end
end
