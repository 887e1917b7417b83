defmodule EchoData.Native do
  @moduledoc false
  # The native functions, and nothing else: a module that is reloaded orphans every handle, so this one
  # should have no other reason to change. Arguments are checked by the callers.

  # The modules are compiled before the library: load it at the first call, not at compilation.
  @compile {:autoload, false}
  @on_load :load

  @type snowflake :: 0..0x7FFF_FFFF_FFFF_FFFF
  @type node_id :: 0..1023

  def load, do: :erlang.load_nif(EchoData.NativeLibrary.load_path(), 0)

  @spec base62_encode(snowflake) :: <<_::88>>
  def base62_encode(_number), do: not_loaded()

  @spec base62_decode(term) :: {:ok, snowflake} | :error
  def base62_decode(_text), do: not_loaded()

  @spec snowflake_start(node_id) :: :ok
  def snowflake_start(_node_id), do: not_loaded()

  @spec snowflake_node() :: node_id | nil
  def snowflake_node, do: not_loaded()

  @spec snowflake_next() :: snowflake
  def snowflake_next, do: not_loaded()

  @spec snowflake_next_as(node_id) :: snowflake
  def snowflake_next_as(_node_id), do: not_loaded()

  @spec snowflake_mint(node_id) :: snowflake
  def snowflake_mint(_node_id), do: not_loaded()

  @spec snowflake_next_branded(term) :: <<_::112>>
  def snowflake_next_branded(_namespace), do: not_loaded()

  @spec branded_id_encode(term, term) :: {:ok, <<_::112>>} | :error
  def branded_id_encode(_namespace, _snowflake), do: not_loaded()

  @spec branded_id_parse(term) :: {:ok, <<_::24>>, snowflake} | :error
  def branded_id_parse(_id), do: not_loaded()

  @spec branded_id_parse_hash(term) :: {:ok, <<_::24>>, snowflake, 0..0xFFFF_FFFF} | :error
  def branded_id_parse_hash(_id), do: not_loaded()

  @spec branded_id_decode(term) :: {:ok, snowflake} | :error
  def branded_id_decode(_id), do: not_loaded()

  @spec branded_id_hash32(0..0xFFFF_FFFF_FFFF_FFFF) :: 0..0xFFFF_FFFF
  def branded_id_hash32(_number), do: not_loaded()

  @spec bcs_gate(term, term) :: {:ok, snowflake} | {:error, :namespace | :invalid}
  def bcs_gate(_id, _namespace), do: not_loaded()

  defp not_loaded, do: :erlang.nif_error(:nif_not_loaded)
end
