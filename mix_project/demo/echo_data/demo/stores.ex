defmodule EchoData.Demo.Stores do
  @moduledoc """
  The commits as records, four times over: in a property store and in a timeline, of ETS and of EchoData.
  """

  alias EchoData.{Bcs, Timeline, Twin}
  alias EchoData.Demo.Mint

  @typedoc "A store with the module that works on it."
  @type subject :: {module, term}

  @typedoc "The two subjects of one kind, ETS first."
  @type pair :: [subject]

  @type t :: %{property_store: pair, timeline: pair}

  # Commits that one subject puts before the next has its turn.
  @turn 1000

  @doc "Opens the stores, empty; they belong to the caller."
  @spec open() :: t
  def open do
    %{
      property_store: Enum.map([Twin.PropertyStore, Bcs.PropertyStore], &{&1, started(&1)}),
      timeline: Enum.map([Twin.Timeline, Timeline], &{&1, &1.new(Mint.namespace())})
    }
  end

  @doc """
  Puts all commits into all stores, one by one.

  Answers how many there are, how many have no id, and the nanoseconds that each subject took.
  """
  @spec load(t, Enumerable.t()) :: %{
          rows: non_neg_integer,
          left_out: non_neg_integer,
          took: %{property_store: [non_neg_integer], timeline: [non_neg_integer]}
        }
  def load(stores, stamped) do
    nothing = %{rows: 0, left_out: 0, took: Map.new(stores, &none_yet/1)}

    stamped
    |> Stream.chunk_every(@turn)
    |> Enum.reduce(nothing, fn commits, loaded ->
      {rows, left_out} = Enum.split_with(commits, fn {id, _commit} -> id != nil end)
      loaded = put(stores, rows, loaded)
      %{loaded | left_out: loaded.left_out + length(left_out)}
    end)
  end

  defp started(module) do
    {:ok, pid} = module.start_link(namespace: Mint.namespace())
    pid
  end

  defp none_yet({kind, pair}), do: {kind, Enum.map(pair, fn _subject -> 0 end)}

  defp put(stores, rows, loaded) do
    took =
      Map.new(stores, fn {kind, pair} ->
        {kind, Enum.zip_with(pair, loaded.took[kind], &(put(&1, rows) + &2))}
      end)

    %{loaded | rows: loaded.rows + length(rows), took: took}
  end

  defp put({module, store}, rows) do
    start = System.monotonic_time(:nanosecond)
    Enum.each(rows, fn {id, commit} -> :ok = module.put(store, id, commit) end)
    System.monotonic_time(:nanosecond) - start
  end
end
