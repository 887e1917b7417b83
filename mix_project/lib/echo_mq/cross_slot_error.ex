defmodule EchoMQ.CrossSlotError do
  @moduledoc """
  The keys of a script fall into several slots of a cluster: no cluster would run it.

  `:keys` are all of them, each with its hash tag and slot. The message names the first key of each slot, of up
  to four slots.
  """

  alias EchoMQ.Keyspace

  @type t :: %__MODULE__{keys: [{binary, tag :: binary, Keyspace.slot()}]}

  @named 4

  # Of a key, in bytes.
  @shown 64

  defexception [:keys]

  @doc "The exception of a script's keys."
  @impl true
  @spec exception([binary]) :: t
  def exception(keys) do
    %__MODULE__{keys: for(key <- keys, do: {key, Keyspace.hashtag(key), Keyspace.slot(key)})}
  end

  @impl true
  def message(%__MODULE__{keys: keys}) do
    {named, others} = keys |> Enum.uniq_by(&elem(&1, 2)) |> Enum.split(@named)

    "keys of #{length(named ++ others)} slots in one script: #{Enum.map_join(named, ", ", &name/1)}" <>
      more(others)
  end

  defp name({key, tag, slot}), do: "#{show(key)} (tag #{show(tag)}, slot #{slot})"

  defp show(text) when byte_size(text) <= @shown, do: inspect(text)
  defp show(text), do: inspect(binary_part(text, 0, @shown)) <> "..."

  defp more([]), do: ""
  defp more(_others), do: ", ..."
end
