defmodule EchoData.MixProject do
  use Mix.Project

  def project do
    [
      app: :echo_data,
      version: "0.1.0",
      elixir: "~> 1.14",
      description: "Lock-free ordered stores keyed by time-ordered ids, from Rust",
      elixirc_paths: elixirc_paths(Mix.env()),
      # The library is loaded when it is first called, so it may be built after the modules: the task
      # that builds it is one of them.
      compilers: Mix.compilers() ++ [:echo_data_nif],
      start_permanent: Mix.env() == :prod,
      deps: []
    ]
  end

  def application do
    [mod: {EchoData.Application, []}, extra_applications: [:logger]]
  end

  # The demo, and the ETS twin that it shares with tests and benches, are not for applications: those compile
  # their dependencies in :prod.
  defp elixirc_paths(:prod), do: ["lib"]
  defp elixirc_paths(:test), do: ["test/support" | elixirc_paths(:dev)]
  defp elixirc_paths(_env), do: ["lib", "twin", "demo"]
end
