defmodule EchoData.Bcs.SupervisorTest do
  use ExUnit.Case, async: true

  alias EchoData.Bcs.{EdgeStore, PropertyStore}
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

  test "a killed edge store restarts empty under its name, and its siblings never notice" do
    stores = [{__MODULE__.D, "AST"}, {__MODULE__.E, :holds, "PRT", "AST"}]
    start_supervised!({Bcs.Supervisor, stores})
    sibling = Process.whereis(__MODULE__.D)
    [part, asset] = [BrandedId.encode!("PRT", 1), BrandedId.encode!("AST", 2)]
    PropertyStore.put(__MODULE__.D, asset, :a)
    EdgeStore.link(__MODULE__.E, part, asset)

    restarted = kill_and_await_restart(__MODULE__.E)

    assert EdgeStore.size(__MODULE__.E) == 0
    assert EdgeStore.to(restarted, asset) == {:ok, []}
    assert EdgeStore.link(__MODULE__.E, part, asset, :again) == :ok
    assert EdgeStore.props(restarted, part, asset) == {:ok, :again}
    assert %{relation: :holds, subject_ns: "PRT", object_ns: "AST"} = EdgeStore.info(restarted)
    assert Process.whereis(__MODULE__.D) == sibling
    assert PropertyStore.get(__MODULE__.D, asset) == {:ok, :a}
  end

  test "a child's id is its name" do
    stores = [{__MODULE__.C, "AST"}, {__MODULE__.F, "holds", "PRT", "AST"}]
    tree = start_supervised!({Bcs.Supervisor, stores})

    for {name, pid, :worker, _} <- Supervisor.which_children(tree) do
      assert Process.whereis(name) == pid
    end

    assert tree |> Supervisor.which_children() |> Enum.map(&elem(&1, 0)) |> Enum.sort() ==
             [__MODULE__.C, __MODULE__.F]
  end

  test "a store that is not described is refused before anything starts" do
    wrong =
      [:a, {:a}, {"a", "AST"}, {nil, "AST"}, {:a, "ast"}, {:a, nil}] ++
        [
          {:a, :b, "AST", "prt"},
          {:a, nil, "AST", "PRT"},
          {:a, "", "AST", "PRT"},
          {nil, :b, "AST", "PRT"}
        ]

    for store <- wrong do
      assert_raise ArgumentError,
                   ~r/^store must be \{name, namespace\} or \{name, relation, /,
                   fn ->
                     Bcs.Supervisor.start_link([{__MODULE__.Never, "AST"}, store])
                   end
    end

    assert Process.whereis(__MODULE__.Never) == nil

    for stores <- [:a, [{__MODULE__.Never, "AST"} | :tail]] do
      assert_raise ArgumentError, ~r/^stores must be a proper list/, fn ->
        Bcs.Supervisor.start_link(stores)
      end
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
