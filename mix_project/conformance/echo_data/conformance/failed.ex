defmodule EchoData.Conformance.Failed do
  @moduledoc """
  Why a check cannot be made, in one sentence for whoever asked for it.
  """

  defexception [:message]
end
