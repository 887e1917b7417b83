defmodule EchoData.Demo.Changes do
  @moduledoc """
  What the commits of a git repository since 2024 changed, and what they came from.
  """

  alias EchoData.Demo.Git

  @typedoc "A file with the lines that were added and removed; of a binary file none are."
  @type file :: {path :: binary, added :: non_neg_integer, removed :: non_neg_integer}

  @typedoc "The changes of a merge are those of the commits that it merges: it has no files."
  @type change :: %{
          hash: binary,
          time: integer,
          email: binary,
          parents: [binary],
          files: [file]
        }

  # The files of a commit follow its fields, each with a zero byte at its end, the first behind a newline.
  @arguments ["--numstat", "--no-renames", "--format=%H%x00%ct%x00%ae%x00%P"]

  @doc """
  The changes of the commits that `EchoData.Demo.History.stream!/1` tells of, in the same order.

  Raises `EchoData.Demo.Failed` as `EchoData.Demo.Git.log!/3` does.
  """
  @spec stream!(Path.t()) :: Enumerable.t()
  def stream!(path), do: Git.log!(path, @arguments, &changes(&1, &2, []))

  defp changes([hash, time, email, parents | [_ | _] = rest] = fields, done, changes) do
    case files(rest, []) do
      # More files may follow.
      {_files, [_begun]} when not done ->
        {Enum.reverse(changes), fields}

      {files, rest} ->
        change = %{
          hash: :binary.copy(hash),
          time: String.to_integer(time),
          email: :binary.copy(email),
          parents: parents |> :binary.copy() |> String.split(),
          files: files
        }

        changes(rest, done, [change | changes])
    end
  end

  defp changes(rest, _done, changes), do: {Enum.reverse(changes), rest}

  # A field with a tab is a file, one without is the hash of the next commit.
  defp files([field | [_ | _] = rest] = fields, files) do
    case field |> :binary.copy() |> String.trim_leading("\n") |> String.split("\t", parts: 3) do
      [added, removed, path] -> files(rest, [{path, lines(added), lines(removed)} | files])
      [_hash] -> {Enum.reverse(files), fields}
    end
  end

  defp files(rest, files), do: {Enum.reverse(files), rest}

  defp lines("-"), do: 0
  defp lines(number), do: String.to_integer(number)
end
