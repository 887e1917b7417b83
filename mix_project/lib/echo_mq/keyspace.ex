defmodule EchoMQ.Keyspace do
  @moduledoc """
  The keys of a queue server, and the slots of a cluster that they fall into: the hash tag is the queue.

  A cluster runs a script only when all of its keys are of one slot, and of a key with text in braces only
  that text, its *hash tag*, decides. Every key of a queue has the queue's name as its tag, so a script over one
  queue is legal on any cluster, and one over two queues is refused by nearly all: the design is wrong before
  the script is.

      iex> alias EchoMQ.Keyspace
      iex> claim = [Keyspace.queue_key("orders", "pending"), Keyspace.job_key("orders", "ORD0NgWEfAEJfs")]
      ["emq:{orders}:pending", "emq:{orders}:job:ORD0NgWEfAEJfs"]
      iex> Keyspace.slot_set(claim)
      [105]
      iex> Keyspace.slot_set([Keyspace.queue_key("fills", "pending") | claim])
      [105, 4165]

  Choose it wherever keys of queues are written: a key that is built here is lawful, and a job's key holds an id
  or is not built at all. `EchoMQ.Fence` guards the layout itself.

  A queue's name is a binary that is not empty, has no `{`, `}` or `:`, and is not `emq`, the tag of what the
  library keeps for itself. Any other name, and a key that is no binary, raises `ArgumentError`.

  Tags and slots are those of the Redis cluster specification. Every function is O(bytes of its arguments), one
  native call. A list is worked on in stretches of less than a millisecond, a key in one go, about a millisecond for
  each MiB; either is reported to the scheduler, so that neighbours have their turn.
  """

  import EchoData.Argument, only: [refuse!: 3]

  alias EchoData.{BrandedId, Native, Steps}
  alias EchoMQ.CrossSlotError

  @typedoc "The name of a queue."
  @type queue :: binary

  @typedoc "One of the 16384 slots of a cluster."
  @type slot :: 0..16383

  @typedoc "A key in its parts."
  @type parts ::
          {:queue, queue, type :: binary}
          | {:job, queue, BrandedId.t()}
          | {:reserve, name :: binary}

  @typedoc "Who has which slots: an element for each node, its range of slots or a list of them."
  @type layout :: [Range.t() | [Range.t()]]

  @doc """
  The key of what a queue keeps under a type: `emq:{queue}:type`.

  Raises `ArgumentError` for a type that goes on behind `job:`: that is a job's key, made by `job_key/2`.

      iex> EchoMQ.Keyspace.queue_key("orders", "pending")
      "emq:{orders}:pending"
      iex> EchoMQ.Keyspace.queue_key("a}b", "pending")
      ** (ArgumentError) a queue name must not contain '}'
  """
  @spec queue_key(queue, binary) :: binary
  def queue_key(queue, type), do: Native.keyspace_queue_key(queue, type)

  @doc """
  The key of a job of a queue: `emq:{queue}:job:` and the id.

  The id is gated: any term that is no branded id raises `ArgumentError`.

      iex> EchoMQ.Keyspace.job_key("orders", "ORD0NgWEfAEJfs")
      "emq:{orders}:job:ORD0NgWEfAEJfs"
      iex> EchoMQ.Keyspace.job_key("orders", "32063679958194")
      ** (ArgumentError) job_key requires a valid branded id
  """
  @spec job_key(queue, term) :: binary
  def job_key(queue, id), do: Native.keyspace_job_key(queue, id)

  @doc """
  The key of what the library keeps for itself under a name.

      iex> EchoMQ.Keyspace.reserve("locks")
      "{emq}:locks"
  """
  @spec reserve(binary) :: binary
  def reserve(name), do: Native.keyspace_reserve(name)

  @doc """
  The key that says which layout of keys a server holds: see `EchoMQ.Fence`.

      iex> EchoMQ.Keyspace.version_key()
      "{emq}:version"
  """
  @spec version_key() :: binary
  def version_key, do: reserve("version")

  @doc """
  How many bytes `queue_key/2` is long, of the same arguments; with the type `job:`, what all job keys of the
  queue begin with.

      iex> EchoMQ.Keyspace.prefix_bytes("orders", "job:")
      17
  """
  @spec prefix_bytes(queue, binary) :: pos_integer
  def prefix_bytes(queue, type), do: queue |> queue_key(type) |> byte_size()

  @doc """
  The part of a key that decides about its slot: what is inside the first `{` and the next `}` when that is not
  empty, else the whole key. Any binary will do. The answer shares the key's memory.

      iex> EchoMQ.Keyspace.hashtag("emq:{orders}:pending")
      "orders"
      iex> EchoMQ.Keyspace.hashtag("{}{a}")
      "{}{a}"
  """
  @spec hashtag(binary) :: binary
  def hashtag(key), do: Native.keyspace_hashtag(key)

  @doc """
  The slot of a key: CRC16-XMODEM of its `hashtag/1`, modulo 16384. Any binary will do.

      iex> EchoMQ.Keyspace.slot("123456789")
      12739
  """
  @spec slot(binary) :: slot
  def slot(key), do: Native.keyspace_slot(key)

  @doc """
  The slots of many keys, in their order. Raises `ArgumentError` for anything but a list of binaries.

      iex> EchoMQ.Keyspace.slots(["{orders}", "{fills}", "{payments}"])
      [105, 4165, 8507]
  """
  @spec slots([binary]) :: [slot]
  def slots(keys) do
    more = fn {rest, slots} -> Native.keyspace_slots(rest, slots) end
    {:ok, slots} = keys |> Native.keyspace_slots([]) |> Steps.finish(more)
    Enum.reverse(slots)
  end

  @doc """
  The slots of a script's keys: ascending, each once. Raises `ArgumentError` for anything but a list of
  binaries.

      iex> EchoMQ.Keyspace.slot_set(["{payments}", "emq:{orders}:a", "emq:{orders}:b"])
      [105, 8507]
  """
  @spec slot_set([binary]) :: [slot]
  def slot_set(keys), do: keys |> verdict() |> elem(1)

  @doc """
  Whether a cluster would run a script over these keys: they are of one slot, or there are none. Raises
  `ArgumentError` for anything but a list of binaries.

      iex> EchoMQ.Keyspace.legal?(["emq:{orders}:pending", "emq:{orders}:claimed"])
      true
      iex> EchoMQ.Keyspace.legal?(["emq:{orders}:pending", "emq:{fills}:pending"])
      false
  """
  @spec legal?([binary]) :: boolean
  def legal?(keys), do: match?({:legal, _slots}, verdict(keys))

  @doc """
  `:ok` for keys that are `legal?/1`; raises `EchoMQ.CrossSlotError`, which names keys, tags and slots, for
  others, and `ArgumentError` for anything but a list of binaries.

      iex> EchoMQ.Keyspace.check!(["{orders}", "{fills}"])
      ** (EchoMQ.CrossSlotError) keys of 2 slots in one script: "{orders}" (tag "orders", slot 105), "{fills}" (tag "fills", slot 4165)
  """
  @spec check!([binary]) :: :ok
  def check!(keys) do
    case verdict(keys) do
      {:legal, _slots} -> :ok
      {:crossed, _slots} -> raise CrossSlotError.exception(keys)
    end
  end

  @doc """
  The slot of all keys of a queue.

      iex> EchoMQ.Keyspace.queue_slot("orders")
      105
  """
  @spec queue_slot(queue) :: slot
  def queue_slot(queue), do: Native.keyspace_queue_slot(queue)

  @doc """
  Which part of a cluster a queue belongs to.

    * Of a number of parts, in 1..16384: the contiguous and even ones that `redis-cli --cluster create` gives as
      many masters. Answers the number of the part, from 0 on. O(1).
    * Of a layout, as a cluster tells it: a range of slots for each node, or a list of ranges. Answers the position
      of the node in the layout, or `nil` when no node has the queue's slot. O(ranges log ranges).

  Raises `ArgumentError` for another number, and for ranges that are empty, overlap, or are not within 0..16383.

      iex> for queue <- ["orders", "fills", "payments"], do: EchoMQ.Keyspace.partition(queue, 3)
      [0, 0, 1]
      iex> EchoMQ.Keyspace.partition("orders", [200..16383, [0..99, 105..105]])
      1
      iex> EchoMQ.Keyspace.partition("orders", [200..16383])
      nil
  """
  @spec partition(queue, 1..16384 | layout) :: non_neg_integer | nil
  def partition(queue, layout) when is_list(layout) do
    ranges =
      for {node, at} <- layout |> ranges() |> Enum.with_index(),
          range <- ranges(node),
          do: owned!(range, at)

    Native.keyspace_owner(queue, ranges)
  end

  def partition(queue, parts), do: Native.keyspace_partition(queue, parts)

  @doc """
  The parts of a key, or `:error` for a binary that no function of this module builds.

      iex> EchoMQ.Keyspace.parse("emq:{orders}:pending")
      {:ok, {:queue, "orders", "pending"}}
      iex> EchoMQ.Keyspace.parse("emq:{orders}:job:ORD0NgWEfAEJfs")
      {:ok, {:job, "orders", "ORD0NgWEfAEJfs"}}
      iex> EchoMQ.Keyspace.parse("{emq}:version")
      {:ok, {:reserve, "version"}}
      iex> EchoMQ.Keyspace.parse("emq:{orders}:job:32063679958194")
      :error
  """
  @spec parse(binary) :: {:ok, parts} | :error
  def parse(key) do
    case Native.keyspace_parse(key) do
      :error -> :error
      parts -> {:ok, parts}
    end
  end

  defp verdict(keys) do
    more = fn {rest, slots} -> Native.keyspace_slot_set(rest, slots) end
    keys |> Native.keyspace_slot_set([]) |> Steps.finish(more)
  end

  # What is no proper list is refused in the place of a range.
  defp ranges(node) when is_list(node), do: if(List.improper?(node), do: [node], else: node)
  defp ranges(range), do: [range]

  defp owned!(%Range{first: first, last: last, step: 1}, at)
       when first in 0..16383 and last in 0..16383,
       do: {first, last, at}

  defp owned!(other, _at), do: refuse!("layout", "ranges of slots within 0..16383", other)
end
