defmodule EchoData.BcsTest do
  use ExUnit.Case, async: true

  alias EchoData.Bcs.NamespaceError
  alias EchoData.{Bcs, Terms}

  doctest Bcs

  test "an id of the namespace is let in as its snowflake" do
    assert Bcs.gate("ORD0NgWEfAEJfs", "ORD") == {:ok, 320_636_799_581_945_856}
    assert Bcs.gate!("ORD0NgWEfAEJfs", "ORD") == 320_636_799_581_945_856
  end

  test "an id of another kind is refused" do
    assert Bcs.gate("USR0NgWEfAEJfs", "ORD") == {:error, :namespace}

    error = assert_raise NamespaceError, fn -> Bcs.gate!("USR0NgWEfAEJfs", "ORD") end
    assert Exception.message(error) == "expected namespace ORD, got USR"
    assert %NamespaceError{expected: "ORD", got: "USR"} = error
  end

  test "a term that is no id is invalid, whatever it looks like" do
    for term <- Terms.no_ids() ++ ["320636799581945", "my-nice-slug-1"] do
      assert Bcs.gate(term, "USR") == {:error, :invalid}
      assert_raise ArgumentError, "invalid branded id", fn -> Bcs.gate!(term, "USR") end
    end
  end

  test "a foreign id that is malformed is invalid, not foreign" do
    assert Bcs.gate("USRzzzzzzzzzzz", "ORD") == {:error, :invalid}
  end

  test "a namespace that is none is misuse" do
    for namespace <- [nil, :ORD, "ord", "OR", "ORDS"] do
      assert_raise ArgumentError, ~r/^namespace must be/, fn ->
        Bcs.gate("ORD0NgWEfAEJfs", namespace)
      end
    end
  end
end
