defmodule EchoData.Conformance.RedisServerTest do
  use ExUnit.Case, async: true

  alias EchoData.Conformance.{Redis, RedisServer}
  alias EchoData.{FreshVM, Mortal}

  # A server that is killed, or ends by itself, logs it.
  @moduletag :capture_log

  @patience_ms 10_000

  test "is ready at once, and gone when it has stopped" do
    {:ok, server} = RedisServer.start_link()
    address = RedisServer.address(server)
    redis = Redis.connect!(address)
    assert Redis.command!(redis, ["PING"]) == "PONG"
    ["dir", folder] = Redis.command!(redis, ["CONFIG", "GET", "dir"])
    Redis.close(redis)

    assert File.dir?(folder)
    assert GenServer.stop(server) == :ok
    refute listens?(address)
    refute File.exists?(folder)
  end

  test "several run at once" do
    servers = for n <- 1..3, do: start_supervised!(RedisServer, id: n)
    assert servers |> Enum.map(&RedisServer.address(&1).port) |> Enum.uniq() |> length() == 3
  end

  test "goes with its killed owner" do
    {_pid, _monitor, address} = owner = Mortal.owner(&serve/0)
    redis = Redis.connect!(address)
    Mortal.kill(owner)
    await_end(redis)
  end

  test "goes with a VM that is killed" do
    Process.flag(:trap_exit, true)
    vm = FreshVM.start!()
    system_pid = FreshVM.call(vm, System, :pid, [])
    {:ok, _started} = FreshVM.call(vm, Application, :ensure_all_started, [:echo_data])
    child = [EchoData.Supervisor, RedisServer]
    {:ok, server} = FreshVM.call(vm, Supervisor, :start_child, child)
    address = FreshVM.call(vm, RedisServer, :address, [server])
    redis = Redis.connect!(address)
    {_output, 0} = System.cmd("kill", ["-9", system_pid])
    await_end(redis)
  end

  test "that ends says so to its owner" do
    Process.flag(:trap_exit, true)
    {:ok, server} = RedisServer.start_link()
    address = RedisServer.address(server)
    redis = Redis.connect!(address)
    Redis.command(redis, ["SHUTDOWN", "NOSAVE"])
    assert_receive {:EXIT, ^server, "redis-server at " <> reason}, @patience_ms
    assert reason =~ "#{Redis.name(address)} has ended: "
  end

  defp serve do
    {:ok, server} = RedisServer.start_link()
    RedisServer.address(server)
  end

  # The end of a connection comes first when a server ends, then that of its port.
  defp await_end(redis) do
    monitor = Process.monitor(redis.client)
    assert_receive {:DOWN, ^monitor, :process, _pid, _reason}, @patience_ms
    await_silence(redis.address, System.monotonic_time(:millisecond) + @patience_ms)
  end

  defp await_silence(address, deadline) do
    if listens?(address) do
      assert System.monotonic_time(:millisecond) < deadline, "#{Redis.name(address)} goes on"
      await_silence(address, deadline)
    end
  end

  defp listens?(%{host: host, port: port}) do
    case :gen_tcp.connect(String.to_charlist(host), port, []) do
      {:ok, socket} -> :gen_tcp.close(socket) == :ok
      {:error, :econnrefused} -> false
    end
  end
end
