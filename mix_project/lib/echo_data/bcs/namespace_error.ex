defmodule EchoData.Bcs.NamespaceError do
  @moduledoc """
  An id of one kind where another was expected: `:expected` and `:got` are the two namespaces.
  """

  @type t :: %__MODULE__{
          expected: EchoData.BrandedId.namespace(),
          got: EchoData.BrandedId.namespace()
        }

  defexception [:expected, :got]

  @impl true
  def message(%__MODULE__{expected: expected, got: got}),
    do: "expected namespace #{expected}, got #{got}"
end
