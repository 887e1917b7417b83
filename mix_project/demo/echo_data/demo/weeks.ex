defmodule EchoData.Demo.Weeks do
  @moduledoc """
  The commits once more, in buckets of a week, of which the last four are kept: in an ETS table and in
  `EchoData.Buckets`. The history passes week by week, and what is too old expires.
  """

  alias EchoData.Bcs.PropertyStore
  alias EchoData.{Buckets, Demo, Twin}
  alias EchoData.Demo.{Failed, Questions, Stores, Table}

  # A bucket lasts 2^29 ms, 6.2 days.
  @bits 29
  @kept 4

  @doc """
  Fills both stores with the commits of a property store, asks them, expires week by week, and prints how long
  that took.

  Raises `EchoData.Demo.Failed` when answers differ. The timing is as `EchoData.Twin.Race.run/2` takes it.
  """
  @spec show(Stores.t(), keyword) :: :ok
  def show(%{property_store: [_ets, {PropertyStore, store}]}, timing) do
    {:ok, commits} = PropertyStore.page_asc(store, PropertyStore.size(store), values: true)
    [_ets, {Buckets, weeks}] = pair = open()
    filled = timed!("put, one by one", pair, &put(&1, &2, commits))
    count = Buckets.bucket_count(weeks)
    lines = [filled | lines!(pair, timing)]
    {_title, expired, _took} = List.last(lines)

    IO.puts(Table.section("weekly buckets", lines))

    IO.puts(
      "Weeks with commits: #{Table.number(count)}, of which the last #{@kept} are kept. " <>
        "Commits: #{Table.number(expired)} expired, #{Table.number(Buckets.size(weeks))} stay.\n"
    )
  end

  @doc "Both stores, empty, ETS first; they belong to the caller."
  @spec open() :: Stores.pair()
  def open,
    do: for(module <- [Twin.Buckets, Buckets], do: {module, module.new(bucket_bits: @bits)})

  @doc """
  What is asked of filled stores, and what their expiry is, which leaves the last weeks.

  Raises as `show/2`.
  """
  @spec lines!(Stores.pair(), keyword) :: [Table.line()]
  def lines!([_ets, {Buckets, weeks}] = pair, timing) do
    instants = instants(weeks)
    asked = for question <- questions(weeks), do: Demo.ask(question, pair, timing)
    expired = timed!("expiry, week by week", pair, &expire(&1, &2, instants))
    Demo.agreed!(question("what is left", & &1.to_snowflake_list(&2), &length/1), pair)
    asked ++ [expired]
  end

  defp questions(weeks) do
    {:ok, newest} = Buckets.newest_bucket(weeks)

    [
      question("commits per week", & &1.counts(&2), &count/1),
      question("the newest week", & &1.entries(&2, newest), &length/1)
    ]
  end

  defp question(title, ask, rows),
    do: %Questions{kind: :buckets, title: title, ask: ask, rows: rows}

  defp count(counts), do: counts |> Enum.map(&elem(&1, 1)) |> Enum.sum()

  # The first instants of the oldest week that is kept, as weeks pass.
  defp instants(weeks) do
    {{:ok, oldest}, {:ok, newest}} = {Buckets.oldest_bucket(weeks), Buckets.newest_bucket(weeks)}
    for week <- oldest..(newest - @kept + 1)//1, do: Buckets.bucket_start(weeks, week)
  end

  defp put(module, weeks, commits) do
    Enum.each(commits, fn {id, commit} -> ^weeks = module.put(weeks, id, commit) end)
    module.size(weeks)
  end

  defp expire(module, weeks, instants) do
    instants
    |> Enum.map(&(weeks |> module.expire_older_than(&1) |> elem(0)))
    |> Enum.sum()
  end

  # What can be done once only.
  defp timed!(title, pair, work) do
    [{ets, rows}, {ours, same}] = for {module, weeks} <- pair, do: timed(work, module, weeks)
    rows == same || raise Failed, "the answers differ: weekly buckets, #{title}"
    {title, rows, {ets, ours}}
  end

  defp timed(work, module, weeks) do
    start = System.monotonic_time(:nanosecond)
    answer = work.(module, weeks)
    {max(1, System.monotonic_time(:nanosecond) - start), answer}
  end
end
