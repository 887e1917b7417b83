defmodule EchoData.Bcs.SupervisorTest do
  use ExUnit.Case, async: true

  alias EchoData.Bcs.PropertyStore
  alias EchoData.{Bcs, BrandedId}

  doctest Bcs.Supervisor

  @moduletag capture_log: true

  test "a killed store restarts empty under its name, and its siblings never notice" do
    start_supervised!({Bcs.Supervisor, [{__MODULE__.A, "AST"}, {__MODULE__.B, "PRT"}]})
    sibling = Process.whereis(__MODULE__.B)
    PropertyStore.put(__MODULE__.A, BrandedId.encode!("AST", 1), :a)
    PropertyStore.put(__MODULE__.B, BrandedId.encode!("PRT", 1), :b)

    restarted = kill_and_await_restart(__MODULE__.A)

    assert PropertyStore.size(__MODULE__.A) == 0
    assert PropertyStore.size(restarted) == 0
    assert PropertyStore.put(__MODULE__.A, BrandedId.encode!("AST", 2), :again) == :ok
    assert Process.whereis(__MODULE__.B) == sibling
    assert PropertyStore.get(__MODULE__.B, BrandedId.encode!("PRT", 1)) == {:ok, :b}
  end

  test "a child's id is its name" do
    tree = start_supervised!({Bcs.Supervisor, [{__MODULE__.C, "AST"}]})
    assert [{__MODULE__.C, pid, :worker, _}] = Supervisor.which_children(tree)
    assert Process.whereis(__MODULE__.C) == pid
  end

  test "a store that is not described is refused before anything starts" do
    wrong = [:a, {:a}, {"a", "AST"}, {nil, "AST"}, {:a, "ast"}, {:a, nil}, {:a, :b, "AST", "PRT"}]

    for store <- wrong do
      assert_raise ArgumentError, ~r/^store must be \{name, namespace\}/, fn ->
        Bcs.Supervisor.start_link([{__MODULE__.Never, "AST"}, store])
      end
    end

    assert Process.whereis(__MODULE__.Never) == nil

    assert_raise ArgumentError, ~r/^stores must be a list/, fn ->
      Bcs.Supervisor.start_link(:a)
    end
  end

  defp kill_and_await_restart(name) do
    pid = Process.whereis(name)
    monitor = Process.monitor(pid)
    Process.exit(pid, :kill)
    receive do: ({:DOWN, ^monitor, :process, ^pid, :killed} -> :ok)
    await(name)
  end

  defp await(name) do
    case Process.whereis(name) do
      nil -> await(name)
      pid -> pid
    end
  end
end
