"""A selector's output while `process` adds to it: what an earlier chunk has put there may be
changed, but not replaced by something that was made without it.

`output["n"] += 1` binds the name anew, as `output["n"] = len(events)` does; but it reads it first.
So reads are noted, chunk by chunk. Knows dicts, and nothing of what is in them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..errors import QueryError

__all__ = ["Additive", "Chunks"]


class Chunks:
    """Which chunk is at work; all dicts of one output ask the same object."""

    def __init__(self, name: str) -> None:
        """`name` of the output, for messages."""
        self.name = name
        self.number = 0
        self.at_work = False

    def begin(self) -> None:
        """The next one."""
        self.number += 1
        self.at_work = True

    def end(self) -> None:
        """What is done with the output from now on is not process's."""
        self.at_work = False


class Additive(dict[Any, Any]):
    """A dict of results, the dicts in it included. Copies, and pickles, are plain dicts."""

    def __init__(self, values: dict[Any, Any], chunks: Chunks, name: str) -> None:
        super().__init__(values)
        self._chunks = chunks
        self._name = name
        self._seen: dict[Any, int] = {}  # the chunk that last read or bound a key
        self.adopt()

    def adopt(self) -> None:
        """Plain dicts that were put into it become of this kind."""
        for key, value in self._plain_items():
            if type(value) is dict:
                made = Additive(value, self._chunks, f"{self._name}[{key!r}]")
                super().__setitem__(key, made)
            elif type(value) is Additive:
                value.adopt()

    def plain(self) -> dict[Any, Any]:
        """The same as plain dicts."""
        return {
            key: value.plain() if isinstance(value, Additive) else value
            for key, value in self._plain_items()
        }

    def _plain_items(self) -> list[tuple[Any, Any]]:
        return list(super().items())

    def check_replacement(self, other: dict[Any, Any]) -> None:
        """Raises QueryError where `other`, which is bound instead of this dict, has lost or
        replaced something."""
        for key, old in self._plain_items():
            self._check(key, old, other.get(key))

    def _check(self, key: Any, old: Any, new: Any) -> None:
        chunks = self._chunks
        if not chunks.at_work or self._seen.get(key) == chunks.number or new is old or old is None:
            return
        if isinstance(old, str | bool) and type(new) is type(old) and new == old:
            return  # the same in all chunks
        what = f"{self._name}[{key!r}]"
        raise QueryError(
            f"process replaces {what}, so that what earlier chunks put there is lost: add to it, "
            f"{what} += …, or return a dict, which is added: return {{{key!r}: …}}"
        )

    def _note(self, key: Any) -> None:
        self._seen[key] = self._chunks.number

    # Changes.

    def __setitem__(self, key: Any, value: Any) -> None:
        if key in self:
            self._check(key, super().__getitem__(key), value)
        self._note(key)
        super().__setitem__(key, value)

    def update(self, *others: Any, **values: Any) -> None:
        """Key by key."""
        for key, value in dict(*others, **values).items():
            self[key] = value

    def __ior__(self, other: Any) -> Additive:
        self.update(other)
        return self

    # Reads.

    def __getitem__(self, key: Any) -> Any:
        self._note(key)
        return super().__getitem__(key)

    def get(self, key: Any, default: Any = None) -> Any:
        """As dict's."""
        self._note(key)
        return super().get(key, default)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """As dict's."""
        self._note(key)
        return super().setdefault(key, default)

    def pop(self, key: Any, *default: Any) -> Any:
        """As dict's."""
        self._note(key)
        return super().pop(key, *default)

    def items(self) -> Any:
        """As dict's; all are read."""
        self._note_all()
        return super().items()

    def values(self) -> Any:
        """As dict's; all are read."""
        self._note_all()
        return super().values()

    def _note_all(self) -> None:
        for key in super().__iter__():
            self._note(key)

    def __iter__(self) -> Iterator[Any]:
        # That it is there makes dict(x) and {**x} ask __getitem__.
        return super().__iter__()

    def __or__(self, other: Any) -> dict[Any, Any]:
        return dict(self.items()) | dict(other)

    def __ror__(self, other: Any) -> dict[Any, Any]:
        return dict(other) | dict(self.items())

    def copy(self) -> dict[Any, Any]:
        """A plain dict."""
        return dict(self.items())

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self.plain(),)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return self.__reduce__()
