defmodule EchoData.Enumeration do
  @moduledoc false
  # Enumeration of a store of any kind, through the doors of that kind.

  # Rows that are read at a time.
  @chunk 256

  @typedoc """
  How to hold the current moment of a store, which answers `:held` for a moment; how to read rows at
  positions counted from the oldest; how to give a moment up.
  """
  @type doors ::
          {(reference -> reference | :held | :closed),
           (reference, non_neg_integer, pos_integer -> {:ok, list} | term), (reference -> term)}

  @doc """
  Reduces over all rows of one moment, oldest first, as `Enumerable.reduce/3` does. The moment is that of
  the store, if it is one, or else the current one.
  """
  @spec reduce(reference, doors, Enumerable.acc(), Enumerable.reducer()) :: Enumerable.result()
  def reduce(store, {hold, slice, close}, acc, fun) do
    case hold.(store) do
      :closed -> closed!()
      :held -> walk([], 0, &slice.(store, &1, @chunk), acc, fun)
      moment -> [] |> walk(0, &slice.(moment, &1, @chunk), acc, fun) |> release(moment, close)
    end
  end

  @doc "Whether a value is what was found under its key, as `Enumerable.member?/2` answers it."
  @spec member?({:ok, term} | {:error, term} | :closed, term) :: {:ok, boolean}
  def member?(:closed, _value), do: closed!()
  def member?(found, value), do: {:ok, found === {:ok, value}}

  @doc """
  That something else than a row is in no store, as `Enumerable.member?/2` answers it. It takes what the store
  answered to `Enumerable.count/1`, so that one which is closed raises whatever it is asked for.
  """
  @spec no_member({:ok, non_neg_integer}) :: {:ok, false}
  def no_member({:ok, _count}), do: {:ok, false}

  @doc """
  Every `step`-th of `length` rows from a position on, as `Enumerable.slice/1` wants them. `read` answers the
  rows at positions, from a first one on.
  """
  @spec slice(
          (non_neg_integer, pos_integer -> {:ok, list} | :closed),
          non_neg_integer,
          pos_integer,
          pos_integer
        ) :: list
  def slice(read, first, length, step) do
    case read.(first, (length - 1) * step + 1) do
      {:ok, rows} -> Enum.take_every(rows, step)
      :closed -> closed!()
    end
  end

  defp release({:suspended, acc, continue}, moment, close),
    do: {:suspended, acc, &(&1 |> continue.() |> release(moment, close))}

  defp release(result, moment, close) do
    close.(moment)
    result
  end

  defp walk(_rows, _position, _read, {:halt, acc}, _fun), do: {:halted, acc}

  defp walk(rows, position, read, {:suspend, acc}, fun),
    do: {:suspended, acc, &walk(rows, position, read, &1, fun)}

  defp walk([row | rows], position, read, {:cont, acc}, fun),
    do: walk(rows, position, read, fun.(row, acc), fun)

  defp walk([], position, read, {:cont, acc}, fun) do
    case read.(position) do
      {:ok, []} -> {:done, acc}
      {:ok, rows} -> walk(rows, position + @chunk, read, {:cont, acc}, fun)
      :closed -> closed!()
    end
  end

  @spec closed!() :: no_return
  defp closed!, do: raise(ArgumentError, "the store is closed")
end
