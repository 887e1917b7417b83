defmodule EchoData.RelationLifetimeTest do
  @moduledoc """
  Relations end with their owners, at once and for everybody, and their memory is given back.
  """

  use ExUnit.Case, async: true

  import EchoData.Mortal, only: [kill: 1, owner: 1]

  alias EchoData.Bcs.EdgeStore
  alias EchoData.{BrandedId, Edges, Mortal, Native}

  @moduletag capture_log: true
  # A store keeps its latest versions for a while: up to 64 KB.
  @recent 100_000
  @relation [relation: :knows, subject_ns: "SUB", object_ns: "OBJ"]

  defp subject(n), do: BrandedId.encode!("SUB", n)
  defp object(n), do: BrandedId.encode!("OBJ", n)

  defp edges(count),
    do: for(n <- 1..count, do: {subject(rem(n, 9)), object(n), %{text: :binary.copy("t", 80)}})

  defp start_unlinked(options) do
    {:ok, pid} = EdgeStore.start_link(options)
    Process.unlink(pid)
    pid
  end

  defp assert_nothing_left(ref),
    do: assert(Mortal.await_nothing_left(fn -> Native.relation_left(ref) end) == :ok)

  test "a hierarchy is closed when its owner is known to be dead" do
    for _ <- 1..2000 do
      {_, _, edges} = owner = owner(fn -> Edges.new("SUB", "OBJ") end)
      Edges.add(edges, subject(1), object(1))
      kill(owner)
      assert Native.relation_size(edges.ref) == :closed
    end
  end

  test "a hierarchy gives all its memory back, whoever ends it" do
    for finish <- [fn {_, _, edges} -> Edges.close(edges) end, &kill/1] do
      {_, _, edges} = owner = owner(fn -> Edges.new("SUB", "OBJ") end)
      Edges.add_many(edges, edges(20_000))
      for {parent, child, _} <- edges(500), do: Edges.add(edges, parent, child, :replaced)
      assert Edges.info(edges).bytes > 1_000_000
      assert Native.relation_left(edges.ref) == nil
      finish.(owner)
      assert_nothing_left(edges.ref)
    end
  end

  test "a hierarchy lets others do what its access says" do
    for {access, read?, write?} <- [
          {:public, true, true},
          {:protected, true, false},
          {:private, false, false}
        ] do
      {owner, _, edges} = owner(fn -> Edges.new("SUB", "OBJ", access: access) end)
      parent = self()
      add = fn -> send(parent, {:added, Edges.add(edges, subject(1), object(1))}) end
      send(owner, {:run, add})
      assert :ok == receive(do: ({:added, answer} -> answer))

      for read <- [
            &Edges.fetch(&1, subject(1), object(1)),
            &Edges.member?(&1, subject(1), object(1)),
            &Edges.children_page(&1, subject(1), nil, 1),
            &Edges.count_parents(&1, object(1)),
            &Edges.size/1,
            &Edges.snapshot/1
          ] do
        assert allowed?(fn -> read.(edges) end) == read?
      end

      for write <- [
            &Edges.add(&1, subject(2), object(2)),
            &Edges.add_by_snowflake(&1, 2, 2),
            &Edges.add_many(&1, [{subject(3), object(3)}]),
            &Edges.remove(&1, subject(2), object(2)),
            &Edges.close/1
          ] do
        assert allowed?(fn -> write.(edges) end) == write?
      end

      assert inspect(edges) =~ "#EchoData.Edges<SUB -> OBJ, "
    end
  end

  defp allowed?(fun) do
    fun.()
    true
  rescue
    error in ArgumentError ->
      assert error.message =~ "only its owner may"
      false
  end

  test "an edge store is gone for every name when its process is known to be dead" do
    for _ <- 1..300 do
      pid = start_unlinked([{:name, __MODULE__.Gone} | @relation])
      EdgeStore.link(pid, subject(1), object(1))
      kill({pid, Process.monitor(pid), nil})

      for server <- [pid, __MODULE__.Gone, {__MODULE__.Gone, node()}] do
        assert {:noproc, {GenServer, :call, [^server, {EdgeStore, :degree, [_]}, 5000]}} =
                 catch_exit(EdgeStore.degree(server, subject(1)))
      end
    end
  end

  test "an edge store exits callers as GenServer.call does" do
    pid = start_unlinked(@relation)
    GenServer.stop(pid)

    calls = [
      &EdgeStore.link(&1, subject(1), object(1)),
      &EdgeStore.link_many(&1, [{subject(1), object(1)}]),
      &EdgeStore.unlink(&1, subject(1), object(1)),
      &EdgeStore.replace(&1, subject(1), [object(1)]),
      &EdgeStore.drop_subject(&1, subject(1)),
      &EdgeStore.drop_object(&1, object(1)),
      &EdgeStore.props(&1, subject(1), object(1)),
      &EdgeStore.member?(&1, subject(1), object(1)),
      &EdgeStore.from(&1, subject(1)),
      &EdgeStore.to(&1, object(1)),
      &EdgeStore.page_from(&1, subject(1), 1),
      &EdgeStore.page_to(&1, object(1), 1),
      &EdgeStore.degree(&1, subject(1)),
      &EdgeStore.to_degree(&1, object(1)),
      &EdgeStore.count_window(&1, subject(1), object(1), object(2)),
      &EdgeStore.nth(&1, subject(1), 0),
      &EdgeStore.common(&1, subject(1), subject(2)),
      &EdgeStore.size/1,
      &EdgeStore.info/1,
      &EdgeStore.snapshot/1
    ]

    for call <- calls do
      {reason, {GenServer, :call, _}} = catch_exit(call.(pid))
      assert reason == catch_exit(GenServer.call(pid, :anything)) |> elem(0)
      assert {:noproc, {GenServer, :call, _}} = catch_exit(call.(__MODULE__.Never))
    end
  end

  test "an edge store gives all its memory back" do
    pid = start_unlinked(@relation)
    %{store: ref} = :sys.get_state(pid)
    EdgeStore.link_many(pid, edges(20_000))
    kill({pid, Process.monitor(pid), nil})
    assert_nothing_left(ref)
  end

  test "an edge store gives back what is replaced, unlinked and dropped while it lives" do
    store = start_supervised!({EdgeStore, @relation})
    Native.drain()
    before = EdgeStore.info(store).bytes
    edges = edges(3000)

    removals = [
      fn -> for {s, o, _} <- edges, do: :ok = EdgeStore.unlink(store, s, o) end,
      fn -> for n <- 0..8, do: {:ok, _} = EdgeStore.drop_subject(store, subject(n)) end,
      fn -> for n <- 1..3000, do: {:ok, 1} = EdgeStore.drop_object(store, object(n)) end,
      fn -> for n <- 0..8, do: {:ok, _} = EdgeStore.replace(store, subject(n), []) end
    ]

    for remove <- removals do
      EdgeStore.link_many(store, edges)
      for {s, o, props} <- edges, do: EdgeStore.link(store, s, o, props)
      remove.()
      Native.drain()
      assert %{rows: 0, payloads: payloads, bytes: bytes} = EdgeStore.info(store)
      assert bytes < before + @recent
      assert payloads * 80 < @recent
    end
  end

  test "an edge store does not keep memory for a list that is not let in" do
    store = start_supervised!({EdgeStore, @relation})
    bad = edges(5000) ++ [{"none", object(1)}]
    objects = for {_, o, props} <- edges(5000), do: {o, props}

    for _ <- 1..5 do
      assert EdgeStore.link_many(store, bad) == {:error, {:invalid, 5000}}
      replaced = EdgeStore.replace(store, subject(1), objects ++ ["none"])
      assert replaced == {:error, {:invalid, 5000}}
    end

    Native.drain()
    assert %{rows: 0, nodes: 0, payloads: 0} = EdgeStore.info(store)
  end

  test "a store that is closed in the middle of a batch takes all of it or nothing" do
    many = edges(50_000)

    for _ <- 1..5 do
      edges = Edges.new("SUB", "OBJ")
      parent = self()

      batch =
        Task.async(fn ->
          send(parent, :begun)
          closed_or(fn -> Edges.add_many(edges, many) end)
        end)

      receive do: (:begun -> :ok)
      Edges.close(edges)
      assert Task.await(batch) in [:ok, :closed]
      assert_nothing_left(edges.ref)
    end
  end

  test "a store that is closed in the middle of a scan is an error, and no crash" do
    edges = Edges.new("SUB", "OBJ")
    Edges.add_many(edges, for(n <- 1..50_000, do: {subject(1), object(n)}))
    Edges.add_many(edges, for(n <- 1..50_000, do: {subject(n), object(1)}))
    parent = self()

    scans = [
      fn -> Edges.children_page(edges, subject(1), nil, 50_000) end,
      fn -> Edges.parents_page(edges, object(1), nil, 50_000) end
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
    Edges.close(edges)
    assert Task.await_many(tasks, 60_000) == [:closed, :closed]
    assert_nothing_left(edges.ref)
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
