defmodule EchoData.Conformance.Keyspace do
  @moduledoc """
  F1 to F5, the keyspace: two of them over a connection to a live server, and N1, what the version fence refuses.

  What a check writes to a server it takes away again.
  """

  @behaviour EchoData.Conformance.Transcript

  import ExUnit.Assertions

  alias EchoData.BrandedId
  alias EchoData.Conformance.Redis
  alias EchoMQ.{CrossSlotError, Fence, Keyspace}

  @payloads 500

  @impl true
  def checks do
    [
      {"F1", "the map: every key has its form", &map/1},
      {"F2", "the gate: a job's key holds an id, or is not built", &gate/1},
      {"F3", "the fence: a server is claimed once, then verified", &fence/1},
      {"N1", "the fence refuses a server of another layout", &fence_refuses/1},
      {"F4", "binary payloads come back through job keys, in two pipelines", &payloads/1},
      {"F5", "the slots: a script over one queue is legal, one over two is not", &slots/1}
    ]
  end

  defp map(_surroundings) do
    id = BrandedId.generate!("ORD")

    keys = [
      {Keyspace.queue_key("orders", "pending"), "emq:{orders}:pending",
       {:queue, "orders", "pending"}},
      {Keyspace.job_key("orders", id), "emq:{orders}:job:" <> id, {:job, "orders", id}},
      {Keyspace.reserve("locks"), "{emq}:locks", {:reserve, "locks"}},
      {Keyspace.version_key(), "{emq}:version", {:reserve, "version"}}
    ]

    for {built, written, parts} <- keys do
      assert built == written
      assert Keyspace.parse(built) == {:ok, parts}
    end

    prefix = Keyspace.prefix_bytes("orders", "job:")
    assert prefix == 17
    "#{length(keys)} keys, job prefix of #{prefix} bytes"
  end

  defp gate(_surroundings) do
    send_nothing = fn command -> flunk("#{inspect(command)} was sent") end
    foreign = ["32063679958194", "my-first-order", "ord0NgWEfAEJfs", "ORDzzzzzzzzzzz", nil]

    Enum.each(foreign, fn id ->
      assert_raise ArgumentError, "job_key requires a valid branded id", fn ->
        send_nothing.(["SET", Keyspace.job_key("orders", id), "payload"])
      end
    end)

    queues = ["", "{orders}", "a}b", "a:b", "emq"]

    Enum.each(queues, fn queue ->
      assert_raise ArgumentError, fn -> Keyspace.queue_key(queue, "pending") end
    end)

    "#{length(foreign)} terms that are no ids and #{length(queues)} queue names refused"
  end

  defp fence(surroundings) do
    with_server(surroundings, [Keyspace.version_key()], fn redis ->
      assert Fence.claim(&Redis.command(redis, &1)) == :ok
      got = Redis.command!(redis, ["GET", Keyspace.version_key()])
      assert got == "echomq:2.0.0"
      assert Fence.claim(&Redis.command(redis, &1)) == :ok
      "#{Keyspace.version_key()} holds #{got}"
    end)
  end

  defp fence_refuses(surroundings) do
    planted = "echomq:0.0.1"

    with_server(surroundings, [Keyspace.version_key()], fn redis ->
      Redis.command!(redis, ["SET", Keyspace.version_key(), planted])
      answer = Fence.claim(&Redis.command(redis, &1))
      assert answer == {:error, {:version_fence, planted}}
      assert Redis.command!(redis, ["GET", Keyspace.version_key()]) == planted
      inspect(answer)
    end)
  end

  defp payloads(surroundings) do
    rows =
      for n <- 1..@payloads do
        {Keyspace.job_key("orders", BrandedId.generate!("ORD")), payload(n)}
      end

    with_server(surroundings, Enum.map(rows, &elem(&1, 0)), fn redis ->
      set = Redis.pipeline!(redis, for({key, payload} <- rows, do: ["SET", key, payload]))
      got = Redis.pipeline!(redis, for({key, _payload} <- rows, do: ["GET", key]))
      assert Enum.uniq(set) == ["OK"]
      same = rows |> Enum.zip(got) |> Enum.count(fn {{_key, payload}, got} -> payload == got end)
      assert same == @payloads
      "#{same}/#{@payloads}, #{got |> Enum.map(&byte_size/1) |> Enum.sum()} bytes"
    end)
  end

  defp payload(n), do: <<n::16, "\r\n", 0, :rand.bytes(rem(n, 100))::binary, 0, "\r\n">>

  defp slots(_surroundings) do
    figures = [{"{orders}", 105}, {"{fills}", 4165}, {"{payments}", 8507}, {"123456789", 12_739}]
    assert Keyspace.slots(Enum.map(figures, &elem(&1, 0))) == Enum.map(figures, &elem(&1, 1))

    job = Keyspace.job_key("orders", BrandedId.generate!("ORD"))
    claim = [Keyspace.queue_key("orders", "pending"), Keyspace.queue_key("orders", "active"), job]
    retry = [Keyspace.queue_key("orders", "retry"), job]
    across = [Keyspace.queue_key("fills", "pending") | claim]

    for script <- [claim, retry] do
      assert Keyspace.slot_set(script) == [105]
      assert Keyspace.check!(script) == :ok
    end

    assert Keyspace.slot_set(across) == [105, 4165]
    refute Keyspace.legal?(across)
    error = assert_raise CrossSlotError, fn -> Keyspace.check!(across) end
    assert Exception.message(error) =~ "emq:{fills}:pending"
    [legal, crossed] = for keys <- [claim, across], do: Enum.join(Keyspace.slot_set(keys), ", ")
    "{#{legal}} is legal, {#{crossed}} is not"
  end

  # The keys are gone before and after.
  defp with_server(%{server: server}, keys, check) do
    redis = Redis.connect!(server.())
    remove = fn -> Redis.command!(redis, ["DEL" | keys]) end

    try do
      remove.()
      check.(redis)
    after
      remove.()
      Redis.close(redis)
    end
  end
end
