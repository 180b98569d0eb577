"""Packages for workers, as PROOF's PAR files: a folder with modules and data, or a wheel. The name
of a package's copy is made from its content, so that workers never meet an old one.

Knows files only; knows no session and no worker.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ..errors import QueryError, SourceError
from ..frozen import frozen

__all__ = ["Package", "PackageStore"]

_LEFT_OUT = {"__pycache__", ".git"}


@frozen
class Package:
    """A package as workers get it."""

    name: str
    digest: str
    """The hash of its content, hexadecimal."""
    path: str
    """Where its copy is: this folder comes first in workers' sys.path."""


class PackageStore:
    """The packages of one session, copied into a folder that `close` removes."""

    def __init__(self, tell: Callable[[Sequence[str]], None]) -> None:
        """`tell` gets the folders for workers' paths, and may refuse them."""
        self._tell = tell
        self._folder: str | None = None
        self._packages: dict[str, Package] = {}

    def add(self, path: str | os.PathLike[str]) -> Package:
        """Copies the package, unless the same content is there; it replaces one of the same name.
        Raises SourceError if there is no such package, and what `tell` raises."""
        source = Path(path)
        if source.is_dir():
            files = [(str(p.relative_to(source)), p.read_bytes()) for p in _files(source)]
        elif source.suffix == ".whl" and zipfile.is_zipfile(source):
            with zipfile.ZipFile(source) as wheel:
                names = [name for name in wheel.namelist() if not name.endswith("/")]
                files = [(name, wheel.read(name)) for name in names]
        else:
            raise SourceError(f"neither a folder nor a wheel: {source}", file=str(source))
        name = source.name.split("-")[0] if source.suffix == ".whl" else source.resolve().name
        digest = _digest(files)
        known = self._packages.get(name)
        if known is not None and known.digest == digest:
            return known
        # A folder with an __init__.py is a package; others hold modules.
        inner = name if any(each == "__init__.py" for each, _ in files) else ""
        package = Package(name, digest, self._write(digest, inner, files))
        self._change({**self._packages, name: package})
        return package

    def remove(self, name: str) -> None:
        """Removes the copy of the package. Raises QueryError if there is none of this name."""
        package = self._packages.get(name)
        if package is None:
            raise QueryError(f"no package {name!r} was uploaded", suggestions=list(self._packages))
        self._change({other: each for other, each in self._packages.items() if other != name})
        shutil.rmtree(package.path, ignore_errors=True)

    def _change(self, packages: dict[str, Package]) -> None:
        self._tell([each.path for each in packages.values()])
        self._packages = packages

    def __iter__(self) -> Iterator[Package]:
        return iter(self._packages.values())

    def close(self) -> None:
        """Removes all copies."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def _write(self, digest: str, inner: str, files: list[tuple[str, bytes]]) -> str:
        if self._folder is None:
            self._folder = tempfile.mkdtemp(prefix="treemill-packages-")
        target = Path(self._folder, digest[:16])
        root = (target / inner).resolve()
        for name, data in files:
            path = (root / name).resolve()
            if not path.is_relative_to(root):
                raise SourceError(f"a file of the package lies outside of it: {name}", file=name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return str(target)


def _files(folder: Path) -> list[Path]:
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and not _LEFT_OUT & set(path.relative_to(folder).parts)
    )


def _digest(files: list[tuple[str, bytes]]) -> str:
    sums = hashlib.sha256()
    for name, data in sorted(files):
        sums.update(f"{len(name.encode())}:{name}:{len(data)}:".encode())
        sums.update(data)
    return sums.hexdigest()
