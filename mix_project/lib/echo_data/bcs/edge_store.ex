defmodule EchoData.Bcs.EdgeStore do
  @moduledoc """
  A supervised system that owns one relation: edges from subjects to objects, each with props.

      iex> alias EchoData.Bcs.EdgeStore
      iex> holds = [name: :holds, relation: :holds, subject_ns: "PRT", object_ns: "AST"]
      iex> {:ok, _pid} = EdgeStore.start_link(holds)
      iex> EdgeStore.link(:holds, "PRT00000000001", "AST00000000007", %{quantity: 3})
      :ok
      iex> EdgeStore.link(:holds, "PRT00000000002", "AST00000000007")
      :ok
      iex> EdgeStore.from(:holds, "PRT00000000001")
      {:ok, [{"AST00000000007", %{quantity: 3}}]}
      iex> EdgeStore.to(:holds, "AST00000000007")
      {:ok, [{"PRT00000000001", %{quantity: 3}}, {"PRT00000000002", %{}}]}
      iex> EdgeStore.degree(:holds, "AST00000000007")
      {:error, :namespace}

  Use it where things are related many to many and are asked for from either end; for values under one id
  there is `EchoData.Bcs.PropertyStore`, for children under a parent without a process of its own
  `EchoData.Edges`.

  Both directions are one publication: at no moment does anybody find an edge from its subject and not from
  its object. Subjects and objects may be of one namespace, and an edge may lead from an id to itself.

  The process, its names, what a reader sees and what a value may be are as with
  `EchoData.Bcs.PropertyStore`: a local name or pid costs no message, the edges are gone with the process,
  and `snapshot/1` keeps a version for several calls. What is said there of values goes for props, which may
  be any term.

  ## Ids

  Both ends are gated before anything is touched, the subject first, then the object, then a cursor or a
  bound: `{:error, :namespace}` for an id of another kind, `{:error, :invalid}` for any other term.

  ## Lists

  Neighbours come oldest first unless said otherwise. A limit is a positive integer or `:all`; anything else
  raises `ArgumentError`. A list of any length is of one moment.

  In the costs below n is the number of edges. Walking is amortised O(1) an edge.
  """

  import EchoData.Argument, only: [namespace!: 2, options!: 2]

  alias EchoData.{Bcs, BrandedId, EdgeSnapshot, Native, Relation}
  alias EchoData.Bcs.Owner

  @typedoc "A running store."
  @type server :: GenServer.server()

  @typedoc "What can be read: a store as it is now, or as it was."
  @type source :: server | EdgeSnapshot.t()

  @typedoc "Why an id was not let in."
  @type refusal :: {:error, :namespace | :invalid}

  @typedoc "Why a list was not let in: the reason and the position of the first edge that is wrong, from 0."
  @type refusal_at :: {:error, {:namespace | :invalid, non_neg_integer}}

  @typedoc "The id at the other end of an edge, and the edge's props."
  @type neighbour :: {BrandedId.t(), term}

  @typedoc "An edge; without props they are `%{}`."
  @type edge :: {BrandedId.t(), BrandedId.t()} | {BrandedId.t(), BrandedId.t(), term}

  @typedoc "How many edges at most."
  @type limit :: pos_integer | :all

  @typedoc "How a store is started."
  @type option ::
          {:name, GenServer.name()}
          | {:relation, atom | String.t()}
          | {:subject_ns, BrandedId.namespace()}
          | {:object_ns, BrandedId.namespace()}

  @doc """
  Starts a store, linked to the caller.

    * `:relation` - what the relation is called, an atom or a string; required
    * `:subject_ns`, `:object_ns` - what ids it lets in at each end, three letters A to Z; required
    * `:name` - as for `GenServer.start_link/3`

  Raises `ArgumentError` for anything else.
  """
  @spec start_link([option]) :: GenServer.on_start()
  def start_link(options) do
    options = options!(options, [:name, :relation, :subject_ns, :object_ns])
    relation = Relation.name!(options[:relation])
    subject_ns = namespace!("subject_ns", options[:subject_ns])
    object_ns = namespace!("object_ns", options[:object_ns])
    open = &Native.edge_store_new(relation, subject_ns, object_ns, &1)
    Owner.start_link(__MODULE__, options[:name], open)
  end

  @doc "A child specification. Its id is the store's name."
  @spec child_spec([option]) :: Supervisor.child_spec()
  def child_spec(options), do: Owner.child_spec(__MODULE__, options)

  @doc "Links two ids; linking them again replaces the props. O(log n)."
  @spec link(server, BrandedId.t(), BrandedId.t(), term) :: :ok | refusal
  def link(server, subject, object, props \\ %{}) do
    with :closed <- Native.relation_link(server, subject, object, props),
         do: call(server, :link, [subject, object, props])
  end

  @doc """
  Links all edges in one step: every reader sees all of them or none. Of edges with the same ends the last
  wins.

  When an id is not let in, nothing is linked and the edge's position is told. O(edges log n), far less for
  edges that are neighbours. Raises `ArgumentError` for anything but a list of edges.

      iex> alias EchoData.Bcs.EdgeStore
      iex> {:ok, follows} = EdgeStore.start_link(relation: :follows, subject_ns: "USR", object_ns: "USR")
      iex> [ann, bob] = ["USR00000000001", "USR00000000002"]
      iex> EdgeStore.link_many(follows, [{ann, bob}, {bob, ann, %{since: 2024}}, {bob, bob}])
      :ok
      iex> EdgeStore.link_many(follows, [{ann, ann}, {ann, "bob"}])
      {:error, {:invalid, 1}}
      iex> EdgeStore.size(follows)
      3
  """
  @spec link_many(server, [edge]) :: :ok | refusal_at
  def link_many(server, edges) do
    with :closed <- Relation.link_many(server, edges), do: call(server, :link_many, [edges])
  end

  @doc "Removes an edge. When it is not there, nothing changes. O(log n)."
  @spec unlink(server, BrandedId.t(), BrandedId.t()) :: :ok | {:error, :not_found} | refusal
  def unlink(server, subject, object) do
    with :closed <- Native.relation_unlink(server, subject, object),
         do: call(server, :unlink, [subject, object])
  end

  @doc """
  Makes the objects of a list those of a subject, and no others, in one step. An object is an id, or
  `{id, props}`; of objects that are named twice the last wins.

  Answers how many objects were not linked before, how many were and have new props now, and how many are
  not linked any more. When an object is not let in, nothing changes and its position is told. O(objects
  before and after, log n each). Raises `ArgumentError` for anything but a list of objects.

      iex> alias EchoData.Bcs.EdgeStore
      iex> {:ok, tags} = EdgeStore.start_link(relation: :tags, subject_ns: "PST", object_ns: "TAG")
      iex> [post, red, green, blue] = ~w(PST00000000001 TAG00000000001 TAG00000000002 TAG00000000003)
      iex> EdgeStore.link_many(tags, [{post, red}, {post, green}])
      iex> EdgeStore.replace(tags, post, [green, {blue, %{by: :ann}}])
      {:ok, %{added: 1, kept: 1, removed: 1}}
      iex> EdgeStore.from(tags, post)
      {:ok, [{"TAG00000000002", %{}}, {"TAG00000000003", %{by: :ann}}]}
  """
  @spec replace(server, BrandedId.t(), [BrandedId.t() | neighbour]) ::
          {:ok, %{added: non_neg_integer, kept: non_neg_integer, removed: non_neg_integer}}
          | refusal
          | refusal_at
  def replace(server, subject, objects) do
    with :closed <- Relation.replace(server, subject, objects),
         do: call(server, :replace, [subject, objects])
  end

  @doc "Removes all edges from a subject in one step; answers how many there were. O(their number, log n each)."
  @spec drop_subject(server, BrandedId.t()) :: {:ok, non_neg_integer} | refusal
  def drop_subject(server, subject) do
    with :closed <- Relation.drop(server, :from, subject),
         do: call(server, :drop_subject, [subject])
  end

  @doc "Removes all edges to an object in one step; answers how many there were. O(their number, log n each)."
  @spec drop_object(server, BrandedId.t()) :: {:ok, non_neg_integer} | refusal
  def drop_object(server, object) do
    with :closed <- Relation.drop(server, :to, object), do: call(server, :drop_object, [object])
  end

  @doc "The props of an edge. O(log n)."
  @spec props(source, BrandedId.t(), BrandedId.t()) ::
          {:ok, term} | {:error, :not_found} | refusal
  def props(source, subject, object) do
    with :closed <- Native.relation_props(source, subject, object),
         do: call(source, :props, [subject, object])
  end

  @doc """
  Whether there is an edge. O(log n).

  An id that is not let in raises as `EchoData.Bcs.gate!/2` does, since an answer would count as true.
  """
  @spec member?(source, BrandedId.t(), BrandedId.t()) :: boolean
  def member?(source, subject, object) do
    case Native.relation_member(source, subject, object) do
      :closed ->
        call(source, :member?, [subject, object])

      {:error, _reason} ->
        %{subject_ns: subject_ns, object_ns: object_ns} = info(source)
        Bcs.gate!(subject, subject_ns)
        Bcs.gate!(object, object_ns)

      member ->
        member
    end
  end

  @doc "The objects of a subject with the props of the edges, oldest object first. O(log n + limit)."
  @spec from(source, BrandedId.t(), limit) :: {:ok, [neighbour]} | refusal
  def from(source, subject, limit \\ :all) do
    with :closed <- Relation.page(source, :from, subject, :asc, nil, limit, true),
         do: call(source, :from, [subject, limit])
  end

  @doc "The subjects of an object with the props of the edges, oldest subject first. O(log n + limit)."
  @spec to(source, BrandedId.t(), limit) :: {:ok, [neighbour]} | refusal
  def to(source, object, limit \\ :all) do
    with :closed <- Relation.page(source, :to, object, :asc, nil, limit, true),
         do: call(source, :to, [object, limit])
  end

  @doc """
  Up to `limit` objects of a subject, from a cursor on, in either direction. O(log n + page).

    * `:after` - only objects newer than this one, oldest first
    * `:before` - only objects older than this one, newest first
    * `:order` - without a cursor: `:asc`, oldest first, the default, or `:desc`, newest first
    * `:values` - `false` for ids in the place of `{id, props}`

  The cursor is an id that need not be there.

      iex> alias EchoData.Bcs.EdgeStore
      iex> {:ok, holds} = EdgeStore.start_link(relation: :holds, subject_ns: "PRT", object_ns: "AST")
      iex> subject = "PRT00000000001"
      iex> EdgeStore.replace(holds, subject, ~w(AST00000000001 AST00000000002 AST00000000003))
      iex> EdgeStore.page_from(holds, subject, 9, after: "AST00000000001", values: false)
      {:ok, ["AST00000000002", "AST00000000003"]}
      iex> EdgeStore.page_from(holds, subject, 1, order: :desc)
      {:ok, [{"AST00000000003", %{}}]}
  """
  @spec page_from(source, BrandedId.t(), limit,
          order: :asc | :desc,
          after: BrandedId.t() | nil,
          before: BrandedId.t() | nil,
          values: boolean
        ) :: {:ok, [neighbour] | [BrandedId.t()]} | refusal
  def page_from(source, subject, limit, options \\ []) do
    {order, cursor, values} = Relation.page_options!(options)

    with :closed <- Relation.page(source, :from, subject, order, cursor, limit, values),
         do: call(source, :page_from, [subject, limit, options])
  end

  @doc "Up to `limit` subjects of an object, from a cursor on: as `page_from/4` from the other end."
  @spec page_to(source, BrandedId.t(), limit,
          order: :asc | :desc,
          after: BrandedId.t() | nil,
          before: BrandedId.t() | nil,
          values: boolean
        ) :: {:ok, [neighbour] | [BrandedId.t()]} | refusal
  def page_to(source, object, limit, options \\ []) do
    {order, cursor, values} = Relation.page_options!(options)

    with :closed <- Relation.page(source, :to, object, order, cursor, limit, values),
         do: call(source, :page_to, [object, limit, options])
  end

  @doc "How many objects a subject has. O(log n), whatever their number."
  @spec degree(source, BrandedId.t()) :: {:ok, non_neg_integer} | refusal
  def degree(source, subject) do
    with :closed <- Native.relation_degree(source, :from, subject),
         do: call(source, :degree, [subject])
  end

  @doc "How many subjects an object has. O(log n), whatever their number."
  @spec to_degree(source, BrandedId.t()) :: {:ok, non_neg_integer} | refusal
  def to_degree(source, object) do
    with :closed <- Native.relation_degree(source, :to, object),
         do: call(source, :to_degree, [object])
  end

  @doc """
  How many objects of a subject there are from the id `lo` on and below the id `hi`: with the cursors of
  `EchoData.Snowflake.min_for/1`, those minted in a window of time. O(log n), whatever their number.
  """
  @spec count_window(source, BrandedId.t(), BrandedId.t(), BrandedId.t()) ::
          {:ok, non_neg_integer} | refusal
  def count_window(source, subject, lo, hi) do
    with :closed <- Native.relation_count(source, :from, subject, lo, hi),
         do: call(source, :count_window, [subject, lo, hi])
  end

  @doc """
  The object of a subject at a position, counted from 0 and from the oldest, with its props. O(log n).

  Raises `ArgumentError` unless `position` is a non-negative integer.
  """
  @spec nth(source, BrandedId.t(), non_neg_integer) ::
          {:ok, neighbour} | {:error, :not_found} | refusal
  def nth(source, subject, position) do
    with :closed <- Relation.nth(source, :from, subject, position),
         do: call(source, :nth, [subject, position])
  end

  @doc """
  The objects that two subjects share, oldest first. O(objects of both), and O(log n) for each object of
  the one with far fewer.
  """
  @spec common(source, BrandedId.t(), BrandedId.t()) :: {:ok, [BrandedId.t()]} | refusal
  def common(source, subject, other) do
    with :closed <- Relation.common(source, subject, other),
         do: call(source, :common, [subject, other])
  end

  @doc "How many edges there are. O(1)."
  @spec size(source) :: non_neg_integer
  def size(source) do
    with :closed <- Native.relation_size(source), do: call(source, :size, [])
  end

  @doc """
  What the store relates, and what it holds in memory: `:relation`, `:subject_ns`, `:object_ns`, and the
  figures of `EchoData.Bcs.PropertyStore.info/1`. A row is an edge, with both of its directions. O(snapshots).
  """
  @spec info(source) :: %{atom => non_neg_integer | atom | String.t()}
  def info(source) do
    with :closed <- Relation.info(source), do: call(source, :info, [])
  end

  @doc """
  The store as it is now, kept readable: see `EchoData.EdgeSnapshot`. Under a microsecond.

  Raises `ArgumentError` for a store on another node.
  """
  @spec snapshot(source) :: EdgeSnapshot.t()
  def snapshot(%EdgeSnapshot{} = snapshot), do: snapshot

  def snapshot(server) do
    case Native.relation_hold(server) do
      :closed -> call(server, :snapshot, [])
      moment -> %EdgeSnapshot{ref: moment}
    end
  end

  defp call(source, function, arguments),
    do: Owner.call(source, __MODULE__, function, arguments)
end
