"""Seeds of up to 1 MB for what random bytes do not find: records whose parts lie in one another.

Each was read as often as it is named once, and took gigabytes. Written as ROOT writes objects;
knows no files.
"""

from collections.abc import Callable, Iterator

import xxhash

Seed = tuple[str, bytes]

KEY_LEN = 64
"""Of the record that the fuzz targets take theirs for."""


def _object(version: int, content: bytes, more: int = 0) -> bytes:
    """With byte count and version; the count reaches `more` bytes behind it."""
    count = 0x4000_0000 | (len(content) + 2 + more)
    return count.to_bytes(4, "big") + version.to_bytes(2, "big") + content


def _pointer(name: bytes, body: bytes) -> bytes:
    count = 0x4000_0000 | (len(name) + 5 + len(body))
    return count.to_bytes(4, "big") + b"\xff" * 4 + name + b"\0" + body


def _string(text: bytes) -> bytes:
    """Long ones say so."""
    return bytes([len(text)]) + text


def _reaching(more: int) -> bytes:
    """A string of the bytes that follow."""
    return b"\xff" + more.to_bytes(4, "big")


TOBJECT = b"\0\1\0\0\0\0\3\0\0\0"


def _named(name: bytes, more: int = 0) -> bytes:
    return _object(1, TOBJECT + _string(name) + _string(b""), more)


def _list(items: bytes, n: int) -> bytes:
    return _object(5, TOBJECT + _string(b"") + n.to_bytes(4, "big") + items)


def _array(items: list[bytes]) -> bytes:
    head = TOBJECT + _string(b"") + len(items).to_bytes(4, "big") + bytes(4)
    return _object(3, head + b"".join(items))


def _towards(make: Callable[[int], bytes], n: int, apart: bytes = b"") -> bytes:
    """Items each of which reaches to the end of the last."""
    each = len(make(0)) + len(apart)
    return b"".join(make((n - 1 - i) * each) + apart for i in range(n))


def _element(class_name: bytes = b"TStreamerBasicType", name: bytes = b"x", kind: int = 3) -> bytes:
    numbers = b"".join(x.to_bytes(4, "big") for x in (kind, 4, 0, 0, 0, 0, 0, 0, 0))
    base = _object(4, _named(name) + numbers + _string(b"int" if kind else b"BASE"))
    more = {b"TStreamerBase": bytes(4)}.get(class_name, b"")
    return _pointer(class_name, _object(3 if more else 2, base + more))


def _info(name: bytes, version: int, elements: list[bytes]) -> bytes:
    """A list with one TStreamerInfo."""
    array = _pointer(b"TObjArray", _array(elements))
    info = _object(9, _named(name) + bytes(4) + version.to_bytes(4, "big") + array)
    return _list(_pointer(b"TStreamerInfo", info) + b"\0", 1)


def _streamer() -> bytes:
    """TStreamerInfos whose elements are one array behind the last of them."""
    n = 5_000
    elements = _pointer(b"TObjArray", _array([_element()] * 2_000))
    items = _towards(
        lambda more: _pointer(b"TStreamerInfo", _object(9, _named(b"a", more + 1))), n, b"\0"
    )
    return _list(items + bytes(8) + elements, n)


def _tree(branches: list[bytes], aliases: bytes, entries: int, friends: bytes = bytes(4)) -> bytes:
    """A TTree of version 20."""
    numbers = [x.to_bytes(8, "big") for x in (entries, 0, 0, 0, 0)]
    numbers += [b"\x3f\xf0" + bytes(6), bytes(20), bytes(48), b"\1", b"\1"]
    attributes = b"".join(_object(2, bytes(n)) for n in (6, 4, 8))
    io = _object(0, bytes(5))
    members = _named(b"t") + attributes + b"".join(numbers) + io
    # After the aliases: fIndexValues, fIndex, fTreeIndex, fFriends, fUserInfo, fBranchRef.
    ends = aliases + bytes(12) + friends + bytes(8)
    return _object(20, members + _array(branches) + _array([]) + ends)


def _branch(leaves: list[bytes], baskets: list[bytes], entries: int) -> bytes:
    """A TBranch of version 13 whose baskets lie in the tree's record."""
    fill = _object(2, bytes(4))
    numbers = b"".join(x.to_bytes(4, "big") for x in (0, 32_000, 0, 0))
    numbers += entries.to_bytes(8, "big") + _object(0, bytes(5))
    numbers += b"".join(x.to_bytes(4, "big") for x in (0, 1, 0))
    numbers += b"".join(x.to_bytes(8, "big") for x in (entries, 0, 0, 0))
    arrays = _array([]) + _array(leaves) + _array(baskets)
    tables = b"".join(b"\1" + bytes(n) for n in (4, 8, 8))
    return _object(13, _named(b"x") + fill + numbers + arrays + tables + _string(b""))


