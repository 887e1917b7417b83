defmodule EchoMQ.LiveClusterTest do
  @moduledoc """
  The law of one slot, as a real cluster of three nodes enforces it.
  """

  use ExUnit.Case, async: true

  alias EchoData.Conformance.Redis
  alias EchoData.{BrandedId, RedisCluster}
  alias EchoMQ.Keyspace

  @nodes 3
  @sets 100

  @touch_all """
  for _, key in ipairs(KEYS) do redis.call('INCR', key) end
  return #KEYS
  """

  setup do
    {:ok, nodes: RedisCluster.start!(@nodes, &start_node/1)}
  end

  @tag timeout: 180_000
  test "a script over one queue runs, one over two is refused, and our verdict agrees", context do
    claim = [Keyspace.queue_key("orders", "pending"), job("orders")]
    assert run(context.nodes, claim) == {:ok, "2"}

    across = [Keyspace.queue_key("fills", "pending") | claim]
    assert {:error, "CROSSSLOT" <> _} = run(context.nodes, across)

    verdicts =
      for _ <- 1..@sets do
        keys = random_set()
        legal? = Keyspace.legal?(keys)

        assert legal? == accepted?(run(context.nodes, keys)),
               "#{inspect(keys)} (seed #{ExUnit.configuration()[:seed]})"

        legal?
      end

    assert verdicts |> Enum.uniq() |> Enum.sort() == [false, true]
  end

  test "a queue lives on the node that partition tells", %{nodes: nodes} do
    layout = for node <- nodes, do: ranges(node)

    for queue <- ["orders", "fills", "payments" | Enum.map(1..50, &"queue#{&1}")] do
      part = Keyspace.partition(queue, @nodes)
      assert Keyspace.partition(queue, layout) == part
      key = Keyspace.queue_key(queue, "pending")
      for {node, at} <- Enum.with_index(nodes), do: assert(has?(node, key) == (at == part))
    end
  end

  # A server each: the supervisor of a test tells its children apart by their ids.
  defp start_node(child), do: start_supervised!(child, id: make_ref())

  # Where the first key lives.
  defp run(nodes, [key | _] = keys) do
    {:ok, {:queue, queue, _}} = Keyspace.parse(key)
    node = Enum.at(nodes, Keyspace.partition(queue, @nodes))
    Redis.command(node, ["EVAL", @touch_all, "#{length(keys)}" | keys])
  end

  defp accepted?({:ok, _count}), do: true
  defp accepted?({:error, "CROSSSLOT" <> _}), do: false

  defp random_set do
    queues =
      Enum.take_random(["orders", "fills", "payments", "q1", "q2"], Enum.random([1, 1, 2, 3]))

    first = Keyspace.queue_key(hd(queues), "pending")
    [first | for(_ <- 1..:rand.uniform(5), do: random_key(Enum.random(queues)))]
  end

  defp random_key(queue) do
    if :rand.uniform(2) == 1,
      do: job(queue),
      else: Keyspace.queue_key(queue, "type#{:rand.uniform(9)}")
  end

  defp job(queue), do: Keyspace.job_key(queue, BrandedId.generate!("JOB"))

  defp has?(node, key) do
    case Redis.command(node, ["EXISTS", key]) do
      {:ok, _count} -> true
      {:error, "MOVED " <> _} -> false
    end
  end

  # Of the node's own line in what it says of the cluster: the words behind the first eight.
  defp ranges(node) do
    lines = node |> Redis.command!(~w(CLUSTER NODES)) |> String.split("\n", trim: true)
    words = lines |> Enum.find(&(&1 =~ "myself")) |> String.split()

    for range <- Enum.drop(words, 8) do
      [first, last] = range |> String.split("-") |> Enum.map(&String.to_integer/1)
      first..last
    end
  end
end
