defmodule EchoData.BrandedId.SigilTest do
  use ExUnit.Case, async: true

  import EchoData.BrandedId.Sigil

  doctest EchoData.BrandedId.Sigil

  @attribute ~b"USR0KHTOWnGLuC"

  test "is the binary itself" do
    assert @attribute == "USR0KHTOWnGLuC"
    assert ~b(USR0KHTOWnGLuC) == "USR0KHTOWnGLuC"
    assert match?(~b"USR0KHTOWnGLuC", "USR0KHTOWnGLuC")
  end

  test "text that is no id does not compile" do
    for text <- ["USR0KHTOWnGLu", "usr0KHTOWnGLuC", "USRzzzzzzzzzzz", ""] do
      assert_raise ArgumentError, "invalid branded id: #{inspect(text)}", fn ->
        compile("~b\"#{text}\"")
      end
    end
  end

  test "interpolation and modifiers do not compile" do
    for source <- [~S(~b"USR#{1}"), ~S(~b"USR0KHTOWnGLuC"x)] do
      assert_raise ArgumentError, ~r/^~b takes a literal id/, fn -> compile(source) end
    end
  end

  defp compile(source), do: Code.eval_string("import EchoData.BrandedId.Sigil; " <> source)
end
