defmodule EchoData.Demo.ChangesTest do
  use ExUnit.Case, async: true

  alias EchoData.Demo.{Changes, History}
  alias EchoData.GitRepository

  test "a change has its files with their lines, and its parents" do
    path = GitRepository.create!([{"2023-06-01T00:00:00Z", "before"}])
    before = GitRepository.git!(path, ~w(rev-parse HEAD))
    binary = <<0, 1, 2>>
    tab = "with\ttab.txt"
    files = %{"a" => "1\n2\n", "deep/b c" => "1\n", "bin" => binary, tab => "1\n"}
    first = GitRepository.commit!(path, "2024-01-01T00:00:00Z", "ann@example.org", files)

    second =
      GitRepository.commit!(path, "2024-01-02T00:00:00Z", "bob@example.org", %{"a" => "2\n3\n4\n"})

    assert Enum.to_list(Changes.stream!(path)) == [
             %{
               hash: first,
               time: DateTime.to_unix(~U[2024-01-01 00:00:00Z]),
               email: "ann@example.org",
               parents: [before],
               files: [{"a", 2, 0}, {"bin", 0, 0}, {"deep/b c", 1, 0}, {tab, 1, 0}]
             },
             %{
               hash: second,
               time: DateTime.to_unix(~U[2024-01-02 00:00:00Z]),
               email: "bob@example.org",
               parents: [first],
               files: [{"a", 2, 1}]
             }
           ]
  end

  test "merges have two parents and no files, commits may have neither" do
    path = GitRepository.create!([{"2024-01-01T00:00:00Z", "root"}])
    root = GitRepository.git!(path, ~w(rev-parse HEAD))
    GitRepository.git!(path, ~w(checkout --quiet -b side))
    side = GitRepository.commit!(path, "2024-01-02T00:00:00Z", "a@example.org", %{"s" => "1\n"})
    GitRepository.git!(path, ~w(checkout --quiet main))
    main = GitRepository.commit!(path, "2024-01-03T00:00:00Z", "b@example.org", %{"m" => "1\n"})

    GitRepository.git!(path, ~w(merge --quiet --no-edit side), [
      {"GIT_AUTHOR_NAME", "A"},
      {"GIT_AUTHOR_EMAIL", "a@example.org"},
      {"GIT_COMMITTER_NAME", "C"},
      {"GIT_COMMITTER_EMAIL", "c@example.org"},
      {"GIT_COMMITTER_DATE", "2024-01-04T00:00:00Z"}
    ])

    changes = Enum.to_list(Changes.stream!(path))

    assert Map.new(changes, &{&1.hash, {&1.parents, &1.files}}) == %{
             root => {[], []},
             side => {[root], [{"s", 1, 0}]},
             main => {[root], [{"m", 1, 0}]},
             GitRepository.git!(path, ~w(rev-parse HEAD)) => {[main, side], []}
           }

    assert for(change <- changes, do: {change.hash, change.time}) ==
             for(commit <- History.stream!(path), do: {commit.hash, commit.time})
  end

  test "a log that comes in many pieces is the same" do
    path = GitRepository.create!([{"2024-01-01T00:00:00Z", "root"}])
    name = &"a/rather/long/path/to/fill/what/one/message/of/git/holds/#{&1}"
    many = Map.new(1..3000, &{name.(&1), "#{&1}\n"})
    GitRepository.commit!(path, "2024-01-02T00:00:00Z", "a@example.org", many)
    GitRepository.commit!(path, "2024-01-03T00:00:00Z", "a@example.org", %{name.(1) => "x\n"})
    assert [%{files: []}, %{files: files}, %{files: [last]}] = Enum.to_list(Changes.stream!(path))
    assert Enum.sort(files) == Enum.sort(for {path, _} <- many, do: {path, 1, 0})
    assert last == {name.(1), 1, 1}
  end
end
