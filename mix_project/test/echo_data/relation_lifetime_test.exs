defmodule EchoData.RelationLifetimeTest do
  @moduledoc """
  Relations end with their owners, at once and for everybody, and their memory is given back.
  """

  use ExUnit.Case, async: true

  import EchoData.Lifetime

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

  defp kind do
    %{
      module: Edges,
      new: &Edges.new("SUB", "OBJ", &1),
      size: &Native.relation_size/1,
      left: &Native.relation_left/1
    }
  end

  test "a hierarchy is closed when its owner is known to be dead" do
    assert_closed_with_owner(kind(), 2000, &Edges.add(&1, subject(1), object(1)))
  end

  test "a hierarchy gives all its memory back, whoever ends it" do
    assert_memory_back(kind(), fn edges ->
      Edges.add_many(edges, edges(20_000))
      for {parent, child, _} <- edges(500), do: Edges.add(edges, parent, child, :replaced)
    end)
  end

  test "a hierarchy lets others do what its access says" do
    assert_access(kind(),
      own: {&Edges.add(&1, subject(1), object(1)), :ok},
      reads: [
        &Edges.fetch(&1, subject(1), object(1)),
        &Edges.member?(&1, subject(1), object(1)),
        &Edges.children_page(&1, subject(1), nil, 1),
        &Edges.count_parents(&1, object(1)),
        &Edges.snapshot/1
      ],
      writes: [
        &Edges.add(&1, subject(2), object(2)),
        &Edges.add_by_snowflake(&1, 2, 2),
        &Edges.add_many(&1, [{subject(3), object(3)}]),
        &Edges.remove(&1, subject(2), object(2))
      ]
    )
  end

  test "an edge store is gone for every name when its process is known to be dead" do
    options = [{:name, __MODULE__.Gone} | @relation]
    link = &EdgeStore.link(&1, subject(1), object(1))
    assert_gone(EdgeStore, options, link, {:degree, &EdgeStore.degree(&1, subject(1))})
  end

  test "an edge store exits callers as GenServer.call does" do
    assert_exits(EdgeStore, @relation, [
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
    ])
  end

  test "an edge store gives all its memory back" do
    {:ok, pid} = start_unlinked(EdgeStore, @relation)
    %{store: ref} = :sys.get_state(pid)
    EdgeStore.link_many(pid, edges(20_000))
    Mortal.kill(pid)
    Mortal.await_nothing_left(fn -> Native.relation_left(ref) end)
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

    assert_whole_batch(kind(), &Edges.add_many(&1, many), :ok)
  end

  test "a store that is closed in the middle of a scan is an error, and no crash" do
    edges = Edges.new("SUB", "OBJ")
    Edges.add_many(edges, for(n <- 1..50_000, do: {subject(1), object(n)}))
    Edges.add_many(edges, for(n <- 1..50_000, do: {subject(n), object(1)}))

    assert_whole_scans(kind(), edges, 50_000, [
      fn -> edges |> Edges.children_page(subject(1), nil, 50_000) |> length() end,
      fn -> edges |> Edges.parents_page(object(1), nil, 50_000) |> length() end
    ])
  end
end
