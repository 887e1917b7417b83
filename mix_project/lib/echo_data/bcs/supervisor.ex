defmodule EchoData.Bcs.Supervisor do
  @moduledoc """
  Stores under one supervisor: a store that is killed restarts empty, and its siblings never notice.

      iex> {:ok, tree} = EchoData.Bcs.Supervisor.start_link([{:assets, "AST"}, {:parts, "PRT"}])
      iex> EchoData.Bcs.PropertyStore.put(:assets, "AST00000000001", :here)
      :ok
      iex> tree |> Supervisor.which_children() |> Enum.map(&elem(&1, 0)) |> Enum.sort()
      [:assets, :parts]
  """

  use Supervisor

  import EchoData.Argument, only: [refuse!: 3]

  alias EchoData.Bcs.PropertyStore
  alias EchoData.BrandedId

  @typedoc "A store: its name, which is also its child id, and its namespace."
  @type store :: {atom, BrandedId.namespace()}

  @doc """
  Starts the stores, in their order, and supervises them one for one.

  Raises `ArgumentError` for a store that is not described as `t:store/0` says.
  """
  @spec start_link([store]) :: Supervisor.on_start()
  def start_link(stores) when is_list(stores),
    do: Supervisor.start_link(__MODULE__, Enum.map(stores, &child!/1))

  def start_link(stores), do: refuse!("stores", "a list", stores)

  @impl true
  def init(children), do: Supervisor.init(children, strategy: :one_for_one)

  defp child!({name, namespace} = store) when is_atom(name) and not is_nil(name) do
    with :error <- BrandedId.encode(namespace, 0), do: refuse!("store", expected(), store)
    PropertyStore.child_spec(name: name, namespace: namespace)
  end

  defp child!(store), do: refuse!("store", expected(), store)

  defp expected, do: "{name, namespace} with a namespace of three letters A to Z"
end
