defmodule EchoData.Buckets.Expiry do
  @moduledoc false
  # How a bucket store expires by itself. The rows of a store end with its process, so nothing that is called
  # from here can end it: what a callback raises is logged.

  require Logger

  import EchoData.Argument, only: [positive!: 2, refuse!: 3]

  alias EchoData.{Native, Snowflake}

  @event [:echo_data, :buckets, :expire]

  @enforce_keys [:name, :ttl, :clock, :on_expire]
  defstruct [:name, :ttl, :clock, :on_expire]

  @type t :: %__MODULE__{
          name: term,
          ttl: pos_integer,
          clock: (() -> DateTime.t()),
          on_expire: (DateTime.t(), pos_integer -> term) | nil
        }

  @doc "Raises unless the options are such as `EchoData.Buckets.start_link/1` takes."
  @spec new!(keyword) :: t
  def new!(options) do
    # For `function_exported?/3`, which asks only what is loaded.
    _loaded = Code.ensure_loaded(:telemetry)

    %__MODULE__{
      name: options[:name],
      ttl: positive!("ttl", options[:ttl]),
      clock: function!("clock", "a function of no arguments", 0, options[:clock]),
      on_expire: on_expire!(options[:on_expire])
    }
  end

  defp on_expire!(nil), do: nil

  defp on_expire!(callback),
    do: function!("on_expire", "a function of an instant and a count", 2, callback)

  defp function!(_name, _wanted, arity, function) when is_function(function, arity), do: function
  defp function!(name, wanted, _arity, other), do: refuse!(name, wanted, other)

  @doc "Expires what is too old now; answers how many entries that were."
  @spec round(t, reference) :: non_neg_integer
  def round(expiry, store) do
    case guarded(expiry, "clock", fn -> DateTime.to_unix(expiry.clock.(), :millisecond) end) do
      {:ok, now} -> expire(expiry, store, max(now - expiry.ttl, Snowflake.epoch_ms()))
      :error -> 0
    end
  end

  defp expire(expiry, store, unix_ms) do
    start = System.monotonic_time()
    count = Native.buckets_expire(store, unix_ms)
    duration = System.monotonic_time() - start
    instant = DateTime.from_unix!(unix_ms, :millisecond)

    metadata = %{name: expiry.name || self(), instant: instant}
    :ok = emit(expiry, %{count: count, duration: duration}, metadata)
    :ok = call(expiry, instant, count)
    count
  end

  defp emit(expiry, measurements, metadata) do
    if function_exported?(telemetry(), :execute, 3),
      do: tell(expiry, "telemetry", &telemetry().execute/3, [@event, measurements, metadata]),
      else: :ok
  end

  # No dependency of ours: not a name that the compiler could look for.
  defp telemetry, do: :telemetry

  defp call(%{on_expire: callback} = expiry, instant, count) when callback != nil and count > 0,
    do: tell(expiry, "on_expire", callback, [instant, count])

  defp call(_expiry, _instant, _count), do: :ok

  defp tell(expiry, what, fun, arguments) do
    _outcome = guarded(expiry, what, fn -> apply(fun, arguments) end)
    :ok
  end

  defp guarded(expiry, what, fun) do
    {:ok, fun.()}
  catch
    kind, reason ->
      store = inspect(expiry.name || self())
      failure = Exception.format(kind, reason, __STACKTRACE__)
      Logger.error("#{what} of the bucket store #{store} failed: #{failure}")
      :error
  end
end
