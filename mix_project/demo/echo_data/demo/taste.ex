defmodule EchoData.Demo.Taste do
  @moduledoc """
  Some answers as a person likes to read them.
  """

  alias EchoData.Demo.{History, Mint, Table}
  alias EchoData.BrandedId

  @width 98
  @bar 60
  @months 24
  @figure 7

  @doc "One line a commit: when, which, what."
  @spec commits([{BrandedId.t(), History.commit()}]) :: String.t()
  def commits(rows), do: Enum.map_join(rows, &commit/1)

  @doc "One bar a month, the last two years of them at most."
  @spec months([{DateTime.t(), DateTime.t()}], [non_neg_integer]) :: String.t()
  def months(months, counts) do
    bars = months |> Enum.zip(counts) |> Enum.take(-@months)
    most = bars |> Enum.map(&elem(&1, 1)) |> Enum.max()
    Enum.map_join(bars, &bar(&1, most))
  end

  @doc "One line a file: how many authors, which file."
  @spec files([{binary, pos_integer}]) :: String.t()
  def files(files) do
    Enum.map_join(files, fn {path, authors} ->
      "#{authors |> Table.number() |> String.pad_leading(@figure)}  #{plain(path, @width - @figure - 2)}\n"
    end)
  end

  @doc """
  A text of git made fit for a terminal: valid, of one line, without control characters, at most `width`
  characters long.
  """
  @spec plain(binary, pos_integer) :: String.t()
  def plain(text, width) do
    text
    |> valid()
    |> String.replace(~r/[[:cntrl:]]/u, " ")
    |> String.slice(0, width)
  end

  defp commit({id, commit}) do
    time = id |> Mint.time() |> Calendar.strftime("%Y-%m-%d %H:%M")
    line = "#{time}  #{id}  #{plain(commit.hash, 10)}  #{plain(commit.subject, @width)}"
    String.slice(line, 0, @width) <> "\n"
  end

  defp bar({{from, _until}, count}, most) do
    length = if count == 0, do: 0, else: max(1, round(count * @bar / most))
    bar = String.pad_trailing(String.duplicate("█", length), @bar)
    "#{Calendar.strftime(from, "%Y-%m")}  #{bar}  #{Table.number(count)}\n"
  end

  # Bytes that are not UTF-8 are read as Latin-1, which gives every byte a meaning.
  defp valid(text) do
    if String.valid?(text), do: text, else: :unicode.characters_to_binary(text, :latin1)
  end
end
