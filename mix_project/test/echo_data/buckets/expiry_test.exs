defmodule EchoData.Buckets.ExpiryTest do
  @moduledoc """
  Buckets that expire by themselves, by a clock that the tests set.
  """

  # A module `:telemetry` is there for everybody while a test has one.
  use ExUnit.Case

  import ExUnit.CaptureLog

  alias EchoData.{BrandedId, Buckets, BucketsSnapshot, Mortal, Native, Snowflake}

  @bits 10
  @width 1024
  @never 0xFFFF_FFFF

  # A clock that stands still at so many milliseconds after the epoch of ids.
  defp clock(ms) do
    hand = :atomics.new(1, [])
    :atomics.put(hand, 1, ms)
    {hand, fn -> at(:atomics.get(hand, 1)) end}
  end

  defp at(ms), do: DateTime.from_unix!(Snowflake.epoch_ms() + ms, :millisecond)
  defp minted(ms), do: Bitwise.bsl(ms, 22)
  defp id(ms), do: BrandedId.encode!("SES", minted(ms))

  defp start(options) do
    defaults = [ttl: @width, every: @never, bucket_bits: @bits]
    start_supervised!({Buckets, Keyword.merge(defaults, options)}, id: make_ref())
  end

  defp fill(store, range), do: Buckets.put_many(store, Enum.map(range, &{minted(&1), &1}))

  # Returns when what was sent before has been handled.
  defp handled(store), do: :sys.get_state(store)

  test "entries go when their bucket is older than the time that they are kept" do
    {hand, clock} = clock(0)
    store = start(ttl: 2 * @width, clock: clock)
    fill(store, [0, @width - 1, @width, 3 * @width, 9 * @width])

    for {now, expired} <- [
          {0, 0},
          {3 * @width - 1, 0},
          {3 * @width, 2},
          {4 * @width - 1, 0},
          {4 * @width, 1},
          {5 * @width, 0},
          {6 * @width, 1}
        ] do
      :atomics.put(hand, 1, now)
      assert Buckets.expire(store) == expired
    end

    assert Buckets.to_snowflake_list(store) == [minted(9 * @width)]
  end

  test "a tick is a round, and there is one timer however many there are" do
    {hand, clock} = clock(0)
    store = start(clock: clock)
    fill(store, [0])
    first = handled(store).timer
    :atomics.put(hand, 1, 2 * @width)
    for _ <- 1..5, do: send(store, :tick)
    last = handled(store).timer
    assert Buckets.size(store) == 0
    assert Process.read_timer(first) == false
    assert last != first
    send(store, :nobody_knows)
    assert handled(store).timer == last
  end

  test "it ticks by itself" do
    test = self()
    tell = fn _instant, count -> send(test, {:expired, count}) end
    store = start(every: 1, on_expire: tell)
    fill(store, [1, 2, 3])
    assert_receive {:expired, 3}, 5000
    fill(store, [4])
    assert_receive {:expired, 1}, 5000
    assert Buckets.size(store) == 0
  end

  test "on_expire gets the instant and the count, once a round that dropped something" do
    test = self()
    {hand, clock} = clock(0)
    store = start(clock: clock, on_expire: &send(test, {:expired, &1, &2, self()}))
    assert Buckets.expire(store) == 0
    fill(store, 0..99)
    assert Buckets.expire(store) == 0
    refute_received {:expired, _instant, _count, _pid}
    :atomics.put(hand, 1, 2 * @width + 7)
    assert Buckets.expire(store) == 100
    instant = at(@width + 7)
    assert_received {:expired, ^instant, 100, ^store}
    assert Buckets.expire(store) == 0
    refute_received {:expired, _instant, _count, _pid}
  end

  test "a time to live from before the epoch on drops nothing" do
    test = self()

    for ttl <- [@width, Bitwise.bsl(1, 41), Bitwise.bsl(1, 200)] do
      {_hand, clock} = clock(@width)
      store = start(ttl: ttl, clock: clock, on_expire: &send(test, {:expired, &1, &2}))
      fill(store, [0])
      assert Buckets.expire(store) == 0
    end

    refute_received {:expired, _instant, _count}
  end

  test "a callback that fails is logged, and the entries and the rounds go on" do
    failures = [
      {fn _, _ -> raise "not today" end, "(RuntimeError) not today"},
      {fn _, _ -> throw(:ball) end, "(throw) :ball"},
      {fn _, _ -> exit(:gone) end, "(exit) :gone"}
    ]

    for {callback, message} <- failures do
      {hand, clock} = clock(2 * @width)
      store = start(clock: clock, on_expire: callback)
      fill(store, [0, 2 * @width])

      log =
        capture_log(fn ->
          send(store, :tick)
          handled(store)
        end)

      assert log =~ "on_expire of the bucket store #{inspect(store)} failed"
      assert log =~ message
      assert Buckets.to_snowflake_list(store) == [minted(2 * @width)]
      :atomics.put(hand, 1, 4 * @width)
      log = capture_log(fn -> assert Buckets.expire(store) == 1 end)
      assert log =~ message
      assert Process.alive?(store)
    end
  end

  test "a clock that fails is logged, and nothing expires" do
    for clock <- [fn -> raise "stopped" end, fn -> :noon end] do
      store = start(clock: clock)
      fill(store, [0])
      log = capture_log(fn -> assert Buckets.expire(store) == 0 end)
      assert log =~ "clock of the bucket store #{inspect(store)} failed"
      assert Buckets.size(store) == 1
    end
  end

  test "everybody reads and writes while a callback takes its time" do
    test = self()

    wait = fn _instant, _count ->
      send(test, {:waiting, self()})
      receive do: (:go_on -> :ok)
    end

    {_hand, clock} = clock(2 * @width)
    store = start(name: __MODULE__.Waiting, clock: clock, on_expire: wait)
    fill(store, [0])
    send(store, :tick)
    assert_receive {:waiting, ^store}
    assert Buckets.put(__MODULE__.Waiting, id(5000), :new) == __MODULE__.Waiting
    assert Buckets.fetch(__MODULE__.Waiting, id(5000)) == {:ok, :new}
    assert Buckets.size(store) == 1
    send(store, :go_on)
    handled(store)
  end

  test "a store answers to every kind of name, and to its pid" do
    start_supervised!({Registry, keys: :unique, name: __MODULE__.Registry})
    via = {:via, Registry, {__MODULE__.Registry, :store}}

    for name <- [__MODULE__.Local, {:global, __MODULE__}, via, {__MODULE__.Local, node()}] do
      unless name == {__MODULE__.Local, node()}, do: start(name: name)
      assert Buckets.put(name, id(1), :a) == name
      assert Buckets.put_by_snowflake(name, minted(2), :b) == name
      assert Buckets.put_many(name, [{id(3), :c}, {id(4), :d}]) == name
      assert Buckets.delete(name, id(3)) == name
      assert Buckets.fetch(name, id(1)) == {:ok, :a}
      assert Buckets.take(name, id(4)) == {:ok, :d}
      assert Buckets.counts(name) == [{0, 2}]
      assert Buckets.bucket_count(name) == 1
      assert Buckets.oldest_bucket(name) == {:ok, 0}
      assert Buckets.bucket_at(name, at(@width)) == {:ok, 1}
      assert Buckets.entries(name, 0) == [{minted(1), :a}, {minted(2), :b}]
      assert Buckets.info(name).bucket_bits == @bits
      assert name |> Buckets.snapshot() |> Enum.count() == 2
      assert Buckets.expire_older_than(name, at(@width)) == {2, name}
      assert Buckets.expire(name) == 0
    end
  end

  test "the owner serves callers of other nodes by the same functions" do
    store = start([])
    request = &GenServer.call(store, {Buckets, &1, &2})
    assert request.(:put, [id(1), :a]) == {:ok, store}
    assert request.(:fetch, [id(1)]) == {:ok, {:ok, :a}}
    assert request.(:expire_older_than, [at(@width)]) == {:ok, {1, store}}
    assert {:raise, %ArgumentError{message: "id must be" <> _}} = request.(:fetch, ["none"])
    assert {:ok, %BucketsSnapshot{}} = request.(:snapshot, [])
  end

  test "a store is gone for every name when its process is known to be dead" do
    for _ <- 1..200 do
      {:ok, store} =
        Buckets.start_link(name: __MODULE__.Gone, ttl: 1, every: @never, bucket_bits: @bits)

      %{store: ref} = handled(store)
      Process.unlink(store)
      Mortal.kill(store)
      assert Native.buckets_size(ref) == :closed

      for server <- [store, __MODULE__.Gone],
          call <- [&Buckets.fetch(&1, id(1)), &Buckets.expire/1, &Buckets.size/1] do
        assert {:noproc, {GenServer, :call, [^server | _]}} = catch_exit(call.(server))
      end
    end
  end

  test "other stores do not expire, and say so" do
    store = start_supervised!({EchoData.Bcs.PropertyStore, namespace: "SES"})
    EchoData.Bcs.PropertyStore.put(store, id(1), :here)
    message = "the store is of EchoData.Bcs.PropertyStore, which does nothing by itself"
    assert_raise ArgumentError, message, fn -> Buckets.expire(store) end
    send(store, :tick)
    assert EchoData.Bcs.PropertyStore.get(store, id(1)) == {:ok, :here}
    handled(store)
  end

  test "a store that cannot be is refused before it is started" do
    good = [ttl: 1000, every: 1000]

    for {wrong, message} <- [
          {[ttl: 0], ~r/^ttl must be a positive integer, got: 0/},
          {[ttl: 1.5], ~r/^ttl must be/},
          {[ttl: nil], ~r/^ttl must be/},
          {[every: 0], ~r/^every must be an integer in 1..4294967295, got: 0/},
          {[every: @never + 1], ~r/^every must be/},
          {[every: nil], ~r/^every must be/},
          {[on_expire: fn -> :ok end], ~r/^on_expire must be a function of an instant and a/},
          {[clock: nil], ~r/^clock must be a function of no arguments/},
          {[namespace: "SES"], ~r/unknown keys/}
        ] do
      assert_raise ArgumentError, message, fn ->
        Buckets.start_link(Keyword.merge(good, wrong))
      end
    end
  end

  describe "telemetry" do
    test "that is not there is not missed" do
      refute Code.ensure_loaded?(:telemetry)
      {_hand, clock} = clock(2 * @width)
      store = start(clock: clock)
      fill(store, [0])
      assert capture_log(fn -> assert Buckets.expire(store) == 1 end) == ""
    end

    test "that is there is told of every round" do
      Process.register(self(), __MODULE__)
      telemetry(fn event -> send(__MODULE__, event) end)
      {_hand, clock} = clock(2 * @width)
      named = start(name: __MODULE__.Told, clock: clock)
      nameless = start(clock: clock)
      fill(named, 0..9)
      event = [:echo_data, :buckets, :expire]

      for {store, name, count} <- [
            {named, __MODULE__.Told, 10},
            {named, __MODULE__.Told, 0},
            {nameless, nameless, 0}
          ] do
        assert Buckets.expire(store) == count
        assert_received {^event, %{count: ^count, duration: duration} = measured, metadata}
        assert is_integer(duration) and duration >= 0
        assert map_size(measured) == 2
        assert metadata == %{name: name, instant: at(@width)}
      end
    end

    test "that fails is logged" do
      telemetry(fn _event -> raise "no handlers" end)
      {_hand, clock} = clock(2 * @width)
      store = start(clock: clock)
      fill(store, [0])
      log = capture_log(fn -> assert Buckets.expire(store) == 1 end)
      assert log =~ "telemetry of the bucket store #{inspect(store)} failed"
      assert Process.alive?(store)
    end
  end

  # A module `:telemetry` that tells `handler`, until the test ends.
  defp telemetry(handler) do
    :persistent_term.put(__MODULE__, handler)

    contents =
      quote do
        def execute(event, measurements, metadata),
          do: :persistent_term.get(unquote(__MODULE__)).({event, measurements, metadata})
      end

    {:module, :telemetry, _binary, _term} =
      Module.create(:telemetry, contents, Macro.Env.location(__ENV__))

    on_exit(fn ->
      :code.delete(:telemetry)
      :code.purge(:telemetry)
      :persistent_term.erase(__MODULE__)
    end)
  end
end
