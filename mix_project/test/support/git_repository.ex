defmodule EchoData.GitRepository do
  @moduledoc """
  Small git repositories, in a folder that ends with the test.
  """

  @environment [
    {"GIT_CONFIG_GLOBAL", "/dev/null"},
    {"GIT_CONFIG_SYSTEM", "/dev/null"},
    {"GIT_DIR", nil},
    {"GIT_WORK_TREE", nil},
    {"GIT_INDEX_FILE", nil}
  ]

  @doc "A folder of its own for the test that calls; not in a repository."
  @spec folder!() :: Path.t()
  def folder! do
    folder = Path.join(System.tmp_dir!(), "echo_data_git_#{System.unique_integer([:positive])}")
    folder = "#{folder}_#{System.pid()}"
    File.mkdir_p!(folder)
    ExUnit.Callbacks.on_exit(fn -> File.rm_rf!(folder) end)
    folder
  end

  @doc "A repository with a commit for each `{time, subject}`, in this order; times as ISO 8601."
  @spec create!([{String.t(), String.t()}]) :: Path.t()
  def create!(commits) do
    folder = folder!()
    git!(folder, ~w(init --quiet --initial-branch main))
    Enum.each(commits, &commit!(folder, &1, []))
    folder
  end

  @doc "One more commit, by an author, in which these files have these contents; its hash."
  @spec commit!(Path.t(), String.t(), String.t(), %{String.t() => binary}) :: String.t()
  def commit!(folder, time, email, files) do
    for {path, content} <- files do
      path = Path.join(folder, path)
      File.mkdir_p!(Path.dirname(path))
      File.write!(path, content)
    end

    git!(folder, ~w(add --all))
    commit!(folder, {time, "changed"}, [{"GIT_AUTHOR_EMAIL", email}])
    git!(folder, ~w(rev-parse HEAD))
  end

  @doc "Runs git there, and answers its output."
  @spec git!(Path.t(), [String.t()], [{String.t(), String.t()}]) :: String.t()
  def git!(folder, arguments, environment \\ []) do
    {output, 0} = System.cmd("git", arguments, cd: folder, env: @environment ++ environment)
    String.trim(output)
  end

  defp commit!(folder, {time, subject}, more) do
    environment = [
      {"GIT_AUTHOR_NAME", "Zoë Author"},
      {"GIT_AUTHOR_EMAIL", "zoe@example.org"},
      {"GIT_AUTHOR_DATE", "2001-02-03T04:05:06Z"},
      {"GIT_COMMITTER_NAME", "Committer"},
      {"GIT_COMMITTER_EMAIL", "committer@example.org"},
      {"GIT_COMMITTER_DATE", time}
    ]

    commit = ["commit", "--quiet", "--allow-empty", "--message", subject]
    git!(folder, commit, environment ++ more)
  end
end
