defmodule Mix.Tasks.EchoData.Demo do
  @shortdoc "Answers questions about a git history, beside ETS"
  @moduledoc """
  Answers questions about a git history, beside ETS.

      mix echo_data.demo [PATH] [--seed N]

  `PATH` is in a git repository, by default the one of the current folder. `--seed` repeats the lookup of an
  earlier run, which printed it.

  Exit status 1, and one sentence on standard error, when there is nothing to ask about or when the answers
  of ETS and of EchoData differ.
  """

  use Mix.Task

  alias EchoData.Demo
  alias EchoData.Demo.Failed

  @requirements ["app.start"]
  @usage "usage: mix echo_data.demo [PATH] [--seed N]"

  @impl true
  def run(arguments) do
    case OptionParser.parse(arguments, strict: [seed: :integer]) do
      {options, [], []} -> demo(".", options)
      {options, [path], []} -> demo(path, options)
      _otherwise -> fail(@usage)
    end
  end

  defp demo(path, options) do
    Demo.run(path, options)
  rescue
    failed in Failed -> failed |> Exception.message() |> fail()
  end

  @spec fail(String.t()) :: no_return
  defp fail(sentence) do
    Mix.shell().error(sentence)
    exit({:shutdown, 1})
  end
end
