defmodule EchoData.Appearance do
  @moduledoc false
  # How handles and snapshots look: `#EchoData.Timeline<ORD, 3 rows, 512 bytes>`.

  @typedoc "What was stated when the store was made; `:closed` of one on another node."
  @type rule :: String.t() | 0..40 | {String.t(), list, boolean} | {term, String.t(), String.t()}

  @type size :: non_neg_integer | %{rows: non_neg_integer, bytes: non_neg_integer}

  @spec of(module, rule | :closed, size | :closed, unit :: String.t()) :: String.t()
  def of(module, :closed, _size, _unit), do: "##{inspect(module)}<closed>"

  def of(module, rule, size, unit),
    do: "##{inspect(module)}<#{rule(rule)}, #{size(size, unit)}>"

  defp rule(bits) when is_integer(bits), do: "#{bits} bits"
  defp rule({namespace, fields, _unique}) when is_list(fields), do: namespace
  defp rule({_relation, subject_ns, object_ns}), do: "#{subject_ns} -> #{object_ns}"
  defp rule(namespace), do: namespace

  defp size(:closed, _unit), do: "closed"
  defp size(%{rows: rows, bytes: bytes}, unit), do: "#{rows} #{unit}, #{bytes} bytes"
  defp size(rows, unit), do: "#{rows} #{unit}"
end
