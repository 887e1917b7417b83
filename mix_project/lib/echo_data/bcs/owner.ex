defmodule EchoData.Bcs.Owner do
  @moduledoc false
  # The process that a named store belongs to. It holds the store, and works only for callers that cannot
  # reach the store themselves: those on other nodes. A request is `{module, function, arguments}`: of the
  # module that the store belongs to, without the store. It may have work of its own, which it does from time
  # to time: at every `:tick`, be it a message or a request.

  use GenServer

  alias EchoData.Bcs.{NamespaceError, PropertyStore}
  alias EchoData.{BucketsSnapshot, EdgeSnapshot, RankedSnapshot, RankIndex, Snapshot}

  @snapshots [Snapshot, EdgeSnapshot, BucketsSnapshot, RankedSnapshot]

  # Modules whose functions work on the stores of another.
  @guests %{RankIndex => PropertyStore}

  @type moment :: Snapshot.t() | EdgeSnapshot.t() | BucketsSnapshot.t() | RankedSnapshot.t()

  @typedoc "How many milliseconds pass between two times, and what is done to the store."
  @type work :: {pos_integer, (reference -> term)}

  @doc """
  Starts the owner of the store that `open` opens, given the name under which local callers find it, or
  `nil`. Work must not raise.
  """
  @spec start_link(
          module,
          GenServer.name() | nil,
          (atom -> reference | :closed),
          work | nil
        ) :: GenServer.on_start()
  def start_link(module, name, open, work \\ nil) do
    local = if is_atom(name), do: name
    options = if name, do: [name: name], else: []
    GenServer.start_link(__MODULE__, {module, fn -> open.(local) end, work}, options)
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

  @doc "Has the owner do its work now, and answers what that does."
  @spec work(GenServer.server()) :: term
  def work(server), do: server |> GenServer.call(:tick, :infinity) |> unwrap()

  @impl true
  def init({module, open, work}) do
    case open.() do
      :closed -> {:stop, :shutdown}
      store -> {:ok, await_tick(%{module: module, store: store, work: work, timer: nil})}
    end
  end

  @impl true
  def handle_call({asked, function, arguments}, _from, %{module: module} = state)
      when is_atom(function) and is_list(arguments) do
    case Map.get(@guests, asked, asked) do
      ^module ->
        {:reply, wrap(fn -> apply(asked, function, [self() | arguments]) end), state}

      other ->
        message = "the store must be of #{inspect(other)}, and is of #{inspect(module)}"
        {:reply, {:raise, ArgumentError.exception(message)}, state}
    end
  end

  def handle_call(:tick, _from, %{work: nil, module: module} = state) do
    message = "the store is of #{inspect(module)}, which does nothing by itself"
    {:reply, {:raise, ArgumentError.exception(message)}, state}
  end

  def handle_call(:tick, _from, state) do
    {answer, state} = tick(state)
    {:reply, {:ok, answer}, state}
  end

  @impl true
  def handle_info(:tick, %{work: {_every, _work}} = state) do
    {_answer, state} = tick(state)
    {:noreply, state}
  end

  # What nobody waits for, such as the answer to a call that was given up.
  def handle_info(_other, state), do: {:noreply, state}

  defp tick(%{work: {_every, work}, store: store, timer: timer} = state) do
    _left = Process.cancel_timer(timer)
    {work.(store), await_tick(state)}
  end

  defp await_tick(%{work: nil} = state), do: state

  defp await_tick(%{work: {every, _work}} = state),
    do: %{state | timer: Process.send_after(self(), :tick, every)}

  # An argument that the store refuses is the caller's mistake, not the owner's.
  defp wrap(fun) do
    {:ok, fun.()}
  rescue
    error in [ArgumentError, NamespaceError] -> {:raise, error}
  end

  defp unwrap({:ok, %snapshot{}}) when snapshot in @snapshots,
    do: raise(ArgumentError, "a snapshot is readable on the node of its store only")

  defp unwrap({:ok, answer}), do: answer
  defp unwrap({:raise, error}), do: raise(error)
end
