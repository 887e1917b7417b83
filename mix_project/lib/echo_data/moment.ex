defmodule EchoData.Moment do
  @moduledoc false
  # What all snapshots are: a reference to a moment of a store, which can be given up. A module that uses this
  # names the native function that does so.

  defmacro __using__(close: close) do
    quote do
      @enforce_keys [:ref]
      defstruct [:ref]

      @typedoc "A snapshot. Its fields are private."
      @type t :: %__MODULE__{ref: reference}

      @doc """
      Gives the moment up at once: memory that only this snapshot needs is freed. O(1); the second time, too.
      """
      @spec release(t) :: :ok
      def release(%__MODULE__{ref: ref}) do
        EchoData.Native.unquote(close)(ref)
        :ok
      end
    end
  end
end
