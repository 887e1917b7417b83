defmodule EchoData.Neighbour do
  @moduledoc """
  What heavy calls do to their neighbours: run in a VM with one scheduler.
  """

  alias EchoData.Bcs.{EdgeStore, PropertyStore}

  alias EchoData.{
    BrandedId,
    Buckets,
    Leaderboard,
    Native,
    RankedSet,
    RankIndex,
    Snowflake,
    Timeline
  }

  alias EchoMQ.Keyspace

  @rows 200_000
  @edges 120_000

  # What takes a few milliseconds is done so often.
  @often 20

  @mebibyte 1_048_576

  @doc """
  Runs heavy calls, and answers for each how often a neighbour that never waits had its turn meanwhile.
  """
  @spec turns() :: [{atom, non_neg_integer}]
  def turns do
    1 = :erlang.system_info(:schedulers_online)
    counter = :counters.new(1, [])
    neighbour = spawn_link(fn -> count(counter) end)
    timeline = Timeline.new("NBR")
    rows = for n <- 1..@rows, do: {BrandedId.encode!("NBR", n), %{n: n}}
    ids = Enum.map(rows, &elem(&1, 0))

    turns =
      for {name, work} <-
            heavy(timeline, rows, ids) ++
              heavy_edges() ++
              heavy_buckets() ++
              heavy_keys() ++ heavy_ranks(ids) ++ heavy_boards(ids) ++ heavy_records() do
        before = :counters.get(counter, 1)
        work.()
        {name, :counters.get(counter, 1) - before}
      end

    Process.unlink(neighbour)
    Process.exit(neighbour, :kill)
    turns
  end

  defp heavy(timeline, rows, ids) do
    [
      put_many: fn -> :ok = Timeline.put_many(timeline, rows) end,
      page_asc: fn -> often(fn -> Timeline.page_asc(timeline, @rows) end) end,
      page_desc: fn -> often(fn -> Timeline.page_desc(timeline, @rows) end) end,
      window: fn ->
        often(fn -> Timeline.window(timeline, "NBR00000000000", "NBRAzL8n0Y58m7") end)
      end,
      get_many: fn -> often(fn -> Timeline.get_many(timeline, ids) end) end,
      enumerate: fn -> @rows = Enum.count(timeline, fn {_id, %{n: _}} -> true end) end
    ]
  end

  # All edges of one subject, and what can be asked and done of them at once.
  defp heavy_edges do
    relation = [relation: :heavy, subject_ns: "SUB", object_ns: "OBJ"]
    {:ok, store} = EdgeStore.start_link(relation)
    [one, other] = for n <- [1, 2], do: BrandedId.encode!("SUB", n)
    objects = for n <- 1..@edges, do: {BrandedId.encode!("OBJ", n), n}
    ids = Enum.map(objects, &elem(&1, 0))
    edges = for {object, n} <- objects, do: {one, object, n}
    replaced = {:ok, %{added: @edges, kept: 0, removed: 0}}

    [
      link_many: fn -> :ok = EdgeStore.link_many(store, edges) end,
      from: fn -> for _ <- 1..@often, do: {:ok, ^objects} = EdgeStore.from(store, one) end,
      page_from: fn -> for _ <- 1..@often, do: @edges = store |> newest(one) |> length() end,
      replace: fn -> ^replaced = EdgeStore.replace(store, other, ids) end,
      common: fn -> for _ <- 1..@often, do: {:ok, ^ids} = EdgeStore.common(store, one, other) end,
      drop_subject: fn -> {:ok, @edges} = EdgeStore.drop_subject(store, one) end
    ]
  end

  # As many buckets as entries, and one of all of them.
  defp heavy_buckets do
    entries = for n <- 1..@rows, do: {Bitwise.bsl(n, 22), n}
    [narrow, wide] = for bits <- [0, 40], do: Buckets.new(bucket_bits: bits)

    [
      put_many_buckets: fn -> for b <- [narrow, wide], do: Buckets.put_many(b, entries) end,
      bucket_count: fn -> for _ <- 1..@often, do: @rows = Buckets.bucket_count(narrow) end,
      counts: fn -> often(fn -> Buckets.counts(narrow) end) end,
      entries: fn -> for _ <- 1..@often, do: ^entries = Buckets.entries(wide, 0) end,
      snowflakes: fn -> for _ <- 1..@often, do: [_ | _] = Buckets.to_snowflake_list(wide) end
    ]
  end

  # Many keys, and a long one.
  defp heavy_keys do
    keys = for n <- 1..@rows, do: "emq:{queue}:#{n}"
    long = :binary.copy("x", @mebibyte)

    [
      slots: fn -> for _ <- 1..@often, do: @rows = keys |> Keyspace.slots() |> length() end,
      legal?: fn -> for _ <- 1..@often, do: true = Keyspace.legal?(keys) end,
      slot: fn -> for _ <- 1..(@often * 5), do: Keyspace.slot(long) end
    ]
  end

  # Reads that take a few turns, as often as leaves many.
  defp often(list), do: for(_ <- 1..@often, do: @rows = length(list.()))

  defp heavy_ranks(ids) do
    set = RankedSet.new("NBR")
    rows = for {id, n} <- Enum.with_index(ids), do: {id, rem(n * 7919, 1000)}
    all = {nil, nil}

    [
      put_all: fn -> {:ok, @rows} = RankedSet.put_all(set, rows) end,
      by_rank: fn -> often(fn -> RankedSet.by_rank(set, all, ties: :max) end) end,
      by_score: fn -> often(fn -> RankedSet.by_score(set, nil, nil) end) end,
      ranks: fn -> often(fn -> RankedSet.ranks(set, ids) end) end,
      pop_min: fn -> @rows = set |> RankedSet.pop_min(@rows) |> length() end
    ]
  end

  # Entries that count in thousands of windows, and natively in a hundred: of `Leaderboard.enter/4` most is
  # Elixir, where every step is counted.
  defp heavy_boards(ids) do
    overlapping = for n <- 1..10, do: {:hour, n * 1000, every: {:hour, n}}
    board = Leaderboard.new("NBR", windows: overlapping)
    entry = Snowflake.min_for(~U[2026-03-02 12:00:00Z])
    groups = for n <- 1..100, do: {0, n}
    members = Enum.take(ids, 25 * @often)

    [
      enter_many: fn ->
        for id <- Enum.take(ids, @often),
            do: {:ok, [_ | _]} = Leaderboard.enter(board, id, 1, entry: entry)
      end,
      enter_some: fn ->
        for id <- members,
            do: {:ok, _} = Native.leaderboard_enter(board.set.ref, id, 1, entry, groups, :best)
      end
    ]
  end

  # Records with an index, to which another is added.
  defp heavy_records do
    indexes = [n: [score: :n, group: :tens]]
    {:ok, store} = PropertyStore.start_link(namespace: "NBR", indexes: indexes)
    rows = for n <- 1..@edges, do: {BrandedId.encode!("NBR", n), %{n: n, tens: rem(n, 10)}}
    scan = &(store |> RankIndex.scan(:all, nil, [values: true] ++ &1) |> length())

    [
      put_many_ranked: fn -> :ok = PropertyStore.put_many(store, rows) end,
      add_index: fn -> :ok = RankIndex.add_index(store, :all, score: :n) end,
      remove_index: fn ->
        :ok = RankIndex.add_index(store, :each, group: :n, score: :n)
        :ok = RankIndex.remove_index(store, :each)
      end,
      scan: fn -> for _ <- 1..@often, do: @edges = scan.([]) end,
      scan_reverse: fn -> for _ <- 1..@often, do: @edges = scan.(reverse: true) end,
      put_ranked: fn ->
        for {id, row} <- Enum.take(rows, 5_000), do: PropertyStore.put(store, id, row)
      end
    ]
  end

  defp newest(store, subject) do
    {:ok, page} = EdgeStore.page_from(store, subject, :all, order: :desc)
    page
  end

  # Each round is a turn: the others that are ready go first.
  defp count(counter) do
    :counters.add(counter, 1, 1)
    :erlang.yield()
    count(counter)
  end
end
