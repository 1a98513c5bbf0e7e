"""Every key the engine writes. This docstring is the map of the disk.

    A  access_key_id                                                -> access key (JSON)
    C  uuid  slice                                                  -> how far a trigger has come (JSON)
    D  due_at_micros  scalable_target_key                           -> when to look at a scalable target (nothing)
    F  name                                                         -> a function that triggers may call: its target
    H  minute  table_id  index_number  rule                         -> the most used keys of a minute (JSON)
    K  table_id                                                     -> Kinesis destination of a table (JSON)
    M  account 00 region 00 namespace 00 span  group 00 number      -> what was measured (JSON)
    P  table_id  label                                              -> policy of a table, or of a stream of it (JSON)
    S  account 00 region 00 resource_id 00 dimension                -> scalable target (JSON)
    T  account 00 region 00 uuid                                    -> trigger on a stream (JSON)
    V  account 00 region 00 at_micros  id                           -> scaling activity (JSON)
    W  account 00 region 00 name                                    -> alarm (JSON)
    X  account 00 region 00 name 00 number                          -> what happened to an alarm (JSON)
    a  backup_id  base_key                                          -> item of a backup
    b  table_id  index_number                                       -> how far a new index is filled (JSON)
    c  account 00 region 00 table_name                              -> table record (JSON)
    d  table_id  index_number                                       -> deleted table or index whose data must go (JSON)
    e  expires_at_micros  token_key                                 -> when to forget a transaction token (nothing)
    f  id                                                           -> the filling of a table or backup (JSON)
    g  table_id                                                     -> tags (JSON)
    i  table_id  partition_hash  sort_key                           -> item
    j  transfer_key  number                                         -> a piece of a transfer (JSON)
    k  account 00 region 00 table_name 00 backup                    -> backup (JSON)
    l  table_id  slice  sequence                                    -> one change of one item
    m  name                                                         -> a fact about the database
    n  table_id  index_number  what                                 -> counter: items, bytes
    o  account 00 region 00 kind 00 id                              -> an export, import or bulk operation (JSON)
    p  number  item_key                                             -> index writes that are due later (JSON)
    q  table_id  expires_at_seconds  base_key                       -> an item that will expire (nothing)
    r  account 00 region 00 table_name 00 label                     -> stream record (JSON)
    s  table_id  partition_hash                                     -> counter: bytes of one item collection
    t  account 00 region 00 token                                   -> a transaction that was carried out (JSON)
    u  transfer_key                                                 -> how far a transfer under way has come (JSON)
    v  id  base_key                                                 -> an item that a filling must leave out (nothing)
    w  table_id  reader                                             -> a reader of a change log (JSON)
    x  table_id  index_number  partition_hash  sort_parts  base_key -> index entry
    y  table_id                                                     -> by what a table's items expire (JSON)

A partition is one contiguous range because its key starts with a hash of the partition key; inside it, items are in
sort-key order. An index is the same shape again: its entries are partitioned by the hash of the index's partition
key and ordered by its sort key. `base_key` (the item's own partition hash and sort key) makes each entry unique.

Table ids are never used twice, so whatever a deleted table leaves behind belongs to nobody.
"""

from __future__ import annotations

from struct import Struct

from hashrange.values.ordered import after

ACCESS_KEY = b"A"
CHECKPOINT = b"C"
SCALING_DUE = b"D"
FUNCTION = b"F"
HOT_KEYS = b"H"
KINESIS = b"K"
METRIC = b"M"
POLICY = b"P"
SCALABLE_TARGET = b"S"
TRIGGER = b"T"
SCALING_ACTIVITY = b"V"
ALARM = b"W"
ALARM_EVENT = b"X"
BACKUP_ITEM = b"a"
BACKFILL = b"b"
CATALOG = b"c"
DELETED = b"d"
EXPIRY = b"e"
FILLING = b"f"
TAGS = b"g"
ITEM = b"i"
PIECE = b"j"
BACKUP = b"k"
LOG = b"l"
META = b"m"
COUNTER = b"n"
TRANSFER = b"o"
POSTPONED = b"p"
EXPIRING_ITEM = b"q"
STREAM = b"r"
COLLECTION = b"s"
TOKEN = b"t"
UNDER_WAY = b"u"
LEFT_OUT = b"v"
LOG_READER = b"w"
INDEX = b"x"
EXPIRING = b"y"

