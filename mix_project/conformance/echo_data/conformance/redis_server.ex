defmodule EchoData.Conformance.RedisServer do
  @moduledoc """
  A Redis server of one's own, on a free port of the loopback interface; it keeps nothing.

      {:ok, server} = RedisServer.start_link()
      redis = server |> RedisServer.address() |> Redis.connect!()

  It is ready when `start_link/1` answers. It is gone when this process has stopped, and goes too when this process is
  killed or the VM ends, however it ends. When the server itself ends, so does this process, with its last words.
  """

  use GenServer

  alias EchoData.Conformance.Redis

  @host "127.0.0.1"

  # From starting to being ready, and from being told to being gone.
  @patience_ms 30_000

  # Another program may take a port between our finding it free and the server's taking it.
  @attempts 5

  # The shell waits for the server, and kills it at a line of input or at the input's end: the end of a VM is the end
  # of the input of its ports. Its arguments are the folder of the server, and the command that starts it.
  @keeper """
  folder=$1
  shift
  exec 3<&0
  "$@" </dev/null 3<&- &
  server=$!
  { read -r _ <&3; kill -9 "$server"; } >/dev/null 2>&1 &
  exec 3<&-
  wait "$server"
  status=$?
  rm -rf "$folder"
  exit "$status"
  """

  @doc """
  Starts a server.

    * `:password` - what clients must tell it
    * `:cluster` - `true` for a node of a cluster, by itself at first

  Answers `{:error, sentence}` when there is no `redis-server`, or when it does not start.
  """
  @spec start_link(password: String.t(), cluster: boolean) :: GenServer.on_start()
  def start_link(options \\ []) do
    options = Keyword.validate!(options, password: nil, cluster: false)
    GenServer.start_link(__MODULE__, options, timeout: :infinity)
  end

  @doc "Where the server listens, as `EchoData.Conformance.Redis.connect!/1` takes it."
  @spec address(GenServer.server()) :: Redis.address()
  def address(server), do: GenServer.call(server, :address)

  @impl true
  def init(options) do
    Process.flag(:trap_exit, true)

    case System.find_executable("redis-server") do
      nil -> {:stop, not_found()}
      executable -> start(executable, options, @attempts)
    end
  end

  @impl true
  def handle_call(:address, _from, state), do: {:reply, state.address, state}

  @impl true
  def handle_info({port, {:data, {_, line}}}, %{port: port} = state),
    do: {:noreply, %{state | said: line}}

  def handle_info({port, {:exit_status, _status}}, %{port: port} = state) do
    reason = "redis-server at #{Redis.name(state.address)} has ended: #{state.said}"
    {:stop, reason, %{state | port: nil}}
  end

  def handle_info({:EXIT, _from, _reason}, state), do: {:noreply, state}

  @impl true
  def terminate(_reason, %{port: nil}), do: :ok

  def terminate(_reason, %{port: port}) do
    Port.command(port, "end\n")
    receive do: ({^port, {:exit_status, _status}} -> :ok), after: (@patience_ms -> :ok)
  end

  defp start(executable, options, attempts) do
    [port_number, bus_number] = free_ports(2)
    port = open(executable, arguments(options, port_number, bus_number))

    case await_ready(port, "", System.monotonic_time(:millisecond) + @patience_ms) do
      {:ready, said} ->
        address = %{host: @host, port: port_number, password: options[:password]}
        {:ok, %{address: address, port: port, said: said}}

      {:ended, _said} when attempts > 1 ->
        start(executable, options, attempts - 1)

      {_ended_or_late, said} ->
        {:stop, "redis-server did not start: #{said}"}
    end
  end

  defp open(executable, arguments) do
    folder = Path.join(System.tmp_dir!(), "echo_data_redis_#{System.pid()}_#{unique()}")
    File.mkdir!(folder)
    File.chmod!(folder, 0o700)
    command = [folder, executable, "--dir", folder | arguments]
    options = [:binary, :exit_status, :stderr_to_stdout, :hide, line: 1000]

    Port.open(
      {:spawn_executable, System.find_executable("sh")},
      [args: ["-c", @keeper, "redis-server of EchoData" | command]] ++ options
    )
  end

  defp unique, do: System.unique_integer([:positive])

  defp arguments(options, port_number, bus_number) do
    password = if options[:password], do: ["--requirepass", options[:password]], else: []

    cluster =
      if options[:cluster],
        do: ~w(--cluster-enabled yes --cluster-port #{bus_number} --cluster-node-timeout 2000),
        else: []

    ["--bind", @host, "--port", "#{port_number}", "--save", "", "--appendonly", "no"] ++
      password ++ cluster
  end

  # The server says when it accepts connections, and by ending that it never will.
  defp await_ready(port, said, deadline) do
    receive do
      {^port, {:data, {_, line}}} ->
        if line =~ "Ready to accept connections",
          do: {:ready, line},
          else: await_ready(port, line, deadline)

      {^port, {:exit_status, _status}} ->
        {:ended, said}
    after
      max(0, deadline - System.monotonic_time(:millisecond)) ->
        Port.close(port)
        {:late, "not ready after #{@patience_ms} ms: #{said}"}
    end
  end

  # Held all at once, so that they differ.
  defp free_ports(count) do
    {:ok, loopback} = :inet.parse_address(String.to_charlist(@host))
    sockets = for _ <- 1..count, {:ok, socket} <- [:gen_tcp.listen(0, ip: loopback)], do: socket
    ports = for socket <- sockets, {:ok, port} <- [:inet.port(socket)], do: port
    Enum.each(sockets, &:gen_tcp.close/1)
    ports
  end

  defp not_found do
    "redis-server was not found: apt-get install redis-server on Debian, elsewhere see " <>
      "https://redis.io/docs/latest/operate/oss_and_stack/install/"
  end
end
