defmodule EchoData.Twin.RaceTest do
  use ExUnit.Case, async: true

  alias EchoData.Twin.Race

  test "functions take turns" do
    log = fn name -> fn -> send(self(), {:ran, name}) end end
    Race.run([log.(:a), log.(:b)], rounds: 3, round_ns: 0)
    assert [_trial_a, _trial_b | turns] = drain()
    assert turns == [:a, :b, :a, :b, :a, :b]
  end

  test "a spread goes from the fastest round to the slowest" do
    spreads =
      Race.run([fn -> :ok end, fn -> Enum.sum(1..10_000) end], rounds: 5, round_ns: 100_000)

    for %{fastest: fastest, median: median, slowest: slowest} <- spreads do
      assert 0 < fastest and fastest <= median and median <= slowest
    end
  end

  test "a ratio is of medians" do
    [one, other] = for median <- [30.0, 10.0], do: %{fastest: 1.0, median: median, slowest: 99.0}
    assert Race.ratio(one, other) == 3.0
  end

  defp drain do
    receive do
      {:ran, name} -> [name | drain()]
    after
      0 -> []
    end
  end
end
