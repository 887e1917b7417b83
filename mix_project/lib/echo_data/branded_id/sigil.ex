defmodule EchoData.BrandedId.Sigil do
  @moduledoc """
  `~b"USR0KHTOWnGLuC"`: an id that is checked when the code is compiled.

      iex> import EchoData.BrandedId.Sigil
      iex> ~b"USR0KHTOWnGLuC"
      "USR0KHTOWnGLuC"

  The sigil is the binary itself, so it can stand in patterns and module attributes.
  """

  @doc """
  The id, as a literal. Raises `ArgumentError` at compile time for text that is no id, for interpolation and
  for modifiers.
  """
  defmacro sigil_b({:<<>>, _meta, [id]}, []) when is_binary(id) do
    case EchoData.BrandedId.Pure.parse(id) do
      {:ok, _namespace, _snowflake} -> id
      :error -> raise ArgumentError, "invalid branded id: #{inspect(id)}"
    end
  end

  defmacro sigil_b(_text, _modifiers) do
    raise ArgumentError, "~b takes a literal id, without interpolation and modifiers"
  end
end
