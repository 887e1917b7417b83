# Edge stores beside two ETS `ordered_set`s with the same edges, used raw, and beside the GenServer that is in
# front of them in an edge store of old.

defmodule EchoData.Bench.Edge do
  alias EchoData.Bcs.EdgeStore
  alias EchoData.{Bench, BrandedId, Twin}
  alias EchoData.Demo.Table

  @store :edge_bench
  @relation [relation: :holds, subject_ns: "PRT", object_ns: "AST"]

  # One subject with very many objects, beside subjects with a few each.
  @heavy 100_000
  @subjects 2000
  @each 50
  @objects 2000

  @chunk 1000
  @page 20

  # The peer visits all edges of the subject.
  @scans [rounds: 9]

  def run do
    edges = edges()
    Bench.heading("#{Table.number(length(edges))} edges without props", "two ETS tables")
    stores = fill(edges)
    degrees(stores)
    pages(stores)
    lookups(stores, edges)
    memory(stores, length(edges))
    writes(stores)
    bulk()
    beside_a_writer(stores)
  end

  defp edges do
    heavy = for n <- 1..@heavy, do: {subject(0), object(n), %{}}

    others =
      for s <- 1..@subjects, n <- 1..@each, do: {subject(s), object(rem(s * n, @objects)), %{}}

    heavy ++ Enum.uniq(others)
  end

  defp fill(edges) do
    raw = Twin.Relation.new(:public)
    {:ok, twin} = Twin.EdgeStore.start_link(@relation)
    {:ok, _pid} = EdgeStore.start_link([{:name, @store} | @relation])
    :ok = EdgeStore.link_many(@store, edges)
    :ok = Twin.Relation.link_many(raw, edges)
    :ok = Twin.EdgeStore.link_many(twin, edges)
    %{raw: raw, twin: twin}
  end

  defp degrees(%{raw: raw}) do
    [heavy, light] = [subject(0), subject(7)]
    {lo, hi} = {object(div(@heavy, 3)), object(div(@heavy, 2))}
    degree = fn id -> fn -> Twin.Relation.degree(raw, :from, id) end end
    ours = fn id -> fn -> EdgeStore.degree(@store, id) end end
    what = "degree of a subject with #{Table.number(@heavy)} objects"
    Bench.row(what, degree.(heavy), ours.(heavy), [target: 1000] ++ @scans)
    Bench.row("degree of a subject with #{@each} objects", degree.(light), ours.(light))
    counted = fn -> Twin.Relation.count(raw, :from, heavy, lo, hi) end
    count = fn -> EdgeStore.count_window(@store, heavy, lo, hi) end
    Bench.row("objects of that subject in a window of time", counted, count, @scans)
  end

  defp pages(%{raw: raw, twin: twin}) do
    heavy = subject(0)
    cursors = Bench.supply(for _ <- 1..1000, do: [object(:rand.uniform(@heavy - @page))])
    first = fn -> EdgeStore.from(@store, heavy, @page) end
    next = fn -> EdgeStore.page_from(@store, heavy, @page, after: hd(cursors.())) end
    target = [target: 3]

    Bench.row(
      "from, limit #{@page}",
      fn -> Twin.Relation.neighbours(raw, :from, heavy, @page) end,
      first,
      target
    )

    page = fn -> Twin.Relation.page(raw, :from, heavy, {:asc, hd(cursors.()), @page, true}) end
    Bench.row("its continuation", page, next, target)
    behind = ", ETS behind a GenServer"

    Bench.row(
      "from, limit #{@page}#{behind}",
      fn -> Twin.EdgeStore.from(twin, heavy, @page) end,
      first,
      target
    )

    page = fn -> Twin.EdgeStore.page_from(twin, heavy, @page, after: hd(cursors.())) end
    Bench.row("its continuation#{behind}", page, next, target)
  end

  defp lookups(%{raw: raw}, edges) do
    ends = edges |> Enum.shuffle() |> Enum.map(fn {s, o, _} -> {s, o} end)
    chunks = ends |> Enum.chunk_every(@chunk, @chunk, :discard) |> Bench.supply()
    props = fn -> for {s, o} <- chunks.(), do: Twin.Relation.props(raw, s, o) end
    ours = fn -> for {s, o} <- chunks.(), do: EdgeStore.props(@store, s, o) end
    Bench.row("props", props, ours, units: @chunk)
    held = fn -> Twin.Relation.neighbours(raw, :to, object(10), :all) end
    {:ok, holders} = EdgeStore.to(@store, object(10))
    Bench.row("to, #{length(holders)} subjects", held, fn -> EdgeStore.to(@store, object(10)) end)
  end

  defp memory(%{raw: raw}, edges) do
    # What was replaced while loading is not what an edge costs.
    EchoData.Native.drain()
    theirs = Twin.Relation.info(raw).bytes
    Bench.figures("bytes an edge", theirs / edges, EdgeStore.info(@store).bytes / edges, nil)
  end

  defp writes(%{raw: raw, twin: twin}) do
    new = for n <- 1..@chunk, do: {subject(:rand.uniform(@subjects)), object(@heavy + n)}
    theirs = fn -> link_and_unlink(Twin.Relation, raw, new) end
    ours = fn -> link_and_unlink(EdgeStore, @store, new) end
    Bench.row("link and unlink", theirs, ours, units: @chunk, target: 1)
    behind = fn -> link_and_unlink(Twin.EdgeStore, twin, new) end
    Bench.row("link and unlink, ETS behind a GenServer", behind, ours, units: @chunk, target: 1)
  end

  defp link_and_unlink(module, store, ends) do
    for {s, o} <- ends do
      :ok = module.link(store, s, o, %{})
      :ok = module.unlink(store, s, o)
    end
  end

  # Every round has tables of its own.
  defp bulk do
    count = 120_000
    edges = for n <- 1..count, do: {subject(0), object(n), %{}}

    theirs = fn ->
      raw = Twin.Relation.new(:public)
      :ok = Twin.Relation.link_many(raw, edges)
      Twin.Relation.close(raw)
    end

    ours = fn ->
      {:ok, store} = EdgeStore.start_link(@relation)
      :ok = EdgeStore.link_many(store, edges)
      GenServer.stop(store)
    end

    what = "link_many of #{Table.number(count)} edges of one subject, an edge"
    Bench.row(what, theirs, ours, units: count, rounds: 5, round_ns: 0)
  end

  # The peer is the same store without the writer.
  defp beside_a_writer(%{raw: raw}) do
    title = "`to` of an object while a writer links and unlinks"
    Bench.heading(title, "alone", "beside the writer")
    object = object(10)
    {subject, new} = {subject(1), object(@heavy + 1)}

    for {what, module, store, to} <- [
          {"EchoData", EdgeStore, @store, fn -> EdgeStore.to(@store, object) end},
          {"two ETS tables", Twin.Relation, raw,
           fn -> Twin.Relation.neighbours(raw, :to, object, :all) end}
        ] do
      write = fn _round -> link_and_unlink(module, store, [{subject, new}]) end
      alone = laps(to)
      {beside, _rounds} = Twin.Beside.run(write, fn -> laps(to) end)
      Bench.figures(what, alone, beside, nil)
    end
  end

  defp laps(read) do
    [laps] = Twin.Race.run([read], rounds: 41, round_ns: 2_000_000)
    Twin.Race.spread(laps).median
  end

  defp subject(n), do: id("PRT", n)
  defp object(n), do: id("AST", n)
  # One id a millisecond.
  defp id(namespace, n), do: BrandedId.encode!(namespace, n * 0x400000)
end

:rand.seed(:exsss, 1)
EchoData.Bench.Edge.run()
