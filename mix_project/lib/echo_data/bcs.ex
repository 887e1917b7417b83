defmodule EchoData.Bcs do
  @moduledoc """
  The gate in front of every store: an id is let in as a snowflake when it belongs to the store's
  namespace, and refused before anything is touched when it does not.
  """

  alias EchoData.Bcs.NamespaceError
  alias EchoData.{BrandedId, Native, Snowflake}

  @doc """
  The snowflake of an id of a namespace.

    * `{:ok, snowflake}`
    * `{:error, :namespace}` - an id of another kind
    * `{:error, :invalid}` - any term that is not an id

  O(1), one native call. Raises `ArgumentError` when `namespace` is not three letters A to Z.

      iex> EchoData.Bcs.gate("ORD0NgWEfAEJfs", "ORD")
      {:ok, 320636799581945856}
      iex> EchoData.Bcs.gate("USR0NgWEfAEJfs", "ORD")
      {:error, :namespace}
      iex> EchoData.Bcs.gate("320636799581945856", "ORD")
      {:error, :invalid}
  """
  @spec gate(term, BrandedId.namespace()) ::
          {:ok, Snowflake.t()} | {:error, :namespace | :invalid}
  def gate(id, namespace), do: Native.bcs_gate(id, namespace)

  @doc """
  The snowflake of an id of a namespace.

  Raises `EchoData.Bcs.NamespaceError` for an id of another kind, and `ArgumentError` for a term that is not
  an id or a namespace that is none.

      iex> EchoData.Bcs.gate!("ORD0NgWEfAEJfs", "ORD")
      320636799581945856
      iex> EchoData.Bcs.gate!("USR0NgWEfAEJfs", "ORD")
      ** (EchoData.Bcs.NamespaceError) expected namespace ORD, got USR
  """
  @spec gate!(term, BrandedId.namespace()) :: Snowflake.t()
  def gate!(id, namespace) do
    case gate(id, namespace) do
      {:ok, snowflake} ->
        snowflake

      {:error, :namespace} ->
        raise NamespaceError, expected: namespace, got: BrandedId.namespace(id)

      {:error, :invalid} ->
        raise ArgumentError, "invalid branded id"
    end
  end
end
