"""A file that takes its name when it is complete; an older one stays until then."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

__all__ = ["whole_file"]


@contextmanager
def whole_file(path: str | os.PathLike[str], suffix: str = "") -> Iterator[str]:
    """Gives the name under which the file is written, beside its own and with the same suffix, for
    writers that look at it. Raises OSError."""
    path = os.fspath(path)
    part_path = f"{path.removesuffix(suffix)}.{os.getpid()}.part{suffix}"
    try:
        yield part_path
        os.replace(part_path, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.remove(part_path)
        raise
