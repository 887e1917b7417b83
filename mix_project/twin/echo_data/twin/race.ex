defmodule EchoData.Twin.Race do
  @moduledoc """
  Times functions that do the same work. They take turns, round after round, so that all of them see the same
  machine, and each is called as often in a round as it takes to fill it.
  """

  @typedoc "Nanoseconds a call: the median round, the fastest and the slowest."
  @type spread :: %{median: float, fastest: float, slowest: float}

  @doc """
  The spread of each function.

    * `:rounds` - how many; an odd number has a true median
    * `:round_ns` - how long a round of one function is at least, about; 0 is one call
  """
  @spec run([(() -> term)], rounds: pos_integer, round_ns: non_neg_integer) :: [spread]
  def run(functions, options) do
    round_ns = Keyword.fetch!(options, :round_ns)
    runners = Enum.map(functions, &{&1, calls(&1, round_ns)})

    1..Keyword.fetch!(options, :rounds)
    |> Enum.map(fn _round -> Enum.map(runners, &lap/1) end)
    |> Enum.zip_with(&spread/1)
  end

  @doc "How many times as long as the other one median took."
  @spec ratio(spread, spread) :: float
  def ratio(%{median: one}, %{median: other}), do: one / other

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

  defp spread(figures) do
    sorted = Enum.sort(figures)
    median = Enum.at(sorted, div(length(sorted), 2))
    %{median: median, fastest: hd(sorted), slowest: List.last(sorted)}
  end
end
