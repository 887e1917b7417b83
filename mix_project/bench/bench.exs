defmodule EchoData.Bench do
  @moduledoc """
  Measures nanoseconds per call and prints a subject beside its peer.

  A figure is the median of several rounds; the two sides of a row take turns, so that both see the same
  machine.
  """

  @rounds 11
  @round_ns 20_000_000

  @doc "Prints the heading of a table whose rows are `{what, peer, ours}`."
  def heading(title, peer) do
    IO.puts("\n#{title}")
    IO.puts(line(["", "#{peer} ns", "EchoData ns", "ratio"]))
  end

  @doc "Measures two functions of no arguments that do the same `units` of work, and prints the row."
  def row(what, peer, ours, units \\ 1) do
    calls = {calls(peer), calls(ours)}
    rounds = for _ <- 1..@rounds, do: {round(peer, elem(calls, 0)), round(ours, elem(calls, 1))}
    peer_ns = median(Enum.map(rounds, &elem(&1, 0))) / units
    our_ns = median(Enum.map(rounds, &elem(&1, 1))) / units
    IO.puts(line([what, format(peer_ns), format(our_ns), format(peer_ns / our_ns)]))
  end

  defp calls(fun), do: max(1, trunc(@round_ns / round(fun, calibration(fun, 1))))

  defp calibration(fun, calls) do
    if round(fun, calls) * calls > @round_ns / 20, do: calls, else: calibration(fun, calls * 2)
  end

  defp round(fun, calls) do
    start = System.monotonic_time(:nanosecond)
    repeat(fun, calls)
    (System.monotonic_time(:nanosecond) - start) / calls
  end

  defp repeat(_fun, 0), do: :ok

  defp repeat(fun, calls) do
    fun.()
    repeat(fun, calls - 1)
  end

  defp median(figures), do: figures |> Enum.sort() |> Enum.at(div(length(figures), 2))

  defp format(figure) when figure < 10, do: :erlang.float_to_binary(figure, decimals: 2)
  defp format(figure), do: figure |> round() |> Integer.to_string()

  defp line([what | figures]) do
    String.pad_trailing(what, 32) <> Enum.map_join(figures, &String.pad_leading(&1, 14))
  end
end
