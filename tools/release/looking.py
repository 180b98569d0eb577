"""What is in a wheel, against what should be: the package's files, the core for each level,
licences, metadata. Looks at the wheel's files alone.
"""

from __future__ import annotations

import email
import re
from collections.abc import Collection, Iterator

from .joining import CORE, NOTICES, Contents

__all__ = ["LARGEST", "findings"]

LARGEST = 40 << 20
"""Bytes of a wheel, packed: package indices ask for reasons above 100 MB."""

_RECORDS = re.compile(
    r"treemill-[^/]+\.dist-info/(METADATA|WHEEL|entry_points\.txt|licenses/LICENSE"
    rf"|licenses/{re.escape(NOTICES)}|sboms/[\w.-]+\.json)"
)
_NEEDED = ("METADATA", "WHEEL", "entry_points.txt", "licenses/LICENSE", f"licenses/{NOTICES}")


def findings(files: Contents, sources: Collection[str], levels: Collection[str]) -> Iterator[str]:
    """What is wrong. `sources`: the files of the package that are kept in the repository, as paths
    from `treemill/` on; `levels`: those that there must be a core for, none for one core."""
    cores = {f"treemill/_levels/{level}.abi3.so" for level in levels} or {CORE}
    package = {name for name in files if name.startswith("treemill/")}
    for name in sorted((set(sources) | cores) - package):
        yield f"{name} is missing"
    for name in sorted(package - set(sources) - cores):
        yield f"{name} is no part of the package"
    records = set(files) - package
    for name in sorted(records):
        if not _RECORDS.fullmatch(name):
            yield f"{name} should not be here"
    for needed in _NEEDED:
        if not any(name.endswith(f".dist-info/{needed}") for name in records):
            yield f"{needed} is missing"
    for name in sorted(cores & package):
        yield from _of_core(name, files[name])
    yield from _of_metadata(files)


def _of_core(name: str, data: bytes) -> Iterator[str]:
    if data[:4] not in (b"\x7fELF", b"\xcf\xfa\xed\xfe"):
        yield f"{name} is no library"
    for folder in {match.decode() for match in re.findall(rb"/(?:home|root|work|Users)/\w+", data)}:
        yield f"{name} names a folder of the machine that built it: {folder}"


def _of_metadata(files: Contents) -> Iterator[str]:
    text = next((data for name, data in files.items() if name.endswith("/METADATA")), b"")
    said = email.message_from_bytes(text)
    if said["License-Expression"] != "BSD-3-Clause":
        yield f"METADATA says the licence is {said['License-Expression']}"
    if set(said.get_all("License-File", ())) != {"LICENSE", NOTICES}:
        yield f"METADATA names the licences {said.get_all('License-File')}"
    if said["Requires-Python"] != ">=3.11":
        yield f"METADATA says Python {said['Requires-Python']}"
