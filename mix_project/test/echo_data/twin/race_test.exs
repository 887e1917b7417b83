defmodule EchoData.Twin.RaceTest do
  use ExUnit.Case, async: true

  alias EchoData.Twin.Race

  test "functions take turns" do
    test = self()
    log = fn name -> fn -> send(test, {:ran, name}) end end
    Race.run([log.(:a), log.(:b)], rounds: 3, round_ns: 0)
    assert [_trial_a, _trial_b | turns] = drain()
    assert turns == [:a, :b, :a, :b, :a, :b]
  end

  test "every function has a lap in every round" do
    laps = Race.run([fn -> :ok end, fn -> :ok end], rounds: 3, round_ns: 1000)
    assert [[_, _, _], [_, _, _]] = laps
    assert laps |> Enum.concat() |> Enum.all?(&(&1 > 0))
  end

  test "a spread is the median with its quartiles" do
    laps = [30.0, 10.0, 90.0, 20.0, 40.0]
    assert Race.spread(laps) == %{lower: 20.0, median: 30.0, upper: 40.0}
    assert Race.spread(laps, 10) == %{lower: 2.0, median: 3.0, upper: 4.0}
    assert Race.spread([7.0]) == %{lower: 7.0, median: 7.0, upper: 7.0}
  end

  test "a ratio compares laps of the same round" do
    assert Race.ratio([10.0, 400.0, 20.0], [5.0, 100.0, 10.0]) == 2.0
  end

  defp drain do
    receive do
      {:ran, name} -> [name | drain()]
    after
      0 -> []
    end
  end
end
