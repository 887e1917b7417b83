defmodule EchoData.Twin.Beside do
  @moduledoc """
  Work that goes on in its own process while something else is looked at.
  """

  @doc """
  Runs `work` again and again, given the number of the round, until `during` is done, at least once. Answers
  what `during` did, and how many rounds there were before the last.
  """
  @spec run((non_neg_integer -> term), (() -> result)) :: {result, non_neg_integer}
        when result: term
  def run(work, during) do
    stop = :atomics.new(1, [])
    task = Task.async(fn -> work_until(stop, work, 0) end)
    result = during.()
    :atomics.put(stop, 1, 1)
    {result, Task.await(task, 60_000)}
  end

  @doc """
  Looks `count` times, and then until so many different things were seen: until the work that goes on beside
  has had its turns. Answers what was seen.
  """
  @spec look((() -> seen), pos_integer, pos_integer) :: MapSet.t(seen) when seen: term
  def look(look, count, different), do: look(look, count, different, MapSet.new())

  defp look(look, left, different, seen) do
    if left <= 0 and MapSet.size(seen) >= different,
      do: seen,
      else: look(look, left - 1, different, MapSet.put(seen, look.()))
  end

  defp work_until(stop, work, round) do
    work.(round)
    if :atomics.get(stop, 1) == 1, do: round, else: work_until(stop, work, round + 1)
  end
end
