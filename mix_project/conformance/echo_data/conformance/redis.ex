defmodule EchoData.Conformance.Redis do
  @moduledoc """
  A connection to a Redis server, by the Erlang client `eredis`.

  What goes wrong is told in one sentence, with the address of the server.
  """

  alias EchoData.Conformance.Failed

  # A pipeline of long keys takes a while.
  @timeout_ms 60_000

  @enforce_keys [:address, :client]
  defstruct [:address, :client]

  @typedoc "Where a server listens, and what it is to be told first."
  @type address :: %{host: String.t(), port: :inet.port_number(), password: String.t() | nil}

  @type t :: %__MODULE__{address: address, client: pid}

  @typedoc "As Redis names them: the verb, then its arguments."
  @type command :: [binary]

  @doc """
  Connects the calling process: the connection ends with it.

  Raises `EchoData.Conformance.Failed` when nobody listens there or who does is no Redis server, when the password
  is refused, or when there is no client.
  """
  @spec connect!(address) :: t
  def connect!(address) do
    find_client!()
    host = String.to_charlist(address.host)
    reach!(address, host)
    {:ok, client} = :eredis.start_link(host, address.port, 0, ~c"", :no_reconnect, @timeout_ms)
    redis = %__MODULE__{address: address, client: client}
    if address.password, do: authenticate!(redis, address.password)
    redis
  end

  @doc "Sends a command: `{:ok, answer}`, or `{:error, what the server says}`. No value is `:undefined`."
  @spec command(t, command) :: {:ok, term} | {:error, term}
  def command(%__MODULE__{client: client}, command),
    do: alive(fn -> :eredis.q(client, command, @timeout_ms) end)

  @doc "Sends a command. Raises `EchoData.Conformance.Failed` when the server answers an error."
  @spec command!(t, command) :: term
  def command!(%__MODULE__{} = redis, [verb | _] = command),
    do: redis |> command(command) |> answer!(redis, verb)

  @doc "Sends commands at once, and answers theirs in order. Raises as `command!/2` does."
  @spec pipeline!(t, [command]) :: [term]
  def pipeline!(_redis, []), do: []

  def pipeline!(%__MODULE__{} = redis, [[verb | _] | _] = commands) do
    case alive(fn -> :eredis.qp(redis.client, commands, @timeout_ms) end) do
      answers when is_list(answers) -> Enum.map(answers, &answer!(&1, redis, verb))
      error -> answer!(error, redis, verb)
    end
  end

  @doc "Ends a connection."
  @spec close(t) :: :ok
  def close(%__MODULE__{client: client}), do: :eredis.stop(client)

  @doc "An address as it is written."
  @spec name(address) :: String.t()
  def name(%{host: host, port: port}), do: "#{host}:#{port}"

  defp answer!({:ok, answer}, _redis, _verb), do: answer

  defp answer!({:error, reason}, redis, verb) do
    fail!(redis.address, "answered #{verb} with an error: #{sentence(reason)}")
  end

  # The client ends when the connection does.
  defp alive(ask) do
    ask.()
  catch
    :exit, {reason, _call} when reason != :timeout -> {:error, :closed}
  end

  # The client ends its caller when nobody listens, and itself by what no Redis server says: so it is only called
  # when one does listen, which answers a ping or says that it may not.
  defp reach!(address, host) do
    with {:ok, socket} <-
           :gen_tcp.connect(host, address.port, [:binary, active: false], @timeout_ms),
         :ok <- :gen_tcp.send(socket, "PING\r\n"),
         {:ok, answer} <- :gen_tcp.recv(socket, 0, @timeout_ms) do
      :gen_tcp.close(socket)
      unless answer =~ ~r/^[+-]/, do: fail!(address, "is no Redis server")
    else
      {:error, reason} -> fail!(address, "cannot be reached: #{sentence(reason)}")
    end
  end

  defp authenticate!(redis, password) do
    case command(redis, ["AUTH", password]) do
      {:ok, _} -> :ok
      {:error, reason} -> fail!(redis.address, "refused the password: #{sentence(reason)}")
    end
  end

  defp sentence(reason) when is_binary(reason), do: reason
  defp sentence(reason) when reason in [:closed, :tcp_closed], do: "the connection has ended"
  defp sentence(:timeout), do: "it does not answer"

  defp sentence(reason) do
    case :inet.format_error(reason) do
      ~c"unknown POSIX error" ++ _ -> inspect(reason)
      words -> "#{words}"
    end
  end

  @spec fail!(address, String.t()) :: no_return
  defp fail!(address, what), do: raise(Failed, "the server at #{name(address)} #{what}")

  # Debian's package puts the client beside Erlang's own libraries, where Mix does not always look.
  defp find_client! do
    unless Code.ensure_loaded?(:eredis) do
      "#{:code.lib_dir()}/redis_client-*/ebin"
      |> Path.wildcard()
      |> Enum.each(&Code.append_path/1)

      Code.ensure_loaded?(:eredis) ||
        raise Failed,
              "the Erlang module eredis was not found: apt-get install erlang-redis-client on Debian, " <>
                "elsewhere build https://github.com/wooga/eredis and name its folder in ERL_LIBS"
    end
  end
end
