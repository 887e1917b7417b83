defmodule Mix.Tasks.Compile.EchoDataNifTest do
  use ExUnit.Case, async: true

  alias EchoData.{Checkout, FreshVM, UserMix}
  alias Mix.Tasks.Compile.EchoDataNif

  @library Path.expand("priv/native/echo_data_nif.so")

  test "a build that changes nothing leaves the placed library alone" do
    before = File.stat!(@library)
    assert EchoDataNif.run([]) == {:noop, []}
    assert File.stat!(@library) == before
  end

  test "a changed library is placed as a new file; mix clean takes it away" do
    root = Path.join(System.tmp_dir!(), "echo_data_checkout_#{System.pid()}")
    on_exit(fn -> File.rm_rf!(root) end)
    project = Checkout.create!(root)
    library = Checkout.library(project)

    compile!(project, "first")
    assert File.read!(library) == "first"
    in_build = Path.join(project, "_build/dev/lib/echo_data/priv/native/echo_data_nif.so")
    assert File.read!(in_build) == "first"
    mapped = File.open!(library)
    placed = File.stat!(library)

    compile!(project, "first")
    assert File.stat!(library) == placed

    compile!(project, "second")
    assert File.read!(library) == "second"
    assert IO.read(mapped, :eof) == "first"
    assert File.ls!(Path.dirname(library)) == [Path.basename(library)]

    assert {_output, 0} = UserMix.run(project, ["clean"])
    refute File.exists?(library)
  end

  defp compile!(project, text) do
    assert {output, 0} = UserMix.run(project, ["compile"], env: Checkout.building(project, text))
    output
  end

  test "the library stays mapped for the life of the VM" do
    {dynamic, 0} = System.cmd("readelf", ["--dynamic", @library])
    assert dynamic =~ ~r/FLAGS_1.*NODELETE/
  end

  test "a library that cannot be loaded stops the application at its start" do
    broken = Path.join(System.tmp_dir!(), "echo_data_broken_#{System.pid()}.so")
    File.write!(broken, "no library")
    on_exit(fn -> File.rm!(broken) end)
    vm = FreshVM.start!([{"ECHO_DATA_NIF_PATH", broken}])

    assert {:error, {:echo_data, {:bad_return, {_start, {:EXIT, {error, _trace}}}}}} =
             FreshVM.call(vm, :application, :ensure_all_started, [:echo_data])

    assert Exception.message(error) =~ "the native library #{broken} cannot be loaded"
  end
end
