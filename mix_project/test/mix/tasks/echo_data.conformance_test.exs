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
  end

  describe "one sentence and exit status 1:" do
    test "nobody listens there" do
      {:ok, socket} = :gen_tcp.listen(0, ip: {127, 0, 0, 1})
      {:ok, port} = :inet.port(socket)
      :gen_tcp.close(socket)

      assert user_runs(["--server", "127.0.0.1:#{port}"]) ==
               {"the server at 127.0.0.1:#{port} cannot be reached: connection refused\n", 1}
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
      for arguments <- [["here"], ["--server", "6379"], ["--server", "a:0"], ["--port", "1"]] do
        assert user_runs(arguments) ==
                 {"usage: mix echo_data.conformance [--server HOST:PORT]\n", 1}
      end
    end
  end

  defp server(options) do
    address = {RedisServer, options} |> start_supervised!() |> RedisServer.address()
    {address, Redis.connect!(address)}
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
