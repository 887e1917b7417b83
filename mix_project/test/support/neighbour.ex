defmodule EchoData.Neighbour do
  @moduledoc """
  What heavy calls do to their neighbours: run in a VM with one scheduler.
  """

  alias EchoData.{BrandedId, Timeline}

  @rows 200_000

  @doc """
  Runs heavy calls, and answers for each how often a neighbour that never waits had its turn meanwhile.
  """
  @spec turns() :: [{atom, non_neg_integer}]
  def turns do
    1 = :erlang.system_info(:schedulers_online)
    counter = :counters.new(1, [])
    neighbour = spawn_link(fn -> count(counter) end)
    timeline = Timeline.new("NBR")
    rows = for n <- 1..@rows, do: {BrandedId.encode!("NBR", n), %{n: n}}
    ids = Enum.map(rows, &elem(&1, 0))

    turns =
      for {name, work} <- heavy(timeline, rows, ids) do
        before = :counters.get(counter, 1)
        work.()
        {name, :counters.get(counter, 1) - before}
      end

    Process.unlink(neighbour)
    Process.exit(neighbour, :kill)
    turns
  end

  defp heavy(timeline, rows, ids) do
    [
      put_many: fn -> :ok = Timeline.put_many(timeline, rows) end,
      page_asc: fn -> @rows = timeline |> Timeline.page_asc(@rows) |> length() end,
      page_desc: fn -> @rows = timeline |> Timeline.page_desc(@rows) |> length() end,
      window: fn ->
        @rows = timeline |> Timeline.window("NBR00000000000", "NBRAzL8n0Y58m7") |> length()
      end,
      get_many: fn -> @rows = timeline |> Timeline.get_many(ids) |> length() end,
      enumerate: fn -> @rows = Enum.count(timeline, fn {_id, %{n: _}} -> true end) end
    ]
  end

  # Each round is a turn: the others that are ready go first.
  defp count(counter) do
    :counters.add(counter, 1, 1)
    :erlang.yield()
    count(counter)
  end
end
