defmodule EchoData.Demo.Failed do
  @moduledoc """
  Why the demo cannot go on, in one sentence for its user.
  """

  defexception [:message]
end
