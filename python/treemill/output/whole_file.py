"""A file that takes its name when it is complete; an older one stays until then."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ..errors import writing

__all__ = ["whole_file"]


@contextmanager
def whole_file(path: str, suffix: str) -> Iterator[str]:
    """Gives the name under which the file is written, beside its own and with the same suffix.
    Raises SourceError if it cannot be written."""
    made = f"{path.removesuffix(suffix)}.{os.getpid()}.part{suffix}"
    with writing(path):
        try:
            yield made
            os.replace(made, path)
        except BaseException:
            with suppress(FileNotFoundError):
                os.remove(made)
            raise
