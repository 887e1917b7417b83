defmodule EchoData.RelationConcurrencyTest do
  @moduledoc """
  What readers of a relation see while it is changed: both directions, always, or neither.
  """

  use ExUnit.Case, async: true

  alias EchoData.Bcs.EdgeStore
  alias EchoData.{BrandedId, EdgeSnapshot, Native}
  alias EchoData.Twin.Beside

  # A store keeps its latest versions for a while: up to 64 KB.
  @recent 100_000

  @relation [relation: :knows, subject_ns: "SUB", object_ns: "OBJ"]

  setup do
    {:ok, store: start_supervised!({EdgeStore, @relation})}
  end

  defp subject(n), do: BrandedId.encode!("SUB", n)
  defp object(n), do: BrandedId.encode!("OBJ", n)

  test "a pair that is linked and unlinked for ever is seen from both ends or from none",
       %{store: store} do
    others = for n <- 1..50, n != 25, do: [{subject(25), object(n)}, {subject(n), object(25)}]
    EdgeStore.link_many(store, Enum.concat(others))
    [subject, object] = [subject(25), object(25)]

    flip = fn round ->
      :ok = EdgeStore.link(store, subject, object, round)
      :ok = EdgeStore.unlink(store, subject, object)
    end

    look = fn ->
      snapshot = EdgeStore.snapshot(store)
      {:ok, from} = EdgeStore.from(snapshot, subject)
      {:ok, to} = EdgeStore.to(snapshot, object)
      forward = List.keyfind(from, object, 0)
      backward = List.keyfind(to, subject, 0)
      assert EdgeStore.member?(snapshot, subject, object) == (forward != nil)
      assert (forward && elem(forward, 1)) == (backward && elem(backward, 1))
      assert length(from) == length(to)
      assert EdgeStore.degree(snapshot, subject) == {:ok, length(from)}
      assert EdgeStore.to_degree(snapshot, object) == {:ok, length(to)}
      assert EdgeStore.size(snapshot) - 98 == length(from) - 49
      EdgeSnapshot.release(snapshot)
      forward != nil
    end

    looker = fn -> Beside.look(look, 3000, 2) end
    lookers = fn -> [looker, looker] |> Enum.map(&Task.async/1) |> Task.await_many(60_000) end
    Beside.run(flip, lookers)
    Native.drain()
    assert %{rows: 98, snapshots: 0, bytes: bytes} = EdgeStore.info(store)
    assert bytes < @recent
  end

  test "one direction is the transpose of the other while two writers run", %{store: store} do
    ids = 1..20

    write = fn ->
      fn _round ->
        [s, o] = [subject(Enum.random(ids)), object(Enum.random(ids))]

        case :rand.uniform(20) do
          1 -> EdgeStore.drop_subject(store, s)
          2 -> EdgeStore.drop_object(store, o)
          3 -> EdgeStore.replace(store, s, for(_ <- 1..10, do: object(Enum.random(ids))))
          4 -> EdgeStore.link_many(store, for(n <- ids, do: {subject(n), o}))
          n when n < 8 -> EdgeStore.unlink(store, s, o)
          _ -> EdgeStore.link(store, s, o, :rand.uniform(1000))
        end
      end
    end

    look = fn -> Beside.look(fn -> assert_transposed(store, ids) end, 300, 20) end
    Beside.run(write.(), fn -> Beside.run(write.(), look) end)
  end

  defp assert_transposed(store, ids) do
    snapshot = EdgeStore.snapshot(store)

    forward =
      for n <- ids, {object, props} <- ok(EdgeStore.from(snapshot, subject(n))) do
        assert EdgeStore.member?(snapshot, subject(n), object)
        {subject(n), object, props}
      end

    backward =
      for n <- ids,
          {subject, props} <- ok(EdgeStore.to(snapshot, object(n))),
          do: {subject, object(n), props}

    assert Enum.sort(forward) == Enum.sort(backward)
    assert EdgeStore.size(snapshot) == length(forward)
    EdgeSnapshot.release(snapshot)
    length(forward)
  end

  defp ok({:ok, neighbours}), do: neighbours

  test "a replacement is seen as a whole, however many calls it takes", %{store: store} do
    sets = for first <- [0, 700], do: for(n <- 1..1400, do: object(first + n))
    {:ok, _} = EdgeStore.replace(store, subject(1), hd(sets))

    replace = fn round ->
      objects = sets |> Enum.at(rem(round, 2)) |> Enum.map(&{&1, round})
      {:ok, %{added: added, removed: added}} = EdgeStore.replace(store, subject(1), objects)
    end

    # The first round finds its objects there.
    replace.(0)

    look = fn ->
      {objects, rounds} = store |> EdgeStore.from(subject(1)) |> ok() |> Enum.unzip()
      assert objects in sets
      assert [_round] = Enum.uniq(rounds)
      hd(objects)
    end

    Beside.run(&replace.(&1 + 1), fn -> Beside.look(look, 300, 2) end)
  end

  test "writers lose and repeat nothing", %{store: store} do
    for writer <- 0..3 do
      Task.async(fn ->
        for n <- 1..2000, do: :ok = EdgeStore.link(store, subject(writer), object(n), writer)
        for n <- 2..2000//2, do: :ok = EdgeStore.unlink(store, subject(writer), object(n))
      end)
    end
    |> Task.await_many(60_000)

    assert EdgeStore.size(store) == 4000
    for writer <- 0..3, do: assert(EdgeStore.degree(store, subject(writer)) == {:ok, 1000})
    holders = for writer <- 0..3, do: {subject(writer), writer}
    for n <- 1..2000//2, do: assert(EdgeStore.to(store, object(n)) == {:ok, holders})
    for n <- 2..2000//2, do: assert(EdgeStore.to_degree(store, object(n)) == {:ok, 0})
  end

  test "of several that unlink an edge one does", %{store: store} do
    for n <- 1..200 do
      EdgeStore.link(store, subject(n), object(n), :binary.copy("gone", 30))

      unlinks =
        for _ <- 1..4, do: Task.async(fn -> EdgeStore.unlink(store, subject(n), object(n)) end)

      assert unlinks |> Task.await_many() |> Enum.frequencies() ==
               %{:ok => 1, {:error, :not_found} => 3}
    end

    Native.drain()
    assert %{rows: 0, bytes: bytes} = EdgeStore.info(store)
    assert bytes < @recent
  end
end
