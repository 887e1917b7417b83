defmodule EchoData.Demo.Relations do
  @moduledoc """
  Two relations of a history, twice over, in ETS and in EchoData: which author touched which file, as an edge
  store, and which commit came from which, as edges.

  Authors and files have ids in the order in which the history first names them.
  """

  alias EchoData.{Bcs, BrandedId, Edges, Twin}
  alias EchoData.Demo.{Mint, Stores}

  @author_namespace "AUT"
  @file_namespace "FIL"

  @type id :: BrandedId.t()

  @type t :: %{edge_store: Stores.pair(), edges: Stores.pair()}

  @typedoc "The commits of an author in a month, and the lines that they added and removed."
  @type tally ::
          {email :: binary, month :: Date.t(), commits :: pos_integer, lines :: non_neg_integer}

  @typedoc """
  The ids of authors and files by their names, and of commits, how many edges there are, and what the authors
  did.
  """
  @type loaded :: %{
          authors: %{binary => id},
          files: %{binary => id},
          commits: [id],
          tallies: [tally],
          rows: %{edge_store: non_neg_integer, edges: non_neg_integer},
          took: %{edge_store: [non_neg_integer], edges: [non_neg_integer]}
        }

  @doc "Opens the relations, empty; they belong to the caller."
  @spec open() :: t
  def open do
    options = [relation: :touched, subject_ns: @author_namespace, object_ns: @file_namespace]
    commit = Mint.namespace()

    %{
      edge_store: Enum.map([Twin.EdgeStore, Bcs.EdgeStore], &{&1, started(&1, options)}),
      edges: Enum.map([Twin.Edges, Edges], &{&1, &1.new(commit, commit)})
    }
  end

  @doc """
  Links all edges of changes with their ids, one by one; a commit without an id, and what came from one that
  is not in the history, is left out. Answers what there is, and the nanoseconds that each subject took.
  """
  @spec load(t, Enumerable.t()) :: loaded
  def load(relations, stamped) do
    nothing = %{authors: %{}, files: %{}, commits: %{}, touched: %{}}
    nothing = Map.merge(nothing, %{parents: [], tallies: %{}})
    history = Enum.reduce(stamped, nothing, &add/2)
    touched = for {{author, file}, lines} <- history.touched, do: {author, file, lines}
    parents = Enum.reverse(history.parents)

    %{
      authors: history.authors,
      files: history.files,
      commits: history.commits |> Map.values() |> Enum.sort(),
      tallies:
        for(
          {{email, month}, {commits, lines}} <- history.tallies,
          do: {email, month, commits, lines}
        ),
      rows: %{edge_store: length(touched), edges: length(parents)},
      took: %{
        edge_store: took(relations.edge_store, :link, touched),
        edges: took(relations.edges, :add, parents)
      }
    }
  end

  defp started(module, options) do
    {:ok, pid} = module.start_link(options)
    pid
  end

  defp add({nil, _change}, history), do: history

  defp add({id, change}, history) do
    parents =
      for parent <- change.parents,
          {:ok, from} <- [Map.fetch(history.commits, parent)],
          do: {from, id, nil}

    history = %{
      history
      | commits: Map.put(history.commits, change.hash, id),
        parents: Enum.reverse(parents, history.parents),
        tallies: tally(history.tallies, id, change)
    }

    Enum.reduce(change.files, history, &touch(&1, change, &2))
  end

  defp tally(tallies, id, change) do
    month = id |> Mint.time() |> DateTime.to_date() |> Date.beginning_of_month()

    lines =
      change.files |> Enum.map(fn {_path, added, removed} -> added + removed end) |> Enum.sum()

    Map.update(tallies, {change.email, month}, {1, lines}, fn {commits, before} ->
      {commits + 1, before + lines}
    end)
  end

  defp touch({path, added, removed}, change, history) do
    {author, authors} = named(history.authors, change.email, @author_namespace)
    {file, files} = named(history.files, path, @file_namespace)

    touched =
      Map.update(
        history.touched,
        {author, file},
        %{added: added, removed: removed},
        &%{added: &1.added + added, removed: &1.removed + removed}
      )

    %{history | authors: authors, files: files, touched: touched}
  end

  defp named(ids, name, namespace) do
    case ids do
      %{^name => id} ->
        {id, ids}

      _new ->
        id = BrandedId.encode!(namespace, map_size(ids) + 1)
        {id, Map.put(ids, name, id)}
    end
  end

  defp took(pair, function, edges) do
    for {module, store} <- pair do
      start = System.monotonic_time(:nanosecond)
      for {from, to, props} <- edges, do: :ok = apply(module, function, [store, from, to, props])
      System.monotonic_time(:nanosecond) - start
    end
  end
end
