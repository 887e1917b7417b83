defmodule EchoData.Edges do
  @moduledoc """
  Parents and their children, in the order in which the children were made.

      iex> alias EchoData.Edges
      iex> threads = Edges.new("PST", "CMT")
      iex> Edges.add(threads, "PST00000000001", "CMT00000000002", :reply)
      :ok
      iex> Edges.add(threads, "PST00000000001", "CMT00000000003")
      :ok
      iex> Edges.children_page(threads, "PST00000000001", nil, 10)
      [{"CMT00000000002", :reply}, {"CMT00000000003", nil}]
      iex> Edges.children_page(threads, "PST00000000001", "CMT00000000002", 10)
      [{"CMT00000000003", nil}]
      iex> Edges.count_children(threads, "PST00000000001")
      2

  The handle can be given to any process of the node, as that of an `EchoData.Timeline`: the process that
  made it owns it, and the edges close when their owner ends, with `close/1`, or when nobody refers to them
  any more. A call on closed edges raises `ArgumentError`. For a relation under a name, in a supervision
  tree, there is `EchoData.Bcs.EdgeStore`.

  A child may have several parents, and parents and children may be of one namespace: a commit and its
  parents, a folder and its folders. An edge is added in both directions at once.

  A wrong or malformed id raises `ArgumentError`, and nothing is touched. Payloads are what values are in
  `EchoData.Bcs.PropertyStore`. Functions that read take an `EchoData.EdgeSnapshot` in the place of the edges.

  In the costs below n is the number of edges. Walking is amortised O(1) an edge.
  """

  import EchoData.Argument, only: [access!: 1, count!: 1, refuse!: 3]

  alias EchoData.{Bcs, BrandedId, EdgeSnapshot, Native, Relation, Snowflake}

  @enforce_keys [:ref]
  defstruct [:ref]

  @typedoc "Edges. Their fields are private."
  @type t :: %__MODULE__{ref: reference}

  @typedoc "What can be read: edges as they are now, or as they were."
  @type source :: t | EdgeSnapshot.t()

  @typedoc "The id at the other end of an edge, and its payload."
  @type row :: {BrandedId.t(), term}

  @doc """
  New edges from ids of `parent_ns` to ids of `child_ns`, owned by the calling process.

    * `:access` - what other processes may do: `:public` (the default) everything, `:protected` read,
      `:private` nothing but `size/1` and `info/1`; other uses raise `ArgumentError`

  Raises `ArgumentError` unless both namespaces are three letters A to Z.
  """
  @spec new(BrandedId.namespace(), BrandedId.namespace(), access: :public | :protected | :private) ::
          t
  def new(parent_ns, child_ns, options \\ []),
    do: %__MODULE__{ref: open!(Native.edges_new(parent_ns, child_ns, access!(options)))}

  @doc """
  Closes the edges for everybody; their memory is given back in the background. O(1), also the second time.
  Raises `ArgumentError` when the caller may not write.
  """
  @spec close(t) :: :ok
  def close(%__MODULE__{ref: ref}) do
    Native.relation_close(ref)
    :ok
  end

  @doc "Adds a child to a parent; adding it again replaces the payload. O(log n)."
  @spec add(t, BrandedId.t(), BrandedId.t(), term) :: :ok
  def add(%{ref: ref} = edges, parent, child, payload \\ nil),
    do: ref |> Native.relation_link(parent, child, payload) |> gated!(edges, parent, child)

  @doc """
  As `add/4`, with the snowflakes of the ids. Raises `ArgumentError` unless they are integers in `0..2^63-1`.
  """
  @spec add_by_snowflake(t, Snowflake.t(), Snowflake.t(), term) :: :ok
  def add_by_snowflake(%{ref: ref}, parent, child, payload \\ nil),
    do: open!(Native.edges_add_by_snowflake(ref, parent, child, payload))

  @doc """
  Adds all edges, `{parent, child}` or `{parent, child, payload}`, in one step: every reader sees all of
  them or none. Of edges with the same ends the last wins.

  O(edges log n), far less for edges that are neighbours. Raises `ArgumentError`, and adds nothing, when an
  id is wrong, naming the edge's position from 0.
  """
  @spec add_many(t, [{BrandedId.t(), BrandedId.t()} | {BrandedId.t(), BrandedId.t(), term}]) ::
          :ok
  def add_many(%{ref: ref} = edges, list) do
    case Relation.link_many(ref, list) do
      {:error, {_reason, position}} ->
        {parent_ns, child_ns} = namespaces(edges)

        raise ArgumentError,
              "edges must lead from ids of namespace #{parent_ns} to ids of namespace #{child_ns}, " <>
                "and the one at position #{position} does not"

      answer ->
        open!(answer)
    end
  end

  @doc "Removes a child from a parent: `:ok`, or `:error` when it was not there. O(log n)."
  @spec remove(t, BrandedId.t(), BrandedId.t()) :: :ok | :error
  def remove(%{ref: ref} = edges, parent, child),
    do: ref |> Native.relation_unlink(parent, child) |> gated!(edges, parent, child)

  @doc "The payload of an edge, or `:error`. O(log n)."
  @spec fetch(source, BrandedId.t(), BrandedId.t()) :: {:ok, term} | :error
  def fetch(%{ref: ref} = source, parent, child),
    do: ref |> Native.relation_props(parent, child) |> gated!(source, parent, child)

  @doc "Whether a parent has a child. O(log n)."
  @spec member?(source, BrandedId.t(), BrandedId.t()) :: boolean
  def member?(%{ref: ref} = source, parent, child),
    do: ref |> Native.relation_member(parent, child) |> gated!(source, parent, child)

  @doc """
  Up to `n` children of a parent after a child that need not be there, oldest first; from the oldest on when
  the cursor is `nil`. O(log n + page).

  Raises `ArgumentError` unless `n` is a positive integer.
  """
  @spec children_page(source, BrandedId.t(), BrandedId.t() | nil, pos_integer) :: [row]
  def children_page(source, parent, cursor, n), do: page(source, :from, parent, cursor, n)

  @doc "Up to `n` parents of a child, as `children_page/4` from the other end. O(log n + page)."
  @spec parents_page(source, BrandedId.t(), BrandedId.t() | nil, pos_integer) :: [row]
  def parents_page(source, child, cursor, n), do: page(source, :to, child, cursor, n)

  @doc "How many children a parent has. O(log n), whatever their number."
  @spec count_children(source, BrandedId.t()) :: non_neg_integer
  def count_children(%{ref: ref} = source, parent) do
    case Native.relation_degree(ref, :from, parent) do
      {:ok, count} -> count
      refused -> refused!(refused, source, parent: parent)
    end
  end

  @doc "How many parents a child has. O(log n), whatever their number."
  @spec count_parents(source, BrandedId.t()) :: non_neg_integer
  def count_parents(%{ref: ref} = source, child) do
    case Native.relation_degree(ref, :to, child) do
      {:ok, count} -> count
      refused -> refused!(refused, source, child: child)
    end
  end

  @doc "How many edges there are. O(1)."
  @spec size(source) :: non_neg_integer
  def size(%{ref: ref}), do: open!(Native.relation_size(ref))

  @doc "What the edges hold in memory: see `EchoData.Bcs.PropertyStore.info/1`."
  @spec info(source) :: %{atom => non_neg_integer}
  def info(%{ref: ref}), do: open!(Native.relation_info(ref))

  @doc "The edges as they are now, kept readable: see `EchoData.EdgeSnapshot`. Under a microsecond."
  @spec snapshot(source) :: EdgeSnapshot.t()
  def snapshot(%{ref: ref} = source) do
    case open!(Native.relation_hold(ref)) do
      :held -> source
      moment -> %EdgeSnapshot{ref: moment}
    end
  end

  defp page(%{ref: ref} = source, walk, id, cursor, n) do
    case Relation.page(ref, walk, id, :asc, cursor, count!(n), true) do
      {:ok, rows} -> rows
      refused when walk == :from -> refused!(refused, source, parent: id, child: cursor)
      refused -> refused!(refused, source, child: id, parent: cursor)
    end
  end

  defp gated!({:error, :not_found}, _source, _parent, _child), do: :error

  defp gated!({:error, _reason} = refused, source, parent, child),
    do: refused!(refused, source, parent: parent, child: child)

  defp gated!(answer, _source, _parent, _child), do: open!(answer)

  # Names the first of the ids that is wrong.
  @spec refused!(term, source, parent: term, child: term) :: no_return
  defp refused!(:closed, _source, _ids), do: closed!()

  defp refused!({:error, _reason}, source, ids) do
    {parent_ns, child_ns} = namespaces(source)
    namespaces = %{parent: parent_ns, child: child_ns}
    wrong? = fn {place, id} -> not match?({:ok, _}, Bcs.gate(id, namespaces[place])) end
    {place, id} = Enum.find(ids, wrong?)
    refuse!("id", "an id of namespace #{namespaces[place]}", id)
  end

  defp namespaces(%{ref: ref}) do
    {_relation, parent_ns, child_ns} = Native.relation_rule(ref)
    {parent_ns, child_ns}
  end

  defp open!(:closed), do: closed!()
  defp open!(answer), do: answer

  @spec closed!() :: no_return
  defp closed!, do: raise(ArgumentError, "the store is closed")

  defimpl Inspect do
    alias EchoData.{Appearance, Native}

    def inspect(%{ref: ref}, _options),
      do: Appearance.of(@for, Native.relation_rule(ref), Native.relation_info(ref), "edges")
  end
end