TABLE_ID_BYTES = 4
PARTITION_HASH_BYTES = 16
ITEM_PREFIX_BYTES = 1 + TABLE_ID_BYTES

BASE_TABLE = 0  # the index number that stands for the table itself in counters
ITEMS = b"i"
BYTES = b"b"

LAST_TABLE_ID = META + b"last_table_id"
LAST_SEQUENCE = META + b"last_sequence"
LAST_POSTPONED = META + b"last_postponed"
CLOCK_OFFSET = META + b"clock_offset"
ALARMS_EVALUATED = META + b"alarms_evaluated"
METRICS_TRIMMED = META + b"metrics_trimmed"
WORKER = META + b"worker/"  # one for each process that serves

_table_id = Struct(">I")
_index_number = Struct(">H")
_long = Struct(">Q")


def scope_prefix(account: str, region: str) -> bytes:
    return f"{account}\0{region}\0".encode()


def catalog_key(scope: bytes, table_name: str) -> bytes:
    return CATALOG + scope + table_name.encode()


def deleted_key(table_id: int, index_number: int = BASE_TABLE) -> bytes:
    return DELETED + _table_id.pack(table_id) + _index_number.pack(index_number)


def backfill_key(table_id: int, index_number: int) -> bytes:
    return BACKFILL + _table_id.pack(table_id) + _index_number.pack(index_number)


def tags_key(table_id: int) -> bytes:
    return TAGS + _table_id.pack(table_id)


def policy_key(table_id: int, stream_label: str = "") -> bytes:
    return POLICY + _table_id.pack(table_id) + stream_label.encode()


def item_prefix(table_id: int) -> bytes:
    """What every item key of a table starts with; the partition hash and the sort key follow."""
    return ITEM + _table_id.pack(table_id)


def index_prefix(table_id: int, index_number: int) -> bytes:
    """What every entry of one index starts with."""
    return INDEX + _table_id.pack(table_id) + _index_number.pack(index_number)


def counter_key(table_id: int, index_number: int, what: bytes) -> bytes:
    return COUNTER + _table_id.pack(table_id) + _index_number.pack(index_number) + what


def expiring_key(table_id: int) -> bytes:
    return EXPIRING + _table_id.pack(table_id)


def expiring_item_key(table_id: int, expires_at_seconds: int, base_key: bytes) -> bytes:
    return EXPIRING_ITEM + _table_id.pack(table_id) + _long.pack(expires_at_seconds) + base_key


def expiring_items_range(table_id: int, before_seconds: int | None) -> tuple[bytes, bytes]:
    """The queued items of a table that expire before a time, or all of them."""
    prefix = EXPIRING_ITEM + _table_id.pack(table_id)
    return prefix, after(prefix) if before_seconds is None else prefix + _long.pack(before_seconds)


def expiring_base_key_of(key: bytes) -> bytes:
    """The item that an entry of the queue is about."""
    return key[ITEM_PREFIX_BYTES + _long.size :]


def hot_keys_key(minute: int, table_id: int, index_number: int, rule: int) -> bytes:
    """By time first, so that what is too old is the beginning of one range."""
    table = _table_id.pack(table_id) + _index_number.pack(index_number)
    return HOT_KEYS + _long.pack(minute) + table + bytes((rule,))


def hot_keys_range(before_minute: int) -> tuple[bytes, bytes]:
    """Everything that was noted before a minute."""
    return HOT_KEYS, HOT_KEYS + _long.pack(before_minute)


def log_prefix(table_id: int, slice_number: int | None = None) -> bytes:
    """What the log records of a table start with, or those of one slice of its items."""
    prefix = LOG + _table_id.pack(table_id)
    return prefix if slice_number is None else prefix + bytes((slice_number,))


