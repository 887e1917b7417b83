defmodule EchoData.EdgesTest do
  use ExUnit.Case, async: true

  alias EchoData.{BrandedId, EdgeSnapshot, Edges, Snowflake, Terms, Timeline}

  doctest Edges

  setup do
    {:ok, edges: Edges.new("PST", "CMT")}
  end

  defp post(n), do: BrandedId.encode!("PST", n)
  defp comment(n), do: BrandedId.encode!("CMT", n)

  test "children come in pages, in the order in which they were made", %{edges: edges} do
    minted = for n <- 1..50, do: {BrandedId.generate!("CMT"), n}
    for {id, n} <- Enum.shuffle(minted), do: :ok = Edges.add(edges, post(1), id, n)
    Edges.add(edges, post(2), comment(1))
    assert pages(edges, nil, []) == minted
    assert Edges.count_children(edges, post(1)) == 50
    assert Edges.children_page(edges, post(2), nil, 5) == [{comment(1), nil}]
    assert Edges.children_page(edges, post(3), nil, 5) == []
    assert Edges.size(edges) == 51
  end

  defp pages(edges, cursor, seen) do
    case Edges.children_page(edges, post(1), cursor, 7) do
      [] -> seen
      page -> pages(edges, page |> List.last() |> elem(0), seen ++ page)
    end
  end

  test "a child has its parents, and leaves them one by one", %{edges: edges} do
    many = [{post(1), comment(1)}, {post(2), comment(1), :b}, {post(2), comment(2), :c}]
    assert Edges.add_many(edges, many) == :ok
    assert Edges.add_by_snowflake(edges, 3, 1) == :ok
    assert Edges.add_by_snowflake(edges, 3, 1, :d) == :ok
    parents = [{post(1), nil}, {post(2), :b}, {post(3), :d}]
    assert Edges.parents_page(edges, comment(1), nil, 9) == parents
    assert Edges.parents_page(edges, comment(1), post(1), 1) == [{post(2), :b}]
    assert Edges.count_parents(edges, comment(1)) == 3
    assert Edges.fetch(edges, post(2), comment(2)) == {:ok, :c}
    assert Edges.member?(edges, post(1), comment(1))
    assert Edges.remove(edges, post(1), comment(1)) == :ok
    assert Edges.remove(edges, post(1), comment(1)) == :error
    assert Edges.fetch(edges, post(1), comment(1)) == :error
    refute Edges.member?(edges, post(1), comment(1))
    assert Edges.count_parents(edges, comment(1)) == 2
  end

  test "a wrong id raises and is named, and nothing is touched", %{edges: edges} do
    of_parent = [
      &Edges.add(edges, &1, comment(1), :new),
      &Edges.remove(edges, &1, comment(1)),
      &Edges.fetch(edges, &1, comment(1)),
      &Edges.member?(edges, &1, comment(1)),
      &Edges.children_page(edges, &1, nil, 1),
      &Edges.children_page(edges, &1, comment(1), 1),
      &Edges.parents_page(edges, comment(1), &1, 1),
      &Edges.count_children(edges, &1)
    ]

    of_child = [
      &Edges.add(edges, post(1), &1, :new),
      &Edges.remove(edges, post(1), &1),
      &Edges.fetch(edges, post(1), &1),
      &Edges.member?(edges, post(1), &1),
      &Edges.children_page(edges, post(1), &1, 1),
      &Edges.parents_page(edges, &1, nil, 1),
      &Edges.parents_page(edges, &1, post(1), 1),
      &Edges.count_parents(edges, &1)
    ]

    for {verbs, namespace, foreign} <- [
          {of_parent, "PST", comment(1)},
          {of_child, "CMT", post(1)}
        ],
        verb <- verbs,
        wrong <- [foreign | Terms.no_ids()],
        # A page without a cursor is a page.
        wrong != nil do
      message = "id must be an id of namespace #{namespace}, got: #{inspect(wrong)}"
      assert_raise ArgumentError, message, fn -> verb.(wrong) end
    end

    assert Edges.size(edges) == 0
  end

  test "a wrong edge of many is named by its position, a wrong snowflake is refused",
       %{edges: edges} do
    many = [{post(1), comment(1)}, {post(1), post(1)}]

    assert_raise ArgumentError, ~r/from ids of namespace PST .* position 1 does not/, fn ->
      Edges.add_many(edges, many)
    end

    for wrong <- [-1, 0x8000_0000_0000_0000, 1.0, comment(1), nil] do
      for ends <- [[1, wrong], [wrong, 1]] do
        assert_raise ArgumentError, ~r/^snowflake must be/, fn ->
          apply(Edges, :add_by_snowflake, [edges | ends])
        end
      end
    end

    assert Edges.size(edges) == 0
  end

  test "misuse is an ArgumentError that names the argument", %{edges: edges} do
    for n <- [0, -1, nil, :all] do
      assert_raise ArgumentError, ~r/^n must be a positive integer/, fn ->
        Edges.children_page(edges, post(1), nil, n)
      end
    end

    for {parent, child} <- [{"pst", "CMT"}, {"PST", nil}] do
      assert_raise ArgumentError, ~r/^namespace must be/, fn -> Edges.new(parent, child) end
    end

    assert_raise ArgumentError, ~r/^access must be/, fn -> Edges.new("PST", "CMT", access: 1) end
    assert_raise ArgumentError, ~r/^edges must be a list/, fn -> Edges.add_many(edges, :none) end

    assert_raise ArgumentError, ~r/must be a property store or a timeline/, fn ->
      Timeline.size(%{Timeline.new("CMT") | ref: edges.ref})
    end
  end

  test "a snapshot cannot be changed", %{edges: edges} do
    snapshot = Edges.snapshot(edges)

    for change <- [
          &Edges.add(&1, post(1), comment(1)),
          &Edges.add_by_snowflake(&1, 1, 1),
          &Edges.add_many(&1, [{post(1), comment(1)}]),
          &Edges.remove(&1, post(1), comment(2))
        ] do
      assert_raise ArgumentError, "a snapshot cannot be changed", fn -> change.(snapshot) end
    end

    assert Edges.size(edges) == 0
  end

  test "a handle and its snapshots look like what they are", %{edges: edges} do
    Edges.add_by_snowflake(edges, 1, 2)
    assert inspect(edges) =~ ~r/^#EchoData.Edges<PST -> CMT, 1 edges, \d+ bytes>$/
    snapshot = Edges.snapshot(edges)
    Edges.add_by_snowflake(edges, 1, 3)
    assert Edges.snapshot(snapshot) == snapshot
    assert Edges.children_page(snapshot, post(1), nil, 9) == [{comment(2), nil}]
    assert {Edges.size(snapshot), Edges.size(edges)} == {1, 2}
    assert Edges.info(edges).rows == 2
    assert Edges.close(edges) == :ok
    assert Edges.close(edges) == :ok
    assert inspect(edges) == "#EchoData.Edges<PST -> CMT, closed>"

    assert EdgeSnapshot.release(snapshot) == :ok
  end

  test "raises on every call once it is closed", %{edges: edges} do
    Edges.close(edges)

    calls = [
      &Edges.add(&1, post(1), comment(1)),
      &Edges.add_by_snowflake(&1, 1, Snowflake.next()),
      &Edges.add_many(&1, [{post(1), comment(1)}]),
      &Edges.remove(&1, post(1), comment(1)),
      &Edges.fetch(&1, post(1), comment(1)),
      &Edges.member?(&1, post(1), comment(1)),
      &Edges.children_page(&1, post(1), nil, 1),
      &Edges.parents_page(&1, comment(1), nil, 1),
      &Edges.count_children(&1, post(1)),
      &Edges.count_parents(&1, comment(1)),
      &Edges.size/1,
      &Edges.info/1,
      &Edges.snapshot/1
    ]

    for call <- calls,
        do: assert_raise(ArgumentError, "the store is closed", fn -> call.(edges) end)
  end
end
