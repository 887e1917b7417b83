defmodule EchoData.Demo.RelationQuestionsTest do
  use ExUnit.Case, async: true

  alias EchoData.{Bcs, Demo, Edges}
  alias EchoData.Demo.{Failed, Mint, RelationQuestions, Relations}

  @start DateTime.to_unix(~U[2024-01-30 00:00:00Z])

  # Ann touches f0 to f49, Bob every second of them; each commit comes from the one before, and every tenth
  # from the one before that, too.
  setup do
    changes =
      for n <- 0..99 do
        %{
          hash: "#{n}",
          time: @start + n,
          email: if(rem(n, 2) == 0, do: "ann", else: "bob"),
          parents: ["#{n - 1}" | if(rem(n, 10) == 9, do: ["#{n - 2}"], else: [])],
          files:
            if(rem(n, 2) == 0, do: [{"f#{div(n, 2)}", n, 1}], else: [{"f#{div(n, 4) * 2}", 1, n}])
        }
      end

    stamped = changes |> Mint.stamp() |> Enum.to_list()
    relations = Relations.open()
    loaded = Relations.load(relations, stamped)
    ids = Map.new(stamped, fn {id, change} -> {change.hash, id} end)
    %{relations: relations, loaded: loaded, ids: ids}
  end

  test "all edges are loaded; what came from outside the history is not", %{loaded: loaded} do
    assert loaded.rows == %{edge_store: 75, edges: 99 + 10}
    assert %{edge_store: [_, _], edges: [_, _]} = loaded.took
    assert map_size(loaded.authors) == 2
    assert map_size(loaded.files) == 50
    assert length(loaded.commits) == 100
  end

  test "both kinds of relation, of ETS and of EchoData, give the answers that are true",
       context do
    %{relations: relations, loaded: %{authors: authors, files: files}, ids: ids} = context
    file = fn n -> Map.fetch!(files, "f#{n}") end
    of_ann = for n <- 0..49, do: {file.(n), ann_and(n)}
    sorted = Enum.sort(of_ann)

    truths = %{
      "files of the busiest author" => sorted,
      "the first 20 of them" => Enum.take(sorted, 20),
      "all of them, in pages of 20" => sorted,
      "authors of the file of most" => [
        {authors["ann"], %{added: 0, removed: 1}},
        {authors["bob"], %{added: 2, removed: 1 + 3}}
      ],
      "files that two authors share" => Enum.sort(for n <- 0..48//2, do: file.(n)),
      "files of each author, counted" => [50, 25],
      "authors of each file, counted" =>
        for({name, _} <- Enum.sort_by(files, &elem(&1, 1)), do: holders(name)),
      "parents of each commit" =>
        for(n <- 0..99, parent <- Enum.sort(came_from(n)), do: {ids["#{parent}"], nil}),
      "children of each, counted" => for(n <- 0..99, do: children(n)),
      "from child to child, to the end" => for(n <- 0..99, do: ids["#{n}"])
    }

    questions = RelationQuestions.all(relations, context.loaded)
    assert Enum.sort(for q <- questions, do: q.title) == Enum.sort(Map.keys(truths))

    for question <- questions do
      answer = Demo.agreed!(question, relations[question.kind])
      assert plain(answer) == Map.fetch!(truths, question.title), question.title
      assert is_integer(question.rows.(answer))
    end
  end

  defp ann_and(n), do: %{added: n * 2, removed: 1}

  defp holders("f" <> n), do: if(rem(String.to_integer(n), 2) == 0, do: 2, else: 1)

  defp came_from(n),
    do: for(from <- [n - 1 | List.wrap(if rem(n, 10) == 9, do: n - 2)], from >= 0, do: from)

  defp children(n), do: Enum.count(0..99, &(n in came_from(&1)))

  test "the files of most authors come first", %{relations: relations, loaded: loaded} do
    assert [{"f0", 2}, {"f10", 2}] = RelationQuestions.most_touched(relations, loaded, 2)
    files = RelationQuestions.most_touched(relations, loaded, 50)
    assert Enum.map(files, &elem(&1, 1)) == List.duplicate(2, 25) ++ List.duplicate(1, 25)
  end

  test "nothing is asked of relations without edges" do
    relations = Relations.open()
    loaded = Relations.load(relations, [])
    assert RelationQuestions.all(relations, loaded) == []
    assert RelationQuestions.most_touched(relations, loaded, 5) == []
  end

  test "a difference is a failure that says where", context do
    %{relations: relations, loaded: loaded, ids: ids} = context
    %{edge_store: [_, {_, store}], edges: [_, {_, edges}]} = relations
    questions = RelationQuestions.all(relations, loaded)
    :ok = Bcs.EdgeStore.unlink(store, loaded.authors["ann"], loaded.files["f0"])
    :ok = Edges.remove(edges, ids["0"], ids["1"])

    for {kind, message} <- [
          edge_store:
            "the answers differ: edge store: who touched what, files of the busiest author",
          edges: "the answers differ: edges: what came from what, parents of each commit"
        ] do
      question = Enum.find(questions, &(&1.kind == kind))
      assert_raise Failed, message, fn -> Demo.agreed!(question, relations[kind]) end
    end
  end

  defp plain({:ok, answer}), do: answer
  defp plain(answer), do: answer
end