def _leaf(name: bytes) -> bytes:
    numbers = b"".join(x.to_bytes(4, "big") for x in (1, 4, 0))
    body = _object(2, _named(name) + numbers + bytes(2) + bytes(4)) + bytes(8)
    return _pointer(b"TLeafF", _object(1, body))


def _basket(more: int) -> bytes:
    """A TBasket without data that says it had all the bytes that follow."""
    strings = _string(b"TBasket") + _string(b"x") + _string(b"t")
    key_len = 26 + len(strings) + 19
    key = bytes(4) + b"\0\4" + bytes(8) + key_len.to_bytes(2, "big") + bytes(10) + strings
    numbers = b"".join(x.to_bytes(4, "big") for x in (32_000, 1000, 1, key_len + more))
    return _pointer(b"TBasket", key + b"\0\3" + numbers + b"\x0c" + bytes(key_len))


def _baskets() -> bytes:
    """Baskets each of which covers all that follow."""
    n = 5_000
    each = len(_basket(0))
    baskets = [_basket((n - 1 - i) * each) for i in range(n)]
    return _tree([_pointer(b"TBranch", _branch([_leaf(b"x")], baskets, n))], bytes(4), n)


def _leaf_list() -> bytes:
    """A branch of very many leaves."""
    leaves = [_leaf(b"%d" % i) for i in range(7_000)]
    return _tree([_pointer(b"TBranch", _branch(leaves, [], 0))], bytes(4), 0)


def _bases() -> bytes:
    """A TBranch whose bases lie in one another, after its end: exponentially many ways."""
    info = _info(b"TBranch", 7, [_element(b"TStreamerBase", b"TBranch", 0)] * 500)
    objects = b"\x40\0\0\2\0\7" * 2_000
    return len(info).to_bytes(2, "big") + info + _tree([_pointer(b"TBranch", objects)], bytes(4), 0)


def _friends() -> bytes:
    """TFriendElements whose trees' names are all that follows."""
    base = _element(b"TStreamerBase", b"TNamed", 67)
    text = _element(b"TStreamerString", b"fTreeName", 65)
    info = _info(b"TFriendElement", 2, [base, text])
    n = 9_000
    items = _towards(
        lambda more: _pointer(b"TFriendElement", _object(2, _named(b"f") + _reaching(more))),
        n,
        b"\0",
    )
    tree = _tree([], bytes(4), 0, _pointer(b"TList", _list(items, n)))
    return len(info).to_bytes(2, "big") + info + tree


def _key(class_name: bytes, name: bytes, cycle: int, seek: int, size: int) -> bytes:
    """A TKey of a record of `size` bytes after it; both lie at `seek`."""
    strings = b"".join(map(_string, (class_name, name, b"")))
    key_len = 26 + len(strings)
    sizes = (key_len + size).to_bytes(4, "big") + b"\0\4" + size.to_bytes(4, "big") + bytes(4)
    seeks = seek.to_bytes(4, "big") + (100).to_bytes(4, "big")
    return sizes + key_len.to_bytes(2, "big") + cycle.to_bytes(2, "big") + seeks + strings


def _file(class_name: bytes, record: bytes, front: bytes = b"", names: int = 1) -> bytes:
    """A ROOT file: `front` at byte 256, a record, and keys of so many names for it."""
    seek = 256 + len(front)
    body = _key(class_name, b"t", 1, seek, len(record)) + record
    keys = b"".join(
        _key(class_name, b"%d" % i if i else b"t", 1, seek, len(record)) for i in range(names)
    )
    content = names.to_bytes(4, "big") + keys
    at = seek + len(body)
    listed = _key(b"TFile", b"f", 1, at, len(content)) + content
    end = at + len(listed)
    head = b"root" + b"".join(x.to_bytes(4, "big") for x in (62_206, 100, end, 0, 0, 0, 60))
    head += b"\4" + bytes(12)
    directory = b"\0\5" + bytes(8)
    directory += b"".join(x.to_bytes(4, "big") for x in (len(listed), 60, 100, 0, at))
    return (head.ljust(160, b"\0") + directory).ljust(256, b"\0") + front + body + listed


def _aliases() -> bytes:
    """TNameds whose names are all that follows."""
    n = 9_000
    items = _towards(
        lambda more: _pointer(b"TNamed", _object(1, TOBJECT + _reaching(more))), n, b"\0"
    )
    return _tree([], _pointer(b"TList", _list(items, n)), 0)


def _claims() -> bytes:
    """A tree of 2^41 entries of which nothing is stored."""
    return _tree([], bytes(4), 1 << 41)