def log_key(table_id: int, slice_number: int, sequence: int) -> bytes:
    return LOG + _table_id.pack(table_id) + bytes((slice_number,)) + _long.pack(sequence)


def transfer_prefix(scope: bytes, kind: str) -> bytes:
    """What the keys of all transfers of a kind start with; their ids follow, which grow with time."""
    return TRANSFER + scope + kind.encode() + b"\0"


def transfer_key(scope: bytes, kind: str, identifier: str) -> bytes:
    return transfer_prefix(scope, kind) + identifier.encode()


def under_way_key(transfer: bytes) -> bytes:
    return UNDER_WAY + transfer


def transfer_key_of(under_way: bytes) -> bytes:
    """The transfer that a key of kind `UNDER_WAY` is about."""
    return under_way[len(UNDER_WAY) :]


def piece_prefix(transfer: bytes) -> bytes:
    """What the keys of a transfer's pieces start with."""
    return PIECE + transfer + b"\0"


def piece_key(transfer: bytes, number: int) -> bytes:
    return piece_prefix(transfer) + _long.pack(number)


def log_reader_key(table_id: int, reader: str) -> bytes:
    return LOG_READER + _table_id.pack(table_id) + reader.encode()


def backup_key(scope: bytes, table_name: str, backup: str) -> bytes:
    return BACKUP + scope + table_name.encode() + b"\0" + backup.encode()


def backup_item_prefix(backup_id: int) -> bytes:
    """What the items of a backup start with; the base key follows."""
    return BACKUP_ITEM + _table_id.pack(backup_id)


def filling_key(filled_id: int) -> bytes:
    return FILLING + _table_id.pack(filled_id)


def left_out_prefix(filled_id: int) -> bytes:
    """What the marks of one filling start with; the base key of the item that is left out follows."""
    return LEFT_OUT + _table_id.pack(filled_id)


def stream_key(scope: bytes, table_name: str, label: str) -> bytes:
    return STREAM + scope + table_name.encode() + b"\0" + label.encode()


def access_key_key(access_key_id: str) -> bytes:
    return ACCESS_KEY + access_key_id.encode()


def function_key(name: str) -> bytes:
    return FUNCTION + name.encode()


def trigger_key(scope: bytes, uuid: str) -> bytes:
    return TRIGGER + scope + uuid.encode()


def checkpoint_prefix(uuid: str) -> bytes:
    """What the checkpoints of a trigger start with; the slice follows."""
    return CHECKPOINT + uuid.encode()


def checkpoint_key(uuid: str, slice_number: int) -> bytes:
    return checkpoint_prefix(uuid) + bytes((slice_number,))


def kinesis_key(table_id: int) -> bytes:
    return KINESIS + _table_id.pack(table_id)


def worker_key(process_id: int) -> bytes:
    return WORKER + str(process_id).encode()


def alarm_key(scope: bytes, name: str) -> bytes:
    return ALARM + scope + name.encode()


def alarm_event_prefix(scope: bytes, name: str) -> bytes:
    """What the events of one alarm start with; their numbers follow."""
    return ALARM_EVENT + scope + name.encode() + b"\0"


def alarm_event_key(scope: bytes, name: str, number: int) -> bytes:
    return alarm_event_prefix(scope, name) + _long.pack(number)


def metric_prefix(scope: bytes, namespace: str, span: bytes) -> bytes:
    """What the measurements of one namespace start with, those of a minute, an hour or all time."""
    return METRIC + scope + namespace.encode() + b"\0" + span


def metric_group_prefix(scope: bytes, namespace: str, span: bytes, group: str) -> bytes:
    """The same for one group, such as the metrics of one table."""
    return metric_prefix(scope, namespace, span) + group.encode() + b"\0"


def metric_key(scope: bytes, namespace: str, span: bytes, group: str, number: int) -> bytes:
    return metric_group_prefix(scope, namespace, span, group) + _long.pack(number)


