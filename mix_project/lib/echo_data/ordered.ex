defmodule EchoData.Ordered do
  @moduledoc false
  # What property stores and timelines have in common: checked arguments, and work that takes more than one
  # native call. A store is whatever the native functions take; `:closed` is for the caller to interpret.

  import EchoData.Argument, only: [boolean!: 2, count!: 1, options!: 2, refuse!: 3]

  alias EchoData.{Enumeration, Native, Steps}

  @type order :: :asc | :desc
  @type cursor :: EchoData.BrandedId.t() | nil
  @type refused :: {:error, :namespace | :invalid} | :closed
  @type refused_at :: {:error, {:namespace | :invalid, non_neg_integer}} | :closed

  @doc "The cursor and the `:values` option of a page; raises for any other option."
  @spec page_options!(keyword, atom, boolean) :: {cursor, boolean}
  def page_options!([], _cursor, values), do: {nil, values}

  def page_options!(options, cursor, values) do
    options = options!(options, [{cursor, nil}, values: values])
    {options[cursor], boolean!("values", options[:values])}
  end

  @doc "The `:values` option; raises for any other option."
  @spec values!(keyword, boolean) :: boolean
  def values!([], values), do: values

  def values!(options, values),
    do: boolean!("values", options!(options, values: values)[:values])

  @doc "Up to `n` rows of a page that begins beyond a cursor."
  @spec page(term, order, cursor, term, boolean) :: {:ok, list} | refused
  def page(store, order, cursor, n, values),
    do: store |> Native.ordered_page(order, cursor, count!(n), values) |> listed()

  @doc "The rows from `low` on and below `high`."
  @spec window(term, term, term, boolean) :: {:ok, list} | refused
  def window(store, low, high, values),
    do: store |> Native.ordered_window(low, high, values) |> listed()

  @doc "Up to `n` rows from an instant on, in milliseconds since 1970, oldest first."
  @spec since(term, integer, term) :: {:ok, list} | :closed
  def since(store, unix_ms, n), do: store |> Native.ordered_since(unix_ms, count!(n)) |> listed()

  @doc "The rows at positions that are counted from the oldest."
  @spec slice(term, non_neg_integer, non_neg_integer) :: {:ok, list} | refused
  def slice(store, first, count),
    do: store |> Native.ordered_slice(first, count, true) |> listed()

  @doc "The rows of the ids that are there, all of one moment."
  @spec get_many(term, [term]) :: {:ok, [{term, term}]} | refused_at
  def get_many(store, ids) when is_list(ids),
    do: store |> Native.ordered_get_many(ids) |> Steps.finish(&Native.ordered_get_more/1)

  def get_many(_store, ids), do: refuse!("ids", "a list", ids)

  @doc "Puts all rows, or none."
  @spec put_many(term, [term]) :: :ok | refused_at | Native.rejected()
  def put_many(store, rows) when is_list(rows),
    do:
      store
      |> Native.ordered_put_many(rows)
      |> Steps.publish(&Native.ordered_put_more(store, &1), &Native.ordered_put_staged(store, &1))

  def put_many(_store, rows), do: refuse!("rows", "a list of {id, value}", rows)

  @doc "Reduces over all rows of one moment: see `EchoData.Enumeration.reduce/4`."
  @spec reduce(reference, Enumerable.acc(), Enumerable.reducer()) :: Enumerable.result()
  def reduce(store, acc, fun) do
    doors = {&Native.ordered_hold/1, &slice/3, &Native.ordered_close/1}
    Enumeration.reduce(store, doors, acc, fun)
  end

  defp listed(answer), do: Steps.finish(answer, &Native.ordered_more/1)
end
