"""Writes a histogram to a file, in the format that the file's suffix names."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from .._system.whole_file import whole_file
from .._system.written_files import picture_file, write_text
from ..errors import UnsupportedError, local_path, writing

if TYPE_CHECKING:
    from ..session.draw import Drawn

__all__ = ["check", "write"]


def check(path: str) -> None:
    """Raises UnsupportedError if `write` cannot write such a file. To be called before the work."""
    suffix = Path(local_path(path)).suffix.lower()
    if suffix not in _WRITERS:
        raise UnsupportedError(f"cannot write {path}: give it one of {' '.join(_WRITERS)}")
    if _WRITERS[suffix] is _picture:
        for module in ("matplotlib", "mplhep"):
            if importlib.util.find_spec(module) is None:
                raise UnsupportedError(f"pictures need {module}: pip install 'treemill[plot]'")


def write(drawn: Drawn, path: str, log: bool = False) -> None:
    """Writes the histogram. Raises SourceError if the file cannot be written. `log`: draw a picture
    on a logarithmic scale."""
    _WRITERS[Path(path).suffix.lower()](drawn, path, log)


def _picture(drawn: Drawn, path: str, log: bool) -> None:
    from ..pictures.pictures import save  # start-up

    with picture_file(path) as (file, form):
        save([drawn.histogram], [drawn.title], file, log, form)


def _root(drawn: Drawn, path: str, _log: bool) -> None:
    import uproot

    with writing(path), whole_file(path) as whole, uproot.recreate(whole) as file:
        file[_object_name(drawn.name)] = drawn.histogram


def _object_name(words: str) -> str:
    """A name that ROOT's prompt can use, of letters, digits and underscores."""
    name = "".join(c if c.isascii() and c.isalnum() else "_" for c in words).strip("_")
    return name if name and not name[0].isdigit() else f"h_{name}"


def _json(drawn: Drawn, path: str, _log: bool) -> None:
    import json

    import uhi.io.json

    text = json.dumps(drawn.histogram, default=uhi.io.json.default, allow_nan=False)
    write_text(path, text + "\n")


_WRITERS: dict[str, Callable[[Drawn, str, bool], None]] = {
    ".png": _picture,
    ".pdf": _picture,
    ".svg": _picture,
    ".root": _root,
    ".json": _json,
}
