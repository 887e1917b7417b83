defmodule EchoData.Values do
  @moduledoc """
  Values for tests: one of every form, and random ones. See `EchoData.Terms` for what seeds them.
  """

  import Bitwise

  defmodule Point do
    @moduledoc false
    defstruct [:x, :y]
  end

  @doc "Terms at the edges of every form that a stored value can have."
  @spec edges() :: [term]
  def edges, do: numbers() ++ binaries() ++ containers() ++ foreign()

  defp numbers do
    around = for bits <- [7, 8, 15, 16, 31, 32, 59, 60, 62, 63, 64, 127], do: 1 <<< bits
    integers = for n <- around, near <- [n - 1, n, n + 1], signed <- [near, -near], do: signed
    [0, 1, -1, 0.0, -0.0, 1.5, 1.0e308, -5.0e-324] ++ integers
  end

  defp binaries do
    lengths = [0, 1, 13, 14, 15, 63, 64, 65, 127, 128, 1000, 100_000]
    whole = Enum.map(lengths, &:binary.copy("x", &1))
    part = binary_part(:binary.copy("part", 1000), 3, 100)
    ["é\0\r\n", part, <<1::3>>, <<0::65>>, <<:binary.copy("a", 70)::binary, 1::1>> | whole]
  end

  defp containers do
    sizes = [0, 1, 2, 15, 16, 17, 31, 32, 33, 100]

    [
      [1 | 2],
      [1, 2 | :tail],
      [[] | []],
      %{%{} => %{}},
      %Point{x: 1, y: {2}},
      ~U[2024-01-01 00:00:00Z]
    ] ++
      ['charlist', MapSet.new([1, 2]), 1..3, {{}, [], %{}}, [{:binary.copy("y", 80), [:z]}]] ++
      Enum.map(sizes, &Enum.to_list(1..&1//1)) ++
      Enum.map(sizes, &List.to_tuple(Enum.to_list(1..&1//1))) ++
      Enum.map(sizes, &Map.new(1..&1//1, fn key -> {key, {key}} end))
  end

  defp foreign do
    captured = self()

    [self(), make_ref(), hd(Port.list()), &Enum.map/2, fn -> captured end, [self() | make_ref()]] ++
      [nil, true, :atom, :"atom with spaces", :ünïcode, %{pid: self(), big: 1 <<< 200}]
  end

  @doc "A random term, nested up to `depth` deep."
  @spec random(non_neg_integer) :: term
  def random(depth \\ 4)
  def random(0), do: random_leaf()

  def random(depth) do
    case :rand.uniform(8) do
      1 -> List.to_tuple(randoms(depth))
      2 -> randoms(depth)
      3 -> Map.new(randoms(depth), &{&1, random(depth - 1)})
      4 -> Enum.reduce(randoms(depth), random_leaf(), &[&1 | &2])
      _ -> random_leaf()
    end
  end

  defp randoms(depth), do: for(_ <- 1..:rand.uniform(40)//4, do: random(depth - 1))

  defp random_leaf do
    case :rand.uniform(6) do
      1 -> :rand.uniform(1 <<< :rand.uniform(70)) - (1 <<< 35)
      2 -> :rand.uniform() - 0.5
      3 -> Enum.random([:a, :b, nil, true, Enum])
      4 -> :rand.bytes(:rand.uniform(100))
      5 -> Enum.random([[], {}, %{}, ""])
      6 -> :rand.uniform(10)
    end
  end
end
