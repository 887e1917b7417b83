defmodule EchoData.Demo.WeeksTest do
  use ExUnit.Case, async: true

  import ExUnit.CaptureIO

  alias EchoData.Buckets
  alias EchoData.Demo.{Failed, Mint, Stores, Weeks}

  @hour 3600
  @timing [rounds: 1, round_ns: 0]

  # An hour apart, from where the second bucket of 2^29 ms begins: 149 hours and a bit.
  @start DateTime.to_unix(~U[2024-01-07 05:07:51Z])

  defp commits(count) do
    commits = for n <- 0..(count - 1), do: %{hash: "#{n}", time: @start + n * @hour}
    commits |> Mint.stamp() |> Enum.to_list()
  end

  defp filled(count) do
    pair = Weeks.open()

    for {module, weeks} <- pair,
        {id, commit} <- commits(count),
        do: module.put(weeks, id, commit)

    pair
  end

  test "all but the last four weeks expire, week by week" do
    [_ets, {Buckets, weeks}] = pair = filled(1000)
    counts = Buckets.counts(weeks)
    assert Enum.map(counts, &elem(&1, 0)) == Enum.to_list(1..7)
    {gone, kept} = Enum.split(counts, -4)
    gone = gone |> Enum.map(&elem(&1, 1)) |> Enum.sum()
    {7, newest} = List.last(counts)

    assert [
             {"commits per week", 1000, {_, _}},
             {"the newest week", ^newest, {_, _}},
             {"expiry, week by week", ^gone, {_, _}}
           ] = Weeks.lines!(pair, @timing)

    for {module, weeks} <- pair, do: assert(module.counts(weeks) == kept)
  end

  test "a history of fewer weeks stays" do
    [_ets, {Buckets, weeks}] = pair = filled(3)
    assert {"expiry, week by week", 0, _took} = List.last(Weeks.lines!(pair, @timing))
    assert Buckets.size(weeks) == 3
  end

  test "a difference is a failure that says where" do
    [_ets, {Buckets, weeks}] = pair = filled(1000)
    Buckets.delete_by_snowflake(weeks, hd(Buckets.to_snowflake_list(weeks)))

    assert_raise Failed, "the answers differ: weekly buckets, commits per week", fn ->
      Weeks.lines!(pair, @timing)
    end
  end

  test "they are filled from a property store, and shown" do
    stores = Stores.open()
    Stores.load(stores, commits(1000))
    output = capture_io(fn -> Weeks.show(stores, @timing) end)
    assert output =~ ~r/^weekly buckets +rows +ETS +EchoData +ratio$/m
    assert output =~ ~r/^put, one by one +1,000 .*×$/m
    assert output =~ ~r/^expiry, week by week +448 .*×$/m
    assert output =~ "Weeks with commits: 7, of which the last 4 are kept."
    assert output =~ "Commits: 448 expired, 552 stay.\n"
  end
end
