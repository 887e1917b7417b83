defmodule EchoData.RankIndex.ConcurrencyTest do
  @moduledoc """
  What readers and writers of ranked records see of each other, and what is left of a store that ends.
  """

  use ExUnit.Case, async: true

  alias EchoData.Bcs.PropertyStore
  alias EchoData.{BrandedId, Lifetime, Mortal, Native, RankIndex}
  alias EchoData.Twin.Beside

  @moduletag capture_log: true

  @indexes [
    points: [group: :room, score: :points],
    seat: [score: :seat, unique: true],
    best: [score: [:points, :seat], order: {:desc, :asc}]
  ]
  @rooms [:red, :blue, nil]

  defp id(n), do: BrandedId.encode!("PLR", n)

  defp start(_context) do
    {:ok, store: start_supervised!({PropertyStore, namespace: "PLR", indexes: @indexes})}
  end

  describe "a store that is read and written" do
    setup :start

    test "shows records and indexes of one moment", %{store: store} do
      write = fn first ->
        fn round ->
          n = 2 * rem(round * 7919, 150) + first
          room = Enum.at(@rooms, rem(round, 3))
          record = %{room: room, points: rem(round, 17), seat: n}

          case rem(round, 4) do
            0 ->
              PropertyStore.delete(store, id(n))

            1 ->
              :ok =
                PropertyStore.put_many(store, [
                  {id(n), record},
                  {id(n + 300), %{record | seat: n + 300}}
                ])

            _ ->
              :ok = PropertyStore.put(store, id(n), record)
          end
        end
      end

      look = fn ->
        snapshot = PropertyStore.snapshot(store)
        agree(snapshot)
        PropertyStore.size(snapshot)
      end

      Beside.run(write.(0), fn -> Beside.run(write.(1), fn -> Beside.look(look, 100, 3) end) end)
      agree(store)
    end

    test "never shows a record that moves in two rooms, or in none", %{store: store} do
      rows = for n <- 1..40, do: {id(n), %{room: :red, points: n, seat: n}}
      PropertyStore.put_many(store, rows)

      move = fn round ->
        room = Enum.at([:red, :blue], rem(round, 2))
        PropertyStore.put_many(store, for({id, row} <- rows, do: {id, %{row | room: room}}))
      end

      look = fn ->
        snapshot = PropertyStore.snapshot(store)
        [red, blue] = for room <- [:red, :blue], do: RankIndex.count(snapshot, :points, room)
        assert {red, blue} in [{40, 0}, {0, 40}]
        assert {:ok, rank} = RankIndex.rank(store, :points, id(11))
        assert rank == 10
        red
      end

      Beside.run(move, fn -> Beside.look(look, 300, 2) end)
    end

    test "lets one of several take a unique place", %{store: store} do
      for round <- 1..200 do
        take = fn n -> PropertyStore.put(store, id(4 * round + n), %{seat: round}) end
        tasks = for n <- 0..3, do: Task.async(fn -> take.(n) end)
        refused = {:error, {:not_unique, :seat}}
        assert tasks |> Task.await_many() |> Enum.frequencies() == %{:ok => 1, refused => 3}
        assert RankIndex.count(store, :seat, nil) == round
      end

      assert PropertyStore.size(store) == 200
    end

    test "gives a record that is taken to one of several", %{store: store} do
      for n <- 1..200 do
        record = %{room: :red, points: 1, seat: n, text: :binary.copy("t", 200)}
        :ok = PropertyStore.put(store, id(n), record)
        tasks = for _ <- 1..3, do: Task.async(fn -> PropertyStore.take(store, id(n)) end)
        taken = Task.await_many(tasks)
        assert Enum.frequencies(taken) == %{{:ok, record} => 1, {:error, :not_found} => 2}
      end

      assert RankIndex.count(store, :points, :red) == 0
    end

    test "gives back what is replaced, refused and deleted", %{store: store} do
      rows =
        for n <- 1..3_000,
            do: {id(n), %{room: rem(n, 7), points: n, seat: n, text: :binary.copy("t", 99)}}

      refused = rows ++ [{id(1), %{seat: "none"}}]
      taken = rows ++ [{id(5_000), %{seat: 1}}]

      for _ <- 1..3 do
        assert {:error, {:bad_field, :seat, [:seat]}} = PropertyStore.put_many(store, refused)
        assert {:error, {:not_unique, :seat}} = PropertyStore.put_many(store, taken)
        :ok = PropertyStore.put_many(store, rows)

        for {id, row} <- rows,
            do: :ok = PropertyStore.put(store, id, %{row | points: -row.points})

        for {id, _row} <- rows, do: {:ok, _row} = PropertyStore.take(store, id)
      end

      Native.drain()
      assert %{rows: 0, bytes: bytes} = PropertyStore.info(store)
      assert bytes < 150_000
    end
  end

  defp agree(source) do
    snapshot = PropertyStore.snapshot(source)
    rows = Enum.to_list(snapshot)

    for room <- @rooms do
      expected = for {id, %{room: ^room} = row} <- rows, do: {row.points, id, row}
      ranked = RankIndex.scan(snapshot, :points, room, values: true)
      assert for({_rank, id, points, row} <- ranked, do: {points, id, row}) == Enum.sort(expected)
      assert RankIndex.count(snapshot, :points, room) == length(expected)

      for {rank, id, points, _row} <- Enum.take_random(ranked, 5) do
        assert RankIndex.rank(snapshot, :points, id) == {:ok, rank}
        assert RankIndex.score_for_rank(snapshot, :points, room, rank) == {:ok, points}
      end
    end

    seats = for {_rank, _id, seat} <- RankIndex.scan(snapshot, :seat, nil), do: seat
    assert seats == Enum.sort(for {_id, row} <- rows, do: row.seat)
    assert RankIndex.count_distinct(snapshot, :seat, nil) == length(rows)

    best =
      for {_rank, _id, {points, seat}} <- RankIndex.scan(snapshot, :best, nil),
          do: {-points, seat}

    assert best == Enum.sort(for {_id, row} <- rows, do: {-row.points, row.seat})
  end

  describe "a store that ends" do
    test "exits callers as GenServer.call does" do
      Lifetime.assert_exits(PropertyStore, [namespace: "PLR", indexes: @indexes], [
        &PropertyStore.put(&1, id(1), %{}),
        &PropertyStore.put_many(&1, [{id(1), %{}}]),
        &PropertyStore.size/1,
        &RankIndex.names/1,
        &RankIndex.count(&1, :points, nil),
        &RankIndex.count_distinct(&1, :points, nil),
        &RankIndex.rank(&1, :points, id(1)),
        &RankIndex.rank_for_score(&1, :points, nil, 1),
        &RankIndex.score_for_rank(&1, :points, nil, 1),
        &RankIndex.score_for_rank_else_skip(&1, :points, nil, 1),
        &RankIndex.scan(&1, :points, nil),
        &RankIndex.scan(&1, :points, nil, by: :value),
        &RankIndex.add_index(&1, :late, score: :points)
      ])
    end

    test "gives all its memory back" do
      Process.flag(:trap_exit, true)
      {:ok, pid} = PropertyStore.start_link(namespace: "PLR", indexes: @indexes)
      %{store: ref} = :sys.get_state(pid)

      rows =
        for n <- 1..20_000,
            do: {id(n), %{room: rem(n, 50), points: n, seat: n, text: :binary.copy("t", 80)}}

      :ok = PropertyStore.put_many(pid, rows)
      :ok = RankIndex.add_index(pid, :late, score: :points)
      _held = PropertyStore.snapshot(pid)
      for {id, row} <- Enum.take(rows, 500), do: PropertyStore.put(pid, id, %{row | points: 0})
      assert PropertyStore.info(pid).bytes > 2_000_000
      assert Native.ordered_left(ref) == nil
      Mortal.kill(pid)
      assert Native.ordered_size(ref) == :closed
      Mortal.await_nothing_left(fn -> Native.ordered_left(ref) end)
    end

    test "may end in the middle of a batch, a scan or an index" do
      Process.flag(:trap_exit, true)
      rows = for n <- 1..20_000, do: {id(n), %{room: :red, points: n, seat: n}}

      for work <- [
            &PropertyStore.put_many(&1, rows),
            &RankIndex.scan(&1, :points, :red, values: true),
            &RankIndex.add_index(&1, :late, [score: :points], on_progress: fn _, _ -> :ok end)
          ] do
        {:ok, pid} = PropertyStore.start_link(namespace: "PLR", indexes: @indexes)
        %{store: ref} = :sys.get_state(pid)
        :ok = PropertyStore.put_many(pid, rows)
        parent = self()
        task = Task.async(fn -> repeat(fn -> send(parent, {:did, work.(pid)}) end) end)
        receive do: ({:did, _answer} -> :ok)
        Mortal.kill(pid)
        assert Task.await(task, 60_000) == :ended
        Mortal.await_nothing_left(fn -> Native.ordered_left(ref) end)
      end
    end
  end

  # A store that ends in the middle of an answer is a closed snapshot to it.
  defp repeat(work) do
    work.()
    repeat(work)
  rescue
    ArgumentError -> :ended
  catch
    :exit, _reason -> :ended
  end
end
