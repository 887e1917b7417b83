defmodule EchoData.Checkout do
  @moduledoc """
  A copy of this checkout without its Rust, and a cargo that "builds" whatever text it is told to.

  For the placement of the library, which does not depend on what the library is.
  """

  @library "priv/native/echo_data_nif.so"

  @doc "Makes the copy below `root` and answers its Mix project."
  @spec create!(Path.t()) :: Path.t()
  def create!(root) do
    project = Path.join(root, "mix_project")
    for dir <- [project, Path.join(root, "native")], do: File.mkdir_p!(dir)
    File.write!(Path.join(root, "native/Cargo.toml"), "")
    File.cp!("mix.exs", Path.join(project, "mix.exs"))
    File.cp_r!("lib", Path.join(project, "lib"))
    File.write!(cargo(project), cargo_script())
    File.chmod!(cargo(project), 0o755)
    project
  end

  @doc "The environment in which compiling `project` places `text`."
  @spec building(Path.t(), String.t()) :: [{String.t(), String.t()}]
  def building(project, text) do
    [{"CARGO", cargo(project)}, {"CARGO_TARGET_DIR", "elsewhere"}, {"BUILDS", text}]
  end

  @doc "Where the library is placed."
  @spec library(Path.t()) :: Path.t()
  def library(project), do: Path.join(project, @library)

  defp cargo(project), do: Path.join(Path.dirname(project), "cargo")

  # Called as: cargo build ... --target-dir DIR, at the root of the checkout.
  defp cargo_script do
    """
    #!/bin/sh
    for target_dir; do :; done
    mkdir -p "$target_dir/release"
    printf '%s' "$BUILDS" >"$target_dir/release/libecho_data_nif.so"
    """
  end
end
