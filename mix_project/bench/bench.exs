defmodule EchoData.Bench do
  @moduledoc """
  Prints tables, in Markdown, of how long EchoData and a peer take for the same, side by side within one run.

  A figure is the median round in nanoseconds, with the quartiles; the ratio says how many times as long the
  peer takes, the median over rounds.
  """

  alias EchoData.Twin.Race

  @timing [rounds: 41, round_ns: 2_000_000]

  @doc "What the figures were measured on."
  @spec machine() :: String.t()
  def machine do
    "OTP #{System.otp_release()}, Elixir #{System.version()}, " <>
      "#{System.schedulers_online()} schedulers, #{:erlang.system_info(:system_architecture)}"
  end

  @doc "Begins a table of what is compared with what."
  @spec heading(String.t(), String.t(), String.t()) :: :ok
  def heading(title, peer, ours \\ "EchoData") do
    IO.puts("\n### #{title}\n")
    IO.puts("| | #{peer} | #{ours} | ratio | target |\n|---|---|---|---|---|")
  end

  @doc """
  Measures two functions of no arguments that do the same, and prints the row.

    * `:units` - how many of what is measured a call does, by default 1
    * `:target` - the ratio to reach
    * `:rounds`, `:round_ns` - as `EchoData.Twin.Race.run/2` takes them
  """
  @spec row(String.t(), (() -> term), (() -> term), keyword) :: :ok
  def row(what, peer, ours, options \\ []) do
    {timing, options} = Keyword.split(options, [:rounds, :round_ns])
    [peer, ours] = Race.run([peer, ours], Keyword.merge(@timing, timing))
    laps(what, peer, ours, options)
  end

  @doc "Prints the row of laps that were measured already, with the options of `row/4` but for the rounds."
  @spec laps(String.t(), Race.laps(), Race.laps(), keyword) :: :ok
  def laps(what, peer, ours, options \\ []) do
    spreads = for laps <- [peer, ours], do: laps |> Race.spread(options[:units] || 1) |> spread()
    line([what | spreads] ++ verdict(Race.ratio(peer, ours), options[:target]))
  end

  @doc "Prints the row of two figures that are not times."
  @spec figures(String.t(), number, number, number | nil) :: :ok
  def figures(what, peer, ours, target),
    do: line([what, figure(peer), figure(ours) | verdict(peer / ours, target)])

  @doc """
  Keeps chunks where reading them costs a process no garbage collection; answers the function that takes the
  next one, and begins again after the last.
  """
  @spec supply([list]) :: (() -> list)
  def supply(chunks) do
    key = {__MODULE__, make_ref()}
    :persistent_term.put(key, List.to_tuple(chunks))
    taken = :atomics.new(1, [])

    fn ->
      chunks = :persistent_term.get(key)
      elem(chunks, rem(:atomics.add_get(taken, 1, 1) - 1, tuple_size(chunks)))
    end
  end

  defp spread(%{median: median, lower: lower, upper: upper}),
    do: "#{figure(median)} (#{figure(lower)}–#{figure(upper)})"

  defp verdict(ratio, nil), do: [figure(ratio), ""]
  defp verdict(ratio, target) when ratio >= target, do: [figure(ratio), "#{target}"]
  defp verdict(ratio, target), do: [figure(ratio), "#{target}, missed"]

  defp line(cells), do: IO.puts("| #{Enum.join(cells, " | ")} |")

  defp figure(figure) when figure < 10, do: :erlang.float_to_binary(figure / 1, decimals: 2)
  defp figure(figure) when figure < 100, do: :erlang.float_to_binary(figure / 1, decimals: 1)
  defp figure(figure), do: figure |> round() |> Integer.to_string()
end
