"""What is in a library for macOS (Mach-O), against what a wheel's must have: the least version of
macOS, the libraries that it needs, where each name is looked for, and a signature that agrees with
the file. Looks at the library's bytes alone; needs lief (requirements/dev.txt, release.txt).

A Mac with Apple's processor ends a process that loads a library whose signature is wrong, and a
name that no library is known for is looked for in all of them. Neither is seen by linking.
"""

from __future__ import annotations

import hashlib
import io
import re
import struct
from collections.abc import Iterator

import lief

__all__ = ["findings_of_library"]

_SYSTEM = re.compile(
    r"/usr/lib/lib(System\.B|charset\.1|iconv\.2)\.dylib|/System/Library/Frameworks/"
)
"""Libraries that every Mac has."""
_PYTHON = re.compile(r"_?_Py")
"""Names that the interpreter gives: a wheel is linked to no library of Python."""
_START = "_PyInit__core"
_PAGES = struct.Struct(">9I4B")
"""The start of a code directory (cs_blobs.h of XNU): magic, length, version, flags, offsets of the
hashes and of the name, special and code slots, bytes covered; the hash's size and kind, platform,
logarithm of the page's size."""
_SIGNATURE, _DIRECTORY, _SHA256 = 0xFADE0CC0, 0xFADE0C02, 2


def findings_of_library(data: bytes, processor: str, macos: str) -> Iterator[str]:
    """What is wrong with a library. `processor`: `arm64` or `x86_64`; `macos`: the least version
    that it must run on, as `11.0`."""
    lief.logging.disable()
    library = lief.MachO.parse(io.BytesIO(data))
    if library is None or library.size != 1:
        yield "is no library for one processor"
        return
    (binary,) = library
    if binary.header.cpu_type.name != processor.upper():
        yield f"is for {binary.header.cpu_type.name.lower()}, not {processor}"
    yield from _of_version(binary, macos)
    for each in binary.libraries:
        if each.command.name != "ID_DYLIB" and not _SYSTEM.match(each.name):
            yield f"needs {each.name}, which not every Mac has"
    own = {str(symbol.name) for symbol in binary.exported_symbols}
    for binding in binary.bindings:
        name = str(binding.symbol.name) if binding.symbol else ""
        # The library's own weak symbols may be replaced by those of another.
        if binding.library is None and name not in own and not _PYTHON.match(name):
            yield f"names {name} and no library that has it"
    if _START not in own:
        yield f"has no {_START}: it is no module of Python"
    yield from _of_signature(binary, data)


def _of_version(binary: lief.MachO.Binary, macos: str) -> Iterator[str]:
    if binary.build_version is not None:
        said = binary.build_version.minos
    elif binary.version_min is not None:
        said = binary.version_min.version
    else:
        yield "does not say which macOS it needs"
        return
    allowed = tuple(map(int, macos.split(".")))
    if tuple(said)[: len(allowed)] > allowed:
        yield f"needs macOS {'.'.join(map(str, said))}, its wheel says {macos}"


def _of_signature(binary: lief.MachO.Binary, data: bytes) -> Iterator[str]:
    command = binary.code_signature
    if command is None:
        if binary.header.cpu_type.name == "ARM64":
            yield "is not signed, as Apple's processors require"
        return
    blob = data[command.data_offset : command.data_offset + command.data_size]
    try:
        bad = list(_pages_that_differ(blob, data))
    except struct.error:
        yield "has a signature that cannot be read"
        return
    if bad:
        yield f"is not what was signed: {len(bad)} pages differ, the first is {bad[0]}"


def _pages_that_differ(blob: bytes, data: bytes) -> Iterator[int]:
    """Pages whose hash is not the one that was signed. Raises struct.error if `blob` is too short,
    or has no directory of such hashes."""
    magic, _, count = struct.unpack_from(">3I", blob)
    places = [struct.unpack_from(">2I", blob, 12 + 8 * each)[1] for each in range(count)]
    read = [(place, _PAGES.unpack_from(blob, place)) for place in places if magic == _SIGNATURE]
    found = [one for one in read if one[1][0] == _DIRECTORY and one[1][10] == _SHA256]
    if not found:
        raise struct.error("no directory of SHA-256")
    start, fields = found[0]
    hashes, slots, covered, size, page = (fields[at] for at in (4, 7, 8, 9, 12))
    for slot in range(slots):
        at = start + hashes + slot * size
        part = data[slot << page : min((slot + 1) << page, covered)]
        if blob[at : at + size] != hashlib.sha256(part).digest():
            yield slot
