defmodule Mix.Tasks.EchoData.ConformanceTest do
  use ExUnit.Case, async: true

  alias EchoData.Conformance.{EdgeStores, Keyspace, PropertyStores, Redis, RedisServer}
  alias EchoData.UserMix

  @moduletag timeout: 120_000

  @transcripts [PropertyStores, EdgeStores, Keyspace]

  test "prints a line for each check, then the count, and leaves no server" do
    {output, status} = user_runs([])
    checks = for module <- @transcripts, {label, title, _} <- module.checks(), do: {label, title}

    for {label, title} <- checks,
        do: assert(output =~ ~r/^#{label}  #{Regex.escape(title)}: .+$/m, output)

    assert output =~ ~s({:error, {:version_fence, "echomq:0.0.1"}})
    assert output =~ ~r/^PASS #{length(checks)}\/#{length(checks)}$/m
    assert status == 0
  end

  describe "a server that is named" do
    test "may have a password, and is left empty" do
      {address, redis} = server(password: "secret")
      {output, status} = user_runs(["--server", Redis.name(address)], password: "secret")
      assert {output =~ ~r/^PASS/m, status} == {true, 0}
      assert Redis.command!(redis, ["DBSIZE"]) == "0"
    end

    test "fails the checks that it breaks" do
      {address, redis} = server([])
      Redis.command!(redis, ["ACL", "SETUSER", "default", "-set"])
      {output, status} = user_runs(["--server", Redis.name(address)])

      assert output =~
               ~r/^F4  FAILED  .* at #{Redis.name(address)} answered SET with an error: NOPERM/m

      assert output =~ ~r/^P1  three stores/m
      assert output =~ ~r/^FAIL 13\/16$/m
      assert status == 1
    end

    test "fails the checks in which it hangs up" do
      address =
        answering(fn request ->
          cond do
            request =~ "PING" -> "+PONG\r\n"
            request =~ "DBSIZE" -> ":0\r\n"
            true -> :hang_up
          end
        end)

      {output, status} = user_runs(["--server", address])

      for label <- ~w(F3 N1 F4) do
        line =
          ~r/^#{label}  FAILED  .* at #{address} answered \w+ with an error: the connection has ended$/m

        assert output =~ line
      end

      assert {output =~ ~r/^FAIL 13\/16$/m, status} == {true, 1}
    end
  end

  describe "one sentence and exit status 1:" do
    test "nobody listens there" do
      {:ok, socket} = :gen_tcp.listen(0, ip: {127, 0, 0, 1})
      {:ok, port} = :inet.port(socket)
      :gen_tcp.close(socket)

      assert user_runs(["--server", "127.0.0.1:#{port}"]) ==
               {"the server at 127.0.0.1:#{port} cannot be reached: connection refused\n", 1}
    end

    test "who listens there is no Redis server, or hangs up" do
      http = answering(fn _request -> "HTTP/1.1 400 Bad Request\r\n\r\n" end)
      assert user_runs(["--server", http]) == {"the server at #{http} is no Redis server\n", 1}
      silent = answering(fn _request -> :hang_up end)

      assert user_runs(["--server", silent]) ==
               {"the server at #{silent} cannot be reached: the connection has ended\n", 1}
    end

    test "the password is refused, or missing" do
      {address, redis} = server(password: "secret")
      {output, 1} = user_runs(["--server", Redis.name(address)], password: "guess")
      assert output =~ ~r/\Athe server at #{Redis.name(address)} refused the password: .+\n\z/

      {output, 1} = user_runs(["--server", Redis.name(address)])

      assert output =~
               ~r/\Athe server at #{Redis.name(address)} answered DBSIZE with an error: NOAUTH .+\n\z/

      assert Redis.command!(redis, ["DBSIZE"]) == "0"
    end

    test "the server holds somebody's keys, which stay" do
      {address, redis} = server([])
      Redis.command!(redis, ["SET", "{emq}:version", "somebody's"])
      {output, 1} = user_runs(["--server", Redis.name(address)])
      assert output =~ ~r/\Athe server at #{Redis.name(address)} is not empty: .+\n\z/
      assert Redis.command!(redis, ["GET", "{emq}:version"]) == "somebody's"
    end

    @tag :tmp_dir
    test "there is no redis-server", %{tmp_dir: empty} do
      {output, 1} = user_runs([], path: empty)
      assert output =~ ~r/\Aredis-server was not found: apt-get install redis-server .+\n\z/
    end

    test "arguments that it does not know" do
      for arguments <- [
            ["here"],
            ["--server", "6379"],
            ["--server", "a:0"],
            ["--server", "é:1"],
            ["--port", "1"]
          ] do
        assert user_runs(arguments) ==
                 {"usage: mix echo_data.conformance [--server HOST:PORT]\n", 1}
      end
    end
  end

  defp server(options) do
    address = {RedisServer, options} |> start_supervised!() |> RedisServer.address()
    {address, Redis.connect!(address)}
  end

  # The address of a server that says what `answer` makes of a request.
  defp answering(answer) do
    {:ok, listener} = :gen_tcp.listen(0, [:binary, ip: {127, 0, 0, 1}, active: false])
    {:ok, port} = :inet.port(listener)
    start_supervised!({Task, fn -> accept(listener, answer) end}, id: port)
    "127.0.0.1:#{port}"
  end

  defp accept(listener, answer) do
    {:ok, socket} = :gen_tcp.accept(listener)
    serve(socket, answer)
    accept(listener, answer)
  end

  defp serve(socket, answer) do
    with {:ok, request} <- :gen_tcp.recv(socket, 0),
         text when is_binary(text) <- answer.(request),
         :ok <- :gen_tcp.send(socket, text) do
      serve(socket, answer)
    else
      _ended -> :gen_tcp.close(socket)
    end
  end

  # In the environment of the tests, where everything is compiled.
  defp user_runs(arguments, options \\ []) do
    library = Application.app_dir(:echo_data, "priv/native/echo_data_nif.so")

    env = [
      {"MIX_ENV", "test"},
      {"REDISCLI_AUTH", options[:password]},
      {"ECHO_DATA_NIF_PATH", library}
    ]

    options = [env: env] ++ Keyword.take(options, [:path])
    UserMix.run(".", ["echo_data.conformance" | arguments], options)
  end
end
