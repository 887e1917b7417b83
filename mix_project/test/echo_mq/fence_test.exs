defmodule EchoMQ.FenceTest do
  use ExUnit.Case, async: true

  alias EchoMQ.Fence

  # A server of one key, as a client sees it.
  defp server(value, answer_to_refused_set \\ nil) do
    {:ok, cell} = Agent.start_link(fn -> {value, []} end)

    client = fn command ->
      Agent.get_and_update(cell, fn {value, log} ->
        {answer, value} = serve(command, value, answer_to_refused_set)
        {answer, {value, [command | log]}}
      end)
    end

    {client, fn -> Agent.get(cell, fn {value, log} -> {value, Enum.reverse(log)} end) end}
  end

  defp serve(["SET", "{emq}:version", new, "NX"], nil, _refused), do: {{:ok, "OK"}, new}
  defp serve(["SET", "{emq}:version", _, "NX"], value, refused), do: {{:ok, refused}, value}
  defp serve(["GET", "{emq}:version"], value, _refused), do: {{:ok, value}, value}

  test "claims a server that nobody has claimed, with two commands" do
    {client, seen} = server(nil)
    assert Fence.claim(client) == :ok

    assert {"echomq:2.0.0",
            [["SET", "{emq}:version", "echomq:2.0.0", "NX"], ["GET", "{emq}:version"]]} = seen.()
  end

  test "verifies a server that was claimed before" do
    for refused <- [nil, :undefined] do
      {client, seen} = server("echomq:2.0.0", refused)
      assert Fence.claim(client) == :ok
      assert {"echomq:2.0.0", [_set, _get]} = seen.()
    end
  end

  test "refuses a server of another layout, and leaves it as it is" do
    for other <- ["echomq:0.0.1", "", "echomq:2.0.0 ", "2.0.0"] do
      {client, seen} = server(other)
      assert Fence.claim(client) == {:error, {:version_fence, other}}
      assert {^other, _log} = seen.()
    end

    vanished = fn
      ["SET" | _] -> {:ok, "OK"}
      ["GET" | _] -> {:ok, :undefined}
    end

    assert Fence.claim(vanished) == {:error, {:version_fence, :undefined}}
  end

  test "passes on what the client says, and asks no further" do
    parent = self()

    refusing = fn [verb | _] ->
      send(parent, verb)
      {:error, "NOAUTH Authentication required."}
    end

    assert Fence.claim(refusing) == {:error, "NOAUTH Authentication required."}
    assert_received "SET"
    refute_received "GET"

    lost = fn
      ["SET" | _] -> {:ok, "OK"}
      ["GET" | _] -> {:error, :closed}
    end

    assert Fence.claim(lost) == {:error, :closed}
    assert_raise RuntimeError, "down", fn -> Fence.claim(fn _command -> raise "down" end) end
  end

  test "wants a client that answers as one" do
    for answer <- ["OK", :ok, {:reply, "OK"}, {:ok, 1, 2}] do
      assert_raise ArgumentError, ~r/client must answer/, fn ->
        Fence.claim(fn _command -> answer end)
      end
    end

    assert_raise FunctionClauseError, fn -> Fence.claim(self()) end
  end
end
