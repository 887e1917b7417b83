defmodule EchoData.Base62Test do
  use ExUnit.Case, async: true

  import Bitwise

  alias EchoData.{Base62, Terms}

  doctest Base62

  @max 0x7FFF_FFFF_FFFF_FFFF
  @alphabet "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

  @edges [
    {0, "00000000000"},
    {61, "0000000000z"},
    {62, "00000000010"},
    {1 <<< 32, "000004gfFC4"},
    {(1 <<< 53) + 1, "00fFgnDxSe9"},
    {274_557_032_793_636_864, "0KHTOWnGLuC"},
    {@max, "AzL8n0Y58m7"}
  ]

  test "edges are written and read back" do
    for {number, text} <- @edges do
      assert Base62.encode(number) == text
      assert Base62.decode(text) == {:ok, number}
      assert Base62.decode!(text) == number
      assert Base62.valid?(text)
    end
  end

  test "a number without a fixed form is refused by name" do
    for number <- [-1, @max + 1, 1 <<< 64, 1.0, nil, "1"] do
      assert_raise ArgumentError, ~r/^number must be/, fn -> Base62.encode(number) end
      assert_raise ArgumentError, ~r/^number must be/, fn -> Base62.encode(number, pad: false) end
    end
  end

  test "text that is not a fixed form is an error" do
    overflow = ["AzL8n0Y58m8", "AzL8n0Y58n0", "B0000000000", "zzzzzzzzzzz"]

    malformed = [
      "",
      "0",
      "0000000000",
      "000000000000",
      "0000000000-",
      "0000000000\0",
      "0000000000é"
    ]

    for text <- overflow ++ malformed ++ Terms.no_ids() do
      assert Base62.decode(text) == :error
      refute Base62.valid?(text)
      assert_raise ArgumentError, ~r/^text must be/, fn -> Base62.decode!(text) end
    end
  end

  test "every byte outside the alphabet is refused at every place" do
    foreign = Enum.to_list(0..255) -- String.to_charlist(@alphabet)

    for byte <- foreign, place <- 0..10 do
      text = :binary.copy("0", place) <> <<byte>> <> :binary.copy("0", 10 - place)
      assert Base62.decode(text) == :error
    end
  end

  test "other widths" do
    assert Base62.encode(0, pad: false) == "0"
    assert Base62.encode(@max, pad: false) == "AzL8n0Y58m7"
    assert Base62.encode(61, width: 1) == "z"
    assert Base62.encode(62, width: 1) == "10"
    assert Base62.encode(62, width: 13) == "0000000000010"
    assert Base62.encode(62, []) == Base62.encode(62)
  end

  test "wrong options are refused by name" do
    assert_raise ArgumentError, ~r/^width must be/, fn -> Base62.encode(1, width: 0) end
    assert_raise ArgumentError, ~r/^width must be/, fn -> Base62.encode(1, width: "4") end
    assert_raise ArgumentError, ~r/^pad must be/, fn -> Base62.encode(1, pad: nil) end
    assert_raise ArgumentError, ~r/^options must be/, fn -> Base62.encode(1, 4) end
    assert_raise ArgumentError, ~r/wide/, fn -> Base62.encode(1, wide: 4) end
  end

  test "byte order is numeric order" do
    numbers = for _ <- 1..2_000, do: Terms.random_snowflake()

    assert numbers |> Enum.sort() |> Enum.map(&Base62.encode/1) ==
             numbers |> Enum.map(&Base62.encode/1) |> Enum.sort()
  end
end
