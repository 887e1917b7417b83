defmodule EchoData.Demo.HistoryTest do
  use ExUnit.Case, async: true

  alias EchoData.Demo.{Failed, History}
  alias EchoData.GitRepository

  test "a commit has its hash, committer time, author and subject" do
    path =
      GitRepository.create!([{"2024-02-29T12:00:00+02:00", "Grüße: \"tabs\"\tand more\n\nBody"}])

    assert Enum.to_list(History.stream!(path)) == [
             %{
               hash: GitRepository.git!(path, ~w(rev-parse HEAD)),
               time: DateTime.to_unix(~U[2024-02-29 10:00:00Z]),
               author: "Zoë Author",
               email: "zoe@example.org",
               subject: "Grüße: \"tabs\"\tand more"
             }
           ]
  end

  test "the history begins with 2024, to the second" do
    path =
      GitRepository.create!([
        {"2023-12-31T23:59:59Z", "before"},
        {"2024-01-01T00:00:00Z", "first"},
        {"2024-01-01T00:00:01Z", "second"}
      ])

    assert subjects(path) == ["first", "second"]
  end

  test "commits behind older ones are found: parents first, whatever the times" do
    old = for n <- 1..8, do: {"2019-01-01T00:00:0#{n}Z", "old #{n}"}
    commits = [{"2024-05-01T00:00:00Z", "behind"} | old] ++ [{"2024-04-01T00:00:00Z", "last"}]
    assert commits |> GitRepository.create!() |> subjects() == ["behind", "last"]
  end

  test "only what HEAD reaches, from any folder of the repository" do
    path = GitRepository.create!([{"2024-01-01T00:00:00Z", "one"}])
    GitRepository.git!(path, ~w(checkout --quiet --orphan elsewhere))
    inner = Path.join(path, "inner")
    File.mkdir!(inner)

    assert_raise Failed, "#{inner} is a git repository without a commit", fn ->
      subjects(inner)
    end

    GitRepository.git!(path, ~w(checkout --quiet main))
    assert subjects(inner) == ["one"]
  end

  test "settings of the user change nothing" do
    path = GitRepository.create!([{"2024-01-01T00:00:00Z", "one"}])

    for {name, value} <- [{"log.showSignature", "true"}, {"color.ui", "always"}],
        do: GitRepository.git!(path, ["config", name, value])

    assert subjects(path) == ["one"]
  end

  test "the stream can be left early" do
    path = GitRepository.create!(for n <- 1..3, do: {"2024-01-01T00:00:0#{n}Z", "#{n}"})
    assert [%{subject: "1"}] = path |> History.stream!() |> Enum.take(1)
  end

  defp subjects(path), do: path |> History.stream!() |> Enum.map(& &1.subject)
end
