defmodule EchoData.Bcs.EdgeStoreTest do
  use ExUnit.Case, async: true

  import Bitwise

  alias EchoData.Bcs.{EdgeStore, NamespaceError, PropertyStore}
  alias EchoData.{BrandedId, EdgeSnapshot, Native, Snowflake, Terms}

  doctest EdgeStore
  doctest EdgeSnapshot

  @holds [relation: :holds, subject_ns: "PRT", object_ns: "AST"]

  setup do
    {:ok, store: start_supervised!({EdgeStore, @holds})}
  end

  defp part(n), do: BrandedId.encode!("PRT", n)
  defp asset(n), do: BrandedId.encode!("AST", n)
  defp foreign(n), do: BrandedId.encode!("USR", n)

  # Every fact that can be asked about an edge, from both ends.
  defp seen(store, subject, object) do
    {:ok, from} = EdgeStore.from(store, subject)
    {:ok, to} = EdgeStore.to(store, object)

    [
      EdgeStore.props(store, subject, object),
      EdgeStore.member?(store, subject, object),
      List.keyfind(from, object, 0),
      List.keyfind(to, subject, 0)
    ]
  end

  test "what is linked is found from both ends, and not when it is unlinked", %{store: store} do
    assert EdgeStore.link(store, part(1), asset(7), %{quantity: 3}) == :ok
    found = {:ok, %{quantity: 3}}
    edges = [{asset(7), %{quantity: 3}}, {part(1), %{quantity: 3}}]
    assert seen(store, part(1), asset(7)) == [found, true | edges]
    assert EdgeStore.degree(store, part(1)) == {:ok, 1}
    assert EdgeStore.to_degree(store, asset(7)) == {:ok, 1}
    assert EdgeStore.unlink(store, part(1), asset(7)) == :ok
    assert seen(store, part(1), asset(7)) == [{:error, :not_found}, false, nil, nil]
    assert EdgeStore.unlink(store, part(1), asset(7)) == {:error, :not_found}
    assert EdgeStore.size(store) == 0
  end

  test "a second link replaces the props, and nothing grows", %{store: store} do
    for n <- 1..1000, do: :ok = EdgeStore.link(store, part(1), asset(7), n)
    assert EdgeStore.from(store, part(1)) == {:ok, [{asset(7), 1000}]}
    assert EdgeStore.to(store, asset(7)) == {:ok, [{part(1), 1000}]}
    assert EdgeStore.link(store, part(1), asset(7)) == :ok
    assert EdgeStore.props(store, part(1), asset(7)) == {:ok, %{}}
    assert EdgeStore.size(store) == 1
    assert %{rows: 1, payloads: 0, bytes: bytes} = drained(store)
    assert bytes < 20_000
  end

  test "unlinking what is not there changes neither index", %{store: store} do
    EdgeStore.link(store, part(1), asset(2), :kept)
    assert EdgeStore.unlink(store, part(1), asset(3)) == {:error, :not_found}
    assert EdgeStore.unlink(store, part(2), asset(2)) == {:error, :not_found}
    assert EdgeStore.to(store, asset(2)) == {:ok, [{part(1), :kept}]}
    assert EdgeStore.from(store, part(1)) == {:ok, [{asset(2), :kept}]}
    assert EdgeStore.to(store, asset(3)) == {:ok, []}
  end

  test "ends may be of one namespace, and an edge may lead from an id to itself" do
    follows = [relation: "follows", subject_ns: "USR", object_ns: "USR"]
    store = start_supervised!({EdgeStore, follows}, id: :follows)
    [ann, bob] = [foreign(1), foreign(2)]
    edges = [{ann, bob, :friend}, {ann, ann, :self}]
    assert EdgeStore.link_many(store, edges) == :ok
    assert EdgeStore.from(store, ann) == {:ok, [{ann, :self}, {bob, :friend}]}
    assert EdgeStore.to(store, ann) == {:ok, [{ann, :self}]}
    assert EdgeStore.to_degree(store, bob) == {:ok, 1}
    assert EdgeStore.degree(store, bob) == {:ok, 0}
    assert EdgeStore.drop_object(store, ann) == {:ok, 1}
    assert EdgeStore.from(store, ann) == {:ok, [{bob, :friend}]}
    assert EdgeStore.info(store).relation == "follows"
  end

  test "the ends of the id space are ids as others", %{store: store} do
    [low, high] = [0, 0x7FFF_FFFF_FFFF_FFFF]
    EdgeStore.link_many(store, for(s <- [high, low], o <- [low, high], do: {part(s), asset(o)}))
    all = [asset(low), asset(high)]
    page = &EdgeStore.page_from(store, part(high), 9, [{:values, false} | &1])
    assert page.([]) == {:ok, all}
    assert page.(after: asset(low)) == {:ok, [asset(high)]}
    assert page.(after: asset(high)) == {:ok, []}
    assert page.(before: asset(low)) == {:ok, []}
    assert page.(before: asset(high)) == {:ok, [asset(low)]}
    assert EdgeStore.common(store, part(low), part(high)) == {:ok, all}
    assert EdgeStore.count_window(store, part(low), asset(low), asset(high)) == {:ok, 1}
    assert EdgeStore.drop_subject(store, part(high)) == {:ok, 2}
    assert EdgeStore.to(store, asset(high)) == {:ok, [{part(low), %{}}]}
  end

  test "lists are ascending, and cut to their limit", %{store: store} do
    assets = for n <- 1..30, do: {asset(n), n}
    EdgeStore.link_many(store, for({id, n} <- Enum.shuffle(assets), do: {part(5), id, n}))
    parts = for n <- 1..30, do: {part(n), n}
    EdgeStore.link_many(store, for({id, n} <- parts, n != 5, do: {id, asset(5), n}))
    assert EdgeStore.from(store, part(5)) == {:ok, assets}
    assert EdgeStore.from(store, part(5), :all) == {:ok, assets}
    assert EdgeStore.from(store, part(5), 7) == {:ok, Enum.take(assets, 7)}
    assert EdgeStore.from(store, part(5), 1 <<< 70) == {:ok, assets}
    assert EdgeStore.to(store, asset(5)) == {:ok, parts}
    assert EdgeStore.to(store, asset(5), 3) == {:ok, Enum.take(parts, 3)}
    assert EdgeStore.from(store, part(99)) == {:ok, []}
    assert EdgeStore.to(store, asset(99), 1) == {:ok, []}
  end

  test "pages go both ways from a cursor that need not be there", %{store: store} do
    EdgeStore.link_many(store, for(n <- 2..20//2, do: {part(1), asset(n), n}))
    EdgeStore.link_many(store, for(n <- 1..3, do: {part(n), asset(99)}))
    page = &EdgeStore.page_from(store, part(1), &1, [{:values, false} | &2])
    assert page.(2, []) == {:ok, [asset(2), asset(4)]}
    assert page.(2, after: asset(4)) == {:ok, [asset(6), asset(8)]}
    assert page.(1, after: asset(5)) == {:ok, [asset(6)]}
    assert page.(2, before: asset(7)) == {:ok, [asset(6), asset(4)]}
    assert page.(2, before: asset(6), order: :desc) == {:ok, [asset(4), asset(2)]}
    assert page.(2, order: :desc) == {:ok, [asset(99), asset(20)]}
    assert page.(2, order: :asc, after: asset(98)) == {:ok, [asset(99)]}
    assert EdgeStore.page_from(store, part(1), 1, before: asset(4)) == {:ok, [{asset(2), 2}]}
    assert EdgeStore.page_to(store, asset(99), 1, after: part(1)) == {:ok, [{part(2), %{}}]}

    assert EdgeStore.page_to(store, asset(99), :all, order: :desc, values: false) ==
             {:ok, [part(3), part(2), part(1)]}
  end

  test "objects are counted by their time, and found by their position", %{store: store} do
    id = &(&1 * 0x400000)
    EdgeStore.link_many(store, for(ms <- 1..100, do: {part(1), asset(id.(ms)), ms}))
    EdgeStore.link_many(store, for(ms <- 1..100, do: {part(2), asset(id.(ms))}))
    [lo, hi] = for ms <- [10, 60], do: asset(Snowflake.min_for(Snowflake.to_datetime(id.(ms))))
    assert EdgeStore.count_window(store, part(1), lo, hi) == {:ok, 50}
    assert EdgeStore.count_window(store, part(1), hi, lo) == {:ok, 0}
    assert EdgeStore.count_window(store, part(3), lo, hi) == {:ok, 0}
    assert EdgeStore.nth(store, part(1), 0) == {:ok, {asset(id.(1)), 1}}
    assert EdgeStore.nth(store, part(1), 99) == {:ok, {asset(id.(100)), 100}}

    for position <- [100, 1 <<< 64, 1 <<< 80],
        do: assert(EdgeStore.nth(store, part(1), position) == {:error, :not_found})

    assert EdgeStore.nth(store, part(9), 0) == {:error, :not_found}
  end

  test "replacing the objects of a subject leaves those of others", %{store: store} do
    [a, b, c, d] = Enum.map(1..4, &asset/1)
    EdgeStore.link_many(store, [{part(1), b, 1}, {part(1), c, 1}, {part(2), b, 2}])
    counts = {:ok, %{added: 1, kept: 1, removed: 1}}
    assert EdgeStore.replace(store, part(1), [b, {d, :new}]) == counts
    assert EdgeStore.from(store, part(1)) == {:ok, [{b, %{}}, {d, :new}]}
    assert EdgeStore.to(store, b) == {:ok, [{part(1), %{}}, {part(2), 2}]}
    assert EdgeStore.to(store, c) == {:ok, []}
    assert EdgeStore.replace(store, part(3), [{a, 1}, a, {a, 3}]) == added(1)
    assert EdgeStore.props(store, part(3), a) == {:ok, 3}
    assert EdgeStore.replace(store, part(1), []) == {:ok, %{added: 0, kept: 0, removed: 2}}
    assert EdgeStore.replace(store, part(1), []) == {:ok, %{added: 0, kept: 0, removed: 0}}
    assert EdgeStore.size(store) == 2
  end

  defp added(n), do: {:ok, %{added: n, kept: 0, removed: 0}}

  test "dropping an end takes its edges and no others", %{store: store} do
    EdgeStore.link_many(store, for(s <- 1..5, o <- 1..5, do: {part(s), asset(o)}))
    assert EdgeStore.drop_subject(store, part(2)) == {:ok, 5}
    assert EdgeStore.drop_subject(store, part(2)) == {:ok, 0}
    assert EdgeStore.drop_object(store, asset(3)) == {:ok, 4}
    assert EdgeStore.size(store) == 16
    assert EdgeStore.degree(store, part(1)) == {:ok, 4}
    assert EdgeStore.to_degree(store, asset(1)) == {:ok, 4}
    assert EdgeStore.to(store, asset(3)) == {:ok, []}
  end

  test "what is long is the same in one call and in many", %{store: store} do
    assets = for n <- 1..30_000, do: {asset(n), n}
    edges = for {id, n} <- assets, do: {part(1), id, n}
    assert EdgeStore.link_many(store, Enum.shuffle(edges)) == :ok
    assert EdgeStore.from(store, part(1)) == {:ok, assets}
    assert EdgeStore.from(store, part(1), 29_999) == {:ok, Enum.take(assets, 29_999)}
    desc = EdgeStore.page_from(store, part(1), :all, order: :desc)
    assert desc == {:ok, Enum.reverse(assets)}

    assert EdgeStore.page_from(store, part(1), 20_000, before: asset(25_000)) ==
             {:ok, assets |> Enum.slice(4999, 20_000) |> Enum.reverse()}

    even = for {id, n} <- assets, rem(n, 2) == 0, do: {id, -n}
    assert EdgeStore.replace(store, part(2), even) == added(15_000)
    assert EdgeStore.common(store, part(1), part(2)) == {:ok, Enum.map(even, &elem(&1, 0))}
    counts = {:ok, %{added: 0, kept: 15_000, removed: 15_000}}
    assert EdgeStore.replace(store, part(1), even) == counts
    EdgeStore.link_many(store, for(n <- 1..3000, do: {part(n), asset(7), n}))
    assert EdgeStore.to(store, asset(7)) == {:ok, for(n <- 1..3000, do: {part(n), n})}
    assert EdgeStore.drop_object(store, asset(7)) == {:ok, 3000}
    assert EdgeStore.drop_subject(store, part(1)) == {:ok, 15_000}
    assert EdgeStore.from(store, part(2)) == {:ok, even}
    assert EdgeStore.size(store) == 15_000
    assert drained(store).snapshots == 0
  end

  test "the first edge of a list that is not let in is named by its position", %{store: store} do
    EdgeStore.link(store, part(1), asset(1), :kept)
    edges = for n <- 1..3000, do: {part(n), asset(n), n}
    objects = for n <- 1..3000, do: if(rem(n, 2) == 0, do: asset(n), else: {asset(n), n})

    for {wrong, reason} <- [{foreign(1), :namespace}, {"none", :invalid}], at <- [0, 5, 2999] do
      for bad <- [{wrong, asset(1)}, {part(1), wrong, 1}, {wrong, nil}] do
        edges = edges |> List.replace_at(at, bad) |> List.insert_at(3001, {nil, nil})
        assert EdgeStore.link_many(store, edges) == {:error, {reason, at}}
      end

      for bad <- [wrong, {wrong, 1}] do
        objects = objects |> List.replace_at(at, bad) |> List.insert_at(3001, nil)
        assert EdgeStore.replace(store, part(1), objects) == {:error, {reason, at}}
      end
    end

    assert EdgeStore.replace(store, foreign(1), ["none"]) == {:error, :namespace}
    assert EdgeStore.from(store, part(1)) == {:ok, [{asset(1), :kept}]}
    assert EdgeStore.size(store) == 1
  end

  test "of edges with the same ends the last wins", %{store: store} do
    assert EdgeStore.link_many(store, []) == :ok
    edges = [{part(1), asset(1), :a}, {part(1), asset(2)}, {part(1), asset(1), :c}]
    assert EdgeStore.link_many(store, edges) == :ok
    assert EdgeStore.from(store, part(1)) == {:ok, [{asset(1), :c}, {asset(2), %{}}]}
  end

  # The verbs that take a subject, an object, or both, as functions of these.
  defp verbs(store) do
    of_subject = [
      &EdgeStore.from(store, &1),
      &EdgeStore.page_from(store, &1, 3, order: :desc),
      &EdgeStore.degree(store, &1),
      &EdgeStore.nth(store, &1, 0),
      &EdgeStore.replace(store, &1, [asset(2)]),
      &EdgeStore.drop_subject(store, &1),
      &EdgeStore.common(store, &1, part(1)),
      &EdgeStore.common(store, part(1), &1),
      &EdgeStore.count_window(store, &1, asset(0), asset(9))
    ]

    of_object = [
      &EdgeStore.to(store, &1),
      &EdgeStore.page_to(store, &1, 3),
      &EdgeStore.to_degree(store, &1),
      &EdgeStore.drop_object(store, &1),
      &EdgeStore.count_window(store, part(1), &1, asset(9)),
      &EdgeStore.count_window(store, part(1), asset(0), &1)
    ]

    of_both = [
      &EdgeStore.link(store, &1, &2, :new),
      &EdgeStore.unlink(store, &1, &2),
      &EdgeStore.props(store, &1, &2)
    ]

    {of_subject, of_object, of_both}
  end

  test "every end is gated, the subject first, and nothing is touched", %{store: store} do
    EdgeStore.link(store, part(1), asset(1), :kept)
    {of_subject, of_object, of_both} = verbs(store)
    subjects = of_subject ++ for(verb <- of_both, do: &verb.(&1, asset(1)))
    objects = of_object ++ for(verb <- of_both, do: &verb.(part(1), &1))

    for verb <- subjects ++ objects do
      assert verb.(foreign(1)) == {:error, :namespace}
      for term <- Terms.no_ids(), do: assert(verb.(term) == {:error, :invalid})
    end

    for verb <- subjects, do: assert(verb.(asset(1)) == {:error, :namespace})
    for verb <- objects, do: assert(verb.(part(1)) == {:error, :namespace})

    for verb <- of_both do
      assert verb.(foreign(1), "none") == {:error, :namespace}
      assert verb.("none", foreign(1)) == {:error, :invalid}
    end

    assert EdgeStore.from(store, part(1)) == {:ok, [{asset(1), :kept}]}
  end

  test "a cursor is gated after the end that it belongs to", %{store: store} do
    for {cursor, reason} <- [{part(1), :namespace}, {"none", :invalid}, {7, :invalid}] do
      assert EdgeStore.page_from(store, part(1), 1, after: cursor) == {:error, reason}
      assert EdgeStore.page_from(store, part(1), 1, before: cursor) == {:error, reason}
      assert EdgeStore.page_from(store, "none", 1, before: cursor) == {:error, :invalid}
    end

    assert EdgeStore.page_to(store, asset(1), 1, after: asset(1)) == {:error, :namespace}
    assert EdgeStore.page_to(store, part(1), 1, after: "none") == {:error, :namespace}
  end

  test "member? raises for an id that is not let in", %{store: store} do
    assert_raise NamespaceError, "expected namespace PRT, got AST", fn ->
      EdgeStore.member?(store, asset(1), "none")
    end

    assert_raise NamespaceError, "expected namespace AST, got USR", fn ->
      EdgeStore.member?(store, part(1), foreign(1))
    end

    for term <- Terms.no_ids() do
      assert_raise ArgumentError, "invalid branded id", fn ->
        EdgeStore.member?(store, part(1), term)
      end
    end
  end

  test "a page that cannot be is an ArgumentError that names the argument", %{store: store} do
    for limit <- [0, -1, 1.0, nil, :none, "1"] do
      for list <- [
            &EdgeStore.from(store, part(1), &1),
            &EdgeStore.to(store, asset(1), &1),
            &EdgeStore.page_from(store, part(1), &1),
            &EdgeStore.page_to(store, asset(1), &1)
          ] do
        assert_raise ArgumentError, ~r/^limit must be a positive integer or :all/, fn ->
          list.(limit)
        end
      end
    end

    for position <- [-1, 1.0, nil] do
      assert_raise ArgumentError, ~r/^position must be/, fn ->
        EdgeStore.nth(store, part(1), position)
      end
    end

    for options <- [
          [order: :asc, before: asset(1)],
          [order: :desc, after: asset(1)],
          [after: asset(1), before: asset(2)],
          [order: :newest]
        ] do
      assert_raise ArgumentError, ~r/^options must be order: /, fn ->
        EdgeStore.page_from(store, part(1), 1, options)
      end
    end

    assert_raise ArgumentError, ~r/^values must be a boolean/, fn ->
      EdgeStore.page_to(store, asset(1), 1, values: 1)
    end

    assert_raise ArgumentError, ~r/unknown keys/, fn ->
      EdgeStore.page_to(store, asset(1), 1, limit: 1)
    end
  end

  test "a list that is none is an ArgumentError that names it", %{store: store} do
    for list <- [:none, %{part(1) => asset(1)}] do
      assert_raise ArgumentError, ~r/^edges must be/, fn -> EdgeStore.link_many(store, list) end

      assert_raise ArgumentError, ~r/^objects must be/, fn ->
        EdgeStore.replace(store, part(1), list)
      end
    end

    good = {part(1), asset(1)}

    for bad <- [[:none], [{part(1)}], [{part(1), asset(1), 1, 2}], :tail] do
      assert_raise ArgumentError, ~r/^edges must be a list .* position 1 is none/, fn ->
        EdgeStore.link_many(store, [good | bad])
      end
    end

    for bad <- [[{asset(2)}], [{asset(2), 1, 2}], :tail] do
      assert_raise ArgumentError, ~r/^objects must be a list .* position 1 is none/, fn ->
        EdgeStore.replace(store, part(1), [asset(1) | bad])
      end
    end

    assert EdgeStore.size(store) == 0
  end

  test "a store that cannot be is refused before it is started" do
    for {option, wrong} <- [
          {:subject_ns, nil},
          {:object_ns, "ast"},
          {:relation, nil},
          {:relation, ""},
          {:relation, 7}
        ] do
      assert_raise ArgumentError, ~r/^#{option} must be/, fn ->
        EdgeStore.start_link(Keyword.put(@holds, option, wrong))
      end
    end

    assert_raise ArgumentError, ~r/unknown keys/, fn ->
      EdgeStore.start_link([{:namespace, "AST"} | @holds])
    end

    assert_raise ArgumentError, ~r/^options must be a keyword list/, fn ->
      EdgeStore.start_link(Map.new(@holds))
    end
  end

  test "a store of another kind is misuse, and nothing crashes", %{store: store} do
    name = __MODULE__.Properties
    properties = start_supervised!({PropertyStore, name: name, namespace: "PRT"})
    edges = ~r/must be an edge store or a hierarchy, and is a property store or a timeline/

    for server <- [name, properties, PropertyStore.snapshot(name), {name, node()}] do
      assert_raise ArgumentError, edges, fn -> EdgeStore.degree(server, part(1)) end
      assert_raise ArgumentError, edges, fn -> EdgeStore.size(server) end
    end

    for server <- [store, EdgeStore.snapshot(store)] do
      message = ~r/must be a property store or a timeline, and is an edge store or a hierarchy/
      assert_raise ArgumentError, message, fn -> PropertyStore.get(server, part(1)) end
      assert_raise ArgumentError, message, fn -> PropertyStore.put_many(server, []) end
    end

    assert {:raise, %ArgumentError{message: "the store must be of " <> _}} =
             GenServer.call(store, {PropertyStore, :get, [part(1)]})

    assert EdgeStore.size(store) == 0
  end

  test "a store answers to every kind of name, and callers of other nodes", %{store: store} do
    start_supervised!({Registry, keys: :unique, name: __MODULE__.Registry})
    via = {:via, Registry, {__MODULE__.Registry, :store}}

    for name <- [__MODULE__.Local, {:global, __MODULE__}, via] do
      {:ok, pid} = EdgeStore.start_link([{:name, name} | @holds])
      assert EdgeStore.link(name, part(1), asset(1), name) == :ok
      assert EdgeStore.props(pid, part(1), asset(1)) == {:ok, name}
      assert EdgeStore.member?(name, part(1), asset(1))
      assert EdgeStore.size(EdgeStore.snapshot(name)) == 1
    end

    request = &GenServer.call(store, {EdgeStore, &1, &2})
    assert request.(:link, [part(1), asset(1), :a]) == {:ok, :ok}
    assert request.(:from, [part(1), :all]) == {:ok, {:ok, [{asset(1), :a}]}}
    assert {:raise, %ArgumentError{}} = request.(:from, [part(1), 0])
    assert {:raise, %NamespaceError{}} = request.(:member?, [asset(1), asset(1)])
  end

  test "a snapshot answers of its moment, and cannot be changed", %{store: store} do
    EdgeStore.link_many(store, for(n <- 1..1000, do: {part(1), asset(n), n}))
    snapshot = EdgeStore.snapshot(store)
    assert EdgeStore.drop_subject(store, part(1)) == {:ok, 1000}
    EdgeStore.link(store, part(2), asset(1))

    assert EdgeStore.size(snapshot) == 1000
    assert EdgeStore.from(snapshot, part(1)) == {:ok, for(n <- 1..1000, do: {asset(n), n})}
    assert EdgeStore.to(snapshot, asset(1)) == {:ok, [{part(1), 1}]}
    assert EdgeStore.degree(snapshot, part(1)) == {:ok, 1000}
    assert EdgeStore.nth(snapshot, part(1), 2) == {:ok, {asset(3), 3}}
    refute EdgeStore.member?(snapshot, part(2), asset(1))
    assert EdgeStore.snapshot(snapshot) == snapshot
    assert inspect(snapshot) == "#EchoData.EdgeSnapshot<PRT -> AST, 1000 edges>"

    for change <- [
          &EdgeStore.link(&1, part(1), asset(1)),
          &EdgeStore.unlink(&1, part(1), asset(1)),
          &EdgeStore.link_many(&1, [{part(1), asset(1)}]),
          &EdgeStore.replace(&1, part(1), [asset(1)]),
          &EdgeStore.drop_subject(&1, part(1)),
          &EdgeStore.drop_object(&1, asset(1))
        ] do
      assert_raise ArgumentError, "a snapshot cannot be changed", fn -> change.(snapshot) end
    end

    assert EdgeSnapshot.release(snapshot) == :ok
    assert EdgeSnapshot.release(snapshot) == :ok
    assert inspect(snapshot) == "#EchoData.EdgeSnapshot<PRT -> AST, closed>"
    message = "the snapshot was released, or its store is closed"
    assert_raise ArgumentError, message, fn -> EdgeStore.size(snapshot) end
    assert_raise ArgumentError, message, fn -> EdgeStore.from(snapshot, part(1)) end
  end

  test "info counts large props once for both directions", %{store: store} do
    for n <- 1..10, do: EdgeStore.link(store, part(n), asset(n), :binary.copy("large", 100_000))
    assert %{payloads: 10, bytes: bytes} = drained(store)
    assert bytes in 5_000_000..5_100_000
    for n <- 1..10, do: EdgeStore.unlink(store, part(n), asset(n))
    assert drained(store).bytes < 100_000
  end

  defp drained(store) do
    Native.drain()
    EdgeStore.info(store)
  end
end
