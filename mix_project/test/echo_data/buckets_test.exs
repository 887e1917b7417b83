defmodule EchoData.BucketsTest do
  use ExUnit.Case, async: true

  import Bitwise

  alias EchoData.{BrandedId, Buckets, BucketsSnapshot, Native, Snowflake, Terms, Timeline}

  doctest Buckets
  doctest BucketsSnapshot

  @shift 22
  @largest (1 <<< 63) - 1

  setup do
    {:ok, buckets: Buckets.new(bucket_bits: 12)}
  end

  defp id(n), do: BrandedId.encode!("SES", n)

  # The first and the last snowflake of a millisecond after the epoch.
  defp ids(ms), do: [ms <<< @shift, (ms <<< @shift) + (1 <<< @shift) - 1]
  defp at(ms), do: DateTime.from_unix!(Snowflake.epoch_ms() + ms, :millisecond)

  defp filled(bits, snowflakes) do
    buckets = Buckets.new(bucket_bits: bits)
    Buckets.put_many(buckets, Enum.map(snowflakes, &{&1, &1}))
  end

  describe "the contract:" do
    test "functions that change buckets answer the same handle", %{buckets: buckets} do
      assert Buckets.put(buckets, id(1), :a) == buckets
      assert Buckets.put_by_snowflake(buckets, 2, :b) == buckets
      assert Buckets.put_many(buckets, [{id(3), :c}, {4, :d}]) == buckets
      assert Buckets.delete(buckets, id(3)) == buckets
      assert Buckets.delete_by_snowflake(buckets, 4) == buckets
      assert Buckets.delete_by_snowflake(buckets, 4) == buckets
      assert Buckets.expire_older_than(buckets, at(0)) == {0, buckets}
      assert Buckets.to_snowflake_list(buckets) == [1, 2]
      assert Buckets.size(buckets) == 2
    end

    test "code that threads what it is given runs unchanged" do
      buckets =
        Enum.reduce(0..9, Buckets.new(bucket_bits: 10), fn step, buckets ->
          Buckets.put_by_snowflake(buckets, (step * 1024) <<< @shift, step)
        end)

      assert Buckets.bucket_count(buckets) == 10
      {expired, buckets} = Buckets.expire_older_than(buckets, at(7 * 1024))
      assert {expired, Buckets.size(buckets), Buckets.bucket_count(buckets)} == {7, 3, 3}
      buckets = Buckets.delete_by_snowflake(buckets, (8 * 1024) <<< @shift)
      assert Enum.map(buckets, &elem(&1, 1)) == [7, 9]
    end

    test "what is put is fetched, replaced, taken and deleted", %{buckets: buckets} do
      assert Buckets.fetch(buckets, id(1)) == :error
      Buckets.put(buckets, id(1), :a)
      Buckets.put_by_snowflake(buckets, 1, :b)
      assert Buckets.fetch(buckets, id(1)) == {:ok, :b}
      assert Buckets.fetch_by_snowflake(buckets, 1) == {:ok, :b}
      assert Buckets.take(buckets, id(1)) == {:ok, :b}
      assert Buckets.take(buckets, id(1)) == :error
      Buckets.put(buckets, id(2), nil)
      assert Buckets.fetch(buckets, id(2)) == {:ok, nil}
      Buckets.delete(buckets, id(2))
      assert Buckets.fetch_by_snowflake(buckets, 2) == :error
      assert Buckets.size(buckets) == 0
    end

    test "a bucket is the upper bits of a snowflake" do
      for {bits, seconds} <- [{10, 1.024}, {12, 4.096}, {16, 65.536}, {20, 1048.576}] do
        snowflake = Snowflake.min_for(~U[2026-03-01 12:00:00Z]) + 4095
        buckets = filled(bits, [snowflake])
        assert {:ok, bucket} = Buckets.oldest_bucket(buckets)
        assert bucket == snowflake >>> (22 + bits)

        [start, next] = Enum.map([bucket, bucket + 1], &Buckets.bucket_start(buckets, &1))
        assert DateTime.diff(next, start, :millisecond) == round(seconds * 1000)
        assert Buckets.bucket_at(buckets, ~U[2026-03-01 12:00:00Z]) == {:ok, bucket}
      end

      assert Buckets.bucket_at(Buckets.new(), ~U[2023-12-31 23:59:59Z]) == :error
    end

    test "ids that differ in their namespace only name the same entry", %{buckets: buckets} do
      Buckets.put(buckets, "USR00000000007", :user)
      Buckets.put(buckets, "ORD00000000007", :order)
      assert Buckets.fetch(buckets, "USR00000000007") == {:ok, :order}
      assert Enum.to_list(buckets) == [{7, :order}]
    end
  end

  describe "expiry" do
    test "is exact at the edges of buckets" do
      for bits <- [0, 1, 2, 10, 12, 20, 39, 40], k <- [1, 2, 3], k <<< bits <= 1 <<< 40 do
        edge = k <<< bits
        around = [edge - 1, edge, edge + 1]

        for instant <- around, fraction <- [0, 999] do
          buckets = filled(bits, Enum.flat_map(around, &ids/1))
          gone = Enum.filter(around, &(&1 >>> bits < instant >>> bits))
          instant = DateTime.add(at(instant), fraction, :microsecond)
          assert Buckets.expire_older_than(buckets, instant) == {2 * length(gone), buckets}
          assert Buckets.to_snowflake_list(buckets) == Enum.flat_map(around -- gone, &ids/1)
          assert Buckets.size(buckets) == 6 - 2 * length(gone)
          assert Buckets.expire_older_than(buckets, instant) == {0, buckets}
        end
      end
    end

    test "takes what is older than the bucket of its instant, of one bucket nothing" do
      buckets = filled(12, [4095, 4096, 8191] |> Enum.flat_map(&ids/1))
      assert {0, _} = Buckets.expire_older_than(buckets, at(4095))
      assert {2, _} = Buckets.expire_older_than(buckets, at(4096))
      assert {0, _} = Buckets.expire_older_than(buckets, at(8191))
      assert {4, _} = Buckets.expire_older_than(buckets, at(8192))
      assert Buckets.size(buckets) == 0
    end

    test "at an instant before the epoch drops nothing" do
      for bits <- [0, 12, 40] do
        buckets = filled(bits, [0, 1, @largest])

        for instant <- [
              ~U[2023-12-31 23:59:59.999999Z],
              ~U[1969-12-31 23:59:59Z],
              ~U[0000-01-01 00:00:00Z],
              at(0)
            ] do
          assert Buckets.expire_older_than(buckets, instant) == {0, buckets}
        end

        assert Buckets.size(buckets) == 3
      end
    end

    test "leaves ids of the future, until it is there" do
      [soon, last] = [Snowflake.min_for(~U[2090-01-01 00:00:00Z]), @largest]
      buckets = filled(12, [0, soon, last])
      assert {1, _} = Buckets.expire_older_than(buckets, DateTime.utc_now())
      assert Buckets.to_snowflake_list(buckets) == [soon, last]
      assert {2, _} = Buckets.expire_older_than(buckets, ~U[9999-12-31 23:59:59Z])
      assert Buckets.oldest_bucket(buckets) == :error
      assert Buckets.newest_bucket(buckets) == :error
    end

    test "takes an instant of any time zone" do
      noon = ~U[2026-03-01 12:00:00Z]
      paris = %{time_zone: "Europe/Paris", zone_abbr: "CET", utc_offset: 3600}
      same = noon |> DateTime.add(1, :hour) |> Map.merge(paris)
      snowflakes = for ms <- [-1, 0], do: Snowflake.min_for(DateTime.add(noon, ms, :millisecond))
      buckets = filled(0, snowflakes)
      assert {1, _} = Buckets.expire_older_than(buckets, same)
      assert Buckets.to_snowflake_list(buckets) == [Snowflake.min_for(noon)]
    end

    test "gives the memory of what it drops back" do
      buckets = filled(10, for(ms <- 1..200_000, do: ms <<< @shift))
      assert Buckets.info(buckets).bytes > 3_000_000
      assert {199_679, _} = Buckets.expire_older_than(buckets, at(199_999))
      assert Buckets.size(buckets) == 321
      Native.drain()
      assert Buckets.info(buckets).bytes < 200_000
    end

    test "an entry that is put too late stays until the next time", %{buckets: buckets} do
      Buckets.put_by_snowflake(buckets, 0, :old)
      assert {1, _} = Buckets.expire_older_than(buckets, at(10_000))
      Buckets.put_by_snowflake(buckets, 0, :late)
      assert Buckets.fetch_by_snowflake(buckets, 0) == {:ok, :late}
      assert {1, _} = Buckets.expire_older_than(buckets, at(10_000))
    end
  end

  describe "buckets" do
    test "are listed and counted one by one" do
      steps = Enum.reject(0..59, &(rem(&1, 3) == 1))
      snowflakes = for step <- steps, n <- 0..step, do: ((step * 16) <<< @shift) + n
      buckets = filled(4, snowflakes)

      assert Buckets.bucket_count(buckets) == length(steps)
      assert Buckets.counts(buckets) == for(step <- steps, do: {step, step + 1})
      assert Buckets.oldest_bucket(buckets) == {:ok, 0}
      assert Buckets.newest_bucket(buckets) == {:ok, 59}

      for step <- 0..60 do
        entries = for n <- snowflakes, n >>> 26 == step, do: {n, n}
        assert Buckets.entries(buckets, step) == entries
      end

      assert Buckets.entries(buckets, 1 <<< 70) == []
    end

    test "of which there are very many take several calls, all of one moment" do
      snowflakes = for ms <- 1..100_000, do: ms <<< @shift
      buckets = filled(0, snowflakes)
      assert {:more, more} = Native.buckets_walk(buckets.ref, true)
      assert {:more, number} = Native.buckets_walk(buckets.ref, false)
      assert {100_000, _} = Buckets.expire_older_than(buckets, at(100_001))
      assert finish(more) == for(ms <- 1..100_000, do: {ms, 1})
      assert finish(number) == 100_000
      assert {Buckets.bucket_count(buckets), Buckets.counts(buckets)} == {0, []}
      Native.drain()
      assert Buckets.info(buckets).snapshots == 0
    end

    test "that are large are listed whole" do
      rows = for n <- 1..5000, do: {n, %{n: n}}
      buckets = Buckets.put_many(Buckets.new(bucket_bits: 40), rows)
      assert Buckets.entries(buckets, 0) == rows
      assert Buckets.get_many(buckets, Enum.map(rows, &elem(&1, 0))) == rows
      assert Buckets.to_snowflake_list(buckets) == Enum.to_list(1..5000)
    end
  end

  defp finish(continuation) do
    case Native.buckets_walk_more(continuation) do
      {:more, more} -> finish(more)
      {:ok, seen} -> seen
    end
  end

  test "many are got by ids and by snowflakes, under what was asked", %{buckets: buckets} do
    Buckets.put_many(buckets, [{1, :a}, {id(2), :b}, {2, :c}])
    asked = [id(2), 3, 1, 2]
    assert Buckets.get_many(buckets, asked) == [{id(2), :c}, {1, :a}, {2, :c}]
  end

  describe "misuse is an ArgumentError that names the argument:" do
    test "bits that a bucket cannot have" do
      for bits <- [-1, 41, 64, 1 <<< 40, 12.0, nil, "12"] do
        assert_raise ArgumentError, ~r/^bucket_bits must be an integer in 0..40, got: /, fn ->
          Buckets.new(bucket_bits: bits)
        end

        assert_raise ArgumentError, ~r/^bucket_bits must be/, fn ->
          Buckets.start_link(ttl: 1, every: 1, bucket_bits: bits)
        end
      end

      for bits <- [0, 40], do: assert(Buckets.info(Buckets.new(bucket_bits: bits)).rows == 0)
      assert Buckets.info(Buckets.new()).bucket_bits == 12
      assert_raise ArgumentError, ~r/^access must be/, fn -> Buckets.new(access: :all) end
      assert_raise ArgumentError, ~r/unknown keys/, fn -> Buckets.new(namespace: "SES") end
      assert_raise ArgumentError, ~r/^options must be a keyword list/, fn -> Buckets.new(12) end
    end

    test "an id or a snowflake, and nothing is touched", %{buckets: buckets} do
      by_id = [
        &Buckets.put(buckets, &1, :value),
        &Buckets.fetch(buckets, &1),
        &Buckets.delete(buckets, &1),
        &Buckets.take(buckets, &1)
      ]

      for verb <- by_id, term <- [1 | Terms.no_ids()] do
        assert_raise ArgumentError, ~r/^id must be a branded id, got: /, fn -> verb.(term) end
      end

      by_snowflake = [
        &Buckets.put_by_snowflake(buckets, &1, :value),
        &Buckets.fetch_by_snowflake(buckets, &1),
        &Buckets.delete_by_snowflake(buckets, &1)
      ]

      for verb <- by_snowflake, term <- [id(1), -1, 1 <<< 63, 1 <<< 64, 1.0, nil] do
        assert_raise ArgumentError, ~r/^snowflake must be an integer in 0..2\^63-1, got: /, fn ->
          verb.(term)
        end
      end

      assert Buckets.size(buckets) == 0
    end

    test "a row of many, whose position is told, and nothing is put", %{buckets: buckets} do
      for wrong <- ["none", -1, nil] do
        for {name, call} <- [
              rows: &Buckets.put_many(buckets, [{id(1), 1}, {&1, 2}]),
              ids: &Buckets.get_many(buckets, [1, &1])
            ] do
          message =
            "#{name} must have branded ids or snowflakes, and the one at position 1 is neither"

          assert_raise ArgumentError, message, fn -> call.(wrong) end
        end
      end

      assert_raise ArgumentError, ~r/^rows must be/, fn -> Buckets.put_many(buckets, [1]) end
      assert_raise ArgumentError, ~r/^rows must be/, fn -> Buckets.put_many(buckets, %{}) end
      assert_raise ArgumentError, ~r/^ids must be/, fn -> Buckets.get_many(buckets, :all) end
      assert Buckets.size(buckets) == 0
    end

    test "instants, buckets, and stores of another kind", %{buckets: buckets} do
      for instant <- [nil, 0, ~N[2026-01-01 00:00:00], ~D[2026-01-01]],
          call <- [&Buckets.expire_older_than(buckets, &1), &Buckets.bucket_at(buckets, &1)] do
        assert_raise ArgumentError, ~r/^instant must be a DateTime, got: /, fn ->
          call.(instant)
        end
      end

      for bucket <- [-1, nil, 1.0],
          call <- [&Buckets.entries(buckets, &1), &Buckets.bucket_start(buckets, &1)] do
        assert_raise ArgumentError, ~r/^bucket must be/, fn -> call.(bucket) end
      end

      {:ok, last} = Buckets.bucket_at(buckets, ~U[9999-12-31 23:59:59Z])
      assert Buckets.bucket_start(buckets, last).year == 9999

      for bucket <- [last + 1, 1 <<< 60] do
        assert_raise ArgumentError,
                     ~r/^bucket must be one that begins in year 9999 or before/,
                     fn ->
                       Buckets.bucket_start(buckets, bucket)
                     end
      end

      timeline = Timeline.new("EVT")
      message = "the store must be a bucket store, and is a property store or a timeline"

      for other <- [timeline, timeline.ref, Timeline.snapshot(timeline)],
          do: assert_raise(ArgumentError, message, fn -> Buckets.size(other) end)

      message = "the store must be a property store or a timeline, and is a bucket store"
      assert_raise ArgumentError, message, fn -> Timeline.size(buckets) end
      assert_raise ArgumentError, ~r/^server must be/, fn -> Buckets.expire(buckets) end
    end
  end

  describe "a handle" do
    test "is enumerable, oldest first, over one moment", %{buckets: buckets} do
      rows = for n <- 1..1000, do: {n, n}
      Buckets.put_many(buckets, Enum.shuffle(rows))
      assert Enum.to_list(buckets) == rows
      assert Enum.count(buckets) == 1000
      assert Enum.slice(buckets, 300..302) == Enum.slice(rows, 300..302)
      assert Enum.at(buckets, -1) == {1000, 1000}
      assert {7, 7} in buckets
      refute {7, 7.0} in buckets
      refute {-1, 7} in buckets
      refute {id(7), 7} in buckets
      refute :row in buckets
    end

    test "is enumerated as it was when that began, whatever expires", %{buckets: buckets} do
      rows = for n <- 1..1000, do: {n, n}
      Buckets.put_many(buckets, rows)

      seen =
        for {_, n} = entry <- buckets do
          if n == 1, do: Buckets.expire_older_than(buckets, at(1 <<< 40))
          entry
        end

      assert seen == rows
      assert Enum.to_list(buckets) == []
      Native.drain()
      assert Buckets.info(buckets).snapshots == 0
    end

    test "and its snapshots are not enumerated when they are closed", %{buckets: buckets} do
      Buckets.put_by_snowflake(buckets, 1, :a)
      snapshot = Buckets.snapshot(buckets)
      slices = for source <- [buckets, snapshot], do: source |> Enumerable.slice() |> elem(2)
      Buckets.close(buckets)

      for source <- [buckets, snapshot],
          enumerate <- [
            &Enum.to_list/1,
            &Enum.count/1,
            &Enum.at(&1, 0),
            &Enum.member?(&1, {1, :a}),
            &Enum.member?(&1, {-1, :a}),
            &Enum.member?(&1, :entry)
          ] do
        assert_raise ArgumentError, ~r/closed/, fn -> enumerate.(source) end
      end

      for slice <- slices, do: assert_raise(ArgumentError, ~r/closed/, fn -> slice.(0, 1, 1) end)
    end

    test "collects in one step, or not at all", %{buckets: buckets} do
      assert Enum.into([{1, :a}, {id(2), :b}], buckets) == buckets

      assert_raise ArgumentError, ~r/position 1 /, fn ->
        Enum.into([{3, :c}, {:d, 4}], buckets)
      end

      assert Enum.into(buckets, Buckets.new()) |> Enum.to_list() == [{1, :a}, {2, :b}]
    end

    test "shows its bits, size and memory", %{buckets: buckets} do
      Buckets.put_by_snowflake(buckets, 1, :a)
      snapshot = Buckets.snapshot(buckets)
      assert inspect(buckets) =~ ~r/^#EchoData.Buckets<12 bits, 1 entries, \d+ bytes>$/
      assert inspect(snapshot) == "#EchoData.BucketsSnapshot<12 bits, 1 entries>"
      Buckets.close(buckets)
      assert inspect(buckets) == "#EchoData.Buckets<12 bits, closed>"
      assert inspect(snapshot) == "#EchoData.BucketsSnapshot<12 bits, closed>"
    end
  end

  test "every function that reads answers of the moment of a snapshot", %{buckets: buckets} do
    rows = for n <- 1..500, do: {n, n}
    Buckets.put_many(buckets, rows)
    snapshot = Buckets.snapshot(buckets)
    {500, _} = Buckets.expire_older_than(buckets, at(4096))
    Buckets.put_by_snowflake(buckets, 1, :later)

    assert Buckets.fetch(snapshot, id(1)) == {:ok, 1}
    assert Buckets.fetch_by_snowflake(snapshot, 501) == :error
    assert Buckets.get_many(snapshot, [1, 501, 500]) == [{1, 1}, {500, 500}]
    assert Buckets.size(snapshot) == 500
    assert Buckets.counts(snapshot) == [{0, 500}]
    assert Buckets.bucket_count(snapshot) == 1
    assert Buckets.oldest_bucket(snapshot) == Buckets.newest_bucket(snapshot)
    assert Buckets.entries(snapshot, 0) == rows
    assert Buckets.to_snowflake_list(snapshot) == Enum.to_list(1..500)
    assert Buckets.bucket_at(snapshot, at(4096)) == {:ok, 1}
    assert Buckets.snapshot(snapshot) == snapshot
    assert Enum.to_list(snapshot) == rows
    assert Buckets.info(snapshot).snapshots == 1

    assert_raise ArgumentError, "a snapshot cannot be changed", fn ->
      Buckets.expire_older_than(snapshot, at(0))
    end

    BucketsSnapshot.release(snapshot)
    message = "the snapshot was released, or its store is closed"
    assert_raise ArgumentError, message, fn -> Buckets.size(snapshot) end
  end
end
