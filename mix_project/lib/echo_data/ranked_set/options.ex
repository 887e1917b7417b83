defmodule EchoData.RankedSet.Options do
  @moduledoc false
  # The options of a ranked set's functions. Those of questions are read without building a map of them: half
  # a microsecond is all that a question takes.

  import EchoData.Argument, only: [boolean!: 2, limit!: 1, refuse!: 3]

  @kinds [:integer, :float]
  @orders [:asc, :desc]
  @ties [:ordinal, :competition, :dense, :max]
  @conditions [:new, :exists, :greater, :less]

  # What the native side counts with.
  @smallest -0x8000_0000_0000_0000
  @largest 0x7FFF_FFFF_FFFF_FFFF

  @type fields :: [EchoData.Native.field()]

  @doc "What is asked, when ties stand as `ties` unless it is said. `known` tells which options there are."
  @spec query!(term, atom, String.t()) :: EchoData.Native.query()
  def query!(options, ties, known \\ "group, order and ties")

  def query!([], ties, _known), do: {nil, ties, :asc}

  def query!([{:group, group} | rest], ties, known),
    do: rest |> query!(ties, known) |> put_elem(0, group)

  def query!([{:ties, said} | rest], ties, known) when said in @ties,
    do: rest |> query!(ties, known) |> put_elem(1, said)

  def query!([{:order, order} | rest], ties, known) when order in @orders,
    do: rest |> query!(ties, known) |> put_elem(2, order)

  def query!([{:ties, other} | _rest], _ties, _known),
    do: refuse!("ties", ":ordinal, :competition, :dense or :max", other)

  def query!([{:order, other} | _rest], _ties, _known), do: refuse_order!(other)
  def query!(options, _ties, known), do: unknown!(options, known)

  @doc "As `query!/2`, and the most rows."
  @spec listing!(term, atom) :: {EchoData.Native.query(), pos_integer | :all}
  def listing!([], ties), do: {query!([], ties), :all}

  def listing!(options, ties) do
    unless Keyword.keyword?(options), do: refuse!("options", "a keyword list", options)
    {limits, rest} = Keyword.split(options, [:limit])
    query = query!(rest, ties, "group, order, ties and limit")
    {query, limit!(Keyword.get(limits, :limit, :all))}
  end

  @doc "The group of a change."
  @spec group!(term) :: term
  def group!([]), do: nil
  def group!([{:group, group}]), do: group

  def group!(options) do
    {group, []} = put!(options, "group")
    group
  end

  @doc "The group of a put, and its conditions."
  @spec put!(term) :: {term, [atom]}
  def put!(options), do: put!(options, "group and if")

  defp put!([], _known), do: {nil, []}
  defp put!([{:group, group} | rest], known), do: rest |> put!(known) |> put_elem(0, group)

  defp put!([{:if, conditions} | rest], "group and if" = known),
    do: rest |> put!(known) |> put_elem(1, conditions!(conditions))

  defp put!(options, known), do: unknown!(options, known)

  defp conditions!(condition) when condition in @conditions, do: [condition]

  defp conditions!(conditions) do
    if conditions?(conditions),
      do: conditions,
      else: refuse!("if", ":new, :exists, :greater or :less, or a list of such", conditions)
  end

  defp conditions?([condition | rest]) when condition in @conditions, do: conditions?(rest)
  defp conditions?(rest), do: rest == []

  @doc "The kinds and orders of the fields of a score."
  @spec fields!(term, term) :: fields
  def fields!({first, second}, {one, other}),
    do: [{kind!(first), order!(one)}, {kind!(second), order!(other)}]

  def fields!({_first, _second} = kinds, order), do: fields!(kinds, {order, order})
  def fields!(kind, order), do: [{kind!(kind), order!(order)}]

  @doc "The fields as they were stated."
  @spec stated(fields) :: {score :: term, order :: term}
  def stated([{kind, order}]), do: {kind, order}
  def stated([{first, one}, {second, other}]), do: {{first, second}, {one, other}}

  @doc "The `:unique` option."
  @spec unique!(term) :: boolean
  def unique!(unique), do: boolean!("unique", unique)

  @doc "The ends of a range of ranks; `nil` is open."
  @spec range!(term) :: {integer | nil, integer | nil}
  def range!(first..last//step) when step in [1, -1] do
    if first == last or (first < last and step == 1),
      do: {within(first), within(last)},
      else: {0, -1}
  end

  def range!({first, last})
      when (is_integer(first) or is_nil(first)) and (is_integer(last) or is_nil(last)),
      do: {within(first), within(last)}

  def range!(other),
    do: refuse!("range", "first..last, or {first, last} in which nil is open", other)

  defp within(nil), do: nil
  defp within(rank), do: rank |> max(@smallest) |> min(@largest)

  defp kind!(kind) when kind in @kinds, do: kind
  defp kind!(other), do: refuse!("score", ":integer, :float or a pair of them", other)

  defp order!(order) when order in @orders, do: order
  defp order!(other), do: refuse_order!(other)

  @spec refuse_order!(term) :: no_return
  defp refuse_order!(other), do: refuse!("order", ":asc or :desc", other)

  @spec unknown!(term, String.t()) :: no_return
  defp unknown!([{key, _value} | _rest], known) when is_atom(key),
    do: raise(ArgumentError, "the options are #{known}, got: #{inspect(key)}")

  defp unknown!(other, _known), do: refuse!("options", "a keyword list", other)
end
