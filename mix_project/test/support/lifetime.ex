defmodule EchoData.Lifetime do
  @moduledoc """
  What holds of stores of every kind: who may use one, what its calls see when it ends, and that its memory is
  given back.
  """

  import ExUnit.Assertions

  alias EchoData.Mortal

  @typedoc "A kind of handle: its module, how one is made with options, and what tells of one by its reference."
  @type kind :: %{
          module: module,
          new: (keyword -> struct),
          size: (reference -> non_neg_integer | :closed),
          left: (reference -> map | nil)
        }

  @type call :: (term -> term)

  @doc "Asserts, so often, that a handle is closed when its owner is known to be dead."
  @spec assert_closed_with_owner(kind, pos_integer, call) :: :ok
  def assert_closed_with_owner(kind, rounds, write) do
    for _ <- 1..rounds do
      {_, _, store} = owner = Mortal.owner(fn -> kind.new.([]) end)
      write.(store)
      Mortal.kill(owner)
      assert kind.size.(store.ref) == :closed
    end

    :ok
  end

  @doc """
  Asserts that a handle can be closed twice, and that then every call raises; and that one of another node, of
  which nothing is known here, looks closed.
  """
  @spec assert_closed(kind, [call]) :: :ok
  def assert_closed(kind, calls) do
    store = kind.new.([])
    for _ <- 1..2, do: assert(kind.module.close(store) == :ok)

    for call <- calls do
      assert_raise ArgumentError, "the store is closed", fn -> call.(store) end
    end

    elsewhere = struct!(kind.module, ref: make_ref())
    assert inspect(elsewhere) == "##{inspect(kind.module)}<closed>"
    :ok
  end

  @doc "Asserts that a handle that is filled with over a megabyte gives it back, whoever ends it."
  @spec assert_memory_back(kind, call) :: :ok
  def assert_memory_back(kind, fill) do
    for finish <- [fn {_, _, store} -> kind.module.close(store) end, &Mortal.kill/1] do
      {_, _, store} = owner = Mortal.owner(fn -> kind.new.([]) end)
      fill.(store)
      assert kind.module.info(store).bytes > 1_000_000
      assert kind.left.(store.ref) == nil
      finish.(owner)
      await_nothing_left(kind, store)
    end

    :ok
  end

  @doc "Waits until nothing is left of a closed handle."
  @spec await_nothing_left(kind, struct) :: :ok
  def await_nothing_left(kind, %{ref: ref}),
    do: Mortal.await_nothing_left(fn -> kind.left.(ref) end)

  @doc """
  Asserts that others may do with a handle what its access says, and its owner everything: `own` answers
  `answer` to it. A snapshot is given up by whoever may read, and anybody sees how large it is.
  """
  @spec assert_access(kind, own: {call, answer :: term}, reads: [call], writes: [call]) :: :ok
  def assert_access(kind, own: {own, answer}, reads: reads, writes: writes) do
    for {access, read?, write?} <- [
          {:public, true, true},
          {:protected, true, false},
          {:private, false, false}
        ] do
      {_, _, store} = owner = Mortal.owner(fn -> kind.new.(access: access) end)
      assert Mortal.run(owner, fn -> own.(store) end) == answer
      for read <- reads, do: assert(allowed?(fn -> read.(store) end) == read?)
      for write <- writes, do: assert(allowed?(fn -> write.(store) end) == write?)
      snapshot = Mortal.run(owner, fn -> kind.module.snapshot(store) end)
      assert inspect(snapshot) =~ ~r/^#EchoData\.\w+<.+, \d+ \w+>$/
      assert allowed?(fn -> snapshot.__struct__.release(snapshot) end) == read?
      assert allowed?(fn -> kind.module.close(store) end) == write?
      assert inspect(store) =~ "##{inspect(kind.module)}<"
      Mortal.kill(owner)
    end

    :ok
  end

  defp allowed?(fun) do
    fun.()
    true
  rescue
    error in ArgumentError ->
      assert error.message =~ "only its owner may"
      false
  end

  @doc "Asserts that a batch whose handle is closed meanwhile is in as a whole, with this answer, or not at all."
  @spec assert_whole_batch(kind, call, answer :: term) :: :ok
  def assert_whole_batch(kind, put, answer) do
    parent = self()

    for _ <- 1..5 do
      store = kind.new.([])

      batch =
        Task.async(fn ->
          send(parent, :begun)
          closed_or(fn -> put.(store) end)
        end)

      receive do: (:begun -> :ok)
      kind.module.close(store)
      assert Task.await(batch) in [answer, :closed]
      await_nothing_left(kind, store)
    end

    :ok
  end

  @doc """
  Asserts that scans, repeated while their handle is closed, count `rows` or raise that it is closed.
  """
  @spec assert_whole_scans(kind, struct, pos_integer, [(() -> non_neg_integer)]) :: :ok
  def assert_whole_scans(kind, store, rows, scans) do
    parent = self()

    tasks =
      for scan <- scans do
        Task.async(fn ->
          first = scan.()
          send(parent, :begun)
          repeat(scan, first, rows)
        end)
      end

    for _ <- tasks, do: receive(do: (:begun -> :ok))
    kind.module.close(store)
    assert Task.await_many(tasks, 60_000) == Enum.map(tasks, fn _task -> :closed end)
    await_nothing_left(kind, store)
  end

  defp repeat(_scan, :closed, _rows), do: :closed
  defp repeat(scan, rows, rows), do: repeat(scan, closed_or(scan), rows)

  defp closed_or(fun) do
    fun.()
  rescue
    error in ArgumentError ->
      assert error.message =~ "closed"
      :closed
  end

  @doc "Starts a store in a process that is not linked to the caller."
  @spec start_unlinked(module, keyword) :: GenServer.on_start()
  def start_unlinked(module, options) do
    with {:ok, pid} <- module.start_link(options) do
      Process.unlink(pid)
      {:ok, pid}
    end
  end

  @doc """
  Asserts that a named store is gone for every name when its process is known to be dead: `function`, which
  `read` calls, exits as `GenServer.call/2` does.
  """
  @spec assert_gone(module, keyword, call, {function :: atom, call}) :: :ok
  def assert_gone(module, options, write, {function, read}) do
    name = Keyword.fetch!(options, :name)

    for _ <- 1..300 do
      {:ok, pid} = start_unlinked(module, options)
      write.(pid)
      Mortal.kill(pid)

      for server <- [pid, name, {name, node()}] do
        assert {:noproc, {GenServer, :call, [^server, {^module, ^function, _arguments}, 5000]}} =
                 catch_exit(read.(server))
      end
    end

    :ok
  end

  @doc "Asserts that callers of a store that has stopped, and of none, exit as `GenServer.call/2` does."
  @spec assert_exits(module, keyword, [call]) :: :ok
  def assert_exits(module, options, calls) do
    {:ok, pid} = start_unlinked(module, options)
    GenServer.stop(pid)

    for call <- calls do
      {reason, {GenServer, :call, _}} = catch_exit(call.(pid))
      assert reason == catch_exit(GenServer.call(pid, :anything)) |> elem(0)
      assert {:noproc, {GenServer, :call, _}} = catch_exit(call.(__MODULE__.Never))
    end

    :ok
  end
end
