"""Seeds of up to 1 MB for what random bytes do not find: records whose parts lie in one another.

Each was read as often as it is named once, and took gigabytes. Written as ROOT writes objects;
knows no files.
"""

from collections.abc import Callable, Iterator

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


def _element() -> bytes:
    numbers = b"".join(x.to_bytes(4, "big") for x in (3, 4, 0, 0, 0, 0, 0, 0, 0))
    base = _object(4, _named(b"x") + numbers + _string(b"int"))
    return _pointer(b"TStreamerBasicType", _object(2, base))


def _streamer() -> bytes:
    """TStreamerInfos whose elements are one array behind the last of them."""
    n = 5_000
    elements = _pointer(b"TObjArray", _array([_element()] * 2_000))
    items = _towards(
        lambda more: _pointer(b"TStreamerInfo", _object(9, _named(b"a", more + 1))), n, b"\0"
    )
    return _list(items + bytes(8) + elements, n)


def _tree(branches: list[bytes], aliases: bytes, entries: int) -> bytes:
    """A TTree of version 20."""
    numbers = [x.to_bytes(8, "big") for x in (entries, 0, 0, 0, 0)]
    numbers += [b"\x3f\xf0" + bytes(6), bytes(20), bytes(48), b"\1", b"\1"]
    attributes = b"".join(_object(2, bytes(n)) for n in (6, 4, 8))
    io = _object(0, bytes(5))
    members = _named(b"t") + attributes + b"".join(numbers) + io
    return _object(20, members + _array(branches) + _array([]) + aliases + bytes(24))


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


def seeds() -> Iterator[Seed]:
    """All of them."""
    yield "streamer", _streamer()
    for record in (_aliases(), _claims()):
        yield "tree", bytes(2) + record
    yield "rntuple", _groups()
