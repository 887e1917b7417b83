defmodule EchoData.DependentTest do
  use ExUnit.Case, async: true

  alias EchoData.{Dependent, UserMix}

  # Each test is a few runs of Mix and compiles this library anew.
  @moduletag timeout: 300_000

  @library Path.expand("priv/native/echo_data_nif.so")
  @snowflake 274_557_032_793_636_864

  setup_all do
    dir = Path.join(System.tmp_dir!(), "echo_data_dependent_#{System.pid()}")
    Dependent.create!(dir)
    on_exit(fn -> File.rm_rf!(dir) end)
    %{dir: dir}
  end

  test "compiles and runs", %{dir: dir} do
    assert {output, 0} = UserMix.run(dir, ["run", "-e", "Dependent.report()"])
    assert output =~ "gated #{@snowflake} with #{@library}"
  end

  test "needs no cargo when ECHO_DATA_NIF_PATH names a library", %{dir: dir} do
    ready = Path.join(dir, "ready/echo_data_nif.so")
    File.mkdir_p!(Path.dirname(ready))
    File.cp!(@library, ready)

    assert {output, 0} =
             UserMix.run(
               dir,
               ["do", "deps.compile", "--force,", "run", "-e", "Dependent.report()"],
               path: "/nonexistent",
               env: [{"ECHO_DATA_NIF_PATH", ready}]
             )

    assert output =~ "gated #{@snowflake} with #{ready}"
  end

  test "is told in one sentence that cargo is missing", %{dir: dir} do
    assert {output, 1} = UserMix.run(dir, ["deps.compile", "--force"], path: "/nonexistent")
    assert output =~ "** (Mix) cargo was not found: install Rust"
    refute_stack_trace(output)
  end

  test "is told in one sentence that the build failed", %{dir: dir} do
    env = [{"CARGO", System.find_executable("false")}]
    assert {output, 1} = UserMix.run(dir, ["deps.compile", "--force"], env: env)
    assert output =~ "** (Mix) cargo could not build echo_data_nif (exit status 1)"
    refute_stack_trace(output)
  end

  test "is told in one sentence that ECHO_DATA_NIF_PATH names no file", %{dir: dir} do
    env = [{"ECHO_DATA_NIF_PATH", "/nonexistent.so"}]
    assert {output, 1} = UserMix.run(dir, ["deps.compile", "--force"], env: env)
    assert output =~ "** (Mix) ECHO_DATA_NIF_PATH is /nonexistent.so, and there is no such file"
    refute_stack_trace(output)
  end

  defp refute_stack_trace(output), do: refute(output =~ ~r/\.exs?:\d+:/)
end