def _groups() -> bytes:
    """An RNTuple's footer of very many cluster groups with one page list."""
    group = bytes(16) + b"\1\0\0\0" + (100).to_bytes(8, "little") + b"\x64\0\0\0" + bytes(8)
    record = (len(group) + 8).to_bytes(8, "little") + group
    n = 1_000
    frame = (-(len(record) * n + 12)).to_bytes(8, "little", signed=True) + n.to_bytes(4, "little")
    empty = (-12).to_bytes(8, "little", signed=True) + bytes(4)
    header = bytes(8) + bytes(12) + empty * 4
    extension = (8).to_bytes(8, "little")
    footer = bytes(16) + extension + frame + record * n
    parts = (len(part).to_bytes(2, "big") + part for part in (header, footer))
    return b"".join(parts) + bytes(8) + empty * 2


def _frame(body: bytes, items: int | None = None) -> bytes:
    """A record, or a list of so many items."""
    if items is None:
        return (len(body) + 8).to_bytes(8, "little") + body
    size = (-(len(body) + 12)).to_bytes(8, "little", signed=True)
    return size + items.to_bytes(4, "little") + body


def _envelope(kind: int, payload: bytes) -> bytes:
    bare = ((len(payload) + 16) << 16 | kind).to_bytes(8, "little") + payload
    return bare + xxhash.xxh3_64_intdigest(bare).to_bytes(8, "little")


def _missing_arrays() -> bytes:
    """A file with an RNTuple whose rows all lack their optional<array<float, 2^28>>."""
    rows, length = 1_000, 1 << 28

    def text(words: bytes) -> bytes:
        return len(words).to_bytes(4, "little") + words

    def field(parent: int, role: int, name: bytes, kind: bytes, repeated: bytes = b"") -> bytes:
        flags = int(bool(repeated)).to_bytes(2, "little")
        texts = b"".join(map(text, (name, kind, b"", b"")))
        ids = bytes(8) + parent.to_bytes(4, "little") + role.to_bytes(2, "little")
        return _frame(ids + flags + texts + repeated)

    def column(kind: int, of: int) -> bytes:
        numbers = kind.to_bytes(2, "little") + (32).to_bytes(2, "little")
        return _frame(numbers + of.to_bytes(4, "little") + bytes(4))

    array = b"std::array<float,268435456>"
    fields = field(0, 1, b"f", b"std::optional<" + array + b">")
    fields += field(0, 0, b"_0", array, length.to_bytes(8, "little"))
    fields += field(1, 0, b"_0", b"float")
    lists = (fields, 3), (column(0x0E, 0) + column(0x0C, 2), 2), (b"", 0), (b"", 0)
    names = b"".join(map(text, (b"t", b"", b"hostile")))
    header = _envelope(1, bytes(8) + names + b"".join(_frame(*each) for each in lists))
    checksum = header[-8:]
    ends = bytes(4 * rows)
    page = ends + xxhash.xxh3_64_intdigest(ends).to_bytes(8, "little")
    place = (-rows).to_bytes(4, "little", signed=True) + len(ends).to_bytes(4, "little")
    trailer = bytes(8) + (505).to_bytes(4, "little")
    index = _frame(place + (256).to_bytes(8, "little") + trailer, 1)
    clusters = _frame(_frame(index + _frame(trailer, 0), 2), 1)
    summaries = _frame(_frame(bytes(8) + rows.to_bytes(8, "little")), 1)
    pages = _envelope(3, checksum + summaries + clusters)
    at = 256 + len(page)
    group = bytes(8) + rows.to_bytes(8, "little") + (1).to_bytes(4, "little")
    group += len(pages).to_bytes(8, "little") + len(pages).to_bytes(4, "little")
    group += at.to_bytes(8, "little")
    footer = _envelope(2, bytes(8) + checksum + _frame(b"") + _frame(_frame(group), 1))
    versions = b"".join(x.to_bytes(2, "big") for x in (1, 0, 1, 0))
    at += len(pages)
    links = [at, len(header), len(header), at + len(header), len(footer), len(footer), 1 << 30]
    anchor = versions + b"".join(x.to_bytes(8, "big") for x in links)
    sealed = _object(2, anchor) + xxhash.xxh3_64_intdigest(anchor).to_bytes(8, "big")
    return _file(b"ROOT::RNTuple", sealed, page + pages + header + footer)


def seeds() -> Iterator[Seed]:
    """All of them."""
    yield "streamer", _streamer()
    for record in (_aliases(), _claims(), _baskets(), _leaf_list()):
        yield "tree", bytes(2) + record
    for described in (_friends(), _bases()):
        yield "tree", described
    yield "rntuple", _groups()
    yield "file", _file(b"TTree", _leaf_list())
    yield "file", _file(b"TTree", _tree([], bytes(4), 0), names=20_000)
    yield "file", _missing_arrays()
