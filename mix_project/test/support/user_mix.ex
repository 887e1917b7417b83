defmodule EchoData.UserMix do
  @moduledoc """
  Mix as a user runs it: in an operating system process of its own.
  """

  @doc """
  Runs Mix in `dir`: the output and the exit status.

  `:path` becomes the `PATH` that Mix sees, `:env` is added to the environment.
  """
  @spec run(Path.t(), [String.t()], path: String.t(), env: [{String.t(), String.t()}]) ::
          {String.t(), non_neg_integer}
  def run(dir, args, options \\ []) do
    path = Keyword.get(options, :path, System.get_env("PATH"))
    env = [{"MIX_ENV", "dev"}, {"MIX_QUIET", "1"} | Keyword.get(options, :env, [])]
    start_mix = "System.put_env(\"PATH\", #{inspect(path)}); Mix.start(); Mix.CLI.main()"

    System.cmd("elixir", ["-e", start_mix | args], cd: dir, env: env, stderr_to_stdout: true)
  end
end
