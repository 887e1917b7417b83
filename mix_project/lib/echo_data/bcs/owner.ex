defmodule EchoData.Bcs.Owner do
  @moduledoc false
  # The process that a named store belongs to. It holds the store, and works only for callers that cannot
  # reach the store themselves: those on other nodes. A request is `{module, function, arguments}`: of the
  # module that the store belongs to, without the store.

  use GenServer

  alias EchoData.Bcs.NamespaceError
  alias EchoData.{EdgeSnapshot, Snapshot}

  @type moment :: Snapshot.t() | EdgeSnapshot.t()

  @doc """
  Starts the owner of the store that `open` opens, given the name under which local callers find it, or
  `nil`.
  """
  @spec start_link(module, GenServer.name() | nil, (atom -> reference | :closed)) ::
          GenServer.on_start()
  def start_link(module, name, open) do
    local = if is_atom(name), do: name
    options = if name, do: [name: name], else: []
    GenServer.start_link(__MODULE__, {module, fn -> open.(local) end}, options)
  end

  @doc "A child specification of a store; its id is the store's name."
  @spec child_spec(module, keyword) :: Supervisor.child_spec()
  def child_spec(module, options),
    do: %{id: Keyword.get(options, :name, module), start: {module, :start_link, [options]}}

  @doc """
  Goes on with a call that found no store natively.

  The server may have another kind of name, or be on another node. When there is none, the caller exits as
  from `GenServer.call/2`.
  """
  @spec call(GenServer.server() | moment | reference, module, atom, [term]) :: term
  def call(%_struct{ref: moment}, module, function, arguments),
    do: apply(module, function, [moment | arguments])

  def call(moment, _module, _function, _arguments) when is_reference(moment),
    do: Snapshot.closed!()

  def call(server, module, function, arguments) do
    case GenServer.whereis(server) do
      pid when is_pid(pid) and pid != server and node(pid) == node() ->
        apply(module, function, [pid | arguments])

      _remote_or_dead ->
        server |> GenServer.call({module, function, arguments}) |> unwrap()
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
  def handle_call({module, function, arguments}, _from, %{module: module} = state)
      when is_atom(function) and is_list(arguments) do
    {:reply, wrap(fn -> apply(module, function, [self() | arguments]) end), state}
  end

  def handle_call({other, function, arguments}, _from, %{module: module} = state)
      when is_atom(function) and is_list(arguments) do
    message = "the store must be of #{inspect(other)}, and is of #{inspect(module)}"
    {:reply, {:raise, ArgumentError.exception(message)}, state}
  end

  # An argument that the store refuses is the caller's mistake, not the owner's.
  defp wrap(fun) do
    {:ok, fun.()}
  rescue
    error in [ArgumentError, NamespaceError] -> {:raise, error}
  end

  defp unwrap({:ok, %snapshot{}}) when snapshot in [Snapshot, EdgeSnapshot],
    do: raise(ArgumentError, "a snapshot is readable on the node of its store only")

  defp unwrap({:ok, answer}), do: answer
  defp unwrap({:raise, error}), do: raise(error)
end
