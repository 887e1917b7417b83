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
      # The conformance checks look for this client, which is no Hex package here, when they run.
      xref: [exclude: [:eredis]],
      deps: []
    ]
  end

  def application do
    [mod: {EchoData.Application, []}, extra_applications: extra_applications(Mix.env())]
  end

  # The conformance checks assert as tests do.
  defp extra_applications(:prod), do: [:logger]
  defp extra_applications(_env), do: [:logger, :ex_unit]

  # The demo, the ETS twin that it shares with tests and benches, and the conformance checks are not for
  # applications: those compile their dependencies in :prod.
  defp elixirc_paths(:prod), do: ["lib"]
  defp elixirc_paths(:test), do: ["test/support" | elixirc_paths(:dev)]
  defp elixirc_paths(_env), do: ["lib", "twin", "demo", "conformance"]
end
