defmodule EchoData.Twin.EdgeStore do
  @moduledoc """
  `EchoData.Bcs.EdgeStore` on ETS: a process that owns two `ordered_set`s and serves every call from its
  mailbox, so that nobody sees one of them without the other.

  Functions take and answer what those of the same name there do.
  """

  use GenServer

  alias EchoData.{Argument, Bcs}
  alias EchoData.Twin.Relation

  @type server :: GenServer.server()
  @type id :: Relation.id()
  @type limit :: pos_integer | :all
  @type refusal :: {:error, :namespace | :invalid}
  @type refusal_at :: {:error, {:namespace | :invalid, non_neg_integer}}
  @type neighbours :: {:ok, [Relation.neighbour()] | [id]} | refusal

  @doc "Starts a store; the options of the original, `:relation` unused."
  @spec start_link(keyword) :: GenServer.on_start()
  def start_link(options) do
    {name, options} = Keyword.split(options, [:name])
    GenServer.start_link(__MODULE__, Map.new(options), name)
  end

  @doc "One edge. O(log n)."
  @spec link(server, id, id, term) :: :ok | refusal
  def link(server, subject, object, props \\ %{}),
    do: call(server, :link, [subject, object, props])

  @doc "Removes an edge. O(log n)."
  @spec unlink(server, id, id) :: :ok | {:error, :not_found} | refusal
  def unlink(server, subject, object),
    do: call(server, :unlink, [subject, object])

  @doc "The props of an edge. O(log n)."
  @spec props(server, id, id) :: {:ok, term} | {:error, :not_found} | refusal
  def props(server, subject, object),
    do: call(server, :props, [subject, object])

  @doc "Whether there is an edge. O(log n)."
  @spec member?(server, id, id) :: boolean
  def member?(server, subject, object) do
    case props(server, subject, object) do
      {:error, :not_found} -> false
      {:ok, _props} -> true
      {:error, reason} -> raise ArgumentError, "#{reason}"
    end
  end

  @doc "All edges, or none. O(edges log n)."
  @spec link_many(server, [tuple]) :: :ok | refusal_at
  def link_many(server, edges),
    do: call(server, :link_many, [Enum.map(edges, &with_props/1)])

  @doc "Makes the objects of a list those of a subject. O(objects before and after, log n each)."
  @spec replace(server, id, [id | Relation.neighbour()]) :: {:ok, map} | refusal | refusal_at
  def replace(server, subject, objects) do
    objects = Enum.map(objects, &if(is_tuple(&1), do: &1, else: {&1, %{}}))
    call(server, :replace, [subject, objects])
  end

  @doc "Removes all edges from a subject. O(their number, log n each)."
  @spec drop_subject(server, id) :: {:ok, non_neg_integer} | refusal
  def drop_subject(server, subject), do: call(server, :drop, [:from, subject])

  @doc "Removes all edges to an object. O(their number, log n each)."
  @spec drop_object(server, id) :: {:ok, non_neg_integer} | refusal
  def drop_object(server, object), do: call(server, :drop, [:to, object])

  @doc "The objects of a subject, oldest first. O(log n + limit)."
  @spec from(server, id, limit) :: neighbours
  def from(server, subject, limit \\ :all),
    do: call(server, :neighbours, [:from, subject, Argument.limit!(limit)])

  @doc "The subjects of an object, oldest first. O(log n + limit)."
  @spec to(server, id, limit) :: neighbours
  def to(server, object, limit \\ :all),
    do: call(server, :neighbours, [:to, object, Argument.limit!(limit)])

  @doc "A page of the objects of a subject. O(page log n)."
  @spec page_from(server, id, limit, keyword) :: neighbours
  def page_from(server, subject, limit, options \\ []),
    do: page(server, :from, subject, limit, options)

  @doc "A page of the subjects of an object. O(page log n)."
  @spec page_to(server, id, limit, keyword) :: neighbours
  def page_to(server, object, limit, options \\ []),
    do: page(server, :to, object, limit, options)

  @doc "How many objects a subject has. O(their number)."
  @spec degree(server, id) :: {:ok, non_neg_integer} | refusal
  def degree(server, subject), do: call(server, :degree, [:from, subject])

  @doc "How many subjects an object has. O(their number)."
  @spec to_degree(server, id) :: {:ok, non_neg_integer} | refusal
  def to_degree(server, object), do: call(server, :degree, [:to, object])

  @doc "How many objects of a subject there are in a window. O(their number)."
  @spec count_window(server, id, id, id) :: {:ok, non_neg_integer} | refusal
  def count_window(server, subject, lo, hi),
    do: call(server, :count, [:from, subject, lo, hi])

  @doc "The object of a subject at a position. O(position)."
  @spec nth(server, id, non_neg_integer) ::
          {:ok, Relation.neighbour()} | {:error, :not_found} | refusal
  def nth(server, subject, position) do
    with {:ok, neighbours} <- from(server, subject, position + 1) do
      case Enum.fetch(neighbours, position) do
        {:ok, neighbour} -> {:ok, neighbour}
        :error -> {:error, :not_found}
      end
    end
  end

  @doc "The objects that two subjects share. O(objects of both)."
  @spec common(server, id, id) :: {:ok, [id]} | refusal
  def common(server, subject, other), do: call(server, :common, [subject, other])

  @doc "How many edges there are. O(1)."
  @spec size(server) :: non_neg_integer
  def size(server), do: info(server).rows

  @doc "Edges and bytes. O(1)."
  @spec info(server) :: %{rows: non_neg_integer, bytes: non_neg_integer}
  def info(server), do: call(server, :info, [])

  @impl true
  def init(rule), do: {:ok, {rule, Relation.new(:protected)}}

  @impl true
  def handle_call({function, arguments}, _from, {rule, relation} = state) do
    answer =
      with :ok <- gate_each(gates(function, arguments), rule),
           :ok <- gate_all(rows(function, arguments), rule, 0),
           do: Relation |> apply(function, [relation | arguments]) |> answer(function)

    {:reply, answer, state}
  end

  defp call(server, function, arguments),
    do: GenServer.call(server, {function, arguments}, :infinity)

  defp page(server, walk, id, limit, options) do
    {order, cursor, values} = EchoData.Relation.page_options!(options)
    call(server, :page, [walk, id, {order, cursor, Argument.limit!(limit), values}])
  end

  defp with_props({subject, object}), do: {subject, object, %{}}
  defp with_props(edge), do: edge

  defp answer(answer, function) when function in [:link, :link_many, :unlink, :props, :info],
    do: answer

  defp answer(answer, _function), do: {:ok, answer}

  # The ids of a request, in the order in which they are let in.
  defp gates(function, [subject, object | _]) when function in [:link, :unlink, :props],
    do: [subject_ns: subject, object_ns: object]

  defp gates(:common, [subject, other]), do: [subject_ns: subject, subject_ns: other]
  defp gates(:replace, [subject, _objects]), do: [subject_ns: subject]
  defp gates(:page, [walk, id, {_, nil, _, _}]), do: gates(:degree, [walk, id])
  defp gates(:page, [:from, id, {_, cursor, _, _}]), do: [subject_ns: id, object_ns: cursor]
  defp gates(:page, [:to, id, {_, cursor, _, _}]), do: [object_ns: id, subject_ns: cursor]
  defp gates(:count, [:from, id, lo, hi]), do: [subject_ns: id, object_ns: lo, object_ns: hi]
  defp gates(_function, [:from, id | _]), do: [subject_ns: id]
  defp gates(_function, [:to, id | _]), do: [object_ns: id]
  defp gates(_function, _arguments), do: []

  # The ids of each row of a list.
  defp rows(:link_many, [edges]), do: for({s, o, _} <- edges, do: [subject_ns: s, object_ns: o])
  defp rows(:replace, [_subject, objects]), do: for({o, _props} <- objects, do: [object_ns: o])
  defp rows(_function, _arguments), do: []

  defp gate_each([], _rule), do: :ok

  defp gate_each([{key, id} | gates], rule) do
    with {:ok, _snowflake} <- Bcs.gate(id, Map.fetch!(rule, key)), do: gate_each(gates, rule)
  end

  defp gate_all([], _rule, _position), do: :ok

  defp gate_all([gates | rows], rule, position) do
    case gate_each(gates, rule) do
      :ok -> gate_all(rows, rule, position + 1)
      {:error, reason} -> {:error, {reason, position}}
    end
  end
end
