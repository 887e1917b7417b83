# Ranked sets beside ETS, an `ordered_set` of `{score, id}` with a `set` of scores, used raw; and beside the sorted
# sets of a Redis server on this machine, a thousand commands at a time on one socket.

defmodule EchoData.Bench.RawRanks do
  @moduledoc "What an application writes on ETS: ranks are counted, places are walked to."

  def new do
    places = :ets.new(:places, [:ordered_set, :public, write_concurrency: true])
    {places, :ets.new(:scores, [:set, :public])}
  end

  def put({places, scores}, id, score) do
    case :ets.lookup(scores, id) do
      [{_id, old}] -> :ets.delete(places, {old, id})
      [] -> true
    end

    :ets.insert(scores, {id, score})
    :ets.insert(places, {{score, id}})
  end

  def rank({places, scores}, id) do
    [{_id, score}] = :ets.lookup(scores, id)
    earlier = {:orelse, {:<, :"$1", score}, {:andalso, {:==, :"$1", score}, {:<, :"$2", id}}}
    :ets.select_count(places, [{{{:"$1", :"$2"}}, [earlier], [true]}])
  end

  def select({places, _scores}, place), do: walk(places, :ets.first(places), place)

  defp walk(_places, key, 0), do: key
  defp walk(places, key, left), do: walk(places, :ets.next(places, key), left - 1)

  def top({places, _scores}, count), do: top(places, :ets.last(places), count)

  defp top(_places, _key, 0), do: []
  defp top(places, key, left), do: [key | top(places, :ets.prev(places, key), left - 1)]

  def between({places, _scores}, lo, hi) do
    inside = {:andalso, {:>=, :"$1", lo}, {:"=<", :"$1", hi}}
    :ets.select_count(places, [{{{:"$1", :_}}, [inside], [true]}])
  end

  def bytes({places, scores}) do
    words = for table <- [places, scores], do: :ets.info(table, :memory)
    Enum.sum(words) * :erlang.system_info(:wordsize)
  end
end

