"""The messages between the scheduler of leases and its sites: plain values. Messages of one site
arrive in their order. Files are numbered as in the dataset. A site is a worker to those that lead
the pass: its loss is WorkerLost, with all that it had not handed up, and what it hands up is
Committed, with its ranges."""

from __future__ import annotations

from ..frozen import frozen
from . import Committed, FileSize, Finish, Halt, Stop, Tick, WorkerLost


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


# From a site to the scheduler of leases.


@frozen
class SiteJoined:
    """A site has joined, with nothing in hand. `name`: by which files are near to it or not. No
    other one has or had its number."""

    site: int
    name: str


@frozen
class Standing:
    """How a site stands: its workers, the entries per second of all of them (0: not measured
    yet), and the entries that none of them has begun."""

    site: int
    workers: int
    rate: float
    left: float


@frozen
class Asked:
    """The site asks for more. Grant is the answer, at any time later."""

    site: int


@frozen
class Opened:
    """The size of a file that was leased without one has become known."""

    site: int
    file: int
    size: FileSize


@frozen
class Returned:
    """These parts, of which no entry was begun, are not the site's any more. Answer to
    TakeBack."""

    site: int
    parts: tuple[Part, ...]


@frozen
class Failed:
    """The site has tried this part in vain, as often as it may. stop None: the file could not
    be opened."""

    site: int
    part: Part
    error: BaseException


@frozen
class Ended:
    """Answer to Halt: the site has handed up all that it will."""

    site: int


Upward = SiteJoined | WorkerLost | Standing | Asked | Opened | Returned | Failed | Committed | Ended
LeaseEvent = Upward | Tick | Stop


# From the scheduler of leases to its sites. Halt and Finish are for all of them.


@frozen
class Grant:
    """These parts are leased to the site: answer to Asked, or what another one
    has returned for it."""

    site: int
    parts: tuple[Part, ...]


@frozen
class TakeBack:
    """Others have less to do: the site answers Returned with about this many entries that no
    worker has begun, of the files `among`, or with none."""

    site: int
    entries: int
    among: frozenset[int] | None = None


Downward = Grant | TakeBack | Halt | Finish
