defmodule EchoData.Relation do
  @moduledoc false
  # What edge stores and hierarchies have in common: checked arguments, and work that takes more than one
  # native call. A store is whatever the native functions take; `:closed` is for the caller to interpret.

  import EchoData.Argument, only: [boolean!: 2, limit!: 1, options!: 2, refuse!: 3]

  alias EchoData.{BrandedId, Native, Steps}

  @type walk :: :from | :to
  @type order :: :asc | :desc
  @type refused :: {:error, :namespace | :invalid} | :closed
  @type refused_at :: {:error, {:namespace | :invalid, non_neg_integer}} | :closed
  @type neighbour :: {BrandedId.t(), term}

  @doc "Whether a term can be the name of a relation: an atom or a string."
  @spec name?(term) :: boolean
  def name?(name) when is_atom(name), do: not is_nil(name)
  def name?(name), do: is_binary(name) and name != "" and String.valid?(name)

  @doc "Raises unless a relation can be called so."
  @spec name!(term) :: atom | String.t()
  def name!(name),
    do: if(name?(name), do: name, else: refuse!("relation", "an atom or a string", name))

  @doc """
  The order, the cursor and the `:values` option of a page: `:after` goes with oldest first, `:before`
  with newest first. Raises for anything else.
  """
  @spec page_options!(keyword) :: {order, BrandedId.t() | nil, boolean}
  def page_options!(options) do
    checked = options!(options, [:order, :after, :before, values: true])

    {order, cursor} =
      case {checked[:order], checked[:after], checked[:before]} do
        {order, cursor, nil} when order in [nil, :asc] ->
          {:asc, cursor}

        {order, nil, cursor} when order in [nil, :desc] ->
          {:desc, cursor}

        _other ->
          refuse!("options", "order: :asc with :after, or order: :desc with :before", options)
      end

    {order, cursor, boolean!("values", checked[:values])}
  end

  @doc "Up to `limit` neighbours of an id, beyond a cursor."
  @spec page(term, walk, term, order, term, term, boolean) :: {:ok, list} | refused
  def page(store, walk, id, order, cursor, limit, values) do
    store
    |> Native.relation_page(walk, id, order, cursor, limit!(limit), values)
    |> Steps.finish(&Native.relation_more(walk, &1))
  end

  @doc "The neighbour at a position that is counted from the oldest."
  @spec nth(term, walk, term, term) :: {:ok, neighbour} | {:error, :not_found} | refused
  def nth(store, walk, id, position) when is_integer(position) and position >= 0,
    do: Native.relation_nth(store, walk, id, position)

  def nth(_store, _walk, _id, position),
    do: refuse!("position", "a non-negative integer", position)

  @doc "The objects that two subjects share, oldest first."
  @spec common(term, term, term) :: {:ok, [BrandedId.t()]} | refused
  def common(store, subject, other) do
    with :large <- Native.relation_common(store, subject, other),
         do: Native.relation_common_large(store, subject, other)
  end

  @doc "Links all edges, or none."
  @spec link_many(term, [tuple]) :: :ok | refused_at
  def link_many(store, edges) when is_list(edges) do
    store
    |> Native.relation_link_many(edges)
    |> Steps.publish(
      &Native.relation_link_more(store, &1),
      &Native.relation_link_staged(store, &1)
    )
  end

  def link_many(_store, edges), do: refuse!("edges", "a list", edges)

  @doc "Makes the objects of a list those of a subject, and no others."
  @spec replace(term, term, [term]) :: {:ok, map} | refused | refused_at
  def replace(store, subject, objects) when is_list(objects) do
    store
    |> Native.relation_replace(subject, objects)
    |> Steps.publish(
      &Native.relation_replace_more(store, &1),
      &Native.relation_replace_staged(store, subject, &1)
    )
  end

  def replace(_store, _subject, objects), do: refuse!("objects", "a list", objects)

  @doc "Removes all edges of an id, and answers how many there were."
  @spec drop(term, walk, term) :: {:ok, non_neg_integer} | refused
  def drop(store, walk, id) do
    with :large <- Native.relation_drop(store, walk, id),
         do: Native.relation_drop_large(store, walk, id)
  end

  @doc "What is related, and what that takes in memory."
  @spec info(term) :: map | :closed
  def info(store) do
    with {relation, subject_ns, object_ns} <- Native.relation_rule(store),
         %{} = memory <- Native.relation_info(store) do
      Map.merge(memory, %{relation: relation, subject_ns: subject_ns, object_ns: object_ns})
    end
  end
end
