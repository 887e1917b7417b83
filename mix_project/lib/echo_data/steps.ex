defmodule EchoData.Steps do
  @moduledoc false
  # Work that takes more than one native call, so that neighbours have their turn in between.

  @doc "Goes on with `more` until there is an answer."
  @spec finish(answer | {:more, term}, (term -> answer | {:more, term})) :: answer
        when answer: term
  def finish({:more, continuation}, more), do: continuation |> more.() |> finish(more)
  def finish(answer, _more), do: answer

  @doc "Goes on with `more` until a batch is staged, and publishes it with `publish`."
  @spec publish(answer | {:more | :staged, term}, (term -> term), (term -> answer)) :: answer
        when answer: term
  def publish(answer, more, publish) do
    case finish(answer, more) do
      {:staged, batch} -> publish.(batch)
      answer -> answer
    end
  end
end
