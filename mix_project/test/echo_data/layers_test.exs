defmodule EchoData.LayersTest do
  @moduledoc """
  The rules of the Elixir side that the compiler does not know.
  """

  use ExUnit.Case, async: true

  alias EchoData.Native

  @sources Path.wildcard("lib/**/*.ex")
  @loads ["__info__", "load", "module_info"]

  test "every native function has its stub, and every stub is native" do
    stubs =
      for {name, arity} <- Native.module_info(:exports),
          "#{name}" not in @loads,
          do: {name, arity}

    assert Enum.sort(stubs) == Enum.sort(Native.module_info(:nifs))
  end

  test "only EchoData.Native loads a library" do
    assert files_with("load_nif(") == ["lib/echo_data/native.ex"]
  end

  test "Mix tasks that build do not call what they build" do
    for path <- Path.wildcard("lib/mix/tasks/compile.*.ex") do
      refute File.read!(path) =~ ~r/EchoData\.Native\b/, path
    end
  end

  test "nothing touches ETS: the library's state lives in the core" do
    assert files_with(":ets.") == []
  end

  test "files stay readable" do
    for path <- @sources ++ Path.wildcard("{test,twin,demo,conformance,bench}/**/*.{ex,exs}") do
      assert path |> File.stream!() |> Enum.count() < 600, path
    end
  end

  test "every public module and function is documented, every public function has its spec" do
    for module <- public_modules(), {function, docs} <- functions(module) do
      assert is_map(docs), "#{inspect(module)}.#{function_name(function)} has no @doc"

      assert specified?(module, function),
             "#{inspect(module)}.#{function_name(function)} has no @spec"
    end
  end

  defp files_with(text), do: Enum.filter(@sources, &(File.read!(&1) =~ text))

  defp public_modules do
    {:ok, modules} = :application.get_key(:echo_data, :modules)
    public = Enum.filter(modules, &(library?(&1) and not implementation?(&1) and public?(&1)))
    assert EchoData.BrandedId in public
    public
  end

  defp library?(module) do
    source = module.module_info(:compile)[:source] |> to_string() |> Path.relative_to_cwd()
    source in @sources
  end

  # Of a protocol, where the functions are described.
  defp implementation?(module), do: function_exported?(module, :__impl__, 1)

  defp public?(module) do
    {:docs_v1, _, _, _, moduledoc, _, _} = Code.fetch_docs(module)
    assert moduledoc != :none, "#{inspect(module)} has no @moduledoc"
    moduledoc != :hidden
  end

  # Callbacks are described where their behaviour is; `use` writes `child_spec/1`.
  defp functions(module) do
    {:docs_v1, _, _, _, _, _, docs} = Code.fetch_docs(module)

    for {{:function, name, arity}, _, _, doc, _} <- docs,
        doc != :hidden,
        {name, arity} not in [{:child_spec, 1} | callbacks(module)],
        do: {{name, arity}, doc}
  end

  defp callbacks(module) do
    for {:behaviour, behaviours} <- module.module_info(:attributes),
        behaviour <- behaviours,
        callback <- behaviour.behaviour_info(:callbacks),
        do: callback
  end

  defp specified?(module, function) do
    {:ok, specs} = Code.Typespec.fetch_specs(module)
    List.keymember?(specs, function, 0)
  end

  defp function_name({name, arity}), do: "#{name}/#{arity}"
end
