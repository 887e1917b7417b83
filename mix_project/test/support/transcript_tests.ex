defmodule EchoData.TranscriptTests do
  @moduledoc """
  The checks of a transcript as tests, one each: `use EchoData.TranscriptTests, of: module`.
  """

  alias EchoData.Conformance.RedisServer

  defmacro __using__(of: transcript) do
    quote do
      use ExUnit.Case, async: true

      for {label, title, _check} <- unquote(transcript).checks() do
        @label label
        test "#{label}: #{title}" do
          unquote(__MODULE__).check!(unquote(transcript), @label, &start_supervised!/1)
        end
      end
    end
  end

  @doc "Makes one check, on a server of its own if it wants one."
  @spec check!(module, String.t(), (term -> pid)) :: String.t()
  def check!(transcript, label, start) do
    {_label, _title, check} = List.keyfind!(transcript.checks(), label, 0)
    check.(%{start: start, server: fn -> RedisServer |> start.() |> RedisServer.address() end})
  end
end
