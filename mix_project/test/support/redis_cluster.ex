defmodule EchoData.RedisCluster do
  @moduledoc """
  A Redis cluster of masters on the loopback interface, with even parts of the slots.
  """

  alias EchoData.Conformance.{Redis, RedisServer}

  @slots 16_384
  @patience_ms 60_000

  # How long a node holds its answer back when it is asked again.
  @pause_ms "50"

  @doc """
  Starts a cluster, and answers connections of the calling process to its nodes, in the order of their slots, when
  all nodes say that the cluster is up. `start` starts each server.
  """
  @spec start!(pos_integer, ({module, keyword} -> pid)) :: [Redis.t()]
  def start!(count, start) do
    nodes =
      for _ <- 1..count do
        {RedisServer, cluster: true} |> start.() |> RedisServer.address() |> Redis.connect!()
      end

    for {node, at} <- Enum.with_index(nodes) do
      [first, last] = for part <- [at, at + 1], do: round(part * @slots / count)
      Redis.command!(node, ~w(CLUSTER SET-CONFIG-EPOCH #{at + 1}))
      Redis.command!(node, ~w(CLUSTER ADDSLOTSRANGE #{first} #{last - 1}))
    end

    Enum.each(tl(nodes), &meet(hd(nodes), &1))
    deadline = System.monotonic_time(:millisecond) + @patience_ms
    Enum.each(nodes, &await_up(&1, count, deadline))
    nodes
  end

  defp meet(node, other) do
    ["cluster-port", bus] = Redis.command!(other, ~w(CONFIG GET cluster-port))
    Redis.command!(node, ~w(CLUSTER MEET #{other.address.host} #{other.address.port} #{bus}))
  end

  # A node that waits for a replica that it has not answers after the pause.
  defp await_up(node, count, deadline) do
    info = Redis.command!(node, ~w(CLUSTER INFO))
    wanted = ["cluster_state:ok", "cluster_slots_ok:#{@slots}", "cluster_known_nodes:#{count}"]

    cond do
      Enum.all?(wanted, &(info =~ &1)) ->
        :ok

      System.monotonic_time(:millisecond) > deadline ->
        raise "the cluster is not up after #{@patience_ms} ms: #{info}"

      true ->
        Redis.command!(node, ["WAIT", "1", @pause_ms])
        await_up(node, count, deadline)
    end
  end
end
