defmodule EchoData.Demo.History do
  @moduledoc """
  The commits of a git repository since 2024, as git tells them.
  """

  alias EchoData.Demo.Git

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

  @doc """
  The commits that can be reached from `HEAD`, committed in 2024 or later, parents before their children.

  Raises `EchoData.Demo.Failed` as `EchoData.Demo.Git.log!/3` does.
  """
  @spec stream!(Path.t()) :: Enumerable.t()
  def stream!(path), do: Git.log!(path, [@format], fn fields, _done -> commits(fields, []) end)

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

  defp commits(rest, commits), do: {Enum.reverse(commits), rest}

  # A part of a binary keeps the whole of it in memory.
  defp copy(text), do: :binary.copy(text)
end
