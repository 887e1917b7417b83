defmodule EchoMQ.Fence do
  @moduledoc """
  The version fence: on connecting, a program claims a server for the layout of keys that it writes, or finds that
  the server was claimed for it before. A server of another layout is refused before anything else is read or
  written.

      {:ok, connection} = :eredis.start_link(~c"127.0.0.1", 6379)
      :ok = EchoMQ.Fence.claim(&:eredis.q(connection, &1))

  The library has no wire protocol: any client will do, given as a function of one command.
  """

  alias EchoMQ.Keyspace

  @version "echomq:2.0.0"

  @typedoc """
  Sends a command, a list of binaries with the verb first, and answers what the server said.

  The answer of a command that a server does not carry out (its `GET` of no value, its `SET` under a condition that
  does not hold) may be any term.
  """
  @type client :: ([binary] -> {:ok, term} | {:error, term})

  @doc "What the version key holds on a server of this layout."
  @spec version() :: binary
  def version, do: @version

  @doc """
  Claims a server that nobody has claimed, or verifies that it was claimed for this layout.

    * `:ok`
    * `{:error, {:version_fence, got}}` - the version key holds `got`, which is left as it is
    * `{:error, reason}` - what the client answered

  Two commands: `SET {emq}:version echomq:2.0.0 NX`, then `GET`. Raises `ArgumentError` for a client that answers
  anything but `{:ok, term}` and `{:error, term}`; what the client raises passes through.
  """
  @spec claim(client) :: :ok | {:error, {:version_fence, term} | term}
  def claim(client) when is_function(client, 1) do
    key = Keyspace.version_key()

    with {:ok, _set_or_not} <- ask(client, ["SET", key, @version, "NX"]),
         {:ok, got} <- ask(client, ["GET", key]) do
      if got == @version, do: :ok, else: {:error, {:version_fence, got}}
    end
  end

  defp ask(client, command) do
    case client.(command) do
      {ok_or_error, _answer} = answer when ok_or_error in [:ok, :error] ->
        answer

      other ->
        raise ArgumentError,
              "client must answer {:ok, answer} or {:error, reason}, got: #{inspect(other)}"
    end
  end
end
