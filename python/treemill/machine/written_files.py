"""Texts and pictures in files that take their names when they are complete."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import local_path, writing
from ..whole_file import whole_file

__all__ = ["picture_file", "write_text"]


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Writes a text file as a whole. Raises SourceError if it cannot be written."""
    path = local_path(path)
    with (
        writing(path),
        whole_file(path) as whole,
        open(whole, "w", encoding="utf-8", newline="") as file,
    ):
        file.write(text)


@contextmanager
def picture_file(path: str | os.PathLike[str]) -> Iterator[str]:
    """The same as `whole_file` for pictures of matplotlib's, which gives a name without an ending
    one. Raises SourceError if the file cannot be written."""
    path = local_path(path)
    if not os.path.splitext(path)[1]:
        from matplotlib import rcParams

        path = f"{path.rstrip('.')}.{rcParams['savefig.format']}"
    with writing(path), whole_file(path) as whole:
        yield whole
