defmodule EchoData.Demo.Progress do
  @moduledoc """
  How far the demo has come, on standard error: a line that changes on a terminal, a line now and then
  elsewhere.
  """

  @every_ms %{terminal: 100, elsewhere: 5000}
  @clear_line "\r\e[K"

  @doc """
  The same elements; while they pass, `text` is told of how many have.
  """
  @spec watch(Enumerable.t(), (non_neg_integer -> String.t())) :: Enumerable.t()
  def watch(enumerable, text) do
    Stream.transform(enumerable, fn -> start(text) end, &pass(&1, &2, text), &clear/1)
  end

  defp start(text) do
    place = if terminal?(), do: :terminal, else: :elsewhere
    if place == :terminal, do: write(place, text.(0))
    {place, 0, now()}
  end

  defp pass(element, {place, count, told}, text) do
    now = now()

    if now - told < @every_ms[place] do
      {[element], {place, count + 1, told}}
    else
      write(place, text.(count + 1))
      {[element], {place, count + 1, now}}
    end
  end

  defp clear({:terminal, _count, _told}), do: IO.write(:stderr, @clear_line)
  defp clear({:elsewhere, _count, _told}), do: :ok

  defp write(:terminal, text), do: IO.write(:stderr, [@clear_line, text])
  defp write(:elsewhere, text), do: IO.puts(:stderr, text)

  # A command inherits our standard error, and can tell.
  defp terminal? do
    test = System.find_executable("test")
    test != nil and match?({_output, 0}, System.cmd(test, ["-t", "2"]))
  end

  defp now, do: System.monotonic_time(:millisecond)
end
