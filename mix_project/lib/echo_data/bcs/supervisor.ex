defmodule EchoData.Bcs.Supervisor do
  @moduledoc """
  Stores under one supervisor: a store that is killed restarts empty, and its siblings never notice.

      iex> stores = [{:assets, "AST"}, {:parts, "PRT"}, {:contains, :contains, "AST", "PRT"}]
      iex> {:ok, tree} = EchoData.Bcs.Supervisor.start_link(stores)
      iex> EchoData.Bcs.PropertyStore.put(:assets, "AST00000000001", :here)
      :ok
      iex> tree |> Supervisor.which_children() |> Enum.map(&elem(&1, 0)) |> Enum.sort()
      [:assets, :contains, :parts]
      iex> EchoData.Bcs.EdgeStore.link(:contains, "AST00000000001", "PRT00000000002")
      :ok
  """

  use Supervisor

  import EchoData.Argument, only: [refuse!: 3]

  alias EchoData.Bcs.{EdgeStore, PropertyStore}
  alias EchoData.{BrandedId, RankIndex, Relation}
  alias EchoData.RankIndex.Declaration

  @typedoc """
  A store: its name, which is also its child id, and its namespace, and `[indexes: declarations]` if it has
  indexes; or, for an edge store, its name, its relation and the namespaces of subjects and objects.
  """
  @type store ::
          {atom, BrandedId.namespace()}
          | {atom, BrandedId.namespace(), [indexes: RankIndex.declarations()]}
          | {atom, atom | String.t(), BrandedId.namespace(), BrandedId.namespace()}

  @doc """
  Starts the stores, in their order, and supervises them one for one.

  Raises `ArgumentError` for a store that is not described as `t:store/0` says.
  """
  @spec start_link([store]) :: Supervisor.on_start()
  def start_link(stores) do
    if not is_list(stores) or List.improper?(stores),
      do: refuse!("stores", "a proper list", stores)

    Supervisor.start_link(__MODULE__, Enum.map(stores, &child!/1))
  end

  @impl true
  def init(children), do: Supervisor.init(children, strategy: :one_for_one)

  defp child!({name, namespace} = store) when is_atom(name) and not is_nil(name) do
    checked!(store, [namespace])
    PropertyStore.child_spec(name: name, namespace: namespace)
  end

  defp child!({name, namespace, [indexes: indexes]} = store)
       when is_atom(name) and not is_nil(name) do
    checked!(store, [namespace])
    _declared = Declaration.all!(indexes)
    PropertyStore.child_spec(name: name, namespace: namespace, indexes: indexes)
  end

  defp child!({name, relation, subject_ns, object_ns} = store)
       when is_atom(name) and not is_nil(name) do
    unless Relation.name?(relation), do: refuse!("store", expected(), store)
    checked!(store, [subject_ns, object_ns])
    ends = [subject_ns: subject_ns, object_ns: object_ns]
    EdgeStore.child_spec([name: name, relation: relation] ++ ends)
  end

  defp child!(store), do: refuse!("store", expected(), store)

  defp checked!(store, namespaces) do
    unless Enum.all?(namespaces, &match?({:ok, _id}, BrandedId.encode(&1, 0))),
      do: refuse!("store", expected(), store)
  end

  defp expected do
    "{name, namespace} or {name, relation, subject_namespace, object_namespace}, " <>
      "with namespaces of three letters A to Z, or {name, namespace, indexes: declarations}"
  end
end