defmodule EchoData.Bench.Ranked do
  alias EchoData.Bench.RawRanks
  alias EchoData.Conformance.{Redis, RedisServer}
  alias EchoData.Demo.Table
  alias EchoData.Twin.Race
  alias EchoData.{Bench, BrandedId, Native, RankedSet}

  # A size to try it with can be named in the environment.
  @sizes (case System.get_env("ECHO_BENCH_MEMBERS") do
            nil -> [10_000, 1_000_000]
            members -> [String.to_integer(members)]
          end)

  @chunk 1000
  @top 100

  # What a question may take, in nanoseconds, and a member of all indexes together, in bytes.
  @question 700
  @bytes 80

  @timing [rounds: 41, round_ns: 2_000_000]

  # The peer visits a good part of all members.
  @scans [rounds: 9]

  def run do
    {:ok, server} = RedisServer.start_link()
    redis = server |> RedisServer.address() |> Redis.connect!()

    for members <- @sizes do
      rows = rows(members)
      set = filled(rows)
      beside_ets(set, rows)
      beside_redis(set, redis, rows)
      RankedSet.close(set)
    end

    GenServer.stop(server)
  end

  # Ten members to a score; ids in the order of time, scores in none.
  defp rows(members) do
    for n <- 1..members,
        do: {BrandedId.encode!("PLR", Bitwise.bsl(n, 22)), :rand.uniform(div(members, 10))}
  end

  defp filled(rows) do
    set = RankedSet.new("PLR")
    {:ok, _added} = RankedSet.put_all(set, rows)
    Native.drain()
    set
  end

  defp beside_ets(set, rows) do
    raw = RawRanks.new()
    for {id, score} <- rows, do: RawRanks.put(raw, id, score)
    members = length(rows)
    Bench.heading("#{Table.number(members)} members, integer scores", "ETS")
    {ids, places} = {supply(rows), places(members)}
    questions(set, raw, ids, places)
    listings(set, raw, members)

    Bench.row(
      "another score for a member",
      fn -> each(ids.(), &RawRanks.put(raw, &1, :rand.uniform(members))) end,
      fn -> each(ids.(), &RankedSet.put(set, &1, :rand.uniform(members))) end,
      units: @chunk
    )

    # What was replaced is not what a member costs.
    Native.drain()
    bytes = RankedSet.info(set).bytes / members
    Bench.figures("bytes a member", RawRanks.bytes(raw) / members, bytes, nil)
    Bench.figures("bytes that it may take, and takes", @bytes, bytes, 1)
  end

  defp questions(set, raw, ids, places) do
    one = fn supply -> hd(supply.()) end
    rank = fn -> each(ids.(), &RankedSet.rank(set, &1)) end
    select = fn -> each(places.(), &RankedSet.select(set, &1)) end
    score = fn -> each(places.(), &RankedSet.rank_for_score(set, div(&1, 10))) end
    may_take("rank: ns that it may take, and takes", rank)
    may_take("rank of a score: ns that it may take, and takes", score)
    may_take("select: ns that it may take, and takes", select)

    Bench.row(
      "rank",
      fn -> RawRanks.rank(raw, one.(ids)) end,
      fn -> RankedSet.rank(set, one.(ids)) end,
      @scans
    )

    Bench.row(
      "select",
      fn -> RawRanks.select(raw, one.(places)) end,
      fn -> RankedSet.select(set, one.(places)) end,
      @scans
    )
  end

  defp listings(set, raw, members) do
    Bench.row("the top #{@top}", fn -> RawRanks.top(raw, @top) end, fn ->
      RankedSet.by_rank(set, 0..(@top - 1), order: :desc)
    end)

    {lo, hi} = {div(members, 40), div(members, 20)}

    Bench.row(
      "members between two scores",
      fn -> RawRanks.between(raw, lo, hi) end,
      fn -> RankedSet.count_between(set, lo, hi) end,
      @scans
    )
  end

  defp may_take(what, ask) do
    [laps] = Race.run([ask], @timing)
    Bench.figures(what, @question, Race.spread(laps, @chunk).median, 1)
  end

  defp beside_redis(set, redis, rows) do
    members = length(rows)

    Bench.heading(
      "#{Table.number(members)} members, #{Table.number(@chunk)} questions at a time",
      "Redis, pipelined"
    )

    for chunk <- Enum.chunk_every(rows, @chunk) do
      scores = Enum.flat_map(chunk, fn {id, score} -> ["#{score}", id] end)
      Redis.command!(redis, ["ZADD", "board" | scores])
    end

    {ids, places} = {supply(rows), places(members)}
    ask = fn list, command -> Redis.pipeline!(redis, Enum.map(list, command)) end
    units = [units: @chunk]

    Bench.row(
      "rank",
      fn -> ask.(ids.(), &["ZRANK", "board", &1]) end,
      fn -> each(ids.(), &RankedSet.rank(set, &1)) end,
      units
    )

    Bench.row(
      "ranks, in one call",
      fn -> ask.(ids.(), &["ZRANK", "board", &1]) end,
      fn -> RankedSet.ranks(set, ids.()) end,
      units
    )

    Bench.row(
      "select",
      fn -> ask.(places.(), &["ZRANGE", "board", "#{&1}", "#{&1}", "WITHSCORES"]) end,
      fn -> each(places.(), &RankedSet.select(set, &1)) end,
      units
    )

    Bench.row(
      "another score for a member",
      fn -> ask.(ids.(), &["ZADD", "board", "#{:rand.uniform(members)}", &1]) end,
      fn -> each(ids.(), &RankedSet.put(set, &1, :rand.uniform(members))) end,
      units
    )

    Bench.row(
      "rank, one by one",
      fn -> Redis.command!(redis, ["ZRANK", "board", hd(ids.())]) end,
      fn -> RankedSet.rank(set, hd(ids.())) end
    )

    Redis.command!(redis, ["DEL", "board"])
  end

  defp places(members),
    do: Bench.supply([for(_ <- 1..@chunk, do: :rand.uniform(members) - 1)])

  defp supply(rows) do
    rows
    |> Enum.map(fn {id, _score} -> id end)
    |> Enum.shuffle()
    |> Enum.chunk_every(@chunk, @chunk, :discard)
    |> Bench.supply()
  end

  defp each([], _ask), do: :ok

  defp each([question | questions], ask) do
    ask.(question)
    each(questions, ask)
  end
end

:rand.seed(:exsss, 1)
EchoData.Bench.Ranked.run()
