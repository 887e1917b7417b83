defmodule EchoData.Looks do
  @moduledoc """
  Looks at what others change meanwhile.
  """

  @doc """
  Looks at least so many times and until the looks have differed, else nothing was tried; ExUnit ends a test
  that never gets there.
  """
  @spec until_different((() -> term), pos_integer) :: :ok
  def until_different(look, times), do: go_on(look, times - 1, look.(), false)

  defp go_on(_look, times, _first, true) when times <= 0, do: :ok

  defp go_on(look, times, first, different),
    do: go_on(look, times - 1, first, different or look.() != first)
end
