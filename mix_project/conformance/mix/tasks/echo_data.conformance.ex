defmodule Mix.Tasks.EchoData.Conformance do
  @shortdoc "Checks the contract's transcripts against live stores and a live Redis server"
  @moduledoc """
  Checks the contract's transcripts against live stores and a live Redis server.

      mix echo_data.conformance [--server HOST:PORT]

  Prints a line for each check, with its figures, and then `PASS n/n`. Starts `redis-server` on a free port and stops
  it, unless an empty server is named; a password for that one is taken from `REDISCLI_AUTH`.

  Exit status 1 when a check fails, and one sentence on standard error when the checks cannot be made.
  """

  use Mix.Task

  alias EchoData.{Conformance, Snowflake}
  alias EchoData.Conformance.Failed

  @requirements ["app.start"]
  @usage "usage: mix echo_data.conformance [--server HOST:PORT]"

  @impl true
  def run(arguments) do
    case OptionParser.parse(arguments, strict: [server: :string]) do
      {options, [], []} -> options[:server] |> address() |> check()
      _otherwise -> fail(@usage)
    end
  end

  defp address(nil), do: nil

  defp address(text) do
    with [_, host, digits] <- Regex.run(~r/^([!-~]+):(\d{1,5})$/, text),
         port when port in 1..65_535 <- String.to_integer(digits) do
      %{host: host, port: port, password: System.get_env("REDISCLI_AUTH")}
    else
      _otherwise -> fail(@usage)
    end
  end

  defp check(address) do
    Snowflake.start()

    case Conformance.run(address) do
      {all, all} -> IO.puts("PASS #{all}/#{all}")
      {passed, all} -> fail("FAIL #{passed}/#{all}")
    end
  rescue
    failed in Failed -> failed |> Exception.message() |> fail()
  end

  @spec fail(String.t()) :: no_return
  defp fail(sentence) do
    Mix.shell().error(sentence)
    exit({:shutdown, 1})
  end
end
