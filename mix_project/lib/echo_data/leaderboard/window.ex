defmodule EchoData.Leaderboard.Window do
  @moduledoc false
  # Windows of time: how they are stated, and which of them an instant is in. Instants are milliseconds since
  # 1970.

  import EchoData.Argument, only: [refuse!: 3]

  @units %{
    millisecond: 1,
    second: 1000,
    minute: 60_000,
    hour: 3_600_000,
    day: 86_400_000,
    week: 604_800_000
  }

  # 1970-01-05, a Monday.
  @monday 4 * 86_400_000

  # An entry is put into so many groups at once.
  @most 1000

  @enforce_keys [:said, :number]
  defstruct [:said, :number, :width, :step, offset: 0]

  @typedoc "`width` and `step` are `nil` for all time. The number tells a board's windows apart."
  @type t :: %__MODULE__{
          said: term,
          number: non_neg_integer,
          width: pos_integer | nil,
          step: pos_integer | nil,
          offset: non_neg_integer
        }

  @typedoc "When a window began; 0 for all time."
  @type start :: integer

  @doc "Raises unless a list states at least one window, and none of them twice."
  @spec all!(term) :: [t]
  def all!([_ | _] = said) do
    if List.improper?(said), do: refuse!("windows", "a list of windows", said)
    if Enum.uniq(said) != said, do: refuse!("windows", "windows that differ", said)
    for {window, number} <- Enum.with_index(said), do: new!(window, number)
  end

  def all!(other), do: refuse!("windows", "a list of windows", other)

  defp new!(:all_time, number), do: %__MODULE__{said: :all_time, number: number}

  defp new!({unit, count} = said, number) do
    width = width!(unit, count, said)
    %__MODULE__{said: said, number: number, width: width, step: width, offset: offset(unit)}
  end

  defp new!({unit, count, every: {step_unit, step_count}} = said, number) do
    {width, step} = {width!(unit, count, said), width!(step_unit, step_count, said)}
    if rem(width, step) != 0 or div(width, step) > @most, do: refuse_window!(said)
    %__MODULE__{said: said, number: number, width: width, step: step, offset: offset(step_unit)}
  end

  defp new!(other, _number), do: refuse_window!(other)

  defp width!(unit, count, _said)
       when is_map_key(@units, unit) and is_integer(count) and count > 0,
       do: count * @units[unit]

  defp width!(_unit, _count, said), do: refuse_window!(said)

  defp offset(:week), do: @monday
  defp offset(_unit), do: 0

  @doc "When the windows began that an instant is in, the youngest first."
  @spec starts(t, integer) :: [start]
  def starts(%{width: nil}, _ms), do: [0]

  def starts(%{width: width, step: step} = window, ms) do
    youngest = youngest(window, ms)
    for back <- 0..(div(width, step) - 1), do: youngest - back * step
  end

  @doc "When the window began that is the last to end with the step of an instant: what it has seen the most of."
  @spec start(t, integer) :: start
  def start(%{width: nil}, _ms), do: 0
  def start(%{width: width, step: step} = window, ms), do: youngest(window, ms) - width + step

  @doc "Whether a window is over at an instant."
  @spec over?(t, start, integer) :: boolean
  def over?(%{width: nil}, _start, _ms), do: false
  def over?(%{width: width}, start, ms), do: start + width <= ms

  defp youngest(%{step: step, offset: offset}, ms),
    do: Integer.floor_div(ms - offset, step) * step + offset

  @spec refuse_window!(term) :: no_return
  defp refuse_window!(other) do
    wanted =
      ":all_time, {unit, count} or {unit, count, every: {unit, count}} that divides it into at most #{@most}"

    refuse!("window", wanted, other)
  end
end
