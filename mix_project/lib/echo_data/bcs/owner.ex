defmodule EchoData.Bcs.Owner do
  @moduledoc false
  # The process that a named store belongs to. It holds the store, and works only for callers that cannot
  # reach the store themselves: those on other nodes. A request is `{function, arguments}` of the module
  # that the store belongs to, without the store.

  use GenServer

  alias EchoData.Snapshot

  @doc "Starts the owner of the store that `open` opens."
  @spec start_link(module, GenServer.name() | nil, (() -> reference | :closed)) ::
          GenServer.on_start()
  def start_link(module, name, open),
    do: GenServer.start_link(__MODULE__, {module, open}, if(name, do: [name: name], else: []))

  @doc """
  Goes on with a call that found no store natively.

  The server may have another kind of name, or be on another node. When there is none, the caller exits as
  from `GenServer.call/2`.
  """
  @spec call(GenServer.server() | Snapshot.t() | reference, module, atom, [term]) :: term
  def call(%Snapshot{ref: moment}, module, function, arguments),
    do: apply(module, function, [moment | arguments])

  def call(moment, _module, _function, _arguments) when is_reference(moment),
    do: Snapshot.closed!()

  def call(server, module, function, arguments) do
    case GenServer.whereis(server) do
      pid when is_pid(pid) and pid != server and node(pid) == node() ->
        apply(module, function, [pid | arguments])

      _remote_or_dead ->
        server |> GenServer.call({function, arguments}) |> unwrap()
    end
  end

  @impl true
  def init({module, open}) do
    case open.() do
      :closed -> {:stop, :shutdown}
      store -> {:ok, %{module: module, store: store}}
    end
  end

  @impl true
  def handle_call({function, arguments}, _from, %{module: module} = state)
      when is_atom(function) and is_list(arguments) do
    {:reply, wrap(fn -> apply(module, function, [self() | arguments]) end), state}
  end

  # An argument that the store refuses is the caller's mistake, not the owner's.
  defp wrap(fun) do
    {:ok, fun.()}
  rescue
    error in ArgumentError -> {:raise, error}
  end

  defp unwrap({:ok, %Snapshot{}}),
    do: raise(ArgumentError, "a snapshot is readable on the node of its store only")

  defp unwrap({:ok, answer}), do: answer
  defp unwrap({:raise, error}), do: raise(error)
end
