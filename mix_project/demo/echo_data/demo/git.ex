defmodule EchoData.Demo.Git do
  @moduledoc """
  What `git log` says of a repository since 2024, read while it writes, so that the length of the history does
  not matter.

  Needs git 2.37 or later.
  """

  alias EchoData.Demo.Failed

  @typedoc """
  Takes what is complete from the fields that were read, and leaves the rest. The last field is at least the
  text after the last zero byte, be it empty; when there is nothing more to come, that is said.
  """
  @type take :: (fields :: [binary], done :: boolean -> {[term], [binary]})

  @since "--since-as-filter=2024-01-01T00:00:00Z"

  # The repository is the one that was asked for, also when git itself called us.
  @unset ~w(GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE)

  @doc """
  What `take` makes of the log of the commits that can be reached from `HEAD`, committed in 2024 or later,
  parents before their children. Fields end with a zero byte; `arguments` say which there are.

  Raises `EchoData.Demo.Failed` when `path` is not in a git repository, or in one without a commit; the
  stream does when git fails.
  """
  @spec log!(Path.t(), [String.t()], take) :: Enumerable.t()
  def log!(path, arguments, take) do
    path = Path.expand(path)
    check!(path)
    start = fn -> {open(path, arguments), path, ""} end
    Stream.resource(start, &next(&1, take), &close/1)
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

  defp open(path, arguments) do
    log = ["-C", path, "log", "-z", "--reverse", "--no-show-signature", "--no-color"]

    Port.open({:spawn_executable, executable()}, [
      :binary,
      :exit_status,
      args: log ++ ["--encoding=UTF-8", @since] ++ arguments ++ ["HEAD", "--"],
      env: Enum.map(@unset, &{to_charlist(&1), false})
    ])
  end

  defp next({_port, _path, :done} = state, _take), do: {:halt, state}

  defp next({port, path, rest}, take) do
    receive do
      {^port, {:data, data}} ->
        {taken, rest} = (rest <> data) |> fields() |> take.(false)
        {taken, {port, path, Enum.join(rest, <<0>>)}}

      {^port, {:exit_status, 0}} ->
        {taken, _nothing} = rest |> fields() |> take.(true)
        {taken, {port, path, :done}}

      {^port, {:exit_status, status}} ->
        fail("git log failed in #{path} (exit status #{status})")
    end
  end

  defp fields(text), do: :binary.split(text, <<0>>, [:global])

  # Git may end, and its port with it, at any moment before this one.
  defp close({port, _path, _rest}) do
    Port.close(port)
  rescue
    ArgumentError -> true
  end

  defp executable, do: System.find_executable("git") || fail("git was not found: install it")

  @spec fail(String.t()) :: no_return
  defp fail(sentence), do: raise(Failed, sentence)
end
