defmodule EchoData.Demo.History do
  @moduledoc """
  The commits of a git repository since 2024, as git tells them: one process of `git log`, read while it
  writes, so that the length of the history does not matter.

  Needs git 2.37 or later.
  """

  alias EchoData.Demo.Failed

  @typedoc "`:time` is when it was committed, in seconds since 1970; texts are whatever bytes git keeps."
  @type commit :: %{
          hash: binary,
          time: integer,
          author: binary,
          email: binary,
          subject: binary
        }

  # Every field ends with a zero byte, which none of them can contain.
  @format "--format=%H%x00%ct%x00%an%x00%ae%x00%s"
  @since "--since-as-filter=2024-01-01T00:00:00Z"

  # The repository is the one that was asked for, also when git itself called us.
  @unset ~w(GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE)

  @doc """
  The commits that can be reached from `HEAD`, committed in 2024 or later, parents before their children.

  Raises `EchoData.Demo.Failed` when `path` is not in a git repository, or in one without a commit; the
  stream does when git fails.
  """
  @spec stream!(Path.t()) :: Enumerable.t()
  def stream!(path) do
    path = Path.expand(path)
    check!(path)
    Stream.resource(fn -> {open(path), path, ""} end, &next/1, &close/1)
  end

  defp check!(path) do
    File.dir?(path) || fail("#{path} is not a folder")

    case git(path, ~w(rev-parse --git-dir)) do
      {_git_dir, 0} -> :ok
      {text, _status} -> fail(why_not(path, text))
    end

    case git(path, ~w(rev-parse --quiet --verify HEAD)) do
      {_hash, 0} -> :ok
      {_text, _status} -> fail("#{path} is a git repository without a commit")
    end
  end

  defp why_not(path, text) do
    if text =~ "not a git repository",
      do: "#{path} is not in a git repository",
      else: "git cannot read #{path}: #{text |> String.split("\n") |> hd()}"
  end

  defp git(path, arguments) do
    System.cmd(executable(), ["-C", path | arguments],
      env: [{"LC_ALL", "C"} | Enum.map(@unset, &{&1, nil})],
      stderr_to_stdout: true
    )
  end

  defp open(path) do
    log = ["-C", path, "log", "-z", "--reverse", "--no-show-signature", "--no-color"]

    Port.open({:spawn_executable, executable()}, [
      :binary,
      :exit_status,
      args: log ++ ["--encoding=UTF-8", @since, @format, "HEAD", "--"],
      env: Enum.map(@unset, &{to_charlist(&1), false})
    ])
  end

  defp next({port, path, rest}) do
    receive do
      {^port, {:data, data}} ->
        {commits, rest} = (rest <> data) |> :binary.split(<<0>>, [:global]) |> commits([])
        {commits, {port, path, rest}}

      {^port, {:exit_status, 0}} ->
        {:halt, {port, path, rest}}

      {^port, {:exit_status, status}} ->
        fail("git log failed in #{path} (exit status #{status})")
    end
  end

  # What follows a whole commit is at least the text after its last zero byte, be it empty.
  defp commits([hash, time, author, email, subject | [_ | _] = rest], commits) do
    commit = %{
      hash: copy(hash),
      time: String.to_integer(time),
      author: copy(author),
      email: copy(email),
      subject: copy(subject)
    }

    commits(rest, [commit | commits])
  end

  defp commits(rest, commits), do: {Enum.reverse(commits), Enum.join(rest, <<0>>)}

  # A part of a binary keeps the whole of it in memory.
  defp copy(text), do: :binary.copy(text)

  # Git may end, and its port with it, at any moment before this one.
  defp close({port, _path, _rest}) do
    Port.close(port)
  rescue
    ArgumentError -> true
  end

  defp executable, do: System.find_executable("git") || fail("git was not found: install it")

  defp fail(sentence), do: raise(Failed, sentence)
end
