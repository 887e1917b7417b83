defmodule EchoData.Conformance do
  @moduledoc """
  The transcripts of property stores, edge stores and the keyspace, against live stores and a live Redis server.
  """

  alias EchoData.Conformance.{EdgeStores, Failed, Keyspace, PropertyStores, Transcript}
  alias EchoData.Conformance.{Redis, RedisServer}

  @transcripts [PropertyStores, EdgeStores, Keyspace]

  @doc """
  Makes all checks, prints a line for each, and answers how many hold and how many there are.

  Without an address a server is started on a free port, and stopped whatever happens. A server that is named must be
  empty; it is empty again afterwards.

  Raises `EchoData.Conformance.Failed` when there is no such server, when it does not let us in, or when it is not
  empty. Nothing has been written then.
  """
  @spec run(Redis.address() | nil) :: {non_neg_integer, pos_integer}
  def run(address) do
    # A server that does not start, and one that ends before its time, are told of as what they are.
    trapping = Process.flag(:trap_exit, true)

    try do
      if address, do: check_all(address), else: check_own(RedisServer.start_link())
    after
      Process.flag(:trap_exit, trapping)
    end
  end

  defp check_own({:error, sentence}), do: raise(Failed, sentence)

  defp check_own({:ok, server}) do
    server |> RedisServer.address() |> check_all()
  after
    stop(server)
  end

  defp check_all(address) do
    must_be_empty!(address)
    results = for module <- @transcripts, check <- module.checks(), do: holds?(check, address)
    {Enum.count(results, & &1), length(results)}
  end

  defp stop(server) do
    GenServer.stop(server)
  catch
    :exit, _ended -> :ok
  end

  defp must_be_empty!(address) do
    redis = Redis.connect!(address)
    size = Redis.command!(redis, ["DBSIZE"])
    Redis.close(redis)

    size == "0" ||
      raise Failed,
            "the server at #{Redis.name(address)} is not empty: name one that is, since the checks write " <>
              "and delete"
  end

  @spec holds?(Transcript.check(), Redis.address()) :: boolean
  defp holds?({label, title, check}, address) do
    {:ok, started} = Supervisor.start_link([], strategy: :one_for_one)

    start = fn child ->
      {:ok, pid} = Supervisor.start_child(started, child)
      pid
    end

    try do
      IO.puts("#{label}  #{title}: " <> check.(%{start: start, server: fn -> address end}))
      true
    rescue
      error -> failed(label, title, Exception.message(error))
    catch
      kind, reason -> failed(label, title, Exception.format_banner(kind, reason))
    after
      Supervisor.stop(started)
    end
  end

  defp failed(label, title, why) do
    IO.puts("#{label}  FAILED  #{title}: #{String.trim(why)}")
    false
  end
end
