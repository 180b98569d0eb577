"""What sub-masters and their parents tell each other: plain values, which any transport can carry.
Messages of one sub-master arrive in their order. Files are numbered as in the dataset, at all
levels; a sub-master's number is its parent's. Knows no names."""

from __future__ import annotations

from ..frozen import frozen
from . import NOTHING_BEYOND, Beyond, FileSize, Finish, Halt, Stop, Tick


@frozen
class Part:
    """Entries `[start, stop)` of a file; stop None: all of a file of unknown size. `cuts`: the
    entries of the file before which packets should end."""

    file: int
    start: int
    stop: int | None
    cuts: tuple[int, ...] = ()

    @property
    def entries(self) -> int | None:
        """The number of its entries, if it is known."""
        return None if self.stop is None else self.stop - self.start

    @property
    def size(self) -> FileSize | None:
        """The part's size and its cuts, counted from its start."""
        if self.stop is None:
            return None
        if not self.start:
            return FileSize(self.stop, self.cuts)
        cuts = tuple(cut - self.start for cut in self.cuts if self.start < cut < self.stop)
        return FileSize(self.stop - self.start, cuts)


# From a sub-master to its parent.


@frozen
class SubJoined:
    """A sub-master has joined, with nothing in hand. `site`: the name by which files are near to it
    or not. No other one has or had its number."""

    sub: int
    site: str


@frozen
class SubLost:
    """A sub-master is lost, and with it all that it had not handed up. Its earlier messages have
    been handled; later ones have no effect."""

    sub: int
    reason: str = "the sub-master was lost"


@frozen
class NotComing:
    """No sub-master of this site is to be expected any more."""

    site: str


@frozen
class Standing:
    """How a sub-master stands: its workers, the entries per second of all of them (0: not measured
    yet), and the entries that none of them has begun."""

    sub: int
    workers: int
    rate: float
    left: float


@frozen
class Asked:
    """The sub-master asks for more. Grant is the answer, at any time later."""

    sub: int


@frozen
class Opened:
    """The size of a file that was leased without one has become known."""

    sub: int
    file: int
    size: FileSize


@frozen
class Returned:
    """These parts, of which no entry was begun, are not the sub-master's any more. Answer to
    TakeBack, or unasked if the sub-master has no workers."""

    sub: int
    parts: tuple[Part, ...]
    asked: bool = False


@frozen
class Failed:
    """The sub-master has tried this part in vain, as often as it may. stop None: the file could not
    be opened."""

    sub: int
    part: Part
    error: BaseException


@frozen
class HandedUp:
    """The partial that came with this is merged; it has exactly these ranges: file, start, stop."""

    sub: int
    ranges: tuple[tuple[int, int, int], ...]


@frozen
class Ended:
    """Answer to Halt or Resign: the sub-master has handed up all that it will."""

    sub: int


Upward = SubJoined | SubLost | Standing | Asked | Opened | Returned | Failed | HandedUp | Ended
LessorEvent = Upward | NotComing | Tick | Stop


# From a parent to its sub-masters. Halt and Finish are for all of them.


@frozen
class Grant:
    """These parts are leased to the sub-master: answer to Asked, or more than it has asked for.
    `beyond`: what it will probably get later."""

    sub: int
    parts: tuple[Part, ...]
    beyond: Beyond = NOTHING_BEYOND


@frozen
class NothingLeft:
    """There is nothing to lease now, so that workers may run what others of them are late with. The
    sub-master's question stands."""

    sub: int


@frozen
class TakeBack:
    """Others have less to do: the sub-master answers Returned with about this many entries that no
    worker has begun, of the files `among`, or with none."""

    sub: int
    entries: int
    among: frozenset[int] | None = None


@frozen
class Resign:
    """The sub-master ends as with Halt, though the query goes on: it will go. What it has merged it
    keeps for another one."""

    sub: int


Downward = Grant | NothingLeft | TakeBack | Resign | Halt | Finish
