defmodule EchoData.Demo.Mint do
  @moduledoc """
  A `CMT` id for every commit, from its commit time.

  git knows seconds, and several commits may share one. The bits below the millisecond, which a generator
  would fill with its node and a sequence, count the commits of a second in the order of the history: the
  same history has the same ids, also where its times run backwards.
  """

  import Bitwise

  alias EchoData.{BrandedId, Snowflake}

  @namespace "CMT"
  @timestamp_shift 22

  @doc "The namespace of the ids."
  @spec namespace() :: BrandedId.namespace()
  def namespace, do: @namespace

  @doc """
  Commits with their ids, in their order; `nil` for one of a time that no id can hold.
  """
  @spec stamp(Enumerable.t()) :: Enumerable.t()
  def stamp(commits), do: Stream.transform(commits, %{}, &stamp/2)

  @doc "The smallest id that a commit at or after this time can have."
  @spec bound(DateTime.t()) :: BrandedId.t()
  def bound(datetime), do: BrandedId.encode!(@namespace, Snowflake.min_for(datetime))

  @doc "When a commit was made, from its id."
  @spec time(BrandedId.t()) :: DateTime.t()
  def time(id), do: id |> BrandedId.decode!() |> Snowflake.to_datetime()

  defp stamp(%{time: time} = commit, counts) do
    place = Map.get(counts, time, 0)

    case BrandedId.encode(@namespace, snowflake(time, place)) do
      {:ok, id} -> {[{id, commit}], Map.put(counts, time, place + 1)}
      :error -> {[{nil, commit}], counts}
    end
  end

  defp snowflake(time, place),
    do: ((time * 1000 - Snowflake.epoch_ms()) <<< @timestamp_shift) + place
end
