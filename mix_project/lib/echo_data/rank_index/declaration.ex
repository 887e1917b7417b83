defmodule EchoData.RankIndex.Declaration do
  @moduledoc false
  # Indexes as they are declared, checked before a store knows of them.

  import EchoData.Argument, only: [boolean!: 2, refuse!: 3]

  alias EchoData.Native

  @kinds [:integer, :float]
  @orders [:asc, :desc]

  # What keys are told apart by natively.
  @integers -0x8000_0000_0000_0000..0x7FFF_FFFF_FFFF_FFFF

  @doc "The indexes of a store; raises unless they are a keyword list of different names."
  @spec all!(term) :: [Native.index()]
  def all!(indexes) do
    unless Keyword.keyword?(indexes), do: refuse!("indexes", "a keyword list", indexes)
    names = Keyword.keys(indexes)

    if Enum.uniq(names) != names, do: refuse!("indexes", "of different names", names)
    for {name, options} <- indexes, do: one!(name, options)
  end

  @doc "An index; raises unless it can be."
  @spec one!(term, term) :: Native.index()
  def one!(name, options) when is_atom(name) and not is_nil(name) do
    unless Keyword.keyword?(options),
      do: refuse!("the declaration of #{inspect(name)}", "a keyword list", options)

    defaults = [:score, group: [], kind: :integer, order: :asc, unique: false]
    options = Keyword.validate!(options, defaults)
    score = paths!("score", options[:score])
    fields = fields!(length(score), options[:kind], options[:order])
    unique = boolean!("unique", options[:unique])
    {name, paths!("group", options[:group]), score, fields, unique}
  end

  def one!(name, _options), do: refuse!("the name of an index", "an atom", name)

  defp paths!(name, fields) do
    listed = List.wrap(fields)
    paths = if List.improper?(listed), do: [:error], else: Enum.map(listed, &path/1)
    if :error in paths, do: refuse!(name, "a list of keys, or of lists of keys", fields)
    paths
  end

  defp path([_key | _keys] = path) do
    keys? = not List.improper?(path) and Enum.all?(path, &key?/1)
    if keys?, do: path, else: :error
  end

  defp path(key), do: if(key?(key), do: [key], else: :error)

  defp key?(key), do: is_atom(key) or is_binary(key) or (is_integer(key) and key in @integers)

  defp fields!(1, kind, order) when kind in @kinds and order in @orders, do: [{kind, order}]

  defp fields!(2, {first, second}, {one, other})
       when first in @kinds and second in @kinds and one in @orders and other in @orders,
       do: [{first, one}, {second, other}]

  defp fields!(2, kind, order) when kind in @kinds, do: fields!(2, {kind, kind}, order)
  defp fields!(2, kind, order) when order in @orders, do: fields!(2, kind, {order, order})

  defp fields!(count, _kind, _order) when count not in [1, 2],
    do: raise(ArgumentError, "score must have one field or two")

  defp fields!(count, kind, order) do
    if each?(kind, count, @kinds),
      do: refuse!("order", wanted(count, ":asc or :desc"), order),
      else: refuse!("kind", wanted(count, ":integer or :float"), kind)
  end

  defp each?({first, second}, 2, known), do: first in known and second in known
  defp each?(stated, _count, known), do: stated in known

  defp wanted(1, what), do: what
  defp wanted(2, what), do: "#{what}, or a pair of such"
end
