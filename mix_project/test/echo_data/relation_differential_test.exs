defmodule EchoData.RelationDifferentialTest do
  @moduledoc """
  Random operations on a relation and on its twin in two ETS tables: every answer is the same.

  The operations follow from ExUnit's seed, which is printed with a failure.
  """

  use ExUnit.Case, async: true

  import EchoData.Differential

  alias EchoData.Bcs.EdgeStore
  alias EchoData.{BrandedId, Edges, Twin, Values}

  @operations 3000

  # Subjects and objects are of two namespaces, or of one.
  @relations [{"DIS", "DIO"}, {"DIS", "DIS"}]

  # How many ids there are at each end: all pairs are met often, some, nearly none.
  @spaces [3, 12, 400]

  test "an edge store answers what two ETS tables with a process in front do" do
    for {subject_ns, object_ns} = ends <- @relations, space <- @spaces do
      options = [relation: :related, subject_ns: subject_ns, object_ns: object_ns]

      stores =
        for module <- [EdgeStore, Twin.EdgeStore],
            do: {module, start_supervised!({module, options}, id: make_ref())}

      for _ <- 1..@operations, do: assert_same(stores, store_operation(ends, space))
      assert_transposed(stores, ends, space)
    end
  end

  test "a hierarchy answers what two ETS tables do" do
    for {parent_ns, child_ns} = ends <- @relations, space <- @spaces do
      edges = for module <- [Edges, Twin.Edges], do: {module, module.new(parent_ns, child_ns)}

      for _ <- 1..@operations, do: assert_same(edges, edges_operation(ends, space))
    end
  end

  # Whatever was done, both tables of both stores say the same of every id.
  defp assert_transposed(stores, {subject_ns, object_ns}, space) do
    edges =
      for n <- 1..space, reduce: [] do
        edges ->
          [ours, theirs] =
            for {module, store} <- stores,
                do: {module.from(store, id(subject_ns, n)), module.to(store, id(object_ns, n))}

          assert ours == theirs
          {{:ok, from}, {:ok, to}} = ours
          forward = for {object, props} <- from, do: {id(subject_ns, n), object, props}
          backward = for {subject, props} <- to, do: {subject, id(object_ns, n), props}
          [{forward, backward} | edges]
      end

    {forward, backward} = Enum.unzip(edges)
    assert forward |> Enum.concat() |> Enum.sort() == backward |> Enum.concat() |> Enum.sort()
  end

  defp store_operation({subject_ns, object_ns}, space) do
    subject = fn -> random_id(subject_ns, space) end
    object = fn -> random_id(object_ns, space) end

    one_of([
      fn -> {:link, [subject.(), object.(), Values.random(2)]} end,
      fn -> {:link, [subject.(), object.()]} end,
      fn -> {:unlink, [subject.(), object.()]} end,
      fn -> {:props, [subject.(), object.()]} end,
      fn -> {:member?, [subject.(), object.()]} end,
      fn -> {:link_many, [random_list(fn -> edge(subject.(), object.()) end)]} end,
      fn -> {:replace, [subject.(), random_list(fn -> object(object.()) end)]} end,
      fn -> {rare(:drop_subject, :degree), [subject.()]} end,
      fn -> {rare(:drop_object, :to_degree), [object.()]} end,
      fn -> {:from, [subject.(), random_limit()]} end,
      fn -> {:to, [object.(), random_limit()]} end,
      fn -> {:page_from, [subject.(), random_limit(), random_options(object)]} end,
      fn -> {:page_to, [object.(), random_limit(), random_options(subject)]} end,
      fn -> {:count_window, [subject.(), object.(), object.()]} end,
      fn -> {:nth, [subject.(), :rand.uniform(8) - 1]} end,
      fn -> {:common, [subject.(), subject.()]} end,
      fn -> {:size, []} end
    ])
  end

  defp edges_operation({parent_ns, child_ns}, space) do
    parent = fn -> random_id(parent_ns, space) end
    child = fn -> random_id(child_ns, space) end

    one_of([
      fn -> {:add, [parent.(), child.(), Values.random(2)]} end,
      fn -> {:add, [parent.(), child.()]} end,
      fn -> {:add_many, [random_list(fn -> edge(parent.(), child.()) end)]} end,
      fn -> {:remove, [parent.(), child.()]} end,
      fn -> {:fetch, [parent.(), child.()]} end,
      fn -> {:member?, [parent.(), child.()]} end,
      fn -> {:children_page, [parent.(), Enum.random([nil, child.()]), random_count()]} end,
      fn -> {:parents_page, [child.(), Enum.random([nil, parent.()]), random_count()]} end,
      fn -> {:count_children, [parent.()]} end,
      fn -> {:count_parents, [child.()]} end,
      fn -> {:size, []} end
    ])
  end

  defp one_of(operations), do: Enum.random(operations).()

  defp rare(rare, usual), do: if(:rand.uniform(8) == 1, do: rare, else: usual)

  defp edge(subject, object),
    do: Enum.random([{subject, object}, {subject, object, :rand.uniform(9)}])

  defp object(object), do: Enum.random([object, {object, :rand.uniform(9)}])

  # One in forty is not let in.
  defp random_id(namespace, space) do
    case :rand.uniform(80) do
      1 -> id("USR", :rand.uniform(space))
      2 -> Enum.random([namespace, "dis00000000001", namespace <> "zzzzzzzzzzz", 7.0, :id])
      _ -> id(namespace, :rand.uniform(space))
    end
  end

  defp id(namespace, n), do: BrandedId.encode!(namespace, n * 0x400000)

  defp random_list(make), do: for(_ <- 1..:rand.uniform(12), do: make.())

  defp random_count, do: Enum.random([1, 2, 3, 10, 300, 0, -3])
  defp random_limit, do: Enum.random([:all, 1, 2, 3, 10, 300, 10_000, Enum.random([0, nil])])

  defp random_options(id) do
    Enum.random([
      [],
      [values: coin()],
      [order: Enum.random([:asc, :desc])],
      [after: id.()],
      [before: id.(), values: coin()],
      [order: Enum.random([:asc, :desc]), before: id.()],
      [order: Enum.random([:asc, :desc]), after: id.(), values: coin()]
    ])
  end

  defp coin, do: :rand.uniform(2) == 1
end
