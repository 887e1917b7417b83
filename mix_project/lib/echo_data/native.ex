defmodule EchoData.Native do
  @moduledoc false
  # The native functions, and nothing else: a module that is reloaded orphans every handle, so this one
  # should have no other reason to change. Arguments are checked by the callers.

  # The modules are compiled before the library: load it at the first call, not at compilation.
  @compile {:autoload, false}
  @on_load :load

  @type snowflake :: 0..0x7FFF_FFFF_FFFF_FFFF
  @type node_id :: 0..1023

  @typedoc """
  A store: a reference, or the name or pid of its process; any other term is `:closed`, and a store of
  another kind raises `ArgumentError`.
  """
  @type store :: term

  @typedoc "From a subject to its objects, or to an object from its subjects."
  @type walk :: :from | :to

  @type refused :: {:error, :namespace | :invalid} | :closed
  @type refused_at :: {:error, {:namespace | :invalid, non_neg_integer}} | :closed
  @type walked :: {:ok, list | non_neg_integer} | {:more, term} | :closed

  @typedoc "Why an index refused a record: which index, and the path to what is wrong."
  @type rejected :: {:error, {:bad_field, atom, [term]} | {:not_unique, atom}}

  @typedoc "An index: its name, the paths of its group and of its score, its fields, whether it is unique."
  @type index :: {atom, [[term]], [[term]], [field], boolean}

  @typedoc "An id of any namespace, or its snowflake."
  @type key :: term

  @type listed :: {:ok, list} | {:more, term} | refused

  @typedoc "A ranking and how it counts: group, ties and order."
  @type query ::
          {term, :ordinal | :competition | :dense | :max, :asc | :desc}

  @typedoc "A field of the scores of a ranked set."
  @type field :: {:integer | :float, :asc | :desc}

  def load, do: :erlang.load_nif(EchoData.NativeLibrary.load_path(), 0)

  @spec base62_encode(snowflake) :: <<_::88>>
  def base62_encode(_number), do: not_loaded()

  @spec base62_decode(term) :: {:ok, snowflake} | :error
  def base62_decode(_text), do: not_loaded()

  @spec snowflake_start(node_id) :: :ok
  def snowflake_start(_node_id), do: not_loaded()

  @spec snowflake_node() :: node_id | nil
  def snowflake_node, do: not_loaded()

  @spec snowflake_next() :: snowflake
  def snowflake_next, do: not_loaded()

  @spec snowflake_next_as(node_id) :: snowflake
  def snowflake_next_as(_node_id), do: not_loaded()

  @spec snowflake_mint(node_id) :: snowflake
  def snowflake_mint(_node_id), do: not_loaded()

  @spec snowflake_next_branded(term) :: <<_::112>>
  def snowflake_next_branded(_namespace), do: not_loaded()

  @spec branded_id_encode(term, term) :: {:ok, <<_::112>>} | :error
  def branded_id_encode(_namespace, _snowflake), do: not_loaded()

  @spec branded_id_parse(term) :: {:ok, <<_::24>>, snowflake} | :error
  def branded_id_parse(_id), do: not_loaded()

  @spec branded_id_parse_hash(term) :: {:ok, <<_::24>>, snowflake, 0..0xFFFF_FFFF} | :error
  def branded_id_parse_hash(_id), do: not_loaded()

  @spec branded_id_decode(term) :: {:ok, snowflake} | :error
  def branded_id_decode(_id), do: not_loaded()

  @spec branded_id_hash32(0..0xFFFF_FFFF_FFFF_FFFF) :: 0..0xFFFF_FFFF
  def branded_id_hash32(_number), do: not_loaded()

  @spec bcs_gate(term, term) :: {:ok, snowflake} | {:error, :namespace | :invalid}
  def bcs_gate(_id, _namespace), do: not_loaded()

  @spec property_store_new(term, atom) :: reference | :closed
  def property_store_new(_namespace, _name), do: not_loaded()

  @spec property_store_new_indexed(term, atom, [index]) :: reference | :closed
  def property_store_new_indexed(_namespace, _name, _indexes), do: not_loaded()

  @spec timeline_new(term, :public | :protected | :private) :: reference | :closed
  def timeline_new(_namespace, _access), do: not_loaded()

  @spec timeline_put_by_snowflake(reference, term, term) :: :ok | :closed
  def timeline_put_by_snowflake(_timeline, _snowflake, _value), do: not_loaded()

  @spec timeline_append(reference, term) :: <<_::112>> | :closed
  def timeline_append(_timeline, _value), do: not_loaded()

  @spec ordered_put(store, term, term) :: :ok | refused | rejected
  def ordered_put(_store, _id, _value), do: not_loaded()

  @spec ordered_get(store, term) :: {:ok, term} | {:error, :not_found} | refused
  def ordered_get(_store, _id), do: not_loaded()

  @spec ordered_delete(store, term) :: :ok | {:error, :not_found} | refused
  def ordered_delete(_store, _id), do: not_loaded()

  @spec ordered_take(store, term) :: {:ok, term} | {:error, :not_found} | refused
  def ordered_take(_store, _id), do: not_loaded()

  @spec ordered_get_many(store, [term]) :: {:ok, list} | {:more, term} | refused_at
  def ordered_get_many(_store, _ids), do: not_loaded()

  @spec ordered_get_more(term) :: {:ok, list} | {:more, term} | refused_at
  def ordered_get_more(_continuation), do: not_loaded()

  @spec ordered_put_many(store, [term]) :: :ok | {:more | :staged, term} | refused_at | rejected
  def ordered_put_many(_store, _rows), do: not_loaded()

  @spec ordered_put_more(store, term) :: {:more | :staged, term} | refused_at
  def ordered_put_more(_store, _continuation), do: not_loaded()

  @spec ordered_put_staged(store, term) :: :ok | :closed | rejected
  def ordered_put_staged(_store, _batch), do: not_loaded()

  @spec ordered_page(store, :asc | :desc, term, pos_integer, boolean) :: listed
  def ordered_page(_store, _order, _cursor, _count, _values), do: not_loaded()

  @spec ordered_window(store, term, term, boolean) :: listed
  def ordered_window(_store, _low, _high, _values), do: not_loaded()

  @spec ordered_slice(store, non_neg_integer, non_neg_integer, boolean) :: listed
  def ordered_slice(_store, _first, _count, _values), do: not_loaded()

  @spec ordered_more(term) :: listed
  def ordered_more(_continuation), do: not_loaded()

  @spec ordered_count(store, term, term) :: {:ok, non_neg_integer} | refused
  def ordered_count(_store, _low, _high), do: not_loaded()

  @spec ordered_since(store, unix_ms :: integer, pos_integer) :: listed
  def ordered_since(_store, _unix_ms, _count), do: not_loaded()

  @spec ordered_count_between(store, unix_ms :: integer, unix_ms :: integer) ::
          {:ok, non_neg_integer} | :closed
  def ordered_count_between(_store, _from, _until), do: not_loaded()

  @spec ordered_size(store) :: non_neg_integer | :closed
  def ordered_size(_store), do: not_loaded()

  @spec ordered_namespace(store) :: <<_::24>> | :closed
  def ordered_namespace(_store), do: not_loaded()

  @spec ordered_info(store) :: %{atom => non_neg_integer} | :closed
  def ordered_info(_store), do: not_loaded()

  @spec ordered_left(store) :: %{atom => non_neg_integer} | nil | :closed
  def ordered_left(_store), do: not_loaded()

  @spec ordered_hold(store) :: reference | :held | :closed
  def ordered_hold(_store), do: not_loaded()

  @spec ordered_close(store) :: :ok | :closed
  def ordered_close(_store), do: not_loaded()

  @spec edge_store_new(atom | String.t(), term, term, atom) :: reference | :closed
  def edge_store_new(_relation, _subject_ns, _object_ns, _name), do: not_loaded()

  @spec edges_new(term, term, :public | :protected | :private) :: reference | :closed
  def edges_new(_parent_ns, _child_ns, _access), do: not_loaded()

  @spec edges_add_by_snowflake(reference, term, term, term) :: :ok | :closed
  def edges_add_by_snowflake(_edges, _parent, _child, _payload), do: not_loaded()

  @spec relation_link(store, term, term, term) :: :ok | refused
  def relation_link(_store, _subject, _object, _props), do: not_loaded()

  @spec relation_unlink(store, term, term) :: :ok | {:error, :not_found} | refused
  def relation_unlink(_store, _subject, _object), do: not_loaded()

  @spec relation_props(store, term, term) :: {:ok, term} | {:error, :not_found} | refused
  def relation_props(_store, _subject, _object), do: not_loaded()

  @spec relation_member(store, term, term) :: boolean | refused
  def relation_member(_store, _subject, _object), do: not_loaded()

  @spec relation_degree(store, walk, term) :: {:ok, non_neg_integer} | refused
  def relation_degree(_store, _end, _id), do: not_loaded()

  @spec relation_count(store, walk, term, term, term) :: {:ok, non_neg_integer} | refused
  def relation_count(_store, _end, _id, _low, _high), do: not_loaded()

  @spec relation_nth(store, walk, term, non_neg_integer) ::
          {:ok, {<<_::112>>, term}} | {:error, :not_found} | refused
  def relation_nth(_store, _end, _id, _position), do: not_loaded()

  @spec relation_page(store, walk, term, :asc | :desc, term, pos_integer | :all, boolean) ::
          listed
  def relation_page(_store, _end, _id, _order, _cursor, _limit, _values), do: not_loaded()

  @spec relation_more(walk, term) :: listed
  def relation_more(_end, _continuation), do: not_loaded()

  @spec relation_common(store, term, term) :: {:ok, list} | :large | refused
  def relation_common(_store, _subject, _other), do: not_loaded()

  @spec relation_common_large(store, term, term) :: {:ok, list} | refused
  def relation_common_large(_store, _subject, _other), do: not_loaded()

  @spec relation_link_many(store, [term]) :: :ok | {:more | :staged, term} | refused_at
  def relation_link_many(_store, _edges), do: not_loaded()

  @spec relation_link_more(store, term) :: {:more | :staged, term} | refused_at
  def relation_link_more(_store, _continuation), do: not_loaded()

  @spec relation_link_staged(store, term) :: :ok | :closed
  def relation_link_staged(_store, _batch), do: not_loaded()

  @spec relation_replace(store, term, [term]) ::
          {:ok, map} | {:more | :staged, term} | refused | refused_at
  def relation_replace(_store, _subject, _objects), do: not_loaded()

  @spec relation_replace_more(store, term) :: {:more | :staged, term} | refused_at
  def relation_replace_more(_store, _continuation), do: not_loaded()

  @spec relation_replace_staged(store, term, term) :: {:ok, map} | refused
  def relation_replace_staged(_store, _subject, _batch), do: not_loaded()

  @spec relation_drop(store, walk, term) :: {:ok, non_neg_integer} | :large | refused
  def relation_drop(_store, _end, _id), do: not_loaded()

  @spec relation_drop_large(store, walk, term) :: {:ok, non_neg_integer} | refused
  def relation_drop_large(_store, _end, _id), do: not_loaded()

  @spec relation_rule(store) :: {atom | String.t(), <<_::24>>, <<_::24>>} | :closed
  def relation_rule(_store), do: not_loaded()

  @spec relation_size(store) :: non_neg_integer | :closed
  def relation_size(_store), do: not_loaded()

  @spec relation_info(store) :: %{atom => non_neg_integer} | :closed
  def relation_info(_store), do: not_loaded()

  @spec relation_left(store) :: %{atom => non_neg_integer} | nil | :closed
  def relation_left(_store), do: not_loaded()

  @spec relation_hold(store) :: reference | :held | :closed
  def relation_hold(_store), do: not_loaded()

  @spec relation_close(store) :: :ok | :closed
  def relation_close(_store), do: not_loaded()

  @spec buckets_new(0..40, :public | :protected | :private) :: reference | :closed
  def buckets_new(_bits, _access), do: not_loaded()

  @spec buckets_new_named(0..40, atom) :: reference | :closed
  def buckets_new_named(_bits, _name), do: not_loaded()

  @spec buckets_bits(store) :: 0..40 | :closed
  def buckets_bits(_store), do: not_loaded()

  @spec buckets_put(store, key, term) :: :ok | refused
  def buckets_put(_store, _key, _value), do: not_loaded()

  @spec buckets_get(store, key) :: {:ok, term} | {:error, :not_found} | refused
  def buckets_get(_store, _key), do: not_loaded()

  @spec buckets_delete(store, key) :: :ok | {:error, :not_found} | refused
  def buckets_delete(_store, _key), do: not_loaded()

  @spec buckets_take(store, key) :: {:ok, term} | {:error, :not_found} | refused
  def buckets_take(_store, _key), do: not_loaded()

  @spec buckets_get_many(store, [key]) :: {:ok, list} | {:more, term} | refused_at
  def buckets_get_many(_store, _keys), do: not_loaded()

  @spec buckets_get_more(term) :: {:ok, list} | {:more, term} | refused_at
  def buckets_get_more(_continuation), do: not_loaded()

  @spec buckets_put_many(store, [term]) :: :ok | {:more | :staged, term} | refused_at
  def buckets_put_many(_store, _rows), do: not_loaded()

  @spec buckets_put_more(store, term) :: {:more | :staged, term} | refused_at
  def buckets_put_more(_store, _continuation), do: not_loaded()

  @spec buckets_put_staged(store, term) :: :ok | :closed
  def buckets_put_staged(_store, _batch), do: not_loaded()

  @spec buckets_expire(store, integer) :: non_neg_integer | :closed
  def buckets_expire(_store, _unix_ms), do: not_loaded()

  @spec buckets_ends(store) :: {non_neg_integer, non_neg_integer} | nil | :closed
  def buckets_ends(_store), do: not_loaded()

  @spec buckets_entries(store, non_neg_integer) :: listed
  def buckets_entries(_store, _bucket), do: not_loaded()

  @spec buckets_slice(store, non_neg_integer, non_neg_integer | :all, boolean) :: listed
  def buckets_slice(_store, _first, _count, _values), do: not_loaded()

  @spec buckets_more(term) :: listed
  def buckets_more(_continuation), do: not_loaded()

  @spec buckets_walk(store, boolean) :: walked
  def buckets_walk(_store, _counts), do: not_loaded()

  @spec buckets_walk_more(term) :: walked
  def buckets_walk_more(_continuation), do: not_loaded()

  @spec buckets_size(store) :: non_neg_integer | :closed
  def buckets_size(_store), do: not_loaded()

  @spec buckets_info(store) :: %{atom => non_neg_integer} | :closed
  def buckets_info(_store), do: not_loaded()

  @spec buckets_left(store) :: %{atom => non_neg_integer} | nil | :closed
  def buckets_left(_store), do: not_loaded()

  @spec buckets_hold(store) :: reference | :held | :closed
  def buckets_hold(_store), do: not_loaded()

  @spec buckets_close(store) :: :ok | :closed
  def buckets_close(_store), do: not_loaded()

  @spec keyspace_slot(binary) :: 0..16383
  def keyspace_slot(_key), do: not_loaded()

  @spec keyspace_hashtag(binary) :: binary
  def keyspace_hashtag(_key), do: not_loaded()

  @spec keyspace_queue_key(binary, binary) :: binary
  def keyspace_queue_key(_queue, _type), do: not_loaded()

  @spec keyspace_job_key(binary, term) :: binary
  def keyspace_job_key(_queue, _id), do: not_loaded()

  @spec keyspace_reserve(binary) :: binary
  def keyspace_reserve(_name), do: not_loaded()

  @spec keyspace_parse(binary) ::
          {:queue, binary, binary} | {:job, binary, <<_::112>>} | {:reserve, binary} | :error
  def keyspace_parse(_key), do: not_loaded()

  @spec keyspace_slots([binary], [0..16383]) ::
          {:ok, [0..16383]} | {:more, {[binary], [0..16383]}}
  def keyspace_slots(_keys, _slots), do: not_loaded()

  @spec keyspace_slot_set([binary], [0..16383]) ::
          {:legal | :crossed, [0..16383]} | {:more, {[binary], [0..16383]}}
  def keyspace_slot_set(_keys, _slots), do: not_loaded()

  @spec keyspace_queue_slot(binary) :: 0..16383
  def keyspace_queue_slot(_queue), do: not_loaded()

  @spec keyspace_partition(binary, term) :: 0..16383
  def keyspace_partition(_queue, _parts), do: not_loaded()

  @spec keyspace_owner(binary, [{0..16383, 0..16383, non_neg_integer}]) :: non_neg_integer | nil
  def keyspace_owner(_queue, _ranges), do: not_loaded()

  @spec ranked_new(term, [field], boolean, :public | :protected | :private) ::
          reference | :closed
  def ranked_new(_namespace, _fields, _unique, _access), do: not_loaded()

  @spec ranked_new_named(term, [field], boolean, atom) :: reference | :closed
  def ranked_new_named(_namespace, _fields, _unique, _name), do: not_loaded()

  @spec ranked_rule(store) :: {<<_::24>>, [field], boolean} | :closed
  def ranked_rule(_set), do: not_loaded()

  @spec ranked_put(store, term, term, term, [atom]) ::
          {:ok, :added | :updated | :unchanged} | {:error, :not_unique} | refused
  def ranked_put(_set, _id, _score, _group, _conditions), do: not_loaded()

  @spec ranked_put_many(store, [term], term) ::
          {:ok, non_neg_integer}
          | {:error, :not_unique}
          | {:more | :staged, term}
          | refused_at
  def ranked_put_many(_set, _rows, _group), do: not_loaded()

  @spec ranked_put_more(store, term) :: {:more | :staged, term} | refused_at
  def ranked_put_more(_set, _continuation), do: not_loaded()

  @spec ranked_put_staged(store, term, term) ::
          {:ok, non_neg_integer} | {:error, :not_unique} | :closed
  def ranked_put_staged(_set, _batch, _group), do: not_loaded()

  @spec ranked_increment(store, term, term, term) ::
          {:ok, term} | {:error, :overflow | :not_unique} | refused
  def ranked_increment(_set, _id, _delta, _group), do: not_loaded()

  @spec ranked_delete(store, term, term) :: :ok | :error | refused
  def ranked_delete(_set, _id, _group), do: not_loaded()

  @spec ranked_score(store, term, term) :: {:ok, term} | :error | refused
  def ranked_score(_set, _id, _group), do: not_loaded()

  @spec ranked_rank(store, term, query) :: {:ok, non_neg_integer} | :error | refused
  def ranked_rank(_set, _id, _query), do: not_loaded()

  @spec ranked_ranks(store, [term], query) :: {:ok, list} | {:more, term} | refused_at
  def ranked_ranks(_set, _ids, _query), do: not_loaded()

  @spec ranked_ranks_more(term) :: {:ok, list} | {:more, term} | refused_at
  def ranked_ranks_more(_continuation), do: not_loaded()

  @spec ranked_rank_for_score(store, term, query) :: non_neg_integer | :closed
  def ranked_rank_for_score(_set, _score, _query), do: not_loaded()

  @spec ranked_select(store, integer, query) :: {:ok, {<<_::112>>, term}} | :error | :closed
  def ranked_select(_set, _place, _query), do: not_loaded()

  @spec ranked_count(store, term) :: non_neg_integer | :closed
  def ranked_count(_set, _group), do: not_loaded()

  @spec ranked_count_distinct(store, term) :: non_neg_integer | :closed
  def ranked_count_distinct(_set, _group), do: not_loaded()

  @spec ranked_count_between(store, term, term, term) :: non_neg_integer | :closed
  def ranked_count_between(_set, _lo, _hi, _group), do: not_loaded()

  @spec ranked_by_rank(store, integer | nil, integer | nil, query, pos_integer | :all) ::
          {:ok, list} | {:more, term} | :closed
  def ranked_by_rank(_set, _first, _last, _query, _limit), do: not_loaded()

  @spec ranked_by_score(store, term, term, query, pos_integer | :all) ::
          {:ok, list} | {:more, term} | :closed
  def ranked_by_score(_set, _lo, _hi, _query, _limit), do: not_loaded()

  @spec ranked_around(store, term, non_neg_integer, query) :: listed | :error
  def ranked_around(_set, _id, _reach, _query), do: not_loaded()

  @spec ranked_more(term) :: {:ok, list} | {:more, term} | :closed
  def ranked_more(_continuation), do: not_loaded()

  @spec ranked_pop(store, non_neg_integer, :asc | :desc, term) :: {:ok, list} | :large | :closed
  def ranked_pop(_set, _count, _order, _group), do: not_loaded()

  @spec ranked_pop_large(store, non_neg_integer, :asc | :desc, term) :: {:ok, list} | :closed
  def ranked_pop_large(_set, _count, _order, _group), do: not_loaded()

  @spec ranked_groups(store) :: {:ok, list} | :large | :closed
  def ranked_groups(_set), do: not_loaded()

  @spec ranked_groups_large(store) :: {:ok, list} | :closed
  def ranked_groups_large(_set), do: not_loaded()

  @spec ranked_drop_group(store, term) :: {:ok, non_neg_integer} | :closed
  def ranked_drop_group(_set, _group), do: not_loaded()

  @spec ranked_size(store) :: non_neg_integer | :closed
  def ranked_size(_set), do: not_loaded()

  @spec ranked_info(store) :: %{atom => non_neg_integer} | :closed
  def ranked_info(_set), do: not_loaded()

  @spec ranked_left(store) :: %{atom => non_neg_integer} | nil | :closed
  def ranked_left(_set), do: not_loaded()

  @spec ranked_hold(store) :: reference | :held | :closed
  def ranked_hold(_set), do: not_loaded()

  @spec ranked_close(store) :: :ok | :closed
  def ranked_close(_set), do: not_loaded()

  @spec leaderboard_enter(store, term, term, key, [term], :best | :last | :sum) ::
          {:ok, [:added | :updated | :unchanged]} | {:error, :overflow} | refused | :large
  def leaderboard_enter(_set, _id, _score, _entry, _groups, _counts), do: not_loaded()

  @spec leaderboard_enter_large(store, term, term, key, [term], :best | :last | :sum) ::
          {:ok, [:added | :updated | :unchanged]} | {:error, :overflow} | refused
  def leaderboard_enter_large(_set, _id, _score, _entry, _groups, _counts), do: not_loaded()

  @spec rank_index_rank_for_score(store, atom, term, query) :: non_neg_integer | :closed
  def rank_index_rank_for_score(_store, _index, _score, _query), do: not_loaded()

  @spec rank_index_score_for_rank(store, atom, integer, query) :: {:ok, term} | :error | :closed
  def rank_index_score_for_rank(_store, _index, _rank, _query), do: not_loaded()

  @spec rank_index_count(store, atom, term) :: non_neg_integer | :closed
  def rank_index_count(_store, _index, _group), do: not_loaded()

  @spec rank_index_count_distinct(store, atom, term) :: non_neg_integer | :closed
  def rank_index_count_distinct(_store, _index, _group), do: not_loaded()

  @spec rank_index_rank(store, atom, term, query) ::
          {:ok, non_neg_integer} | {:error, :not_found} | refused | rejected
  def rank_index_rank(_store, _index, _record_or_id, _query), do: not_loaded()

  @spec rank_index_by_rank(
          store,
          {atom, query, boolean},
          {integer | nil, integer | nil},
          pos_integer | :all,
          boolean
        ) :: {:ok, list} | {:more, term} | :closed
  def rank_index_by_rank(_store, _listing, _ranks, _limit, _last), do: not_loaded()

  @spec rank_index_by_value(
          store,
          {atom, query, boolean},
          {term, term},
          pos_integer | :all,
          boolean
        ) :: {:ok, list} | {:more, term} | :closed
  def rank_index_by_value(_store, _listing, _scores, _limit, _last), do: not_loaded()

  @spec rank_index_more(term) :: {:ok, list} | {:more, term} | :closed
  def rank_index_more(_continuation), do: not_loaded()

  @spec rank_index_names(store) :: {:ok, [atom]} | :closed
  def rank_index_names(_store), do: not_loaded()

  @spec rank_index_add(store, index, {pid, reference} | nil) ::
          :ok | {:error, :exists} | rejected | :closed
  def rank_index_add(_store, _index, _listener), do: not_loaded()

  @spec rank_index_remove(store, atom) :: :ok | {:error, :not_found} | :closed
  def rank_index_remove(_store, _name), do: not_loaded()

  @spec drain() :: :ok
  def drain, do: not_loaded()

  defp not_loaded, do: :erlang.nif_error(:nif_not_loaded)
end
