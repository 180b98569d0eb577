"""What a packetizer is told and what it answers: plain values, which any transport can carry.

Files (their place in the dataset), workers and mergers are numbers; this package knows no names.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Packet:
    """Entries `[start, stop)` of one file, to be processed by one worker."""

    number: int
    file: int
    start: int
    stop: int
    attempt: int = 1


# Events.


@dataclass(frozen=True, slots=True)
class WorkerJoined:
    """A worker is there and has nothing to do. `node`: where it is, by the name of its host, where
    files on the same host are nearer to it than others."""

    worker: int
    node: str | None = None


@dataclass(frozen=True, slots=True)
class WorkerLost:
    """A worker is gone, and with it all that it had not committed."""

    worker: int
    reason: str = "the worker was lost"


@dataclass(frozen=True, slots=True)
class FileOpened:
    """Answer to OpenFile: the file's entries, and where it is best cut (ascending entry numbers,
    such as the starts of its clusters)."""

    worker: int
    file: int
    entries: int
    cuts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class FileFailed:
    """Answer to OpenFile: it could not be opened. `retry`: another try may help."""

    worker: int
    file: int
    error: BaseException
    retry: bool = True


@dataclass(frozen=True, slots=True)
class PacketDone:
    """The packet's entries up to `stop` are in the worker's partial, not committed yet. `stop` is
    less than the packet's own where the worker was told to stop."""

    worker: int
    packet: int
    stop: int
    seconds: float


@dataclass(frozen=True, slots=True)
class PacketFailed:
    """The packet failed. A worker cannot tell what of it is in its partial, so it has thrown away
    all that it had not committed, and the packets in there are void too."""

    worker: int
    packet: int
    error: BaseException
    retry: bool = True


@dataclass(frozen=True, slots=True)
class Committed:
    """Answer to Commit: the worker's partial, with all packets done since the last commit, is
    merged. `merger`: which merger has it, and says so; None: it is in the result itself."""

    worker: int
    merger: int | None = None


@dataclass(frozen=True, slots=True)
class Discarded:
    """Answer to Discard: the worker's partial is empty."""

    worker: int


@dataclass(frozen=True, slots=True)
class MergerJoined:
    """A merger is there and holds nothing. It takes partials of workers and merges them, so that
    the result's owner merges a few large partials instead of many small ones. Its number is no
    other merger's, not even of one that is lost."""

    merger: int


@dataclass(frozen=True, slots=True)
class MergerLost:
    """A merger is gone, and with it all that it has not handed over. What it said before its end
    has been heard; what it seems to say afterwards counts for nothing."""

    merger: int


@dataclass(frozen=True, slots=True)
class Collected:
    """Answer to Collect: what the merger had, which is all that it said was Committed, is in the
    result, and the merger holds nothing of that."""

    merger: int


@dataclass(frozen=True, slots=True)
class Refused:
    """Answer to Refuse: the merger takes nothing from the worker any more. If it had taken
    something before, it has said so before (Committed)."""

    merger: int
    worker: int


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed. Wanted about every second where speculation is: nothing else tells that a
    worker is late."""


@dataclass(frozen=True, slots=True)
class Stop:
    """No new packets; what is done gets committed, and then the query is over."""

    reason: str = "stopped"


Event = (
    WorkerJoined
    | WorkerLost
    | FileOpened
    | FileFailed
    | PacketDone
    | PacketFailed
    | Committed
    | Discarded
    | MergerJoined
    | MergerLost
    | Collected
    | Refused
    | Tick
    | Stop
)


# Actions.


@dataclass(frozen=True, slots=True)
class OpenFile:
    """The worker opens the file and answers FileOpened or FileFailed."""

    worker: int
    file: int


@dataclass(frozen=True, slots=True)
class Process:
    """The worker processes the packet and answers PacketDone or PacketFailed."""

    worker: int
    packet: Packet


@dataclass(frozen=True, slots=True)
class Commit:
    """The worker hands over its partial, and the one that merges it answers Committed. `merger`: to
    which merger; None: to the owner of the result. Afterwards the worker has no partial, even if
    the merger could not be reached: then MergerLost is the answer."""

    worker: int
    merger: int | None = None


@dataclass(frozen=True, slots=True)
class Discard:
    """The worker throws away its partial and answers Discarded: another one was first with the
    packet that it has just done."""

    worker: int


@dataclass(frozen=True, slots=True)
class Collect:
    """The merger hands over what it has, and the owner of the result answers Collected."""

    merger: int


@dataclass(frozen=True, slots=True)
class Refuse:
    """The worker was lost while its partial was on the way to the merger. The merger takes it no
    more if it has not yet, and answers Refused."""

    merger: int
    worker: int


@dataclass(frozen=True, slots=True)
class Halt:
    """Whoever is in the middle of a packet ends it early and answers PacketDone as far as it came:
    the query is ending before its time, or (Finish follows at once, and nobody waits for the
    answer) without what they do."""


@dataclass(frozen=True, slots=True)
class Finish:
    """The query is over. `error` is why, where it did not end well."""

    error: BaseException | None = None


Order = OpenFile | Process | Commit | Discard
"""What a worker is told; it has one order at a time."""

Action = Order | Collect | Refuse | Halt | Finish
