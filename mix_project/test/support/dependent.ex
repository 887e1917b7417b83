defmodule EchoData.Dependent do
  @moduledoc """
  A small application, in a folder of its own, that depends on this checkout by `path:`.
  """

  @doc "Writes the application to `dir`."
  @spec create!(Path.t()) :: :ok
  def create!(dir) do
    File.mkdir_p!(Path.join(dir, "lib"))
    File.write!(Path.join(dir, "mix.exs"), mix_exs(File.cwd!()))
    File.write!(Path.join(dir, "lib/dependent.ex"), source())
  end

  defp mix_exs(echo_data) do
    """
    defmodule Dependent.MixProject do
      use Mix.Project

      def project do
        [app: :dependent, version: "0.1.0", deps: [{:echo_data, path: #{inspect(echo_data)}}]]
      end

      def application, do: []
    end
    """
  end

  defp source do
    """
    defmodule Dependent do
      import EchoData.BrandedId.Sigil

      @id ~b"USR0KHTOWnGLuC"

      def report do
        {:ok, snowflake} = EchoData.Bcs.gate(@id, "USR")
        maps = File.stream!("/proc/self/maps")
        library = Enum.find(maps, &(&1 =~ "echo_data_nif")) |> String.split() |> List.last()
        IO.puts("gated \#{snowflake} with \#{library}")
      end
    end
    """
  end
end
