"""A selector's output while `process` adds to it. `process` may change what an earlier chunk has
put there, but must not replace it by something that was made without it.

`output["n"] += 1` binds the name anew, as `output["n"] = len(events)` does; but it reads the name
first. So the output notes which keys each chunk has read. Knows dicts, and nothing of their values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..errors import QueryError

if TYPE_CHECKING:
    from _collections_abc import dict_items, dict_values

__all__ = ["Additive", "Chunks", "Results"]

Results = dict[Any, object]
"""Results by name. A nested dict may have keys of any kind."""


class Chunks:
    """Counts the chunks of one output. All dicts of the output ask the same object."""

    def __init__(self, name: str) -> None:
        """`name` of the output, for messages."""
        self.name = name
        self.number = 0
        self.at_work = False

    def begin(self) -> None:
        """Notes that `process` begins with the next chunk."""
        self.number += 1
        self.at_work = True

    def end(self) -> None:
        """Notes that `process` has returned: later changes of the output are not its own."""
        self.at_work = False


class Additive(Results):
    """A dict of results that notes what is read. Dicts in it become Additive too. Copies and
    pickles are plain dicts."""

    def __init__(self, values: Results, chunks: Chunks, name: str) -> None:
        super().__init__(values)
        self._chunks = chunks
        self._name = name
        self._seen: dict[object, int] = {}  # the chunk that last read or bound a key
        self.adopt()

    def adopt(self) -> None:
        """Makes the plain dicts that were put into it Additive."""
        for key, value in self._plain_items():
            if type(value) is dict:
                results = Additive(value, self._chunks, f"{self._name}[{key!r}]")
                super().__setitem__(key, results)
            elif type(value) is Additive:
                value.adopt()

    def plain(self) -> Results:
        """A copy that consists of plain dicts."""
        return {
            key: value.plain() if isinstance(value, Additive) else value
            for key, value in self._plain_items()
        }

    def _plain_items(self) -> list[tuple[object, object]]:
        return list(super().items())

    def check_replacement(self, other: Mapping[Any, object]) -> None:
        """Raises QueryError if `other`, which was bound in place of this dict, has lost or replaced
        a value."""
        for key, old in self._plain_items():
            self._check(key, old, other.get(key))

    def _check(self, key: object, old: object, new: object) -> None:
        chunks = self._chunks
        if not chunks.at_work or self._seen.get(key) == chunks.number or new is old or old is None:
            return
        if isinstance(old, str | bool) and type(new) is type(old) and new == old:
            return  # text and Booleans may be bound anew if they are the same in all chunks
        what = f"{self._name}[{key!r}]"
        raise QueryError(
            f"process replaces {what}, so that what earlier chunks put there is lost: add to it, "
            f"{what} += …, or return a dict, which is added: return {{{key!r}: …}}"
        )

    def _note(self, key: object) -> None:
        self._seen[key] = self._chunks.number

    # Changes.

    def __setitem__(self, key: object, value: object) -> None:
        if key in self:
            self._check(key, super().__getitem__(key), value)
        self._note(key)
        super().__setitem__(key, value)

    def update(self, *others: Any, **values: object) -> None:
        """Updates as a dict does, key by key."""
        for key, value in dict(*others, **values).items():
            self[key] = value

    def __ior__(self, other: object) -> Additive:
        self.update(other)
        return self

    # Reads.

    def __getitem__(self, key: object) -> object:
        self._note(key)
        return super().__getitem__(key)

    def get(self, key: object, default: object = None) -> object:
        """Gets a value as a dict does."""
        self._note(key)
        return super().get(key, default)

    def setdefault(self, key: object, default: object = None) -> object:
        """Gets or sets a value as a dict does."""
        self._note(key)
        return super().setdefault(key, default)

    def pop(self, key: object, *default: object) -> object:
        """Removes a value as a dict does."""
        self._note(key)
        return super().pop(key, *default)

    def items(self) -> dict_items[object, object]:
        """Gives the items as a dict does; all values count as read."""
        self._note_all()
        return super().items()

    def values(self) -> dict_values[object, object]:
        """Gives the values as a dict does; all of them count as read."""
        self._note_all()
        return super().values()

    def _note_all(self) -> None:
        for key in super().__iter__():
            self._note(key)

    def __iter__(self) -> Iterator[object]:
        # Because of this method dict(x) and {**x} call __getitem__.
        return super().__iter__()

    def __or__(self, other: Mapping[Any, object]) -> Results:
        return dict(self.items()) | dict(other)

    def __ror__(self, other: Mapping[Any, object]) -> Results:
        return dict(other) | dict(self.items())

    def copy(self) -> Results:
        """A plain dict with these values."""
        return dict(self.items())

    def __reduce__(self) -> tuple[type[Results], tuple[Results]]:
        return dict, (self.plain(),)

    def __reduce_ex__(self, protocol: object) -> tuple[type[Results], tuple[Results]]:
        return self.__reduce__()
