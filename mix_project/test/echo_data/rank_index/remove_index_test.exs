defmodule EchoData.RankIndex.RemoveIndexTest do
  @moduledoc """
  Indexes that are removed from under records which stay.
  """

  use ExUnit.Case, async: true

  alias EchoData.Bcs.PropertyStore
  alias EchoData.{BrandedId, Native, RankIndex}
  alias EchoData.Twin.Beside

  @indexes [n: [score: :n], tens: [group: :tens, score: :n, unique: true]]

  setup do
    {:ok, store: start_supervised!({PropertyStore, namespace: "PLR", indexes: @indexes})}
  end

  defp id(n), do: BrandedId.encode!("PLR", n)

  defp fill(store, range),
    do: PropertyStore.put_many(store, for(n <- range, do: {id(n), %{n: n, tens: div(n, 10)}}))

  test "its records stay, the other indexes, and what snapshots have", %{store: store} do
    :ok = fill(store, 1..3_000)
    snapshot = PropertyStore.snapshot(store)
    assert RankIndex.remove_index(store, :tens) == :ok
    assert RankIndex.names(store) == [:n]
    assert_raise ArgumentError, ~r/^index must be/, fn -> RankIndex.count(store, :tens, 7) end
    assert RankIndex.count(store, :n, nil) == 3_000
    assert PropertyStore.size(store) == 3_000

    assert RankIndex.names(snapshot) == [:n, :tens]
    assert RankIndex.count(snapshot, :tens, 7) == 10
    assert RankIndex.rank(snapshot, :tens, id(75)) == {:ok, 5}
  end

  test "it refuses no record any more, and its name is free", %{store: store} do
    :ok = fill(store, 1..20)
    twin = %{n: 11, tens: 1}
    assert PropertyStore.put(store, id(30), twin) == {:error, {:not_unique, :tens}}
    assert RankIndex.remove_index(store, :tens) == :ok
    assert PropertyStore.put(store, id(30), twin) == :ok
    assert RankIndex.add_index(store, :tens, @indexes[:tens]) == {:error, {:not_unique, :tens}}
    assert RankIndex.add_index(store, :tens, score: :tens) == :ok
    assert RankIndex.names(store) == [:n, :tens]
    assert RankIndex.count(store, :tens, nil) == 21
    assert RankIndex.count(store, :tens, 1) == 0
  end

  test "its memory is given back", %{store: store} do
    :ok = fill(store, 1..20_000)
    nodes = fn -> Native.drain() && PropertyStore.info(store).nodes end
    before = nodes.()
    assert RankIndex.add_index(store, :more, group: :n, score: :tens) == :ok
    assert nodes.() > 1.5 * before
    assert RankIndex.remove_index(store, :more) == :ok
    # Where it was cut out, nodes may be less full.
    assert nodes.() < 1.1 * before
  end

  test "beside changes it comes and goes whole", %{store: store} do
    :ok = fill(store, 1..2_000)

    change = fn round ->
      n = rem(round * 7919, 3_000) + 1
      if rem(round, 3) == 0, do: PropertyStore.delete(store, id(n)), else: fill(store, [n])
    end

    Beside.run(change, fn ->
      for _round <- 1..20 do
        assert RankIndex.remove_index(store, :tens) == :ok
        assert RankIndex.names(store) == [:n]
        assert RankIndex.add_index(store, :tens, @indexes[:tens]) == :ok
        snapshot = PropertyStore.snapshot(store)
        tens = for ten <- 0..300, do: RankIndex.count(snapshot, :tens, ten)
        assert Enum.sum(tens) == Enum.count(snapshot)
      end
    end)
  end

  test "of several that remove an index, one does", %{store: store} do
    :ok = fill(store, 1..1_000)
    remove = fn -> RankIndex.remove_index(store, :tens) end
    removed = 1..4 |> Enum.map(fn _ -> Task.async(remove) end) |> Task.await_many()
    assert Enum.frequencies(removed) == %{:ok => 1, {:error, :not_found} => 3}
  end

  test "misuse is an ArgumentError that names the argument", %{store: store} do
    snapshot = PropertyStore.snapshot(store)
    plain = start_supervised!({PropertyStore, namespace: "PLR"}, id: :plain)

    for {message, source, name} <- [
          {~r/^the name of an index must be an atom/, store, "n"},
          {"a snapshot cannot be changed", snapshot, :n},
          {~r/^the store must be a property store with indexes/, plain, :n}
        ] do
      assert_raise ArgumentError, message, fn -> RankIndex.remove_index(source, name) end
    end

    never = catch_exit(RankIndex.remove_index(__MODULE__.Never, :n))
    assert {:noproc, {GenServer, :call, _}} = never
    assert RankIndex.names(store) == [:n, :tens]
  end
end
