defmodule EchoData.BrandedId.SelfCheck do
  @moduledoc false

  alias EchoData.BrandedId.Pure
  alias EchoData.{BrandedId, Native, NativeLibrary}

  @ids [
    {"USR0KHTOWnGLuC", "USR", 274_557_032_793_636_864},
    {"ORD0NgWEfAEJfs", "ORD", 320_636_799_581_945_856},
    {"USR0NgWEfAEJfs", "USR", 320_636_799_581_945_856},
    {"USR00000000000", "USR", 0},
    {"ZZZAzL8n0Y58m7", "ZZZ", 0x7FFF_FFFF_FFFF_FFFF}
  ]

  @refused [
    "USRzzzzzzzzzzz",
    "USRAzL8n0Y58m8",
    "usr0KHTOWnGLuC",
    "USR0KHTOWnGLu",
    "USR0KHTOWnGLu-"
  ]

  @hashes [{274_557_032_793_636_864, 234_878_118}]

  @spec run!() :: {:ok, :native}
  def run! do
    load!()

    for {id, namespace, snowflake} <- @ids do
      agree!(:encode, [namespace, snowflake], {:ok, id})
      agree!(:parse, [id], {:ok, namespace, snowflake})
    end

    for id <- @refused, do: agree!(:parse, [id], :error)
    for {number, hash} <- @hashes, do: agree!(:hash32, [number], hash)
    {:ok, :native}
  end

  defp load! do
    case Code.ensure_loaded(Native) do
      {:module, Native} ->
        :ok

      {:error, reason} ->
        raise "the native library #{NativeLibrary.load_path()}.so cannot be loaded: #{reason}"
    end
  end

  defp agree!(function, arguments, expected) do
    native = apply(BrandedId, function, arguments)
    pure = apply(Pure, function, arguments)

    if native != expected or pure != expected do
      raise "self-check of #{function} with #{inspect(arguments)}: expected #{inspect(expected)}, " <>
              "native #{inspect(native)}, Elixir #{inspect(pure)}"
    end
  end
end
