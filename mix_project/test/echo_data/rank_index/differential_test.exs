defmodule EchoData.RankIndex.DifferentialTest do
  @moduledoc """
  Random changes of records, and every answer of the indexes against that of a list that is sorted anew.

  The operations follow from ExUnit's seed, which is printed with a failure.
  """

  use ExUnit.Case, async: true

  alias EchoData.Bcs.PropertyStore
  alias EchoData.{BrandedId, RankedRecords, RankIndex}

  @operations 1500

  @points %{
    name: :points,
    group: [[:room]],
    score: [[:points]],
    fields: [integer: :asc],
    unique: false
  }
  @best %{@points | name: :best, group: [], fields: [integer: :desc]}
  @pair %{
    name: :pair,
    group: [[:room], ["team", :name]],
    score: [[:points], ["team", 7]],
    fields: [integer: :desc, float: :asc],
    unique: false
  }
  @seat %{@points | name: :seat, group: [["team", :name]], score: [[:seat]], unique: true}
  @weight %{@best | name: :weight, score: [[:weight]], fields: [float: :desc]}

  @ties [:ordinal, :competition, :dense, :max]

  test "every answer is that of a sorted list" do
    for indexes <- [[@points], [@seat, @best], [@points, @best, @pair, @seat, @weight]],
        space <- [5, 40] do
      declarations = Enum.map(indexes, &RankedRecords.declaration/1)
      options = [namespace: "PLR", indexes: declarations]
      store = start_supervised!({PropertyStore, options}, id: make_ref())
      run(store, indexes, space)
    end
  end

  test "an index that is added later is as one from the beginning, and one that is removed as none" do
    store = start_supervised!({PropertyStore, namespace: "PLR", indexes: []})

    all = [@weight, @seat, @pair, @best, @points]

    added = fn index, {state, indexes} ->
      state = Enum.reduce(1..40, state, fn _, state -> change(store, state, indexes, 30) end)
      {name, declaration} = RankedRecords.declaration(index)
      added = RankIndex.add_index(store, name, declaration)

      # Records that this index would have refused may be there.
      state = if added == :ok, do: state, else: refused(store, state, index, added)
      assert RankIndex.names(store) == Enum.map(indexes ++ [index], & &1.name)
      for index <- indexes ++ [index], do: agree(store, state, index)
      {state, indexes ++ [index]}
    end

    {state, indexes} = Enum.reduce(all, {%{}, []}, added)

    Enum.reduce(Enum.shuffle(all), {state, indexes}, fn index, {state, indexes} ->
      assert RankIndex.remove_index(store, index.name) == :ok
      left = List.delete(indexes, index)
      state = Enum.reduce(1..40, state, fn _, state -> change(store, state, left, 30) end)
      for index <- left, do: agree(store, state, index)
      {state, left}
    end)
  end

  # Why the index was refused is true; without the records that it refuses it is added.
  defp refused(store, state, index, {:error, reason}) do
    assert {:error, ^reason} = RankedRecords.put_many(%{}, [index], Map.to_list(state))

    state =
      for {id, row} <- state, reduce: %{} do
        kept ->
          case RankedRecords.put_many(kept, [index], [{id, row}]) do
            {:ok, kept} ->
              kept

            {:error, _reason} ->
              assert PropertyStore.delete(store, id) == :ok
              kept
          end
      end

    {name, declaration} = RankedRecords.declaration(index)
    assert RankIndex.add_index(store, name, declaration) == :ok
    state
  end

  defp run(store, indexes, space) do
    {_state, held} =
      Enum.reduce(1..@operations, {%{}, []}, fn n, {state, held} ->
        state = change(store, state, indexes, space)
        ask(store, state, Enum.random(indexes), space)

        held =
          if rem(n, 300) == 0, do: [{PropertyStore.snapshot(store), state} | held], else: held

        {state, held}
      end)

    for {source, state} <- held, index <- indexes, do: agree(source, state, index)
  end

  defp change(store, state, indexes, space) do
    case :rand.uniform(10) do
      n when n <= 5 ->
        put(state, indexes, [random_row(space)], fn [{id, row}] ->
          PropertyStore.put(store, id, row)
        end)

      n when n <= 7 ->
        rows = for _ <- 1..:rand.uniform(8), do: random_row(space)
        put(state, indexes, rows, &PropertyStore.put_many(store, &1))

      8 ->
        id = random_id(space)
        assert PropertyStore.take(store, id) == found(state[id])
        Map.delete(state, id)

      _ ->
        id = random_id(space)
        deleted = if is_map_key(state, id), do: :ok, else: {:error, :not_found}
        assert PropertyStore.delete(store, id) == deleted
        Map.delete(state, id)
    end
  end

  defp put(state, indexes, rows, put) do
    case RankedRecords.put_many(state, indexes, rows) do
      {:ok, state} ->
        assert put.(rows) == :ok
        state

      {:error, reason} ->
        assert put.(rows) == {:error, reason}
        state
    end
  end

  defp found(nil), do: {:error, :not_found}
  defp found(row), do: {:ok, row}

  defp ask(store, state, index, space) do
    {group, ties, order} = {random_group(index), Enum.random(@ties), Enum.random([:asc, :desc])}
    options = [ties: ties, order: order]
    rows = RankedRecords.standings(state, index, group, ties, order)
    assert RankIndex.count(store, index.name, said(group)) == length(rows)

    distinct =
      rows |> Enum.uniq_by(fn {_, _, score} -> RankedRecords.place(index, score) end) |> length()

    assert RankIndex.count_distinct(store, index.name, said(group)) == distinct

    score = random_score(index)

    assert RankIndex.rank_for_score(store, index.name, said(group), said(score), options) ==
             RankedRecords.rank_for_score(state, index, group, score, ties, order)

    ask_places(store, state, index, group, order)
    ask_record(store, state, index, space, options)
    ask_ranks(store, rows, index, group, options)
    ask_scores(store, rows, index, group, options)
  end

  defp ask_places(store, state, index, group, order) do
    rows = RankedRecords.standings(state, index, group, :ordinal, order)
    place = :rand.uniform(length(rows) + 3) - 2
    at = if place >= 0, do: Enum.at(rows, place)

    {found, skipped} =
      case at do
        nil -> {{:error, :out_of_range}, :skip}
        {_rank, _id, score} -> {{:ok, said(score)}, {:ok, said(score)}}
      end

    arguments = [store, index.name, said(group), place, [order: order]]
    assert apply(RankIndex, :score_for_rank, arguments) === found
    assert apply(RankIndex, :score_for_rank_else_skip, arguments) === skipped
  end

  defp ask_record(store, state, index, space, options) do
    {id, row} = random_row(space)

    expected =
      case state do
        %{^id => there} ->
          {group, _score} = RankedRecords.evaluate(index, there)
          rows = RankedRecords.standings(state, index, group, options[:ties], options[:order])
          {rank, _id, _score} = List.keyfind(rows, id, 1)
          {:ok, rank}

        _absent ->
          {:error, :not_found}
      end

    assert RankIndex.rank(store, index.name, id, options) == expected

    if is_map(row) do
      expected =
        case RankedRecords.evaluate(index, row) do
          {:bad, path} ->
            {:error, {:bad_field, index.name, path}}

          {group, score} ->
            {:ok,
             RankedRecords.rank_for_score(
               state,
               index,
               group,
               score,
               options[:ties],
               options[:order]
             )}
        end

      assert RankIndex.rank(store, index.name, row, options) == expected
    end
  end

  defp ask_ranks(store, rows, index, group, options) do
    {low, high} = {random_end(length(rows)), random_end(length(rows))}
    within = fn {rank, _, _} -> (low == nil or rank >= low) and (high == nil or rank <= high) end
    ask_scan(store, Enum.filter(rows, within), index, group, [range: {low, high}] ++ options)
  end

  defp ask_scores(store, rows, index, group, options) do
    {low, high} = {random_bound(index), random_bound(index)}

    within = fn {_, _, score} ->
      place = RankedRecords.place(index, score)
      above?(index, place, low) and below?(index, place, high)
    end

    range = {said_bound(low), said_bound(high)}

    ask_scan(
      store,
      Enum.filter(rows, within),
      index,
      group,
      [by: :value, range: range] ++ options
    )
  end

  defp ask_scan(store, rows, index, group, options) do
    {reverse, limit} = {Enum.random([true, false]), Enum.random([1, 3, :all])}
    rows = if reverse, do: Enum.reverse(rows), else: rows
    rows = if limit == :all, do: rows, else: Enum.take(rows, limit)
    rows = for {rank, id, score} <- rows, do: {rank, id, said(score)}
    options = [reverse: reverse, limit: limit] ++ options
    assert RankIndex.scan(store, index.name, said(group), options) === rows
  end

  defp above?(_index, _place, nil), do: true
  defp above?(index, place, {:exclusive, low}), do: place > RankedRecords.place(index, low)
  defp above?(index, place, low), do: place >= RankedRecords.place(index, low)

  defp below?(_index, _place, nil), do: true
  defp below?(index, place, {:exclusive, high}), do: place < RankedRecords.place(index, high)
  defp below?(index, place, high), do: place <= RankedRecords.place(index, high)

  # All of an index, of all groups, with the records.
  defp agree(source, state, index) do
    groups = for {_id, row} <- state, do: index |> RankedRecords.evaluate(row) |> elem(0)

    for group <- Enum.uniq(groups) do
      rows = RankedRecords.standings(state, index, group, :dense, :asc)
      rows = for {rank, id, score} <- rows, do: {rank, id, said(score), state[id]}
      assert RankIndex.scan(source, index.name, said(group), ties: :dense, values: true) === rows
    end

    assert PropertyStore.size(source) == map_size(state)
  end

  defp said([field]), do: field
  defp said(fields), do: List.to_tuple(fields)

  defp said_bound(nil), do: nil
  defp said_bound({:exclusive, score}), do: {:exclusive, said(score)}
  defp said_bound(score), do: said(score)

  defp random_end(count), do: Enum.random([nil, :rand.uniform(count + 4) - 3])

  # `nil` as a score is the same as no bound.
  defp random_bound(index) do
    case {:rand.uniform(3), random_score(index)} do
      {1, _score} -> nil
      {_, [nil]} -> nil
      {2, score} -> {:exclusive, score}
      {3, score} -> score
    end
  end

  defp random_score(index), do: for({kind, _order} <- index.fields, do: random_number(kind))

  defp random_group(index), do: for(_field <- index.group, do: random_name())

  defp random_number(:integer),
    do:
      Enum.random([
        nil,
        :rand.uniform(6),
        -0x8000_0000_0000_0000,
        0x7FFF_FFFF_FFFF_FFFF,
        -300,
        70_000
      ])

  defp random_number(:float), do: Enum.random([nil, 0.5, -0.5, 1.0e300, :rand.uniform(4) / 1])

  defp random_name,
    do: Enum.random([nil, nil, :red, "red", 7, -5_000_000_000, String.duplicate("long", 30)])

  defp random_id(space), do: BrandedId.encode!("PLR", :rand.uniform(space))

  # One in fifteen is refused by some index.
  defp random_row(space) do
    row = %{
      :room => random_name(),
      :points => random_number(:integer),
      :seat => :rand.uniform(100),
      :weight => random_number(:float),
      "team" => %{7 => random_number(:float), :name => random_name()},
      {:other, []} => [%{points: 1}, self(), {1.5, %{}}, :rand.bytes(:rand.uniform(80))]
    }

    {random_id(space), row |> missing() |> wrong()}
  end

  defp missing(row) do
    case :rand.uniform(8) do
      1 -> Map.delete(row, Enum.random(Map.keys(row)))
      2 -> %{row | "team" => Enum.random([nil, %{}])}
      3 -> Map.merge(row, Map.new(1..40, &{&1, %{&1 => &1}}))
      _ -> row
    end
  end

  defp wrong(row) do
    case :rand.uniform(75) do
      1 -> Enum.random([true, nil, [], {1, 2}, "record", 5, 1.5])
      2 -> Map.put(row, :room, Enum.random([1.5, [], {}, %{}, <<1::3>>, Bitwise.bsl(1, 64)]))
      3 -> Map.put(row, :points, Enum.random([1.0, "many", Bitwise.bsl(1, 63), [1], %{}]))
      4 -> Map.put(row, :weight, Enum.random([1, "much", %{}]))
      5 -> Map.put(row, "team", Enum.random([5, "team", [], %{7 => :seven}]))
      _ -> row
    end
  end
end
