defmodule EchoData.Application do
  @moduledoc """
  Checks the native codec before anything else can write an id: see `EchoData.BrandedId.self_check!/0`.
  """

  use Application

  @impl true
  def start(_type, _args) do
    {:ok, :native} = EchoData.BrandedId.self_check!()
    Supervisor.start_link([], strategy: :one_for_one, name: EchoData.Supervisor)
  end
end
