"""The forms of a trace's file, by the ending of its name."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path

from .._system.files import whole_file
from ..errors import QueryError, UnsupportedError, local_path, writing
from .recorded import Recorded

__all__ = ["check", "write"]


def _root(path: str, recorded: Recorded) -> None:
    from .root_file import write  # heavy: numpy

    write(path, recorded)


def _parquet(path: str, recorded: Recorded) -> None:
    from .parquet_file import write  # heavy: pyarrow

    write(path, recorded)


def _chrome(path: str, recorded: Recorded) -> None:
    from .chrome_file import write  # start-up

    write(path, recorded)


_WRITERS: dict[str, Callable[[str, Recorded], None]] = {
    ".root": _root,
    ".parquet": _parquet,
    ".json": _chrome,
}


def check(path: str | os.PathLike[str]) -> str:
    """The path as a text. Raises QueryError if its ending is none of ours, UnsupportedError if what
    its form needs is not installed, or for an address on a server."""
    path = local_path(path)
    ending = Path(path).suffix
    if ending not in _WRITERS:
        raise QueryError(
            f"trace is the name of a file that ends in {', '.join(_WRITERS)}, not {str(path)!r}"
        )
    if ending == ".parquet" and importlib.util.find_spec("pyarrow") is None:
        raise UnsupportedError("Parquet needs pyarrow: pip install 'treemill[arrow]'")
    return path


def write(path: str, recorded: Recorded) -> None:
    """Writes the file in the form that its ending says. It has its name once it is whole. Raises
    SourceError if it cannot be written."""
    ending = Path(path).suffix
    with writing(path), whole_file(path) as part:
        _WRITERS[ending](part, recorded)
