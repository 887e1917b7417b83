defmodule EchoData.Demo.Questions do
  @moduledoc """
  What the demo asks of every store: each question once, for either subject of a kind, through the same door.
  """

  alias EchoData.Bcs.PropertyStore
  alias EchoData.Demo.{Mint, Stores}

  @enforce_keys [:kind, :title, :ask, :rows]
  defstruct [:kind, :title, :ask, :rows]

  @typedoc "`:ask` takes a module and its store; `:rows` counts the rows that an answer is about."
  @type t :: %__MODULE__{
          kind: :property_store | :timeline | :edge_store | :edges | :buckets | :board,
          title: String.t(),
          ask: (module, term -> term),
          rows: (term -> non_neg_integer)
        }

  @typedoc "What the questions are about: ids to look up, the last week, the months, as instants."
  @type subject_matter :: %{
          ids: [EchoData.BrandedId.t()],
          week: {DateTime.t(), DateTime.t()},
          months: [{DateTime.t(), DateTime.t()}]
        }

  @lookups 1000
  @page 100

  @doc "Finds out what to ask about loaded stores; `seed` chooses the ids."
  @spec subject_matter(Stores.t(), integer) :: subject_matter
  def subject_matter(%{property_store: [_ets, {PropertyStore, store}]}, seed) do
    {:ok, [oldest]} = PropertyStore.page_asc(store, 1)
    {:ok, [newest]} = PropertyStore.page_desc(store, 1)
    until = newest |> Mint.time() |> DateTime.add(1, :second)
    {:ok, ids} = PropertyStore.page_asc(store, PropertyStore.size(store))

    %{
      ids: sample(List.to_tuple(ids), seed),
      week: {DateTime.add(until, -7 * 24 * 3600, :second), until},
      months: months(Mint.time(oldest), until)
    }
  end

  @doc "The questions, in the order of their table."
  @spec all(subject_matter) :: [t]
  def all(matter), do: of_property_stores(matter) ++ of_timelines(matter)

  defp of_property_stores(%{ids: ids, week: {from, until}, months: months}) do
    {lo, hi} = {Mint.bound(from), Mint.bound(until)}
    bounds = for {from, until} <- months, do: {Mint.bound(from), Mint.bound(until)}
    pages = "all commits, in pages of #{@page}"
    ask = &%__MODULE__{kind: :property_store, title: &1, ask: &2, rows: &3}

    [
      ask.("the newest ten", & &1.page_desc(&2, 10, values: true), &listed/1),
      ask.("the last week", & &1.window(&2, lo, hi, values: true), &listed/1),
      ask.(pages, &pages(fn cursor -> property_page(&1, &2, cursor) end, nil), &length/1),
      ask.("commits per month, counted", &count_windows(&1, &2, bounds), &Enum.sum/1),
      ask.("#{length(ids)} ids, one by one", &each(&1, :get, &2, ids), &length/1),
      ask.("#{length(ids)} ids, in one call", & &1.get_many(&2, ids), &listed/1)
    ]
  end

  defp of_timelines(%{ids: ids, week: {from, until}, months: months}) do
    {lo, hi} = {Mint.bound(from), Mint.bound(until)}
    pages = "all commits, in pages of #{@page}"
    ask = &%__MODULE__{kind: :timeline, title: &1, ask: &2, rows: &3}

    [
      ask.("the newest ten", & &1.latest(&2, 10), &length/1),
      ask.("the last week", & &1.window(&2, lo, hi), &length/1),
      ask.(pages, &pages(fn cursor -> timeline_page(&1, &2, cursor) end, nil), &length/1),
      ask.("commits per month, counted", &window_counts(&1, &2, months), &Enum.sum/1),
      ask.("#{length(ids)} ids, one by one", &each(&1, :fetch, &2, ids), &length/1),
      ask.("#{length(ids)} ids, in one call", & &1.get_many(&2, ids), &length/1)
    ]
  end

  defp listed({:ok, rows}), do: length(rows)

  defp pages(page, cursor) do
    case page.(cursor) do
      [] -> []
      rows -> rows ++ pages(page, rows |> List.last() |> elem(0))
    end
  end

  defp property_page(module, store, cursor) do
    {:ok, rows} = module.page_desc(store, @page, before: cursor, values: true)
    rows
  end

  defp timeline_page(module, timeline, cursor),
    do: module.page_desc(timeline, @page, before: cursor)

  defp count_windows(module, store, bounds) do
    for {lo, hi} <- bounds do
      {:ok, count} = module.count_window(store, lo, hi)
      count
    end
  end

  defp window_counts(module, timeline, months),
    do: for({from, until} <- months, do: module.window_count(timeline, from, until))

  defp each(module, function, store, ids),
    do: for(id <- ids, do: apply(module, function, [store, id]))

  defp sample(ids, seed) do
    state = :rand.seed_s(:exsss, seed)
    {sample, _state} = Enum.map_reduce(1..@lookups, state, &pick(ids, &1, &2))
    sample
  end

  defp pick(ids, _turn, state) do
    {place, state} = :rand.uniform_s(tuple_size(ids), state)
    {elem(ids, place - 1), state}
  end

  defp months(first, until) do
    first
    |> DateTime.to_date()
    |> Date.beginning_of_month()
    |> Stream.iterate(&(&1 |> Date.end_of_month() |> Date.add(1)))
    |> Stream.map(&DateTime.new!(&1, ~T[00:00:00.000]))
    |> Stream.chunk_every(2, 1)
    |> Stream.map(&List.to_tuple/1)
    |> Enum.take_while(fn {from, _until} -> DateTime.compare(from, until) == :lt end)
  end
end
