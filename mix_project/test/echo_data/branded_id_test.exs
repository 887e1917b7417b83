defmodule EchoData.BrandedIdTest do
  use ExUnit.Case, async: true

  import EchoData.BrandedId, only: [is_branded: 1]

  alias EchoData.BrandedId.Pure
  alias EchoData.{BrandedId, Snowflake, Terms}

  doctest BrandedId

  @max 0x7FFF_FFFF_FFFF_FFFF

  @vectors [
    {"USR0KHTOWnGLuC", "USR", 274_557_032_793_636_864},
    {"ORD0NgWEfAEJfs", "ORD", 320_636_799_581_945_856},
    {"USR0NgWEfAEJfs", "USR", 320_636_799_581_945_856},
    {"AAA00000000000", "AAA", 0},
    {"ZZZAzL8n0Y58m7", "ZZZ", @max}
  ]

  test "vectors, through every function" do
    for {id, namespace, snowflake} <- @vectors do
      hash = BrandedId.hash32(snowflake)
      assert BrandedId.encode(namespace, snowflake) == {:ok, id}
      assert BrandedId.encode!(namespace, snowflake) == id
      assert BrandedId.parse(id) == {:ok, namespace, snowflake}
      assert BrandedId.parse_hash(id) == {:ok, namespace, snowflake, hash}
      assert BrandedId.decode(id) == {:ok, snowflake}
      assert BrandedId.decode!(id) == snowflake
      assert BrandedId.namespace(id) == namespace
      assert BrandedId.unix_ms(id) == {:ok, Snowflake.unix_ms(snowflake)}
      assert BrandedId.valid?(id)
    end

    assert BrandedId.hash32(274_557_032_793_636_864) == 234_878_118
  end

  test "any term that is not an id is an error, never a crash" do
    for term <- Terms.no_ids() do
      assert BrandedId.parse(term) == :error
      assert BrandedId.parse_hash(term) == :error
      assert BrandedId.decode(term) == :error
      assert BrandedId.namespace(term) == :error
      assert BrandedId.unix_ms(term) == :error
      refute BrandedId.valid?(term)
      assert_raise ArgumentError, ~r/^invalid branded id/, fn -> BrandedId.decode!(term) end
    end
  end

  test "what is not a namespace or not a snowflake has no id" do
    for namespace <- [nil, :USR, ~c"USR", "", "US", "USRS", "usr", "U R", "ÜS", "@AB", "[AB"] do
      assert BrandedId.encode(namespace, 1) == :error
      assert_raise ArgumentError, ~r/namespace/, fn -> BrandedId.encode!(namespace, 1) end
      assert_raise ArgumentError, ~r/namespace/, fn -> BrandedId.generate!(namespace) end
    end

    for snowflake <- [nil, -1, 1.0, "1", @max + 1, Bitwise.bsl(1, 64)] do
      assert BrandedId.encode("USR", snowflake) == :error
      assert_raise ArgumentError, ~r/snowflake/, fn -> BrandedId.encode!("USR", snowflake) end
    end
  end

  test "hash32 takes any 64-bit number and nothing else" do
    assert BrandedId.hash32(0) == 0
    assert BrandedId.hash32(0xFFFF_FFFF_FFFF_FFFF) == Pure.hash32(0xFFFF_FFFF_FFFF_FFFF)

    for number <- [-1, Bitwise.bsl(1, 64), 1.0, nil, "1"] do
      assert_raise ArgumentError, ~r/^number must be/, fn -> BrandedId.hash32(number) end
    end
  end

  test "the native codec and the one written in Elixir agree on random ids" do
    for _ <- 1..5_000 do
      namespace = Terms.random_namespace()
      snowflake = Terms.random_snowflake()
      {:ok, id} = Pure.encode(namespace, snowflake)

      assert BrandedId.encode(namespace, snowflake) == {:ok, id}
      assert BrandedId.parse(id) == {:ok, namespace, snowflake}
      assert BrandedId.hash32(snowflake) == Pure.hash32(snowflake)
    end
  end

  test "they agree on ids with one byte changed" do
    for _ <- 1..5_000 do
      {:ok, id} = Pure.encode(Terms.random_namespace(), Terms.random_snowflake())
      {head, <<_, tail::binary>>} = String.split_at(id, :rand.uniform(14) - 1)
      changed = head <> <<:rand.uniform(256) - 1>> <> tail

      assert BrandedId.parse(changed) == Pure.parse(changed), inspect(changed)
    end
  end

  test "ids sort by namespace, then by creation" do
    pairs = for _ <- 1..1_000, do: {Terms.random_namespace(), Terms.random_snowflake()}
    encode = fn {namespace, snowflake} -> BrandedId.encode!(namespace, snowflake) end
    assert pairs |> Enum.sort() |> Enum.map(encode) == pairs |> Enum.map(encode) |> Enum.sort()
  end

  test "ids that differ in the case of their last letter are different ids" do
    assert {:ok, "USR", lower} = BrandedId.parse("USR0KHTOWnGLuc")
    assert {:ok, "USR", upper} = BrandedId.parse("USR0KHTOWnGLuC")
    assert lower - upper == 26
  end

  test "the guard looks at the size only" do
    assert is_branded("USR0KHTOWnGLuC")
    assert is_branded("no id but 14 b")
    refute is_branded("USR0KHTOWnGLu")
    refute is_branded(~c"USR0KHTOWnGLuC")
    refute is_branded(<<0::size(111)>>)
  end

  test "generate! mints an id of the namespace" do
    before = System.system_time(:millisecond)
    id = BrandedId.generate!("ORD")
    assert BrandedId.namespace(id) == "ORD"
    assert {:ok, ms} = BrandedId.unix_ms(id)
    assert ms >= before
  end

  test "the self-check passes" do
    assert BrandedId.self_check!() == {:ok, :native}
  end
end
