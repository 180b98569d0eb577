"""Wheels of one platform, each with the core for one level of processors, joined into one wheel
that has notices of others' code, too. Works on the files of wheels alone.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

__all__ = ["NOTICES", "contents", "join", "write"]

CORE = "treemill/_core.abi3.so"
NOTICES = "THIRD-PARTY.txt"
_DATE = (2020, 1, 1, 0, 0, 0)
"""Of every file in a wheel, so that the same files make the same wheel."""

Contents = dict[str, bytes]


def contents(wheel: Path) -> Contents:
    """The files of a wheel by their names, without its record."""
    with zipfile.ZipFile(wheel) as file:
        names = [name for name in file.namelist() if not name.endswith("/")]
        return {name: file.read(name) for name in names if not name.endswith(".dist-info/RECORD")}


def join(levels: Mapping[str | None, Contents], notices: str) -> Contents:
    """One wheel of those that have been compiled for each level, with the core of each.

    A wheel of one level, whose name is None, keeps its core under the core's own name. Raises
    ValueError if the wheels differ in anything but the core, and what was made of it.
    """
    made: Contents = {}
    for level, files in levels.items():
        named = {_name(name, level): data for name, data in files.items()}
        for name, data in named.items():
            if made.setdefault(name, data) != data and not _of_the_core(name):
                raise ValueError(f"{name} differs between the levels {', '.join(map(str, levels))}")
    return _with_notices(made, notices)


def _name(name: str, level: str | None) -> str:
    return name if name != CORE or level is None else f"treemill/_levels/{level}.abi3.so"


def _of_the_core(name: str) -> bool:
    """Lists of what was compiled in, with the time at which they were made."""
    return ".dist-info/sboms/" in name


def _with_notices(files: Contents, notices: str) -> Contents:
    (metadata,) = (name for name in files if name.endswith(".dist-info/METADATA"))
    folder = PurePosixPath(metadata).parent
    head, blank, body = files[metadata].decode().partition("\n\n")
    files[metadata] = f"{head}\nLicense-File: {NOTICES}{blank}{body}".encode()
    files[str(folder / "licenses" / NOTICES)] = notices.encode()
    return files


def write(files: Contents, wheel: Path) -> None:
    """Writes a wheel with its record."""
    record = next(n for n in files if n.endswith(".dist-info/METADATA"))[: -len("METADATA")]
    lines = io.StringIO()
    rows = csv.writer(lines, lineterminator="\n")
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        rows.writerow([name, f"sha256={digest}", len(data)])
    rows.writerow([f"{record}RECORD", "", ""])
    wheel.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for name, data in {**files, f"{record}RECORD": lines.getvalue().encode()}.items():
            entry = zipfile.ZipInfo(name, _DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
            file.writestr(entry, data)
