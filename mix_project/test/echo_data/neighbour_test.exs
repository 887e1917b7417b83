defmodule EchoData.NeighbourTest do
  @moduledoc """
  Heavy calls leave the scheduler to their neighbours.
  """

  use ExUnit.Case, async: true

  alias EchoData.{FreshVM, Neighbour}

  @tag timeout: 120_000
  test "a neighbour has its turns while many rows, buckets, edges, ranks and keys are written and read" do
    vm = FreshVM.start!([{"ERL_FLAGS", "+S 1:1"}])

    for {work, turns} <- FreshVM.call(vm, Neighbour, :turns, []) do
      assert turns > 20, "#{work} left #{turns} turns"
    end
  end
end
