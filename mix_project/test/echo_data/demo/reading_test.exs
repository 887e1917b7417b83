defmodule EchoData.Demo.ReadingTest do
  use ExUnit.Case

  import ExUnit.CaptureIO

  alias EchoData.Demo.{Progress, Table, Taste}

  test "durations have three digits and a unit" do
    durations = [1, 9.994, 9.996, 99.94, 99.96, 999, 1500, 2_345_678, 61_000_000_000, 5.0e12]

    assert Enum.map(durations, &Table.duration/1) ==
             ["1.00 ns", "9.99 ns", "10.0 ns", "99.9 ns", "100 ns", "999 ns"] ++
               ["1.50 µs", "2.35 ms", "61.0 s", "5,000 s"]
  end

  test "numbers have their thousands set apart" do
    assert Enum.map([0, 999, 1000, 1_234_567], &Table.number/1) ==
             ["0", "999", "1,000", "1,234,567"]
  end

  test "the lines of a section are equally long" do
    section =
      Table.section("timeline", [{"one", 10, {2000, 1000}}, {"two", 1_000_000, {1, 3.0e9}}])

    assert [head, _rule, one, two] = String.split(section, "\n", trim: true)
    assert head =~ ~r/^timeline +rows +ETS +EchoData +ratio$/
    assert one =~ ~r/^one +10 +2.00 µs +1.00 µs +2.00×$/
    assert [length] = [head, one, two] |> Enum.map(&String.length/1) |> Enum.uniq()
    assert length < 80
  end

  test "texts of git do not touch the terminal" do
    assert Taste.plain("a\e[2Jb\r\n\tc", 80) == "a [2Jb   c"
    assert Taste.plain(<<"caf", 0xE9>>, 80) == "café"
    assert Taste.plain("日本語", 2) == "日本"
  end

  test "a month without commits has no bar, one with few has a short one" do
    months = for month <- 1..3, do: {DateTime.new!(Date.new!(2024, month, 1), ~T[00:00:00]), nil}
    bars = Taste.months(months, [0, 1, 1000]) |> String.split("\n", trim: true)
    assert [none, short, long] = Enum.map(bars, &length(String.split(&1, "█")))
    assert {none, short, long} == {1, 2, 61}
  end

  test "progress lets everything pass" do
    capture_io(:stderr, fn ->
      assert 1..1000 |> Progress.watch(&"#{&1}") |> Enum.to_list() == Enum.to_list(1..1000)
    end)
  end
end