def metric_number_of(key: bytes) -> int:
    """The minute or hour, since the epoch, that a measurement is of."""
    number: int = _long.unpack_from(key, len(key) - _long.size)[0]
    return number


def metric_parts_of(key: bytes) -> tuple[str, str, str, bytes, str]:
    """Account, region, namespace, span and group of a measurement."""
    account, region, namespace, rest = key[1 : -_long.size - 1].split(b"\0", 3)
    return account.decode(), region.decode(), namespace.decode(), rest[:1], rest[1:].decode()


def scalable_target_key(scope: bytes, resource_id: str, dimension: str) -> bytes:
    return SCALABLE_TARGET + scope + f"{resource_id}\0{dimension}".encode()


def scaling_due_key(due_at_micros: int, target: bytes) -> bytes:
    return SCALING_DUE + _long.pack(due_at_micros) + target


def scaling_due_range(now_micros: int) -> tuple[bytes, bytes]:
    """The scalable targets that are to be looked at by now."""
    return SCALING_DUE, SCALING_DUE + _long.pack(now_micros + 1)


def scalable_target_of(due: bytes) -> bytes:
    """The key of the scalable target that a key of kind `SCALING_DUE` is about."""
    return due[1 + _long.size :]


def scaling_activity_prefix(scope: bytes) -> bytes:
    """What the keys of all scaling activities of a scope start with; they are in the order of their time."""
    return SCALING_ACTIVITY + scope


def scaling_activity_key(scope: bytes, at_micros: int, identifier: str) -> bytes:
    return scaling_activity_prefix(scope) + _long.pack(at_micros) + identifier.encode()


def collection_prefix(table_id: int) -> bytes:
    """What the size counters of a table's item collections start with; the partition hash follows."""
    return COLLECTION + _table_id.pack(table_id)


def token_key(scope: bytes, token: str) -> bytes:
    return TOKEN + scope + token.encode()


def postponed_key(number: int, item_key: bytes) -> bytes:
    return POSTPONED + _long.pack(number) + item_key


def postponed_item_of(key: bytes) -> bytes:
    """The key of the item whose index writes wait under a key."""
    return key[1 + _long.size :]


def expiry_key(expires_at_micros: int, token: bytes) -> bytes:
    return EXPIRY + _long.pack(expires_at_micros) + token


def expired_range(now_micros: int) -> tuple[bytes, bytes]:
    """Everything that has expired by now."""
    return EXPIRY, EXPIRY + _long.pack(now_micros + 1)


def expiring_key_of(key: bytes) -> bytes:
    """The token that an expiry key is about."""
    return key[1 + _long.size :]


def ranges_of_table(table_id: int) -> list[tuple[bytes, bytes]]:
    """The key ranges that hold everything derived from a table's items, for deleting it piece by piece."""
    packed = _table_id.pack(table_id)
    prefixes = [kind + packed for kind in (ITEM, INDEX, COLLECTION, COUNTER, BACKFILL, TAGS)]
    own_policy = policy_key(table_id), policy_key(table_id) + b"\0"  # those of its streams stay as long as they do
    return [*((prefix, after(prefix)) for prefix in prefixes), own_policy]


def ranges_of_index(table_id: int, index_number: int) -> list[tuple[bytes, bytes]]:
    """The same for one index."""
    number = _table_id.pack(table_id) + _index_number.pack(index_number)
    return [(prefix, after(prefix)) for prefix in (INDEX + number, COUNTER + number, BACKFILL + number)]


def table_id_of(key: bytes) -> int:
    """The table that a key of any per-table kind belongs to."""
    table_id: int = _table_id.unpack_from(key, 1)[0]
    return table_id


def log_slice_of(key: bytes) -> int:
    """The slice that a log record belongs to."""
    return key[ITEM_PREFIX_BYTES]


def index_number_of(key: bytes) -> int:
    """The index that an index entry or a counter belongs to."""
    number: int = _index_number.unpack_from(key, ITEM_PREFIX_BYTES)[0]
    return number
