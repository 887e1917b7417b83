defmodule EchoData.Differential do
  @moduledoc """
  A store beside its twin: whatever is asked of both, they answer alike.
  """

  import ExUnit.Assertions

  alias EchoData.Bcs.NamespaceError

  @typedoc "A function of both modules, and its arguments behind the store."
  @type operation :: {atom, [term]}

  @doc "Asserts that a store and its twin, each behind its module, answer an operation alike, or both refuse it."
  @spec assert_same([{module, store :: term}, ...], operation) :: true
  def assert_same([{module, store}, {twin, other}], {function, arguments}) do
    ours = answer(module, function, store, arguments)
    theirs = answer(twin, function, other, arguments)

    assert ours === theirs,
           "#{function} #{inspect(arguments)}: #{inspect(ours)}, not #{inspect(theirs)}"
  end

  # A store that is answered is not the same of both.
  defp answer(module, function, store, arguments) do
    case apply(module, function, [store | arguments]) do
      ^store -> :store
      {count, ^store} -> {count, :store}
      answer -> answer
    end
  rescue
    _error in [ArgumentError, NamespaceError] -> :refused
  end
end
