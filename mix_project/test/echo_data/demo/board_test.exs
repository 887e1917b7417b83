defmodule EchoData.Demo.BoardTest do
  use ExUnit.Case, async: true

  import ExUnit.CaptureIO

  alias EchoData.Demo.{Board, Failed}
  alias EchoData.RankedSet

  @timing [rounds: 1, round_ns: 0]
  @may ~D[2025-05-01]
  @june ~D[2025-06-01]

  @tallies [
    {"ann@example.org", @may, 3, 90},
    {"bob@example.org", @may, 3, 40},
    {"cat@example.org", @may, 1, 900},
    {"ann@example.org", @june, 2, 10},
    {"dan@example.org", @june, 5, 7}
  ]

  defp filled(tallies) do
    pair = Board.open()
    authors = Board.authors(tallies)
    line = Board.load!(pair, tallies, authors)
    {pair, for({id, _email} <- authors, do: id), line}
  end

  test "authors are ranked by month and over all, with ties" do
    {[_ets, {RankedSet, set}], [ann, bob, cat, dan], line} = filled(@tallies)
    assert {"increment, one by one", 20, {_, _}} = line

    ranks =
      &RankedSet.ranks(set, [ann, bob, cat, dan], group: &1, order: :desc, ties: :competition)

    assert ranks.({:commits, "2025-05"}) == [0, 0, 2, nil]
    assert ranks.({:commits, "2025-06"}) == [1, nil, nil, 0]
    assert ranks.({:commits, :ever}) == [0, 2, 3, 0]
    assert ranks.({:lines, :ever}) == [1, 2, 0, 3]
  end

  test "each question is answered by both" do
    {pair, authors, _line} = filled(@tallies)

    assert [
             {"the top ten by commits", 4, {_, _}},
             {"one author's neighbourhood", 4, {_, _}},
             {"ranks of all, in one call", 4, {_, _}},
             {"ranks of 4, one by one", 4, {_, _}},
             {"the place of 100 commits", 1, {_, _}},
             {"authors per month, counted", 10, {_, _}},
             {"the first of each month", 4, {_, _}}
           ] = Board.lines!(pair, authors, [@may, @june], @timing)
  end

  test "a difference is a failure that says where" do
    {[_ets, {RankedSet, set}] = pair, [ann | _] = authors, _line} = filled(@tallies)
    RankedSet.increment(set, ann, 1, group: {:commits, :ever})

    assert_raise Failed, "the answers differ: board of authors, the top ten by commits", fn ->
      Board.lines!(pair, authors, [@may, @june], @timing)
    end
  end

  test "the board is shown" do
    output = capture_io(fn -> Board.show(%{tallies: @tallies}, @timing) end)

    assert output =~ """
           Authors of most commits, 2025-06

                   1        5  dan@example.org
                   2        2  ann@example.org
           """

    assert output =~ """
           Authors of most lines, ever

                   1      900  cat@example.org
           """

    assert output =~ "The middle of these\n\n        1      900  cat@example.org\n"
    assert output =~ ~r/^board of authors +rows +ETS +EchoData +ratio$/m
    assert output =~ ~r/^increment, one by one +20 .*×$/m
  end
end
