defmodule EchoData.NativeLibrary do
  @moduledoc false

  @doc "The ready library that `ECHO_DATA_NIF_PATH` names, or `nil`."
  @spec override() :: Path.t() | nil
  def override do
    case System.get_env("ECHO_DATA_NIF_PATH", "") do
      "" -> nil
      path -> Path.expand(path)
    end
  end

  @doc "The library to load, as `:erlang.load_nif/2` wants it: without `.so`."
  @spec load_path() :: charlist()
  def load_path do
    path = override() || Application.app_dir(:echo_data, "priv/native/echo_data_nif.so")
    path |> String.trim_trailing(".so") |> String.to_charlist()
  end
end
