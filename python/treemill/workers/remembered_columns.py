"""What this process remembers of selectors: the columns that each has touched. A selector is the
same as long as its classes are called the same and have the same code. Knows no chunk and no file.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterable
from types import CodeType, FunctionType

__all__ = ["Key", "key_of", "recall", "remember"]

Key = str
_MOST = 256
"""Selectors that are remembered; a notebook may define one again and again."""

_known: OrderedDict[Key, frozenset[str]] = OrderedDict()
_lock = threading.Lock()


def key_of(selector: object) -> Key:
    """Names a selector's class, or that of the coffea processor in it, and its code."""
    kind = type(getattr(selector, "processor", selector))
    digest = hashlib.sha256()
    for base in kind.__mro__:
        if base.__module__.partition(".")[0] in ("builtins", "treemill", "coffea"):
            continue
        digest.update(base.__qualname__.encode())
        for name, value in sorted(vars(base).items()):
            if isinstance(value, FunctionType):
                digest.update(name.encode())
                _add(digest, value.__code__)
    return f"{kind.__module__}.{kind.__qualname__}:{digest.hexdigest()}"


def _add(digest: hashlib._Hash, code: CodeType) -> None:
    digest.update(code.co_code)
    digest.update(repr(code.co_names).encode())
    for value in code.co_consts:
        if isinstance(value, CodeType):
            _add(digest, value)
        else:
            digest.update(repr(value).encode())


def recall(key: Key) -> frozenset[str]:
    """The columns that the selector has touched in its last run; empty if it is not known."""
    with _lock:
        columns = _known.get(key)
        if columns is None:
            return frozenset()
        _known.move_to_end(key)
        return columns


def remember(key: Key, touched: Iterable[str]) -> None:
    """Notes which columns the selector touches."""
    with _lock:
        _known[key] = frozenset(touched)
        _known.move_to_end(key)
        while len(_known) > _MOST:
            _known.popitem(last=False)
