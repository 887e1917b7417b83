defmodule Mix.Tasks.Compile.EchoDataNif do
  @shortdoc "Builds the native library with cargo"
  @moduledoc """
  Builds the native library with cargo.

  The crate is `echo_data_nif`, built in release mode; the library is placed at
  `priv/native/echo_data_nif.so`.

  Cargo decides what is stale, so it is called at every compilation: about 0.1 s when nothing changed.
  The library is replaced only when its bytes changed, and by a new file: writing into the one that
  a running VM has mapped would crash that VM.

  All Mix environments share one cargo target folder, `target` at the root of the checkout.

  ## Environment

    * `ECHO_DATA_NIF_PATH` - a ready library to load; nothing is built and cargo is not needed
    * `CARGO` - the cargo to run, by default the one on the `PATH`
    * `CARGO_TARGET_DIR` - another cargo target folder; a relative path starts at the root of the checkout
    * `CARGO_BUILD_TARGET` - the triple to build for, as cargo understands it

  A missing cargo, a failed build and an `ECHO_DATA_NIF_PATH` without a file each end the compilation with
  one sentence.
  """

  use Mix.Task.Compiler

  @crate "echo_data_nif"
  @library "priv/native/echo_data_nif.so"

  @impl true
  def run(_args) do
    case EchoData.NativeLibrary.override() do
      nil -> build()
      path -> check_override(path)
    end
  end

  @impl true
  def manifests, do: [manifest()]

  @impl true
  def clean, do: Enum.each([@library, manifest()], &File.rm/1)

  defp check_override(path) do
    File.regular?(path) || Mix.raise("ECHO_DATA_NIF_PATH is #{path}, and there is no such file")
    {:noop, []}
  end

  defp build do
    root = Path.expand("..", File.cwd!())
    File.regular?(Path.join(root, "native/Cargo.toml")) || Mix.raise(no_sources(root))
    target_dir = Path.expand(System.get_env("CARGO_TARGET_DIR", "target"), root)
    File.exists?(@library) || Mix.shell().info("Building #{@crate} with cargo (release)")
    cargo!(root, target_dir)

    [target_dir, System.get_env("CARGO_BUILD_TARGET", ""), "release/lib#{@crate}.so"]
    |> Path.join()
    |> File.read!()
    |> place()
  end

  defp cargo!(root, target_dir) do
    args = ~w(build --release --quiet --package #{@crate} --target-dir) ++ [target_dir]

    case System.cmd(cargo(), args, cd: root, stderr_to_stdout: true, into: IO.stream()) do
      {_output, 0} -> :ok
      {_output, status} -> Mix.raise("cargo could not build #{@crate} (exit status #{status})")
    end
  end

  defp cargo do
    wanted = System.get_env("CARGO", "cargo")
    System.find_executable(wanted) || Mix.raise(no_cargo(wanted))
  end

  defp place(built) do
    if File.read(@library) == {:ok, built} do
      {:noop, []}
    else
      replace(built)
      # The build folder was laid out, with a link to `priv`, before `priv` existed.
      Mix.Project.build_structure()
      File.touch!(manifest())
      {:ok, []}
    end
  end

  # A rename swaps the name only: a VM that has the old file mapped keeps it, and no VM sees half a file.
  defp replace(built) do
    File.mkdir_p!(Path.dirname(@library))
    fresh = "#{@library}.#{System.pid()}"
    File.write!(fresh, built)
    File.rename!(fresh, @library)
  end

  defp manifest, do: Path.join(Mix.Project.manifest_path(), "compile.#{@crate}")

  defp no_cargo(wanted) do
    "#{wanted} was not found: install Rust (https://rustup.rs), or set ECHO_DATA_NIF_PATH to a ready library"
  end

  defp no_sources(root) do
    "the Rust sources are not at #{root}: depend on the whole repository, for example " <>
      "git: with subdir: \"mix_project\""
  end
end
