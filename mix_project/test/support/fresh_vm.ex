defmodule EchoData.FreshVM do
  @moduledoc """
  A VM of its own, for what happens once in the life of a VM: loading the library, starting the generator.

  It is linked to the caller, ends with it, logs nothing, and needs no network: it talks over its standard
  input and output.
  """

  @doc "Starts a VM with this VM's code path; `env` is added to its environment."
  @spec start!([{String.t(), String.t()}]) :: pid
  def start!(env \\ []) do
    {:ok, vm, _node} =
      :peer.start_link(%{
        connection: :standard_io,
        args: ~w(-kernel logger_level none)c ++ Enum.flat_map(:code.get_path(), &[~c"-pa", &1]),
        env: for({name, value} <- env, do: {to_charlist(name), to_charlist(value)})
      })

    vm
  end

  @doc "Calls a function there. An exception there is raised here."
  @spec call(pid, module, atom, [term]) :: term
  def call(vm, module, function, arguments),
    do: :peer.call(vm, module, function, arguments, 60_000)
end
