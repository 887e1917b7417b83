defmodule EchoData.Argument do
  @moduledoc false
  # Arguments as every store checks them.

  alias EchoData.BrandedId

  @doc "Raises `ArgumentError` that names the argument, what it must be and what it was."
  @spec refuse!(String.t(), String.t(), term) :: no_return
  def refuse!(name, wanted, got) do
    raise ArgumentError, "#{name} must be #{wanted}, got: #{inspect(got)}"
  end

  @doc "Raises unless `n` is a positive integer."
  @spec count!(term) :: pos_integer
  def count!(n), do: positive!("n", n)

  @doc "Raises unless the argument is a positive integer."
  @spec positive!(String.t(), term) :: pos_integer
  def positive!(_name, number) when is_integer(number) and number > 0, do: number
  def positive!(name, other), do: refuse!(name, "a positive integer", other)

  @doc "Raises unless the argument is a non-negative integer."
  @spec natural!(String.t(), term) :: non_neg_integer
  def natural!(_name, number) when is_integer(number) and number >= 0, do: number
  def natural!(name, other), do: refuse!(name, "a non-negative integer", other)

  @doc "Raises unless the limit is a positive integer or `:all`."
  @spec limit!(term) :: pos_integer | :all
  def limit!(limit) when limit == :all or (is_integer(limit) and limit > 0), do: limit
  def limit!(limit), do: refuse!("limit", "a positive integer or :all", limit)

  @doc "Raises unless the argument is `true` or `false`."
  @spec boolean!(String.t(), term) :: boolean
  def boolean!(_name, boolean) when is_boolean(boolean), do: boolean
  def boolean!(name, other), do: refuse!(name, "a boolean", other)

  @doc "Raises unless the argument is a namespace."
  @spec namespace!(String.t(), term) :: BrandedId.namespace()
  def namespace!(name, namespace) do
    case BrandedId.encode(namespace, 0) do
      {:ok, _id} -> namespace
      :error -> refuse!(name, "three letters A to Z", namespace)
    end
  end

  @doc "The options as `Keyword.validate!/2` answers them; raises for what is no keyword list, too."
  @spec options!(term, [atom | {atom, term}]) :: keyword
  def options!(options, allowed) do
    if Keyword.keyword?(options),
      do: Keyword.validate!(options, allowed),
      else: refuse!("options", "a keyword list", options)
  end

  @doc "The `:access` option of a handle; raises for any other option."
  @spec access!(keyword) :: :public | :protected | :private
  def access!(options) do
    access = options |> options!(access: :public) |> Keyword.fetch!(:access)

    if access in [:public, :protected, :private],
      do: access,
      else: refuse!("access", ":public, :protected or :private", access)
  end
end
