defmodule EchoData.RankIndex.Progress do
  @moduledoc false
  # Work that tells of itself while it is done. A native call tells by messages, and its process cannot receive
  # them before it returns: so another process makes the call, and this one hears of it.

  @type listener :: {pid, reference}
  @type told :: (non_neg_integer, non_neg_integer -> term)

  @doc """
  Does the work in a process of its own, given who wants to hear `{tag, done, all}`, and answers as it does.
  What `told` raises is raised once the work is done.
  """
  @spec run((listener -> answer), told) :: answer when answer: term
  def run(work, told) do
    listener = {_caller, tag} = {self(), make_ref()}
    {_worker, monitor} = spawn_monitor(fn -> exit({tag, outcome(work, listener)}) end)

    try do
      listen(tag, monitor, told)
    catch
      kind, reason ->
        _outcome = await(tag, monitor)
        :erlang.raise(kind, reason, __STACKTRACE__)
    else
      {:answer, answer} -> answer
      {kind, reason, stacktrace} -> :erlang.raise(kind, reason, stacktrace)
    end
  end

  defp outcome(work, listener) do
    {:answer, work.(listener)}
  catch
    kind, reason -> {kind, reason, __STACKTRACE__}
  end

  defp listen(tag, monitor, told) do
    receive do
      {^tag, done, all} ->
        told.(done, all)
        listen(tag, monitor, told)

      {:DOWN, ^monitor, :process, _worker, reason} ->
        ended(tag, reason)
    end
  end

  defp await(tag, monitor) do
    receive do
      {:DOWN, ^monitor, :process, _worker, reason} -> ended(tag, reason)
    end
  end

  defp ended(tag, reason) do
    forget(tag)

    case reason do
      {^tag, outcome} -> outcome
      killed -> {:exit, killed, []}
    end
  end

  defp forget(tag) do
    receive do
      {^tag, _done, _all} -> forget(tag)
    after
      0 -> :ok
    end
  end
end
