defmodule EchoData.Demo.RelationQuestions do
  @moduledoc """
  What the demo asks of relations: each question once, for either subject of a kind, through the same door.
  """

  alias EchoData.Bcs.EdgeStore
  alias EchoData.Demo.{Questions, Relations}

  @page 20

  @doc "The questions about loaded relations, in the order of their table: none about one without edges."
  @spec all(Relations.t(), Relations.loaded()) :: [Questions.t()]
  def all(relations, loaded) do
    authors = if loaded.rows.edge_store > 0, do: of_edge_stores(relations, loaded), else: []
    commits = if loaded.rows.edges > 0, do: of_edges(loaded.commits), else: []
    authors ++ commits
  end

  @doc "The files that most authors touched, with how many did, most first."
  @spec most_touched(Relations.t(), Relations.loaded(), pos_integer) :: [{binary, pos_integer}]
  def most_touched(%{edge_store: [_ets, {EdgeStore, store}]}, loaded, count) do
    loaded.files
    |> Enum.map(fn {path, id} -> {path, degree(:to_degree, EdgeStore, store, id)} end)
    |> Enum.sort_by(fn {path, authors} -> {-authors, path} end)
    |> Enum.take(count)
  end

  defp of_edge_stores(%{edge_store: [_ets, {EdgeStore, store}]}, %{authors: authors, files: files}) do
    [authors, files] = for ids <- [authors, files], do: ids |> Map.values() |> Enum.sort()
    [busiest | others] = Enum.sort_by(authors, &(-degree(:degree, EdgeStore, store, &1)))
    second = List.first(others, busiest)
    file = Enum.max_by(files, &degree(:to_degree, EdgeStore, store, &1))
    ask = &%Questions{kind: :edge_store, title: &1, ask: &2, rows: &3}

    [
      ask.("files of the busiest author", & &1.from(&2, busiest), &listed/1),
      ask.("the first #{@page} of them", & &1.from(&2, busiest, @page), &listed/1),
      ask.("all of them, in pages of #{@page}", &pages(&1, &2, busiest, nil), &length/1),
      ask.("authors of the file of most", & &1.to(&2, file), &listed/1),
      ask.("files that two authors share", & &1.common(&2, busiest, second), &listed/1),
      ask.("files of each author, counted", &degrees(&1, :degree, &2, authors), &Enum.sum/1),
      ask.("authors of each file, counted", &degrees(&1, :to_degree, &2, files), &Enum.sum/1)
    ]
  end

  defp of_edges([oldest | _] = commits) do
    ask = &%Questions{kind: :edges, title: &1, ask: &2, rows: &3}

    [
      ask.("parents of each commit", &parents(&1, &2, commits), &length/1),
      ask.("children of each, counted", &counts(&1, &2, commits), &Enum.sum/1),
      ask.("from child to child, to the end", &line(&1, &2, oldest), &length/1)
    ]
  end

  defp listed({:ok, rows}), do: length(rows)

  defp pages(module, store, author, cursor) do
    case module.page_from(store, author, @page, after: cursor) do
      {:ok, []} -> []
      {:ok, page} -> page ++ pages(module, store, author, page |> List.last() |> elem(0))
    end
  end

  defp degrees(module, function, store, ids),
    do: for(id <- ids, do: degree(function, module, store, id))

  defp degree(function, module, store, id) do
    {:ok, count} = apply(module, function, [store, id])
    count
  end

  defp parents(module, edges, commits),
    do: Enum.flat_map(commits, &module.parents_page(edges, &1, nil, @page))

  defp counts(module, edges, commits),
    do: for(commit <- commits, do: module.count_children(edges, commit))

  defp line(module, edges, commit) do
    case module.children_page(edges, commit, nil, 1) do
      [] -> [commit]
      [{child, _payload}] -> [commit | line(module, edges, child)]
    end
  end
end
