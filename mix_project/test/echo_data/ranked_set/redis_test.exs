defmodule EchoData.RankedSet.RedisTest do
  @moduledoc """
  Random operations on a ranked set and on the sorted sets of a real Redis server: the same members, the same
  scores, the same ranks.

  Scores are those that a float of 64 bits holds exactly. Redis orders members of one score by their bytes, as
  ids are ordered. The operations follow from ExUnit's seed, which is printed with a failure.
  """

  use ExUnit.Case, async: true

  alias EchoData.{BrandedId, RankedSet}
  alias EchoData.Conformance.{Redis, RedisServer}

  @operations 6000
  # Operations whose commands are on their way at once.
  @pipeline 200
  @exact 2 ** 53

  setup_all do
    server = start_supervised!(RedisServer)
    {:ok, address: RedisServer.address(server)}
  end

  for kind <- [:integer, :float], members <- [15, 600] do
    @tag timeout: 300_000
    test "#{members} members with #{kind} scores", %{address: address} do
      redis = Redis.connect!(address)
      kind = unquote(kind)
      set = RankedSet.new("RDS", score: kind)
      prefix = "#{kind}:#{unquote(members)}:"

      for _ <- 1..div(@operations, @pipeline) do
        done = for _ <- 1..@pipeline, do: perform(set, operation(set, kind, unquote(members)))
        compare(redis, prefix, kind, done)
      end

      assert RankedSet.size(set) > 0
      compare(redis, prefix, kind, for(group <- groups(), do: perform(set, {:all, group, []})))
    end
  end

  # What we answer, in the words of Redis, and what Redis is to be asked.
  defp perform(set, {function, group, arguments}) do
    {answers, commands} = translate(function, set, group, arguments)
    {{function, group, arguments}, answers, commands}
  end

  defp compare(redis, prefix, kind, done) do
    commands = for {_operation, _ours, commands} <- done, command <- commands, do: command
    commands = for [verb, key | rest] <- commands, do: [verb, prefix <> key | rest]

    theirs =
      Redis.pipeline!(
        redis,
        Enum.map(commands, fn command -> Enum.map(command, &to_string/1) end)
      )

    Enum.reduce(done, theirs, fn {operation, ours, commands}, theirs ->
      {answers, rest} = Enum.split(theirs, length(commands))

      answers =
        answers |> Enum.zip(ours) |> Enum.map(fn {answer, ours} -> read(answer, ours, kind) end)

      assert answers === ours,
             "#{inspect(operation)}: #{inspect(ours)}, not #{inspect(answers)} " <>
               "(seed #{ExUnit.configuration()[:seed]})"

      rest
    end)
  end

  # As our answer to the same is written.
  defp read(:undefined, _ours, _kind), do: nil
  defp read(list, _ours, kind) when is_list(list), do: pairs(list, kind)
  defp read(number, {:score, _}, kind), do: {:score, number(number, kind)}
  defp read(number, _ours, _kind), do: String.to_integer(number)

  defp pairs([], _kind), do: []
  defp pairs([id, score | rest], kind), do: [{id, number(score, kind)} | pairs(rest, kind)]

  defp number(text, :integer), do: text |> number(:float) |> trunc()

  defp number(text, :float) do
    {number, ""} = Float.parse(text)
    number
  end

  defp translate(:put, set, group, [id, score, conditions]) do
    {:ok, done} = RankedSet.put(set, id, score, group: group, if: conditions)
    words = %{new: "NX", exists: "XX", greater: "GT", less: "LT"}
    flags = Enum.map(conditions, &words[&1])
    {[if(done == :unchanged, do: 0, else: 1)], [["ZADD", group] ++ flags ++ ["CH", score, id]]}
  end

  defp translate(:put_all, set, group, [rows]) do
    {:ok, added} = RankedSet.put_all(set, rows, group: group)
    {[added], [["ZADD", group | Enum.flat_map(rows, fn {id, score} -> [score, id] end)]]}
  end

  defp translate(:increment, set, group, [id, delta]) do
    {:ok, sum} = RankedSet.increment(set, id, delta, group: group)
    {[{:score, sum}], [["ZINCRBY", group, delta, id]]}
  end

  defp translate(:delete, set, group, [id]) do
    deleted = RankedSet.delete(set, id, group: group)
    {[if(deleted == :ok, do: 1, else: 0)], [["ZREM", group, id]]}
  end

  defp translate(:drop, set, group, []) do
    {:ok, dropped} = RankedSet.drop_group(set, group)
    {[min(dropped, 1)], [["DEL", group]]}
  end

  defp translate(:score, set, group, [id]) do
    case RankedSet.score(set, id, group: group) do
      {:ok, score} -> {[{:score, score}], [["ZSCORE", group, id]]}
      :error -> {[nil], [["ZSCORE", group, id]]}
    end
  end

  defp translate(:rank, set, group, [id, order]) do
    verb = if order == :asc, do: "ZRANK", else: "ZREVRANK"

    rank =
      with {:ok, rank} <- RankedSet.rank(set, id, group: group, order: order),
           do: rank

    {[if(rank != :error, do: rank)], [[verb, group, id]]}
  end

  defp translate(:ranks, set, group, [ids]),
    do: {RankedSet.ranks(set, ids, group: group), for(id <- ids, do: ["ZRANK", group, id])}

  defp translate(:select, set, group, [place]) do
    members = with {:ok, member} <- RankedSet.select(set, place, group: group), do: [member]

    {[if(members == :error, do: [], else: members)],
     [["ZRANGE", group, place, place, "WITHSCORES"]]}
  end

  defp translate(:by_rank, set, group, [first, last, order]) do
    verb = if order == :asc, do: "ZRANGE", else: "ZREVRANGE"
    rows = RankedSet.by_rank(set, {first, last}, group: group, order: order)
    {[members(rows)], [[verb, group, first, last, "WITHSCORES"]]}
  end

  defp translate(:all, set, group, []),
    do:
      {[set |> RankedSet.by_rank({nil, nil}, group: group) |> members()],
       [["ZRANGE", group, 0, -1, "WITHSCORES"]]}

  defp translate(:count_between, set, group, [lo, hi]) do
    count = RankedSet.count_between(set, lo, hi, group: group)
    {[count], [["ZCOUNT", group, bound(lo, "-inf"), bound(hi, "+inf")]]}
  end

  defp translate(:by_score, set, group, [lo, hi, order, limit]) do
    rows = RankedSet.by_score(set, lo, hi, group: group, order: order, limit: limit)
    bounds = [bound(lo, "-inf"), bound(hi, "+inf")]

    {verb, bounds} =
      if order == :asc,
        do: {"ZRANGEBYSCORE", bounds},
        else: {"ZREVRANGEBYSCORE", Enum.reverse(bounds)}

    {[members(rows)], [[verb, group] ++ bounds ++ ["WITHSCORES", "LIMIT", 0, limit]]}
  end

  defp translate(:pop_min, set, group, [n]),
    do: {[RankedSet.pop_min(set, n, group: group)], [["ZPOPMIN", group, n]]}

  defp translate(:pop_max, set, group, [n]),
    do: {[RankedSet.pop_max(set, n, group: group)], [["ZPOPMAX", group, n]]}

  defp translate(:count, set, group, []),
    do: {[RankedSet.count(set, group: group)], [["ZCARD", group]]}

  defp members(rows), do: for({_rank, id, score} <- rows, do: {id, score})

  defp bound(nil, open), do: open
  defp bound({:exclusive, score}, _open), do: "(#{score}"
  defp bound(score, _open), do: score

  defp groups, do: ["a", "b"]

  defp operation(set, kind, members) do
    group = Enum.random(groups())
    id = fn -> BrandedId.encode!("RDS", :rand.uniform(members)) end
    draw = fn -> draw(kind) end
    order = Enum.random([:asc, :desc])

    case :rand.uniform(40) do
      n when n <= 8 ->
        {:put, group, [id.(), draw.(), []]}

      n when n <= 12 ->
        {:put, group, [id.(), draw.(), conditions()]}

      n when n <= 14 ->
        {:put_all, group, [for(_ <- 1..5, do: {id.(), draw.()}) |> Enum.uniq_by(&elem(&1, 0))]}

      n when n <= 18 ->
        increment(set, group, id.(), draw.())

      n when n <= 20 ->
        {:delete, group, [id.()]}

      n when n <= 22 ->
        {:score, group, [id.()]}

      n when n <= 25 ->
        {:rank, group, [id.(), order]}

      26 ->
        {:ranks, group, [for(_ <- 1..5, do: id.())]}

      n when n <= 28 ->
        {:select, group, [:rand.uniform(members) - 1]}

      n when n <= 31 ->
        {:by_rank, group, [:rand.uniform(members) - 1, :rand.uniform(members), order]}

      n when n <= 34 ->
        {:count_between, group, [limit(draw), limit(draw)]}

      n when n <= 37 ->
        {:by_score, group, [limit(draw), limit(draw), order, :rand.uniform(9)]}

      38 ->
        {Enum.random([:pop_min, :pop_max]), group, [:rand.uniform(4) - 1]}

      39 ->
        {:count, group, []}

      40 ->
        if(:rand.uniform(30) == 1, do: {:drop, group, []}, else: {:count, group, []})
    end
  end

  # So that the sum is a score that both can hold.
  defp increment(set, group, id, delta) do
    old =
      case RankedSet.score(set, id, group: group) do
        {:ok, score} -> score
        :error -> 0
      end

    {:increment, group, [id, if(abs(old + delta) > @exact, do: -delta, else: delta)]}
  end

  defp conditions,
    do:
      Enum.random([[:new], [:exists], [:greater], [:less], [:exists, :greater], [:exists, :less]])

  defp limit(draw), do: Enum.random([nil, {:exclusive, draw.()}, draw.(), draw.()])

  defp draw(:float), do: draw(:integer) / 8

  defp draw(:integer) do
    case :rand.uniform(10) do
      1 -> Enum.random([@exact, @exact - 1, -@exact, 1 - @exact, 0])
      2 -> Enum.random([1, -1]) * :rand.uniform(@exact)
      _ -> :rand.uniform(20) - 10
    end
  end
end
