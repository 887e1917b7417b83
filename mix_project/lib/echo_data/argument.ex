defmodule EchoData.Argument do
  @moduledoc false

  @doc "Raises `ArgumentError` that names the argument, what it must be and what it was."
  @spec refuse!(String.t(), String.t(), term) :: no_return
  def refuse!(name, wanted, got) do
    raise ArgumentError, "#{name} must be #{wanted}, got: #{inspect(got)}"
  end
end
