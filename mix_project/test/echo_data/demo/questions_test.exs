defmodule EchoData.Demo.QuestionsTest do
  use ExUnit.Case, async: true

  alias EchoData.{Bcs, Demo, Timeline}
  alias EchoData.Demo.{Failed, Mint, Questions, Stores}

  @hour 3600
  @start DateTime.to_unix(~U[2024-01-30 00:00:00Z])

  setup do
    commits = for n <- 0..999, do: %{hash: "#{n}", time: @start + n * @hour, subject: "s#{n}"}
    rows = commits |> Mint.stamp() |> Enum.to_list()
    stores = Stores.open()
    loaded = Stores.load(stores, Enum.shuffle(rows))
    %{rows: rows, stores: stores, loaded: loaded, matter: Questions.subject_matter(stores, 1)}
  end

  test "all commits are loaded", %{loaded: loaded} do
    assert %{rows: 1000, left_out: 0, took: %{property_store: [_, _], timeline: [_, _]}} = loaded
  end

  test "commits without an id are counted and left out" do
    loaded = Stores.load(Stores.open(), [{nil, %{}}, {"CMT00000000001", %{}}, {nil, %{}}])
    assert %{rows: 1, left_out: 2} = loaded
  end

  test "both kinds of store, of ETS and of EchoData, give the answers that are true", context do
    newest_first = Enum.reverse(context.rows)
    picked = Enum.map(context.matter.ids, &List.keyfind!(context.rows, &1, 0))

    truths = %{
      "the newest ten" => Enum.take(newest_first, 10),
      "the last week" => Enum.take(context.rows, -(7 * 24)),
      "all commits, in pages of 100" => newest_first,
      "commits per month, counted" => [2 * 24, 29 * 24, 1000 - 31 * 24],
      "1000 ids, one by one" => for({_id, commit} <- picked, do: {:ok, commit}),
      "1000 ids, in one call" => picked
    }

    questions = Questions.all(context.matter)
    assert length(questions) == 2 * map_size(truths)

    for question <- questions do
      answer = Demo.agreed!(question, context.stores[question.kind])
      assert plain(answer) == Map.fetch!(truths, question.title), question.title
    end
  end

  test "rows are the commits that an answer is about", %{matter: matter, stores: stores} do
    rows =
      for question <- Questions.all(matter),
          do: question.rows.(Demo.agreed!(question, stores[question.kind]))

    assert rows == [10, 168, 1000, 1000, 1000, 1000, 10, 168, 1000, 1000, 1000, 1000]
  end

  test "a difference is a failure that says where", %{rows: rows, matter: matter, stores: stores} do
    {id, _commit} = List.last(rows)
    %{property_store: [_, {_, store}], timeline: [_, {_, timeline}]} = stores
    :ok = Bcs.PropertyStore.delete(store, id)
    :ok = Timeline.put(timeline, id, %{})

    for {kind, name} <- [property_store: "property store", timeline: "timeline"] do
      question = Enum.find(Questions.all(matter), &(&1.kind == kind))

      assert_raise Failed, "the answers differ: #{name}, the newest ten", fn ->
        Demo.agreed!(question, stores[kind])
      end
    end
  end

  test "a seed chooses the ids", %{stores: stores, matter: matter} do
    assert Questions.subject_matter(stores, 1) == matter
    assert Questions.subject_matter(stores, 2) != matter
  end

  defp plain({:ok, answer}), do: answer
  defp plain(answer), do: answer
end
