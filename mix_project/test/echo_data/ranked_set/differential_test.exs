defmodule EchoData.RankedSet.DifferentialTest do
  @moduledoc """
  Random operations on a ranked set and on its twin in ETS, which counts along sorted lists: every answer is the
  same.

  The operations follow from ExUnit's seed, which is printed with a failure.
  """

  use ExUnit.Case, async: true

  import EchoData.Differential

  alias EchoData.{BrandedId, RankedSet, Twin}

  @operations 2500
  @most 0x7FFF_FFFF_FFFF_FFFF

  # How scores are drawn: all equal, with many ties, ever larger, all over the range.
  @spreads [:equal, :ties, :growing, :wide]

  for spread <- @spreads do
    test "a ranked set answers what sorted lists do: #{spread} scores" do
      for options <- [
            [],
            [order: :desc],
            [score: :float, order: :desc],
            [score: {:integer, :float}, order: {:desc, :asc}],
            [unique: true]
          ] do
        run(options, unquote(spread), 12)
      end

      run([], unquote(spread), 400)
    end
  end

  defp run(options, spread, space) do
    pair = for module <- [RankedSet, Twin.RankedSet], do: {module, module.new("DIF", options)}
    draw = fn -> score(options[:score] || :integer, spread) end
    for _ <- 1..@operations, do: same(pair, operation(draw, space))
    [{_, ours}, {_, theirs}] = pair

    for group <- RankedSet.groups(ours), ties <- [:ordinal, :competition, :dense, :max] do
      ask = &apply(&1, :by_rank, [&2, {nil, nil}, [group: group, ties: ties]])
      assert ask.(RankedSet, ours) === ask.(Twin.RankedSet, theirs)
    end
  end

  # Groups have no order.
  defp same(pair, {:groups, []}) do
    [ours, theirs] = for {module, set} <- pair, do: set |> module.groups() |> Enum.sort()
    assert ours === theirs
  end

  defp same(pair, operation), do: assert_same(pair, operation)

  defp operation(draw, space) do
    id = fn -> id(space) end
    rows = fn -> for _ <- 1..:rand.uniform(9), do: {id.(), draw.()} end

    one_of([
      fn -> {:put, [id.(), draw.(), group([])]} end,
      fn -> {:put, [id.(), draw.(), group(if: conditions())]} end,
      fn -> {:put_all, [rows.(), group([])]} end,
      fn -> {:increment, [id.(), draw.(), group([])]} end,
      fn -> {:delete, [id.(), group([])]} end,
      fn -> {Enum.random([:pop_min, :pop_max]), [below(4), group([])]} end,
      fn -> if(below(20) == 0, do: {:drop_group, [a_group()]}, else: {:groups, []}) end,
      fn -> {:score, [id.(), group([])]} end,
      fn -> {:rank, [id.(), query()]} end,
      fn -> {:ranks, [for(_ <- 1..5, do: id.()), query()]} end,
      fn -> {:rank_for_score, [draw.(), query()]} end,
      fn -> {:select, [below(space + 3) - 2, query()]} end,
      fn -> {Enum.random([:count, :count_distinct]), [query()]} end,
      fn -> {:count_between, [bound(draw), bound(draw), query()]} end,
      fn -> {:by_rank, [range(space), listing()]} end,
      fn -> {:by_score, [bound(draw), bound(draw), listing()]} end,
      fn -> {:around, [id.(), below(5), query()]} end,
      fn -> {:size, []} end
    ])
  end

  defp one_of(operations), do: Enum.random(operations).()
  defp below(n), do: :rand.uniform(n) - 1

  # One in forty is not let in.
  defp id(space) do
    case below(40) do
      0 -> Enum.random(["FID00000000001", "dif00000000001", nil, 7])
      _ -> BrandedId.encode!("DIF", :rand.uniform(space))
    end
  end

  # One in forty is no score of any set.
  defp score(kind, spread) do
    if below(40) == 0, do: Enum.random([:none, "7", {1}]), else: number(kind, spread)
  end

  defp number({first, second}, spread),
    do: {number(first, spread), number(second, if(spread == :wide, do: :ties, else: spread))}

  defp number(:float, spread),
    do: with(n when is_integer(n) <- number(:integer, spread), do: n / 4)

  defp number(:integer, spread) do
    case {below(12), spread} do
      {0, _} -> nil
      {_, :equal} -> 7
      {_, :ties} -> below(6) - 3
      {_, :growing} -> System.unique_integer([:positive, :monotonic])
      {_, :wide} -> Enum.random([1, -1]) * :rand.uniform(@most)
    end
  end

  defp a_group, do: Enum.random([nil, nil, :a, "a", 3, {:a, 1}])

  defp group(options),
    do: if(below(3) == 0, do: [{:group, a_group()} | options], else: options)

  defp query do
    options =
      for {key, values} <- [ties: [:ordinal, :competition, :dense, :max], order: [:asc, :desc]],
          below(2) == 0,
          do: {key, Enum.random(values)}

    group(options)
  end

  defp listing, do: if(below(3) == 0, do: [{:limit, :rand.uniform(9)} | query()], else: query())

  defp conditions do
    Enum.random([:new, :exists, :greater, :less, [:exists, :greater], [:exists, :less], []])
  end

  defp bound(draw) do
    case below(5) do
      0 -> nil
      1 -> {:exclusive, draw.()}
      _ -> draw.()
    end
  end

  defp range(space) do
    end_ = fn -> below(space + 4) - 3 end

    case below(4) do
      0 -> {Enum.random([nil, end_.()]), Enum.random([nil, end_.()])}
      _ -> Range.new(end_.(), end_.())
    end
  end
end
