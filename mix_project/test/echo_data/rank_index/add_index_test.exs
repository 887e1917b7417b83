defmodule EchoData.RankIndex.AddIndexTest do
  @moduledoc """
  Indexes that are added to records which are there.
  """

  use ExUnit.Case, async: true

  alias EchoData.Bcs.PropertyStore
  alias EchoData.{BrandedId, RankIndex}
  alias EchoData.Twin.Beside

  setup do
    {:ok, store: start_supervised!({PropertyStore, namespace: "PLR", indexes: []})}
  end

  defp id(n), do: BrandedId.encode!("PLR", n)

  defp fill(store, range),
    do: PropertyStore.put_many(store, for(n <- range, do: {id(n), %{n: n, tens: div(n, 10)}}))

  test "an index over records tells how far it has come, in the calling process", %{store: store} do
    fill(store, 1..10_000)
    caller = self()

    told = fn done, all ->
      assert self() == caller
      send(caller, {:told, done, all})
    end

    assert RankIndex.add_index(store, :n, [score: :n], on_progress: told) == :ok
    {:messages, messages} = Process.info(caller, :messages)
    steps = for {:told, done, 10_000} <- messages, do: done
    assert length(steps) == length(messages)
    assert {hd(steps), List.last(steps)} == {0, 10_000}
    assert steps == Enum.sort(steps)
    assert length(steps) in 5..100
    assert RankIndex.scan(store, :n, nil, range: {9_999, nil}) == [{9_999, id(10_000), 10_000}]
  end

  test "what is told may raise: the index is added, and no message is left", %{store: store} do
    fill(store, 1..5_000)
    raises = fn _done, _all -> raise "enough" end
    exits = fn _done, _all -> exit(:enough) end

    assert_raise RuntimeError, "enough", fn ->
      RankIndex.add_index(store, :one, [score: :n], on_progress: raises)
    end

    assert catch_exit(RankIndex.add_index(store, :two, [score: :n], on_progress: exits)) ==
             :enough

    assert RankIndex.names(store) == [:one, :two]
    assert RankIndex.count(store, :two, nil) == 5_000
    assert Process.info(self(), :messages) == {:messages, []}
  end

  test "an index that refuses a record is not there", %{store: store} do
    fill(store, 1..3_000)
    PropertyStore.put(store, id(1_500), %{n: "many"})

    for options <- [[], [on_progress: fn _, _ -> :ok end]] do
      added = RankIndex.add_index(store, :n, [score: :n], options)
      assert added == {:error, {:bad_field, :n, [:n]}}
      PropertyStore.put(store, id(4_000), :no_map)

      no_map = RankIndex.add_index(store, :room, [score: :x], options)

      assert no_map == {:error, {:bad_field, :room, []}}
      PropertyStore.delete(store, id(4_000))
      unique = RankIndex.add_index(store, :tens, [score: :tens, unique: true], options)
      assert unique == {:error, {:not_unique, :tens}}
    end

    assert RankIndex.names(store) == []
    fill(store, [1_500])
    assert RankIndex.add_index(store, :n, score: :n) == :ok
    assert RankIndex.add_index(store, :n, score: :tens) == {:error, :exists}
    assert RankIndex.names(store) == [:n]
  end

  test "of several that add an index of one name, one does", %{store: store} do
    fill(store, 1..2_000)

    for round <- 1..20 do
      name = :"round_#{round}"
      add = fn -> RankIndex.add_index(store, name, score: :n) end
      added = 1..4 |> Enum.map(fn _ -> Task.async(add) end) |> Task.await_many()
      assert Enum.frequencies(added) == %{:ok => 1, {:error, :exists} => 3}
    end

    assert length(RankIndex.names(store)) == 20
  end

  test "an index that is added while records change misses none", %{store: store} do
    fill(store, 1..2_000)

    change = fn round ->
      n = rem(round * 7919, 3_000) + 1
      if rem(round, 3) == 0, do: PropertyStore.delete(store, id(n)), else: fill(store, [n])
    end

    Beside.run(change, fn ->
      for round <- 1..20 do
        name = :"added_#{round}"
        assert RankIndex.add_index(store, name, score: :n) == :ok
        snapshot = PropertyStore.snapshot(store)

        ranked =
          for {_rank, id, _n, record} <- RankIndex.scan(snapshot, name, nil, values: true),
              do: {id, record}

        assert ranked == Enum.to_list(snapshot)
      end
    end)
  end

  test "misuse is an ArgumentError that names the argument", %{store: store} do
    for {message, name, declaration, options} <- [
          {~r/^the name of an index/, "n", [score: :n], []},
          {~r/^score must have/, :n, [], []},
          {~r/^on_progress must be a function of two/, :n, [score: :n],
           [on_progress: &is_atom/1]},
          {~r/unknown keys/, :n, [score: :n], [progress: nil]}
        ] do
      assert_raise ArgumentError, message, fn ->
        RankIndex.add_index(store, name, declaration, options)
      end
    end

    told = fn _done, _all -> :ok end
    add = &RankIndex.add_index(&1, :n, [score: :n], on_progress: told)

    assert_raise ArgumentError, "a snapshot cannot be changed", fn ->
      add.(PropertyStore.snapshot(store))
    end

    assert {:noproc, {GenServer, :call, _}} = catch_exit(add.(__MODULE__.Never))
    assert RankIndex.names(store) == []
  end
end
