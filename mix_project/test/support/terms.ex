defmodule EchoData.Terms do
  @moduledoc """
  Material for tests. What is random follows from the seed that ExUnit prints: it seeds `:rand` in every test.
  """

  @max 0x7FFF_FFFF_FFFF_FFFF

  @doc "One term of every kind, none of them an id or a number that has one."
  @spec no_ids() :: [term]
  def no_ids do
    [
      nil,
      :atom,
      1.5,
      -1,
      @max + 1,
      Bitwise.bsl(1, 64),
      "",
      "USR",
      "USR0KHTOWnGLu",
      "USR0KHTOWnGLuCC",
      "usr0KHTOWnGLuC",
      "US10KHTOWnGLuC",
      "USR0KHTOWnGLu-",
      "USR0KHTOWnGLu\0",
      "USRzzzzzzzzzzz",
      "USRAzL8n0Y58m8",
      "ÜSR0KHTOWnGLu",
      <<5::size(3)>>,
      <<"USR0KHTOWnGLu", 3::size(4)>>,
      ~c"USR0KHTOWnGLuC",
      ["USR0KHTOWnGLuC"],
      {"USR0KHTOWnGLuC"},
      %{id: "USR0KHTOWnGLuC"},
      self(),
      make_ref(),
      &no_ids/0
    ]
  end

  @doc "A snowflake whose number of bits is random too, so that small ones are met as well."
  @spec random_snowflake() :: non_neg_integer
  def random_snowflake, do: random(Bitwise.bsl(1, :rand.uniform(63)))

  @doc "Three random letters A to Z."
  @spec random_namespace() :: <<_::24>>
  def random_namespace, do: <<random_letter(), random_letter(), random_letter()>>

  defp random_letter, do: ?A + random(26)

  defp random(below), do: :rand.uniform(below) - 1
end
