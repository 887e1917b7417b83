defmodule EchoData.DifferentialTest do
  @moduledoc """
  Random operations on a store and on its twin in ETS: every answer is the same.

  The operations follow from ExUnit's seed, which is printed with a failure.
  """

  use ExUnit.Case, async: true

  import EchoData.Differential

  alias EchoData.Bcs.PropertyStore
  alias EchoData.{BrandedId, Snowflake, Timeline, Twin, Values}

  @operations 3000

  test "a property store answers what an ETS table with a process in front does" do
    for options <- [[], [indexes: []]], space <- [4, 60, 5000] do
      stores = [
        {PropertyStore, start(PropertyStore, options)},
        {Twin.PropertyStore, start(Twin.PropertyStore, [])}
      ]

      for _ <- 1..@operations, do: assert_same(stores, property_operation(space))
    end
  end

  test "a timeline answers what an ETS table does" do
    for space <- [4, 60, 5000] do
      timelines = for module <- [Timeline, Twin.Timeline], do: {module, module.new("DIF")}
      for _ <- 1..@operations, do: assert_same(timelines, timeline_operation(space))
    end
  end

  defp start(module, options),
    do: start_supervised!({module, [namespace: "DIF"] ++ options}, id: make_ref())

  defp property_operation(space) do
    id = fn -> random_id(space) end

    one_of([
      fn -> {:put, [id.(), Values.random(2)]} end,
      fn -> {:put, [id.(), :rand.uniform(100)]} end,
      fn -> {:put_many, [random_rows(space)]} end,
      fn -> {:record_entity, [id.()]} end,
      fn -> {:get, [id.()]} end,
      fn -> {:get_many, [random_ids(space)]} end,
      fn -> {:delete, [id.()]} end,
      fn -> {:take, [id.()]} end,
      fn -> {:page_desc, [random_count(), random_options(:before, space)]} end,
      fn -> {:page_asc, [random_count(), random_options(:after, space)]} end,
      fn -> {:window, [id.(), id.(), [values: coin()]]} end,
      fn -> {:count_window, [id.(), id.()]} end,
      fn -> {:size, []} end
    ])
  end

  defp timeline_operation(space) do
    id = fn -> random_id(space) end

    one_of([
      fn -> {:put, [id.(), Values.random(2)]} end,
      fn -> {:put_by_snowflake, [random_snowflake(space), :rand.uniform(100)]} end,
      fn -> {:put_many, [random_rows(space)]} end,
      fn -> {:fetch, [id.()]} end,
      fn -> {:get_many, [random_ids(space)]} end,
      fn -> {:delete, [id.()]} end,
      fn -> {:take, [id.()]} end,
      fn -> {:latest, [random_count()]} end,
      fn -> {:after_cursor, [id.(), random_count()]} end,
      fn -> {:since, [random_instant(space), random_count()]} end,
      fn -> {:page_desc, [random_count(), random_options(:before, space)]} end,
      fn -> {:page_asc, [random_count(), random_options(:after, space)]} end,
      fn -> {:window, [id.(), id.(), [values: coin()]]} end,
      fn -> {:window_count, [random_instant(space), random_instant(space)]} end,
      fn -> {:count_window, [id.(), id.()]} end,
      fn -> {:size, []} end
    ])
  end

  defp one_of(operations), do: Enum.random(operations).()

  # One in twenty is not let in.
  defp random_id(space) do
    case :rand.uniform(40) do
      1 -> BrandedId.encode!("USR", random_snowflake(space))
      2 -> Enum.random(["DIF", "dif00000000001", "DIFzzzzzzzzzzz", nil, 7.0])
      _ -> BrandedId.encode!("DIF", random_snowflake(space))
    end
  end

  # One snowflake a millisecond, so that instants fall between them.
  defp random_snowflake(space), do: :rand.uniform(space) * 0x400000

  defp random_instant(space),
    do:
      space
      |> random_snowflake()
      |> Snowflake.to_datetime()
      |> DateTime.add(coin_ms(), :millisecond)

  defp coin_ms, do: :rand.uniform(3) - 2

  defp random_ids(space), do: for(_ <- 1..:rand.uniform(12), do: random_id(space))
  defp random_rows(space), do: for(id <- random_ids(space), do: {id, :rand.uniform(100)})

  # One in ten is no count.
  defp random_count, do: Enum.random([1, 2, 3, 10, 40, 300, 10_000, 5, 7, Enum.random([0, -3])])

  defp random_options(cursor, space) do
    Enum.random([
      [],
      [values: coin()],
      [{cursor, random_id(space)}],
      [{cursor, random_id(space)}, values: coin()]
    ])
  end

  defp coin, do: :rand.uniform(2) == 1
end
