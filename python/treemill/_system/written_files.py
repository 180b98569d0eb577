"""Texts and pictures in files that take their names when they are complete."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from ..errors import local_path, writing
from .whole_file import whole_file

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
def picture_file(path: str | os.PathLike[str]) -> Iterator[tuple[BinaryIO, str]]:
    """Gives a file in memory for a picture of matplotlib's, and its format, which the ending of
    `path` says; matplotlib gives a name without an ending one. At the end the picture is written as
    a whole: matplotlib's own errors on a full disk would not say that it is full. Raises
    SourceError if the file cannot be written."""
    path = local_path(path)
    if not os.path.splitext(path)[1]:
        from matplotlib import rcParams

        path = f"{path.rstrip('.')}.{rcParams['savefig.format']}"
    picture = io.BytesIO()
    yield picture, os.path.splitext(path)[1][1:]
    with writing(path), whole_file(path) as whole, open(whole, "wb") as file:
        file.write(picture.getbuffer())
