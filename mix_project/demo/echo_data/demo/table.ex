defmodule EchoData.Demo.Table do
  @moduledoc """
  The table that the demo prints: one line for each question, ETS beside EchoData.
  """

  @typedoc "A question, the commits it is about, the nanoseconds of both."
  @type line :: {String.t(), non_neg_integer, {number, number}}

  @question 34
  @rows 9
  @figure 10

  @doc "A heading with its lines."
  @spec section(String.t(), [line]) :: String.t()
  def section(title, lines) do
    head = row(title, "rows", "ETS", "EchoData", "ratio")
    rule = String.duplicate("-", String.length(head))
    Enum.map_join([head, rule | Enum.map(lines, &line/1)], &(&1 <> "\n"))
  end

  @doc "Nanoseconds for a reader: three digits and a unit."
  @spec duration(number) :: String.t()
  def duration(ns) when ns < 1.0e3, do: digits(ns) <> " ns"
  def duration(ns) when ns < 1.0e6, do: digits(ns / 1.0e3) <> " µs"
  def duration(ns) when ns < 1.0e9, do: digits(ns / 1.0e6) <> " ms"
  def duration(ns), do: digits(ns / 1.0e9) <> " s"

  @doc "A whole number with its thousands set apart."
  @spec number(non_neg_integer) :: String.t()
  def number(number) do
    number
    |> Integer.to_string()
    |> String.replace(~r/\B(?=(\d{3})+$)/, ",")
  end

  defp line({question, rows, {ets, ours}}),
    do: row(question, number(rows), duration(ets), duration(ours), digits(ets / ours) <> "×")

  defp row(question, rows, ets, ours, ratio) do
    figures = Enum.map_join([ets, ours, ratio], &String.pad_leading(&1, @figure))
    String.pad_trailing(question, @question) <> String.pad_leading(rows, @rows) <> figures
  end

  defp digits(figure) when figure < 9.995, do: :erlang.float_to_binary(figure / 1, decimals: 2)
  defp digits(figure) when figure < 99.95, do: :erlang.float_to_binary(figure / 1, decimals: 1)
  defp digits(figure), do: figure |> round() |> number()
end
