defmodule EchoData.Conformance.Transcript do
  @moduledoc """
  A transcript: checks under the labels by which the contract knows them.

  Each is made by the conformance command and by a test, so what it starts is started by whoever makes it.
  """

  alias EchoData.Conformance.Redis

  @typedoc "How a check starts a process, and where it finds a server."
  @type surroundings :: %{
          start: (Supervisor.child_spec() | {module, term} | module -> pid),
          server: (() -> Redis.address())
        }

  @typedoc """
  Label, title, and what makes the check: it answers its figures, and raises when the check fails.
  """
  @type check :: {String.t(), String.t(), (surroundings -> String.t())}

  @callback checks() :: [check]
end
