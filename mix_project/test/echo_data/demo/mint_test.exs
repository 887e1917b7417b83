defmodule EchoData.Demo.MintTest do
  use ExUnit.Case, async: true

  alias EchoData.{BrandedId, Snowflake}
  alias EchoData.Demo.Mint

  @first 1_704_067_200

  test "an id tells the commit time" do
    for time <- [@first, @first + 1, 1_800_000_000] do
      assert [id] = ids([time])
      assert BrandedId.namespace(id) == "CMT"
      assert Mint.time(id) |> DateTime.to_unix() == time
    end
  end

  test "commits of one second have ids of their own, in their order, within the second" do
    times = List.duplicate(@first, 5000)
    ids = ids(times)
    assert ids == ids |> Enum.uniq() |> Enum.sort()
    assert Enum.all?(ids, &(&1 < Mint.bound(DateTime.from_unix!(@first + 1))))
  end

  test "times that run backwards, and come back, collide with nothing" do
    times = [@first + 9, @first + 5, @first + 9, @first + 5, @first + 9]
    ids = ids(times)
    assert Enum.map(ids, &DateTime.to_unix(Mint.time(&1))) == times
    assert Enum.uniq(ids) == ids
  end

  test "the same history has the same ids, also when it goes on" do
    times = Enum.map(1..1000, fn _ -> @first + :rand.uniform(100) end)
    assert ids(times) == ids(times ++ [@first + 50]) |> Enum.take(1000)
  end

  test "a time that no id can hold has none" do
    last = div(Snowflake.epoch_ms() + Bitwise.bsl(1, 41) - 1, 1000)

    assert [nil, nil, <<_::112>>, nil, nil] =
             ids([0, @first - 1, last, last + 1, 1.0e30 |> trunc])
  end

  defp ids(times) do
    for {id, %{time: _}} <- times |> Enum.map(&%{time: &1}) |> Mint.stamp(), do: id
  end
end
