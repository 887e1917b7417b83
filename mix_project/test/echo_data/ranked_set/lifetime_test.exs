defmodule EchoData.RankedSet.LifetimeTest do
  @moduledoc """
  Ranked sets end with their owners, at once and for everybody, and their memory is given back.
  """

  use ExUnit.Case, async: true

  import EchoData.Mortal, only: [kill: 1, owner: 1]

  alias EchoData.{BrandedId, Mortal, Native, RankedSet}

  @moduletag capture_log: true
  # A store keeps its latest versions for a while: up to 64 KB.
  @recent 100_000

  defp id(n), do: BrandedId.encode!("LIF", n)
  defp rows(count), do: for(n <- 1..count, do: {id(n), rem(n * 7919, 1000)})

  defp start_unlinked(options) do
    {:ok, pid} = RankedSet.start_link(options)
    Process.unlink(pid)
    pid
  end

  defp assert_nothing_left(ref),
    do: assert(Mortal.await_nothing_left(fn -> Native.ranked_left(ref) end) == :ok)

  defp calls do
    [
      &RankedSet.put(&1, id(1), 1),
      &RankedSet.put_all(&1, [{id(1), 1}]),
      &RankedSet.put_all(&1, rows(3000)),
      &RankedSet.increment(&1, id(1), 1),
      &RankedSet.delete(&1, id(1)),
      &RankedSet.pop_min(&1, 1),
      &RankedSet.pop_max(&1, 1),
      &RankedSet.drop_group(&1, :a),
      &RankedSet.score(&1, id(1)),
      &RankedSet.rank(&1, id(1)),
      &RankedSet.ranks(&1, [id(1)]),
      &RankedSet.rank_for_score(&1, 1),
      &RankedSet.select(&1, 0),
      &RankedSet.count/1,
      &RankedSet.count_distinct/1,
      &RankedSet.count_between(&1, 1, 2),
      &RankedSet.by_rank(&1, 0..1),
      &RankedSet.by_score(&1, 0, 1),
      &RankedSet.around(&1, id(1), 1),
      &RankedSet.groups/1,
      &RankedSet.size/1,
      &RankedSet.info/1,
      &RankedSet.snapshot/1
    ]
  end

  test "a handle is closed when its owner is known to be dead" do
    for _ <- 1..2000 do
      {_, _, set} = owner = owner(fn -> RankedSet.new("LIF") end)
      RankedSet.put(set, id(1), 1)
      kill(owner)
      assert Native.ranked_size(set.ref) == :closed
    end
  end

  test "a handle raises on every call once it is closed" do
    set = RankedSet.new("LIF")
    assert RankedSet.close(set) == :ok
    assert RankedSet.close(set) == :ok

    enumerations = [&Enum.to_list/1, &Enum.member?(&1, {0, id(1), 1}), &Enum.member?(&1, :row)]

    for call <- enumerations ++ calls() do
      assert_raise ArgumentError, "the store is closed", fn -> call.(set) end
    end

    assert inspect(set) == "#EchoData.RankedSet<LIF, closed>"
  end

  test "a named set exits callers as GenServer.call does" do
    pid = start_unlinked(namespace: "LIF")
    GenServer.stop(pid)

    for call <- calls() do
      {reason, {GenServer, :call, _}} = catch_exit(call.(pid))
      assert reason == catch_exit(GenServer.call(pid, :anything)) |> elem(0)
      assert {:noproc, {GenServer, :call, _}} = catch_exit(call.(__MODULE__.Never))
    end
  end

  test "a named set is gone for every name when its process is known to be dead" do
    for _ <- 1..300 do
      pid = start_unlinked(name: __MODULE__.Gone, namespace: "LIF")
      RankedSet.put(pid, id(1), 1)
      kill({pid, Process.monitor(pid), nil})

      for server <- [pid, __MODULE__.Gone, {__MODULE__.Gone, node()}] do
        assert {:noproc, {GenServer, :call, [^server, {RankedSet, :rank, [_, []]}, 5000]}} =
                 catch_exit(RankedSet.rank(server, id(1)))
      end
    end
  end

  test "a set gives all its memory back, whoever ends it" do
    for finish <- [fn {_, _, set} -> RankedSet.close(set) end, &kill/1] do
      {_, _, set} = owner = owner(fn -> RankedSet.new("LIF") end)
      RankedSet.put_all(set, rows(20_000))
      for n <- 1..500, do: RankedSet.put(set, id(n), n, group: {:binary.copy("g", 90), n})
      assert RankedSet.info(set).bytes > 1_000_000
      assert Native.ranked_left(set.ref) == nil
      finish.(owner)
      assert_nothing_left(set.ref)
    end
  end

  test "a set gives back what is deleted, popped and dropped while it lives" do
    set = RankedSet.new("LIF")
    Native.drain()
    before = RankedSet.info(set).bytes
    rows = rows(5000)

    removals = [
      fn -> for {id, _score} <- rows, do: :ok = RankedSet.delete(set, id) end,
      fn -> RankedSet.pop_min(set, 5000) end,
      fn -> for _ <- 1..5000, do: [_one] = RankedSet.pop_max(set, 1) end,
      fn -> {:ok, 5000} = RankedSet.drop_group(set, nil) end
    ]

    for remove <- removals do
      {:ok, 5000} = RankedSet.put_all(set, rows)
      for {id, score} <- rows, do: {:ok, _} = RankedSet.put(set, id, score + 1)
      remove.()
      Native.drain()
      assert %{rows: 0, bytes: bytes} = RankedSet.info(set)
      assert bytes < before + @recent
    end
  end

  test "a set does not keep memory for a list that is not let in" do
    set = RankedSet.new("LIF")

    for _ <- 1..5 do
      assert RankedSet.put_all(set, rows(5000) ++ [{"none", 1}]) == {:error, :invalid}
      bad = rows(5000) ++ [{id(1), "1"}]
      assert_raise ArgumentError, ~r/position 5000$/, fn -> RankedSet.put_all(set, bad) end
    end

    Native.drain()
    assert %{rows: 0, nodes: 0, payloads: 0} = RankedSet.info(set)
  end

  test "a set lets others do what its access says" do
    for {access, read?, write?} <- [
          {:public, true, true},
          {:protected, true, false},
          {:private, false, false}
        ] do
      {owner, _, set} = owner(fn -> RankedSet.new("LIF", access: access) end)
      parent = self()
      send(owner, {:run, fn -> send(parent, {:put, RankedSet.put(set, id(1), 1)}) end})
      assert {:ok, :added} == receive(do: ({:put, answer} -> answer))

      for read <- [
            &RankedSet.rank(&1, id(1)),
            &RankedSet.by_rank(&1, 0..1),
            &RankedSet.groups/1,
            &RankedSet.snapshot/1
          ] do
        assert allowed?(fn -> read.(set) end) == read?
      end

      for write <- [
            &RankedSet.put(&1, id(2), 2),
            &RankedSet.put_all(&1, [{id(3), 3}]),
            &RankedSet.increment(&1, id(2), 2),
            &RankedSet.pop_min(&1, 1),
            &RankedSet.drop_group(&1, nil),
            &RankedSet.close/1
          ] do
        assert allowed?(fn -> write.(set) end) == write?
      end
    end
  end

  test "a set that is closed in the middle of a batch takes all of it or nothing" do
    rows = rows(50_000)

    for _ <- 1..5 do
      set = RankedSet.new("LIF")
      parent = self()

      batch =
        Task.async(fn ->
          send(parent, :begun)
          closed_or(fn -> RankedSet.put_all(set, rows) end)
        end)

      receive do: (:begun -> :ok)
      RankedSet.close(set)
      assert Task.await(batch) in [{:ok, 50_000}, :closed]
      assert_nothing_left(set.ref)
    end
  end

  test "a set that is closed in the middle of a scan is an error, and no crash" do
    set = RankedSet.new("LIF")
    rows = rows(50_000)
    {:ok, 50_000} = RankedSet.put_all(set, rows)
    ids = Enum.map(rows, &elem(&1, 0))
    parent = self()

    scans = [
      fn -> RankedSet.by_rank(set, {nil, nil}, ties: :max) end,
      fn -> RankedSet.ranks(set, ids) end
    ]

    tasks =
      for scan <- scans do
        Task.async(fn ->
          50_000 = length(scan.())
          send(parent, :begun)
          repeat(scan)
        end)
      end

    for _ <- tasks, do: receive(do: (:begun -> :ok))
    RankedSet.close(set)
    assert Task.await_many(tasks, 60_000) == [:closed, :closed]
    assert_nothing_left(set.ref)
  end

  defp allowed?(fun) do
    fun.()
    true
  rescue
    error in ArgumentError ->
      assert error.message =~ "only its owner may"
      false
  end

  defp closed_or(fun) do
    fun.()
  rescue
    error in ArgumentError ->
      assert error.message =~ "closed"
      :closed
  end

  defp repeat(scan) do
    case closed_or(scan) do
      :closed -> :closed
      _rows -> repeat(scan)
    end
  end
end
