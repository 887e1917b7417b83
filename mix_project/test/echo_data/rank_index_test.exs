defmodule EchoData.RankIndexTest do
  use ExUnit.Case, async: true
  doctest EchoData.RankIndex
end
