defmodule EchoData.Twin.Race do
  @moduledoc """
  Times functions that do the same work. They take turns, round after round, so that all of them see the same
  machine, and each is called as often in a round as it takes to fill it.
  """

  @typedoc "Nanoseconds a call took, round by round."
  @type laps :: [float]

  @typedoc "The median round, and the quartiles: half of the rounds are between these two."
  @type spread :: %{median: float, lower: float, upper: float}

  @doc """
  The laps of each function.

    * `:rounds` - how many; an odd number has a true median
    * `:round_ns` - how long a round of one function is at least, about; 0 is one call

  Short rounds and many of them suit a machine that does other things, too: most laps are then undisturbed.

  The race has a process of its own, whose heap is as small as most are: in a heap of megabytes every answer
  is written to memory that the machine has not seen for long, and that is then what is timed.
  """
  @spec run([(() -> term)], rounds: pos_integer, round_ns: non_neg_integer) :: [laps]
  def run(functions, options),
    do: fn -> race(functions, options) end |> Task.async() |> Task.await(:infinity)

  defp race(functions, options) do
    round_ns = Keyword.fetch!(options, :round_ns)
    runners = Enum.map(functions, &{&1, calls(&1, round_ns)})

    1..Keyword.fetch!(options, :rounds)
    |> Enum.map(fn _round -> Enum.map(runners, &lap/1) end)
    |> Enum.zip_with(& &1)
  end

  @doc "The spread of laps, each of `units` pieces of work: nanoseconds a piece."
  @spec spread(laps, pos_integer) :: spread
  def spread(laps, units \\ 1) do
    [lower, median, upper] = for quarter <- 1..3, do: quantile(laps, quarter / 4) / units
    %{median: median, lower: lower, upper: upper}
  end

  @doc """
  How many times as long the one took as the other: the median over rounds, whose laps are neighbours in
  time.
  """
  @spec ratio(laps, laps) :: float
  def ratio(one, other),
    do: [one, other] |> Enum.zip_with(fn [a, b] -> a / b end) |> quantile(0.5)

  defp calls(function, round_ns) do
    trial = trial(function, round_ns / 20, 1)
    max(1, trunc(round_ns / trial))
  end

  # Nanoseconds a call, from as many calls as make a figure of it.
  defp trial(function, least, calls) do
    per_call = lap({function, calls})
    if per_call * calls >= least, do: per_call, else: trial(function, least, calls * 2)
  end

  defp lap({function, calls}) do
    :erlang.garbage_collect()
    start = System.monotonic_time(:nanosecond)
    repeat(function, calls)
    max(1, System.monotonic_time(:nanosecond) - start) / calls
  end

  defp repeat(_function, 0), do: :ok

  defp repeat(function, calls) do
    function.()
    repeat(function, calls - 1)
  end

  defp quantile(figures, part),
    do: figures |> Enum.sort() |> Enum.at(round(part * (length(figures) - 1)))
end
