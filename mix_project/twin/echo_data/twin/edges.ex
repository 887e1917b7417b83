defmodule EchoData.Twin.Edges do
  @moduledoc """
  `EchoData.Edges` on ETS: two public `ordered_set`s, used directly by every process. A change is two writes,
  and somebody may see the one without the other.

  Functions take and answer what those of the same name there do.
  """

  alias EchoData.{Argument, BrandedId}
  alias EchoData.Twin.{Relation, Table}

  @enforce_keys [:namespaces, :relation]
  defstruct [:namespaces, :relation]

  @type t :: %__MODULE__{
          namespaces: {BrandedId.namespace(), BrandedId.namespace()},
          relation: Relation.t()
        }
  @type id :: BrandedId.t()
  @type row :: {id, term}

  @doc "Tables that belong to the caller."
  @spec new(BrandedId.namespace(), BrandedId.namespace()) :: t
  def new(parent_ns, child_ns),
    do: %__MODULE__{namespaces: {parent_ns, child_ns}, relation: Relation.new(:public)}

  @doc "Gives the tables up. O(n), in the background."
  @spec close(t) :: :ok
  def close(%__MODULE__{relation: relation}), do: Relation.close(relation)

  @doc "One edge. O(log n)."
  @spec add(t, id, id, term) :: :ok
  def add(%__MODULE__{relation: relation} = edges, parent, child, payload \\ nil) do
    gate!(edges, parent, child)
    Relation.link(relation, parent, child, payload)
  end

  @doc "All edges. O(edges log n)."
  @spec add_many(t, [tuple]) :: :ok
  def add_many(%__MODULE__{relation: relation} = edges, list) do
    list = Enum.map(list, &with_payload/1)
    Enum.each(list, fn {parent, child, _payload} -> gate!(edges, parent, child) end)
    Relation.link_many(relation, list)
  end

  @doc "Removes an edge. O(log n)."
  @spec remove(t, id, id) :: :ok | :error
  def remove(%__MODULE__{relation: relation} = edges, parent, child) do
    gate!(edges, parent, child)
    with {:error, :not_found} <- Relation.unlink(relation, parent, child), do: :error
  end

  @doc "The payload of an edge. O(log n)."
  @spec fetch(t, id, id) :: {:ok, term} | :error
  def fetch(%__MODULE__{relation: relation} = edges, parent, child) do
    gate!(edges, parent, child)
    with {:error, :not_found} <- Relation.props(relation, parent, child), do: :error
  end

  @doc "Whether there is an edge. O(log n)."
  @spec member?(t, id, id) :: boolean
  def member?(edges, parent, child), do: fetch(edges, parent, child) != :error

  @doc "Children after a cursor. O(page log n)."
  @spec children_page(t, id, id | nil, pos_integer) :: [row]
  def children_page(%__MODULE__{relation: relation} = edges, parent, cursor, n) do
    gate!(edges, parent, cursor)
    Relation.page(relation, :from, parent, {:asc, cursor, Argument.count!(n), true})
  end

  @doc "Parents after a cursor. O(page log n)."
  @spec parents_page(t, id, id | nil, pos_integer) :: [row]
  def parents_page(%__MODULE__{relation: relation} = edges, child, cursor, n) do
    gate!(edges, cursor, child)
    Relation.page(relation, :to, child, {:asc, cursor, Argument.count!(n), true})
  end

  @doc "How many children a parent has. O(their number)."
  @spec count_children(t, id) :: non_neg_integer
  def count_children(%__MODULE__{relation: relation} = edges, parent) do
    gate!(edges, parent, nil)
    Relation.degree(relation, :from, parent)
  end

  @doc "How many parents a child has. O(their number)."
  @spec count_parents(t, id) :: non_neg_integer
  def count_parents(%__MODULE__{relation: relation} = edges, child) do
    gate!(edges, nil, child)
    Relation.degree(relation, :to, child)
  end

  @doc "How many edges there are. O(1)."
  @spec size(t) :: non_neg_integer
  def size(edges), do: info(edges).rows

  @doc "Edges and bytes. O(1)."
  @spec info(t) :: %{rows: non_neg_integer, bytes: non_neg_integer}
  def info(%__MODULE__{relation: relation}), do: Relation.info(relation)

  defp with_payload({parent, child}), do: {parent, child, nil}
  defp with_payload(edge), do: edge

  # `nil` is no id that is asked about.
  defp gate!(%__MODULE__{namespaces: {parent_ns, child_ns}}, parent, child) do
    gate!(parent, parent_ns)
    gate!(child, child_ns)
  end

  defp gate!(nil, _namespace), do: :ok

  defp gate!(id, namespace), do: Table.gate!(id, namespace)
end
