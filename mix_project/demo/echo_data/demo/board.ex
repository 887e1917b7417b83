defmodule EchoData.Demo.Board do
  @moduledoc """
  The authors of a history, ranked by their commits and by the lines that they changed, in a group for each month
  and in one for all of them: in ETS, which counts along sorted rows, and in `EchoData.RankedSet`.
  """

  alias EchoData.{BrandedId, Demo, RankedSet, Twin}
  alias EchoData.Demo.{Failed, Questions, Relations, Stores, Table, Taste}

  @namespace "AUT"
  @kinds [:commits, :lines]
  @top 10
  @reach 2
  # Whoever asks ETS for ranks one by one counts along all rows each time.
  @some 100
  @figure 9
  @width 78

  @type author :: {BrandedId.t(), email :: binary}

  @doc """
  Fills both boards with what the authors did, asks them, and prints the top ten, one author's neighbourhood, and
  how long all took.

  Raises `EchoData.Demo.Failed` when answers differ. The timing is as `EchoData.Twin.Race.run/2` takes it.
  """
  @spec show(Relations.loaded(), keyword) :: :ok
  def show(%{tallies: tallies}, timing) do
    [_ets, {RankedSet, set}] = pair = open()
    authors = authors(tallies)
    line = load!(pair, tallies, authors)
    emails = Map.new(authors)
    months = tallies |> Enum.map(&elem(&1, 1)) |> Enum.uniq() |> Enum.sort(Date)
    show_top(set, :commits, List.last(months), emails)
    show_top(set, :lines, :ever, emails)
    show_neighbours(set, emails)
    lines = [line | lines!(pair, Enum.sort(Map.keys(emails)), months, timing)]
    IO.puts(Table.section("board of authors", lines))
  end

  @doc "Both boards, empty, ETS first; they belong to the caller."
  @spec open() :: Stores.pair()
  def open, do: for(module <- [Twin.RankedSet, RankedSet], do: {module, module.new(@namespace)})

  @doc "An id for each author, in the order of their names."
  @spec authors([Relations.tally()]) :: [author]
  def authors(tallies) do
    emails = tallies |> Enum.map(&elem(&1, 0)) |> Enum.uniq() |> Enum.sort()
    for {email, n} <- Enum.with_index(emails, 1), do: {BrandedId.encode!(@namespace, n), email}
  end

  @doc "Adds what the authors did to both boards, and answers the line of it. Raises as `show/2`."
  @spec load!(Stores.pair(), [Relations.tally()], [author]) :: Table.line()
  def load!(pair, tallies, authors) do
    ids = Map.new(authors, fn {id, email} -> {email, id} end)

    deltas =
      for {email, month, commits, lines} <- tallies,
          {kind, delta} <- [commits: commits, lines: lines],
          group <- [{kind, name(month)}, {kind, :ever}],
          do: {ids[email], delta, group}

    [ets, ours] = for {module, set} <- pair, do: took(module, set, deltas)
    Demo.agreed!(question("who is in the groups", &everybody/2, &length/1), pair)
    {"increment, one by one", length(deltas), {ets, ours}}
  end

  defp took(module, set, deltas) do
    start = System.monotonic_time(:nanosecond)

    for {id, delta, group} <- deltas,
        do: {:ok, _} = module.increment(set, id, delta, group: group)

    max(1, System.monotonic_time(:nanosecond) - start)
  end

  defp everybody(module, set) do
    for group <- set |> module.groups() |> Enum.sort(),
        row <- module.by_rank(set, {nil, nil}, group: group),
        do: {group, row}
  end

  @doc "What is asked of filled boards. Raises as `show/2`."
  @spec lines!(Stores.pair(), [BrandedId.t()], [Date.t()], keyword) :: [Table.line()]
  def lines!([_ets, {RankedSet, set}] = pair, authors, months, timing) do
    for question <- questions(set, authors, months), do: Demo.ask(question, pair, timing)
  end

  defp questions(set, authors, months) do
    ever = [group: {:commits, :ever}, order: :desc]
    tied = [{:ties, :competition} | ever]
    someone = middle(set)
    some = Enum.take(authors, @some)
    groups = for month <- months, kind <- @kinds, do: {kind, name(month)}

    [
      question("the top ten by commits", & &1.by_rank(&2, 0..(@top - 1), tied), &length/1),
      question("one author's neighbourhood", & &1.around(&2, someone, @reach, tied), &length/1),
      question("ranks of all, in one call", & &1.ranks(&2, authors, tied), &length/1),
      question("ranks of #{length(some)}, one by one", &each(&1, &2, some, ever), &length/1),
      question("the place of 100 commits", & &1.rank_for_score(&2, 100, ever), fn _ -> 1 end),
      question("authors per month, counted", &counts(&1, &2, groups), &Enum.sum/1),
      question("the first of each month", &firsts(&1, &2, groups), &length/1)
    ]
  end

  defp question(title, ask, rows),
    do: %Questions{kind: :board, title: title, ask: ask, rows: rows}

  defp each(module, set, ids, options) do
    for id <- ids do
      {:ok, rank} = module.rank(set, id, options)
      rank
    end
  end

  defp counts(module, set, groups), do: for(group <- groups, do: module.count(set, group: group))

  defp firsts(module, set, groups) do
    for group <- groups do
      {:ok, {author, _score}} = module.select(set, 0, group: group, order: :desc)
      author
    end
  end

  # The author in the middle of the board.
  defp middle(set) do
    ever = [group: {:lines, :ever}, order: :desc]

    case RankedSet.select(set, div(RankedSet.count(set, ever), 2), ever) do
      {:ok, {author, _lines}} -> author
      :error -> raise Failed, "nobody is on the board"
    end
  end

  defp show_top(set, kind, month, emails) do
    options = [group: {kind, name(month)}, order: :desc, ties: :competition, limit: @top]
    rows = RankedSet.by_rank(set, 0..(@top - 1), options)
    IO.puts("Authors of most #{kind}, #{name(month)}\n\n" <> listed(rows, emails))
  end

  defp show_neighbours(set, emails) do
    options = [group: {:lines, :ever}, order: :desc, ties: :competition]
    rows = RankedSet.around(set, middle(set), @reach, options)
    IO.puts("The middle of these\n\n" <> listed(rows, emails))
  end

  # Places as people count them.
  defp listed(rows, emails) do
    Enum.map_join(rows, fn {rank, id, score} ->
      figures = Enum.map_join([rank + 1, score], &String.pad_leading(Table.number(&1), @figure))
      "#{figures}  #{Taste.plain(emails[id], @width)}\n"
    end)
  end

  defp name(:ever), do: :ever
  defp name(month), do: Calendar.strftime(month, "%Y-%m")
end
