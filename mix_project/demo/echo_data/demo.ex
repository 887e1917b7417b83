defmodule EchoData.Demo do
  @moduledoc """
  Questions about a git history, answered by EchoData and by the ETS modules that it stands in for.

  Every commit since 2024 is kept as a record under an id of its commit time, in a property store and in a
  timeline of both kinds, and in buckets of a week that expire; which author touched which file in an edge
  store, and which commit came from which as edges; and authors are ranked, month by month. All are asked the
  same; the demo fails unless the answers are equal, and prints how long each took.
  """

  alias EchoData.Demo.{Board, Changes, Failed, History, Mint, Progress, Table, Taste, Weeks}
  alias EchoData.Demo.{Questions, RelationQuestions, Relations, Stores}
  alias EchoData.Timeline
  alias EchoData.Twin.Race

  @type options :: [seed: integer, rounds: pos_integer, round_ns: non_neg_integer]

  @files 10

  @doc """
  Runs the demo on the repository that `path` is in.

    * `:seed` - chooses the ids that are looked up, by default a new one each time
    * `:rounds`, `:round_ns` - how a question is timed: see `EchoData.Twin.Race.run/2`

  Raises `EchoData.Demo.Failed` when there is nothing to ask about or answers differ.
  """
  @spec run(Path.t(), options) :: :ok
  def run(path, options \\ []) do
    options = Keyword.validate!(options, [:seed, rounds: 5, round_ns: 5_000_000])
    seed = options[:seed] || :rand.uniform(999_999)
    stores = Stores.open()
    loaded = load(stores, path)
    matter = Questions.subject_matter(stores, seed)
    relations = Relations.open()
    related = relate(relations, path)
    show_answers(stores, matter)
    show_files(RelationQuestions.most_touched(relations, related, @files))
    questions = Questions.all(matter) ++ RelationQuestions.all(relations, related)
    pairs = Map.merge(stores, relations)
    lines = ask_all(questions, pairs, Keyword.delete(options, :seed))
    show_times(loaded, related, lines)
    Weeks.show(stores, Keyword.delete(options, :seed))
    Board.show(related, Keyword.delete(options, :seed))
    IO.puts("The answers of both are equal. The ids to look up come from seed #{seed}.")
  end

  @doc """
  The answer that all subjects give to a question. Raises `EchoData.Demo.Failed` when they differ.
  """
  @spec agreed!(Questions.t(), Stores.pair()) :: term
  def agreed!(question, pair) do
    [answer | others] = for {module, store} <- pair, do: question.ask.(module, store)

    if Enum.any?(others, &(&1 !== answer)),
      do: raise(Failed, "the answers differ: #{kind(question.kind)}, #{question.title}")

    answer
  end

  defp load(stores, path) do
    loaded =
      Stores.load(stores, path |> History.stream!() |> Mint.stamp() |> Progress.watch(&read/1))

    path = Path.expand(path)
    loaded.rows > 0 || raise Failed, "#{path} has no commit of 2024 or later"
    IO.puts("#{Table.number(loaded.rows)} commits since 2024 of #{path}")

    loaded.left_out == 0 ||
      IO.puts("left out, since no id can hold their times: #{Table.number(loaded.left_out)}")

    loaded
  end

  defp relate(relations, path) do
    changes = path |> Changes.stream!() |> Mint.stamp()
    text = &"reading the changes: #{Table.number(&1)} commits"
    Relations.load(relations, Progress.watch(changes, text))
  end

  defp read(0), do: "reading the history"
  defp read(count), do: "reading the history: #{Table.number(count)} commits"

  defp ask_all(questions, stores, timing) do
    questions
    |> Progress.watch(&"asking: #{&1} of #{length(questions)} questions")
    |> Enum.map(&{&1.kind, ask(&1, stores[&1.kind], timing)})
  end

  @doc """
  The line of a question: its title, the commits that it is about, the nanoseconds of both subjects. The timing
  is as `EchoData.Twin.Race.run/2` takes it.
  """
  @spec ask(Questions.t(), Stores.pair(), keyword) :: Table.line()
  def ask(question, pair, timing) do
    rows = question.rows.(agreed!(question, pair))
    asks = for {module, store} <- pair, do: fn -> question.ask.(module, store) end
    [ets, ours] = asks |> Race.run(timing) |> Enum.map(&Race.spread(&1).median)
    {question.title, rows, {ets, ours}}
  end

  defp show_answers(%{timeline: [_ets, {Timeline, timeline}]}, %{months: months}) do
    IO.puts("\nThe newest ten\n\n" <> Taste.commits(Timeline.latest(timeline, 10)))
    counts = for {from, until} <- months, do: Timeline.window_count(timeline, from, until)
    IO.puts("Commits per month\n\n" <> Taste.months(months, counts))
  end

  defp show_files([]), do: :ok

  defp show_files(files),
    do: IO.puts("Files of most authors\n\n" <> Taste.files(files))

  defp show_times(loaded, related, lines) do
    Enum.each([:property_store, :timeline], fn kind ->
      show_times(kind, "put, one by one", loaded.rows, loaded.took[kind], lines)
    end)

    Enum.each([:edge_store, :edges], fn kind ->
      show_times(kind, "link, one by one", related.rows[kind], related.took[kind], lines)
    end)
  end

  defp show_times(_kind, _load, 0, _took, _lines), do: :ok

  defp show_times(kind, load, rows, [ets, ours], lines) do
    lines = [{load, rows, {ets, ours}} | for({^kind, line} <- lines, do: line)]
    IO.puts(Table.section(kind(kind), lines))
  end

  defp kind(:property_store), do: "property store"
  defp kind(:timeline), do: "timeline"
  defp kind(:edge_store), do: "edge store: who touched what"
  defp kind(:edges), do: "edges: what came from what"
  defp kind(:buckets), do: "weekly buckets"
  defp kind(:board), do: "board of authors"
end
