defmodule EchoData.Mortal do
  @moduledoc """
  Processes that own something and are killed, and what is left of it.
  """

  alias EchoData.Native

  @typedoc "A process, its monitor, and what it made."
  @type owner :: {pid, reference, term}

  @nothing %{bytes: 0, nodes: 0, payloads: 0, versions: 0}

  @doc "A process that makes something, and then does as it is told: `{:run, fun}`."
  @spec owner((() -> term)) :: owner
  def owner(make) do
    parent = self()

    {pid, monitor} =
      spawn_monitor(fn ->
        send(parent, {self(), make.()})
        serve()
      end)

    receive do
      {^pid, made} -> {pid, monitor, made}
    end
  end

  @doc "Has an owner run a function, and answers what that does."
  @spec run(owner, (() -> answer)) :: answer when answer: term
  def run({pid, monitor, _made}, fun) do
    parent = self()
    send(pid, {:run, fn -> send(parent, {pid, fun.()}) end})

    receive do
      {^pid, answer} -> answer
      {:DOWN, ^monitor, :process, ^pid, reason} -> exit(reason)
    end
  end

  @doc "Kills a process, and returns when it is known to be dead."
  @spec kill(owner | pid) :: :ok
  def kill(pid) when is_pid(pid), do: kill({pid, Process.monitor(pid), nil})

  def kill({pid, monitor, _made}) do
    Process.exit(pid, :kill)
    receive do: ({:DOWN, ^monitor, :process, ^pid, _reason} -> :ok)
  end

  @doc """
  Waits until nothing is left of a closed store, of which `left` tells. A reader that is inside it is done
  soon, and the store goes when it is.
  """
  @spec await_nothing_left((() -> map | nil)) :: :ok
  def await_nothing_left(left) do
    Native.drain()
    if left.() == @nothing, do: :ok, else: await_nothing_left(left)
  end

  defp serve do
    receive do
      {:run, fun} -> fun.()
    end

    serve()
  end
end
