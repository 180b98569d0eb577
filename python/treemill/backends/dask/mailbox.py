"""Messages that arrive in order, and once, over requests that may be lost, repeated or overtaken.

Each side has a mailbox. A parcel holds all messages of which the other side has not said that it
has them. So a parcel never has a gap before it, and one that comes late has nothing new.
Pure: knows no message and no transport.
"""

from __future__ import annotations

from collections import deque

from ...frozen import frozen

__all__ = ["Mailbox", "Parcel"]


@frozen
class Parcel:
    """Messages on their way. `first`: the number of the first one. `heard`: how many messages of
    the other side the sender has."""

    first: int
    messages: tuple[object, ...]
    heard: int


class Mailbox:
    """One side's messages to the other one, and how many of the other side's it has."""

    def __init__(self) -> None:
        self._first = 0
        self._unheard: deque[object] = deque()
        self._heard = 0

    def put(self, message: object) -> None:
        """Adds a message to be sent."""
        self._unheard.append(message)

    @property
    def waiting(self) -> bool:
        """True if there are messages that the other side may not have."""
        return bool(self._unheard)

    def parcel(self) -> Parcel:
        """Returns what to send now."""
        return Parcel(self._first, tuple(self._unheard), self._heard)

    def take(self, parcel: Parcel) -> list[object]:
        """The messages of a parcel that are new. Raises ValueError if one before them is missing:
        the other side is not the one that the earlier parcels came from."""
        if parcel.first > self._heard or parcel.heard > self._first + len(self._unheard):
            raise ValueError("a parcel of another conversation")
        while self._first < parcel.heard:
            self._unheard.popleft()
            self._first += 1
        new = parcel.messages[self._heard - parcel.first :]
        self._heard += len(new)
        return list(new)
