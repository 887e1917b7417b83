defmodule EchoData.RankIndexTest do
  use ExUnit.Case, async: true

  alias EchoData.Bcs.{EdgeStore, PropertyStore}
  alias EchoData.{Bcs, BrandedId, Native, RankIndex, Snapshot, Terms}

  doctest RankIndex

  @indexes [
    points: [group: [:room], score: [:points], unique: false],
    best: [score: :points, order: :desc],
    seat: [group: :room, score: :seat, unique: true],
    pair: [score: [:points, [:stats, :weight]], kind: {:integer, :float}, order: {:desc, :asc}]
  ]

  setup do
    {:ok, store: start_supervised!({PropertyStore, namespace: "PLR", indexes: @indexes})}
  end

  defp id(n), do: BrandedId.encode!("PLR", n)

  defp record(points, seat, room \\ :red),
    do: %{room: room, points: points, seat: seat, stats: %{weight: seat / 2}, name: "n"}

  # ann 40, bob 70, cat 70, dan 90, eve 55, minted in this order.
  defp five(store) do
    points = [40, 70, 70, 90, 55]
    rows = for {points, n} <- Enum.with_index(points, 1), do: {id(n), record(points, n)}
    :ok = PropertyStore.put_many(store, rows)
    for n <- 1..5, do: id(n)
  end

  describe "the worked case" do
    setup %{store: store}, do: {:ok, ids: five(store)}

    test "ranks in all tie modes, and their mirror image", %{store: store, ids: ids} do
      [ann, bob, cat, dan, eve] = ids

      modes = [
        ordinal: [0, 1, 2, 3, 4],
        dense: [0, 1, 2, 2, 3],
        competition: [0, 1, 2, 2, 4],
        max: [0, 1, 3, 3, 4]
      ]

      for {ties, ranks} <- modes do
        rows = Enum.zip(ranks, [ann, eve, bob, cat, dan])
        scanned = RankIndex.scan(store, :points, :red, ties: ties)
        assert for({rank, id, _score} <- scanned, do: {rank, id}) == rows

        for {rank, id} <- rows,
            do: assert(RankIndex.rank(store, :points, id, ties: ties) == {:ok, rank})
      end

      assert RankIndex.rank(store, :points, cat, order: :desc) == {:ok, 1}
      assert RankIndex.rank(store, :best, cat) == {:ok, 2}
      assert [{0, ^dan, 90}, {1, ^bob, 70}, {2, ^cat, 70} | _] = RankIndex.scan(store, :best, nil)
    end

    test "the rank of a score", %{store: store} do
      for {score, competition, dense} <- [{10, 0, 0}, {60, 2, 2}, {75, 4, 3}, {1000, 5, 4}] do
        assert RankIndex.rank_for_score(store, :points, :red, score) == competition
        assert RankIndex.rank_for_score(store, :points, :red, score, ties: :dense) == dense
        assert RankIndex.rank(store, :points, record(score, 9)) == {:ok, competition}
      end
    end

    test "the score of a rank", %{store: store} do
      scores = for rank <- 0..4, do: RankIndex.score_for_rank(store, :points, :red, rank)
      assert scores == for(score <- [40, 55, 70, 70, 90], do: {:ok, score})
      assert RankIndex.score_for_rank(store, :best, nil, 0) == {:ok, 90}
      assert RankIndex.score_for_rank(store, :points, :red, 0, order: :desc) == {:ok, 90}
      assert RankIndex.score_for_rank_else_skip(store, :points, :red, 4) == {:ok, 90}

      for rank <- [5, -1, Bitwise.bsl(1, 70), -Bitwise.bsl(1, 70)] do
        assert RankIndex.score_for_rank(store, :points, :red, rank) == {:error, :out_of_range}
        assert RankIndex.score_for_rank_else_skip(store, :points, :red, rank) == :skip
      end
    end

    test "after records have gone", %{store: store, ids: [_ann, bob, cat, dan, _eve]} do
      assert PropertyStore.delete(store, bob) == :ok
      for ties <- [:competition, :dense], do: assert(rank(store, dan, ties) == 3)
      assert {:ok, %{points: 70}} = PropertyStore.take(store, cat)
      for ties <- [:competition, :dense], do: assert(rank(store, dan, ties) == 2)
      assert RankIndex.rank(store, :points, cat) == {:error, :not_found}
    end

    test "counts", %{store: store} do
      assert RankIndex.count(store, :points, :red) == 5
      assert RankIndex.count_distinct(store, :points, :red) == 4
      :ok = PropertyStore.put_many(store, for(n <- 6..8, do: {id(n), record(70, n)}))
      assert RankIndex.count(store, :points, :red) == 8
      assert RankIndex.count_distinct(store, :points, :red) == 4
      assert RankIndex.count(store, :seat, :red) == 8
    end

    test "ranges of ranks", %{store: store, ids: [ann, bob, cat, dan, eve]} do
      dense = &ids(RankIndex.scan(store, :points, :red, by: :rank, range: &1, ties: :dense))
      assert dense.(2..2) == [bob, cat]
      assert dense.({3, nil}) == [dan]
      assert dense.(-3..1) == [ann, eve]
      assert dense.(3..9) == [dan]

      ordinal = &ids(RankIndex.scan(store, :points, :red, [{:range, &1} | &2]))
      assert ordinal.(1..2, []) == [eve, bob]
      assert ordinal.(1..2, reverse: true) == [bob, eve]
      assert ordinal.(1..9, limit: 2) == [eve, bob]
      assert ordinal.(0..3, reverse: true, limit: 2) == [cat, bob]
      assert ordinal.({nil, 0}, []) == [ann]
      assert ordinal.({nil, nil}, []) == [ann, eve, bob, cat, dan]
      assert ordinal.(-9..99, limit: :all) == [ann, eve, bob, cat, dan]
      assert ordinal.({3, Bitwise.bsl(1, 70)}, []) == [cat, dan]
      for range <- [3..1, -5..-1, 5..9, {9, nil}], do: assert(ordinal.(range, []) == [])
    end

    test "ranges of scores", %{store: store, ids: [ann, bob, cat, _dan, eve]} do
      scan = &ids(RankIndex.scan(store, :points, :red, [by: :value, range: &1] ++ &2))
      assert scan.(55..70, []) == [eve, bob, cat]
      assert scan.({{:exclusive, 55}, 70}, reverse: true) == [cat, bob]
      assert scan.({{:exclusive, 70}, {:exclusive, 90}}, []) == []
      assert scan.({nil, 69}, []) == [ann, eve]
      assert scan.({70, nil}, limit: 1) == [bob]
      assert scan.(90..70, []) == []
      assert ids(RankIndex.scan(store, :best, nil, by: :value, range: 70..55)) == [bob, cat, eve]
      pairs = [by: :value, range: {{70, 1.0}, {70, 1.25}}]
      assert RankIndex.scan(store, :pair, nil, pairs) == [{1, bob, {70, 1.0}}]
      assert RankIndex.rank_for_score(store, :pair, nil, {70, 1.2}) == 2
      assert RankIndex.score_for_rank(store, :pair, nil, 0) == {:ok, {90, 2.0}}

      assert [{2, ^bob, 70, %{name: "n", points: 70}} | _] =
               RankIndex.scan(store, :points, :red, range: 2..3, values: true)
    end
  end

  defp rank(store, id, ties) do
    {:ok, rank} = RankIndex.rank(store, :points, id, ties: ties)
    rank
  end

  defp ids(rows), do: for({_rank, id, _score} <- rows, do: id)

  test "a record without a field has the score nil, and the group nil", %{store: store} do
    indexes = [age: [score: [[:stats, "age"]], group: [:room]]]
    other = start_supervised!({PropertyStore, namespace: "PLR", indexes: indexes}, id: :other)
    rows = [%{}, %{stats: nil}, %{stats: %{"age" => nil}}, %{stats: %{"age" => -5}, room: nil}]

    :ok =
      PropertyStore.put_many(other, for({row, n} <- Enum.with_index(rows, 1), do: {id(n), row}))

    scores = for {_rank, _id, score} <- RankIndex.scan(other, :age, nil), do: score
    assert scores == [nil, nil, nil, -5]
    assert RankIndex.rank_for_score(other, :age, nil, nil) == 0
    assert RankIndex.count_distinct(other, :age, []) == 2

    assert PropertyStore.put(store, id(1), %{room: :blue}) == :ok
    assert PropertyStore.put(store, id(2), %{room: :blue}) == {:error, {:not_unique, :seat}}
    assert PropertyStore.put(store, id(2), %{}) == :ok
  end

  test "groups are of one field or several, of every type", %{store: _store} do
    indexes = [one: [score: :n, group: :g], two: [score: :n, group: [:g, [:h, 1]]]]
    store = start_supervised!({PropertyStore, namespace: "PLR", indexes: indexes}, id: :groups)
    groups = [:a, "a", 1, -1, "", nil, String.duplicate("x", 200), Bitwise.bsl(1, 62), "é\0"]

    for {group, n} <- Enum.with_index(groups) do
      assert PropertyStore.put(store, id(n), %{n: n, g: group, h: %{1 => group}}) == :ok
      assert RankIndex.scan(store, :one, group) == [{0, id(n), n}]
      assert RankIndex.scan(store, :one, [group]) == [{0, id(n), n}]
      assert RankIndex.scan(store, :two, {group, group}) == [{0, id(n), n}]
      assert RankIndex.scan(store, :two, [group, group]) == [{0, id(n), n}]
      assert PropertyStore.put(store, id(n), %{n: n, g: :moved}) == :ok
      assert RankIndex.count(store, :one, group) == 0
      assert RankIndex.count(store, :one, :moved) == n + 1
      assert RankIndex.count(store, :two, {:moved, nil}) == n + 1
    end
  end

  test "an unknown group is as an empty one", %{store: store} do
    five(store)

    for group <- [:blue, "red", 7, {1, 2}, nil] do
      assert RankIndex.count(store, :points, group) == 0
      assert RankIndex.count_distinct(store, :points, group) == 0
      assert RankIndex.rank_for_score(store, :points, group, 50) == 0
      assert RankIndex.score_for_rank(store, :points, group, 0) == {:error, :out_of_range}
      assert RankIndex.scan(store, :points, group) == []
    end

    assert RankIndex.rank(store, :points, record(1, 1, :blue)) == {:ok, 0}
  end

  test "scores are exact in all of 64 bits, and floats have one zero" do
    indexes = [n: [score: :n], f: [score: :f, kind: :float]]
    store = start_supervised!({PropertyStore, namespace: "PLR", indexes: indexes}, id: :exact)
    ends = [-0x8000_0000_0000_0000, 9_007_199_254_740_992, 9_007_199_254_740_993]
    scores = ends ++ [0x7FFF_FFFF_FFFF_FFFF]
    floats = [-1.0e308, -0.0, 0.0, 1.0e-300]

    for {{n, f}, at} <- scores |> Enum.zip(floats) |> Enum.with_index(),
        do: :ok = PropertyStore.put(store, id(at), %{n: n, f: f})

    for {score, rank} <- Enum.with_index(scores) do
      assert RankIndex.rank_for_score(store, :n, nil, score) == rank
      assert RankIndex.score_for_rank(store, :n, nil, rank) == {:ok, score}
    end

    assert RankIndex.count_distinct(store, :f, nil) == 3
    assert RankIndex.rank_for_score(store, :f, nil, -0.0) == 1
  end

  test "what an index refuses is told with its path, and changes nothing", %{store: store} do
    five(store)
    before = Enum.to_list(PropertyStore.snapshot(store))

    bad = [
      {"record", :points, []},
      {true, :points, []},
      {[points: 1], :points, []},
      {%{record(1, 9) | room: 1.5}, :points, [:room]},
      {%{record(1, 9) | room: %{}}, :points, [:room]},
      {%{record(1, 9) | points: "1"}, :points, [:points]},
      {%{record(1, 9) | points: 1.0}, :points, [:points]},
      {%{record(1, 9) | points: Bitwise.bsl(1, 63)}, :points, [:points]},
      {%{record(1, 9) | seat: :first}, :seat, [:seat]},
      {%{record(1, 9) | stats: %{weight: 1}}, :pair, [:stats, :weight]},
      {%{record(1, 9) | stats: 7}, :pair, [:stats]}
    ]

    for {record, index, path} <- bad do
      refused = {:error, {:bad_field, index, path}}
      assert PropertyStore.put(store, id(1), record) == refused
      assert PropertyStore.put(store, id(9), record) == refused
      assert PropertyStore.put_many(store, [{id(8), record(5, 8)}, {id(9), record}]) == refused
      rows = for(n <- 100..3000, do: {id(n), record(n, n)}) ++ [{id(9), record}]
      assert PropertyStore.put_many(store, rows) == refused
      if is_map(record), do: assert(RankIndex.rank(store, index, record) == refused)
    end

    taken = {:error, {:not_unique, :seat}}
    assert PropertyStore.put(store, id(9), record(1, 5)) == taken
    assert PropertyStore.put_many(store, [{id(9), record(1, 9)}, {id(8), record(1, 9)}]) == taken
    assert PropertyStore.record_entity(store, id(9)) == :ok
    assert Enum.to_list(PropertyStore.snapshot(store)) == before
    assert RankIndex.count(store, :points, :red) == 5

    # What was put last under an id counts, and places may be exchanged.
    exchanged = [{id(1), "bad"}, {id(1), record(40, 2)}, {id(2), record(70, 1)}]
    assert PropertyStore.put_many(store, exchanged) == :ok
    assert RankIndex.score_for_rank(store, :seat, :red, 1) == {:ok, 2}
    assert PropertyStore.put(store, id(1), record(41, 2)) == :ok
  end

  test "ids are gated", %{store: store} do
    five(store)

    for verb <- [
          &PropertyStore.put(store, &1, record(1, 9)),
          &PropertyStore.get(store, &1),
          &PropertyStore.take(store, &1),
          &PropertyStore.delete(store, &1),
          &RankIndex.rank(store, :points, &1)
        ] do
      assert verb.("USR00000000001") == {:error, :namespace}
      for term <- Terms.no_ids(), not is_map(term), do: assert(verb.(term) == {:error, :invalid})
    end

    assert PropertyStore.put_many(store, [{id(9), record(1, 9)}, {"USR00000000001", 1}]) ==
             {:error, {:namespace, 1}}

    assert PropertyStore.size(store) == 5
  end

  test "misuse is an ArgumentError that names the argument", %{store: store} do
    plain = start_supervised!({PropertyStore, namespace: "PLR"}, id: :plain)
    relation = [relation: :r, subject_ns: "PLR", object_ns: "PLR"]
    edges = start_supervised!({EdgeStore, relation})

    for {message, call} <- [
          {~r/^index must be one of .*points.*none/, &RankIndex.count(&1, :none, nil)},
          {~r/^index must be/, &RankIndex.scan(&1, "points", nil)},
          {~r/^index must be/, &RankIndex.rank(&1, :none, %{})},
          {~r/^score must be an integer/, &RankIndex.rank_for_score(&1, :points, nil, 1.0)},
          {~r/^score must be an integer/, &RankIndex.rank_for_score(&1, :points, nil, "1")},
          {~r/^score must be {/, &RankIndex.rank_for_score(&1, :pair, nil, 1)},
          {~r/^score must be {/, &RankIndex.rank_for_score(&1, :pair, nil, {1, 1})},
          {~r/^group must be/, &RankIndex.count(&1, :points, 1.5)},
          {~r/^group must be/, &RankIndex.scan(&1, :points, %{})},
          {~r/^rank must be/, &RankIndex.score_for_rank(&1, :points, nil, 1.0)},
          {~r/^rank must be/, &RankIndex.score_for_rank_else_skip(&1, :points, nil, nil)},
          {~r/^ties must be/, &RankIndex.rank(&1, :points, %{}, ties: :first)},
          {~r/^order must be/, &RankIndex.rank(&1, :points, %{}, order: :up)},
          {~r/^options must be/, &RankIndex.rank(&1, :points, %{}, group: :red)},
          {~r/^options must be/, &RankIndex.scan(&1, :points, nil, :all)},
          {~r/^by must be/, &RankIndex.scan(&1, :points, nil, by: :score)},
          {~r/^range must be/, &RankIndex.scan(&1, :points, nil, range: 1..9//2)},
          {~r/^range must be/, &RankIndex.scan(&1, :points, nil, range: {1.0, 2})},
          {~r/^range must be/, &RankIndex.scan(&1, :points, nil, by: :value, range: 1..9//2)},
          {~r/^range must be/, &RankIndex.scan(&1, :points, nil, by: :value, range: {1.0, 2})},
          {~r/^range must be/, &RankIndex.scan(&1, :points, nil, by: :value, range: 7)},
          {~r/^limit must be/, &RankIndex.scan(&1, :points, nil, limit: 0)},
          {~r/^reverse must be/, &RankIndex.scan(&1, :points, nil, reverse: 1)},
          {~r/^values must be/, &RankIndex.scan(&1, :points, nil, values: nil)},
          {~r/^the options are by, .*, values, ties and order/,
           &RankIndex.scan(&1, :points, nil, first: 1)},
          {~r/^the options are ties and order/, &RankIndex.rank(&1, :points, %{}, limit: 1)}
        ] do
      assert_raise ArgumentError, message, fn -> call.(store) end
      assert_raise ArgumentError, message, fn -> call.(PropertyStore.snapshot(store)) end
    end

    without = ~r/^the store must be a property store with indexes, and is a property store or a/
    assert_raise ArgumentError, without, fn -> RankIndex.count(plain, :points, nil) end

    assert_raise ArgumentError, without, fn ->
      RankIndex.add_index(plain, :points, score: :points)
    end

    assert_raise ArgumentError, ~r/^options must be a keyword list/, fn ->
      RankIndex.add_index(store, :more, [score: :points], nil)
    end

    for {kind, call} <- [
          {"a property store with indexes", &RankIndex.count(&1, :points, nil)},
          {"a property store or a timeline", &PropertyStore.size/1},
          {"a property store or a timeline", &PropertyStore.page_asc(&1, 1)}
        ] do
      message = "the store must be #{kind}, and is an edge store or a hierarchy"
      assert_raise ArgumentError, message, fn -> call.(edges) end
    end

    message =
      "the store must be an edge store or a hierarchy, and is a property store with indexes"

    assert_raise ArgumentError, message, fn -> EdgeStore.size(store) end
  end

  test "a declaration that cannot be is refused before the store is started" do
    for {message, indexes} <- [
          {~r/^indexes must be a keyword list/, :points},
          {~r/^indexes must be a keyword list/, [:points]},
          {~r/^indexes must be a keyword list/, %{points: [score: :points]}},
          {~r/^indexes must be of different names/, [a: [score: :a], a: [score: :b]]},
          {~r/^the name of an index must be/, [nil: [score: :a]]},
          {~r/^the declaration of :a must be/, [a: :points]},
          {~r/^score must have one field or two/, [a: []]},
          {~r/^score must have one field or two/, [a: [score: [:a, :b, :c]]]},
          {~r/^score must be a list of keys/, [a: [score: 1.5]]},
          {~r/^score must be a list of keys/, [a: [score: [[]]]]},
          {~r/^score must be a list of keys/, [a: [score: [[:a, {}]]]]},
          {~r/^score must be a list of keys/, [a: [score: [:a | :b]]]},
          {~r/^score must be a list of keys/, [a: [score: [[:a | :b]]]]},
          {~r/^group must be a list of keys/, [a: [score: :a, group: [%{}]]]},
          {~r/^kind must be :integer or :float, got/, [a: [score: :a, kind: :number]]},
          {~r/^kind must be :integer or :float, got/, [a: [score: :a, kind: {:float, :float}]]},
          {~r/^kind must be .*, or a pair/, [a: [score: [:a, :b], kind: {:float, 1}]]},
          {~r/^order must be :asc or :desc, got/, [a: [score: :a, order: :up]]},
          {~r/^order must be :asc or :desc, got/, [a: [score: :a, order: {:asc, :asc}]]},
          {~r/^order must be .*, or a pair/, [a: [score: [:a, :b], order: {:asc, :up}]]},
          {~r/^unique must be/, [a: [score: :a, unique: nil]]},
          {~r/unknown keys \[:fields\]/, [a: [score: :a, fields: 1]]}
        ] do
      start = fn -> PropertyStore.start_link(namespace: "PLR", indexes: indexes) end
      assert_raise ArgumentError, message, start
      tree = [{__MODULE__.Never, "PLR", indexes: indexes}]
      assert_raise ArgumentError, message, fn -> Bcs.Supervisor.start_link(tree) end
    end
  end

  test "a supervised store with indexes restarts with them, and without records" do
    tree = [{__MODULE__.Tree, "PLR", indexes: @indexes}]
    start_supervised!(%{id: :tree, start: {Bcs.Supervisor, :start_link, [tree]}})
    five(__MODULE__.Tree)
    monitor = Process.monitor(__MODULE__.Tree)
    __MODULE__.Tree |> Process.whereis() |> Process.exit(:kill)
    receive do: ({:DOWN, ^monitor, :process, _pid, :killed} -> :ok)
    await(__MODULE__.Tree)
    assert RankIndex.names(__MODULE__.Tree) == Keyword.keys(@indexes)
    assert RankIndex.count(__MODULE__.Tree, :best, nil) == 0
    five(__MODULE__.Tree)
    assert RankIndex.count(__MODULE__.Tree, :best, nil) == 5
  end

  defp await(name), do: Process.whereis(name) || await(name)

  test "a snapshot has records and indexes of its moment", %{store: store} do
    [ann, bob | _] = five(store)
    snapshot = PropertyStore.snapshot(store)
    PropertyStore.put(store, ann, record(1000, 1, :blue))
    PropertyStore.delete(store, bob)
    assert RankIndex.add_index(store, :late, score: :points) == :ok

    assert RankIndex.rank(snapshot, :points, ann) == {:ok, 0}
    assert RankIndex.count(snapshot, :points, :red) == 5
    assert RankIndex.count(snapshot, :points, :blue) == 0
    assert RankIndex.score_for_rank(snapshot, :best, nil, 0) == {:ok, 90}

    assert [{0, ^ann, 40, %{points: 40}} | _] =
             RankIndex.scan(snapshot, :points, :red, values: true)

    assert RankIndex.names(snapshot) == Keyword.keys(@indexes)
    assert RankIndex.names(store) == Keyword.keys(@indexes) ++ [:late]

    assert_raise ArgumentError, ~r/^index must be/, fn ->
      RankIndex.count(snapshot, :late, nil)
    end

    for change <- [
          &PropertyStore.put(&1, ann, record(1, 1)),
          &PropertyStore.take(&1, ann),
          &RankIndex.add_index(&1, :other, score: :points)
        ] do
      assert_raise ArgumentError, "a snapshot cannot be changed", fn -> change.(snapshot) end
    end

    assert inspect(snapshot) == "#EchoData.Snapshot<PLR, 5 rows>"
    Snapshot.release(snapshot)
    message = "the snapshot was released, or its store is closed"
    assert_raise ArgumentError, message, fn -> RankIndex.count(snapshot, :best, nil) end
  end

  test "long answers are the same in one call and in many", %{store: store} do
    rows = for n <- 1..20_000, do: {id(n), record(div(n, 3), n)}
    assert PropertyStore.put_many(store, rows) == :ok
    ids = Enum.map(rows, &elem(&1, 0))
    assert PropertyStore.page_asc(store, 40_000) == {:ok, ids}
    assert PropertyStore.page_desc(store, 40_000, values: true) == {:ok, Enum.reverse(rows)}
    assert PropertyStore.window(store, id(2), id(20_000)) == {:ok, ids |> tl() |> Enum.drop(-1)}
    assert PropertyStore.count_window(store, id(2), id(20_000)) == {:ok, 19_998}
    assert PropertyStore.get_many(store, Enum.reverse(ids)) == {:ok, Enum.reverse(rows)}
    snapshot = PropertyStore.snapshot(store)
    assert Enum.to_list(snapshot) == rows
    Snapshot.release(snapshot)

    ranked = for {{id, %{points: points}}, rank} <- Enum.with_index(rows), do: {rank, id, points}
    assert RankIndex.scan(store, :points, :red) == ranked
    assert RankIndex.scan(store, :points, :red, reverse: true) == Enum.reverse(ranked)
    assert RankIndex.scan(store, :points, :red, limit: 9_000) == Enum.take(ranked, 9_000)
    dense = RankIndex.scan(store, :points, :red, ties: :dense, values: true, range: {1, nil})
    assert for({rank, id, rank, _} <- dense, do: id) == Enum.drop(ids, 2)
    assert for({_, id, _, record} <- dense, do: {id, record}) == Enum.drop(rows, 2)
    Native.drain()
    assert PropertyStore.info(store).snapshots == 0
  end

  test "a store answers to every kind of name, and to callers of other nodes", %{store: store} do
    five(store)
    start_supervised!({Registry, keys: :unique, name: __MODULE__.Registry})
    via = {:via, Registry, {__MODULE__.Registry, :store}}

    for name <- [__MODULE__.Local, {:global, __MODULE__}, via] do
      {:ok, pid} = PropertyStore.start_link(name: name, namespace: "PLR", indexes: @indexes)
      five(name)
      assert RankIndex.count(pid, :best, nil) == 5
      assert RankIndex.rank(name, :best, id(4)) == {:ok, 0}
      assert [{0, _, 90}] = RankIndex.scan(name, :best, nil, limit: 1)
      assert RankIndex.add_index(name, :more, score: :seat) == :ok
      assert RankIndex.remove_index(name, :more) == :ok
    end

    request = &GenServer.call(store, {RankIndex, &1, &2})
    assert request.(:count, [:best, nil]) == {:ok, 5}
    assert {:raise, %ArgumentError{message: "index must" <> _}} = request.(:count, [:none, nil])
  end
end
