"""The events that a packetizer handles, with what workers measure, and the actions that it returns:
plain values, which any transport can carry. Files, workers and mergers are numbers; a file's number
is its place in the dataset. Knows no names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import NamedTuple

from ..frozen import frozen

__all__ = []

# What a worker measures of each packet: its steps, one after another, if a trace is to have that,
# and its counters; and the one table of the names of what is counted, which traces, histograms,
# Prometheus, reports and `treemill bench io` use.


class Step(NamedTuple):
    """A step. Those inside of others come with them: an evaluation has the reads, decompression and
    decoding of its columns."""

    kind: str
    """"bound", "read", "came", "wait", "decompress", "decode", "evaluate" or "left out"."""
    number: int
    """The number of a read among the worker's; "came" has that of a read that was told of before.
    Of what is left out: how many steps."""
    ago: float
    """Seconds from its begin to the end of the packet."""
    seconds: float
    """How long it took; -1 for a read that is on its way."""
    amount: int
    """Bytes that a read has asked for, or those after decompression; rows of other steps."""
    ranges: list[tuple[int, int]]
    """The ranges of bytes of the file; of an evaluation, those of its entries."""
    file: str
    """The file that was read."""
    server: str
    """The server that was asked."""
    ok: bool
    """Whether all of it came."""


class Spent(NamedTuple):
    """What one packet took of its worker. The counters of reading are those since the worker's
    packet before, so that what was asked for ahead counts, too, and nothing counts twice."""

    latency: float
    """Seconds from the worker's last answer until it got the packet."""
    opening: float
    """Seconds until the file was open and the query was bound to it."""
    cpu: float
    """Seconds of CPU of the worker's own thread."""
    bytes_read: int = 0
    """Bytes that sources were asked for."""
    reads: int = 0
    """Reads of sources; each may have many ranges."""
    requests: int = 0
    """Ranges that servers were asked for."""
    bytes_decompressed: int = 0
    """Bytes of baskets and pages after their decompression."""
    bytes_from_cache: int = 0
    """Bytes that earlier queries have decompressed."""
    waits: int = 0
    """Times that the worker waited for bytes of a server."""
    waited: float = 0.0
    """Seconds for which it did."""
    reading: float = 0.0
    """Seconds in reads of near sources."""
    decompressing: float = 0.0
    """Seconds of decompression."""
    decoding: float = 0.0
    """Seconds from the bytes of baskets and pages to columns."""


class Measure(NamedTuple):
    """A quantity that is measured."""

    unit: str
    """"s", "bytes" or ""."""
    words: str
    of_packets: bool = True
    """Whether it is counted for each packet; else for a whole query only."""


MEASURES = {
    "packets": Measure("", "packets that were done"),
    "entries": Measure("", "entries of these packets"),
    "seconds": Measure("s", "time that a packet took its worker"),
    "latency": Measure("s", "time from a worker's last answer until it got a packet"),
    "opening": Measure("s", "time until the file was open and the query was bound to it"),
    "cpu": Measure("s", "CPU time of the worker's own thread"),
    "bytes_read": Measure("bytes", "bytes that sources were asked for"),
    "reads": Measure("", "reads of sources; each may have many ranges"),
    "requests": Measure("", "ranges that servers were asked for"),
    "bytes_decompressed": Measure("bytes", "bytes after decompression"),
    "bytes_from_cache": Measure("bytes", "bytes that earlier queries have decompressed"),
    "bytes_from_disk": Measure("bytes", "bytes of servers' files, from the cache on disk", False),
    "bytes_wanted": Measure("bytes", "bytes from servers that were used", False),
    "bytes_over_read": Measure("bytes", "bytes from servers that nothing used", False),
    "waits": Measure("", "times that workers waited for bytes of servers"),
    "waited": Measure("s", "time for which workers waited for bytes of servers"),
    "reading": Measure("s", "time in reads of near sources"),
    "decompressing": Measure("s", "time of decompression"),
    "decoding": Measure("s", "time from the bytes of baskets and pages to columns"),
}
"""All measures by name. The fields of `Spent` are among them, and those of `report.io` that are
numbers."""


# What a packetizer is told of its dataset: sizes of files, and places.


@frozen
class FileSize:
    """A file's entries and cuts, if they are known before a worker has opened it. `ahead`: as in
    FileOpened, if that is known too; it is believed of all files until workers have seen some."""

    entries: int
    cuts: tuple[int, ...] = ()
    ahead: int = 0


@frozen
class FilesLocated:
    """It has become known which nodes these files lie on, by their numbers. It changes nothing for
    those of which a worker has begun something."""

    nodes: Mapping[int, str]


@frozen
class Packet:
    """Entries `[start, stop)` of one file, to be processed by one worker."""

    number: int
    file: int
    start: int
    stop: int
    attempt: int = 1


# Events.


@frozen
class WorkerJoined:
    """A worker has joined, and has nothing to do. `node`: the name of its host, if files on the
    same host are nearer to it than others."""

    worker: int
    node: str | None = None


@frozen
class WorkerLost:
    """A worker is lost, and with it all that it had not committed. `fault`: whether its packet may
    be to blame; it is not if the worker was told to go."""

    worker: int
    reason: str = "the worker was lost"
    fault: bool = True


@frozen
class WorkerLeaving:
    """A worker will go, or rest: it gets no more packets, and commits after the one that it has."""

    worker: int


@frozen
class WorkerStays:
    """A worker that was to go, or that has rested, gets packets again."""

    worker: int


@frozen
class FileOpened:
    """Answer to OpenFile, or (`beside`) to OpenAhead: the file's number of entries, and the entries
    before which packets should end, such as the starts of its clusters (ascending). `ahead`: how
    many entries' bytes should be on their way while the worker computes; 0 if the file is near, so
    that nothing is gained."""

    worker: int
    file: int
    entries: int
    cuts: tuple[int, ...] = ()
    ahead: int = 0
    beside: bool = False


@frozen
class FileFailed:
    """Answer to OpenFile, or (`beside`) to OpenAhead: it failed. `retry`: a try may help yet."""

    worker: int
    file: int
    error: BaseException
    retry: bool = True
    beside: bool = False


@frozen
class PacketDone:
    """Answer to Process: the packet's entries up to `stop` are in the worker's partial, which is
    not committed yet. `stop` is less than the packet's own if the worker ended early. `ahead`
    is that of FileOpened, as it is now. `begun`: the number of the packet that was reserved for the
    worker, if the worker begins that now; then this event asks for nothing. `spent`: what the
    worker has measured. `steps`: what it did, if that is kept. `is_full`: the worker's partial has
    no more room until it is committed."""

    worker: int
    packet: int
    stop: int
    seconds: float
    ahead: int = 0
    begun: int | None = None
    spent: Spent | None = None
    steps: Sequence[Step] = ()
    is_full: bool = False


@frozen
class PacketFailed:
    """Answer to Process: the packet failed. The partial may hold a part of it, so the worker has
    thrown the partial away, and all packets that it had done and not committed are void too."""

    worker: int
    packet: int
    error: BaseException
    retry: bool = True
    spent: Spent | None = None
    steps: Sequence[Step] = ()


@frozen
class FilesDone:
    """Answer to ProcessFiles: as many of the files as there are `entries`, which are theirs, are in
    the worker's partial, from the first one on; the last of them up to `stop`, which is less than
    its entries if the worker was told to stop or its partial is full. `ended`: why no further one
    is. After `FAILED` the
    worker has thrown its partial away, and all that it had done and not committed is void."""

    worker: int
    entries: tuple[int, ...]
    stop: int
    seconds: float
    ended: str = ""
    spent: Spent | None = None


REFUSED = "refused"
"""The next file is not one that is processed so: it is large, unusual, or cannot be opened."""
FULL = "full"
"""The worker's partial has no more room until it is committed."""
FAILED = "failed"
"""The next file failed, and the partial may hold a part of it."""


@frozen
class Committed:
    """Answer to Commit: the worker's partial, with all packets done since the last commit, is
    merged. `merger`: the merger that has it, and that sends this event; None: it is in the
    result. `merging`: seconds that the receiver took to load and merge it, if it knows them; they
    are for the trace alone. `ranges`: what the partial has, as file, start and stop, if the worker
    is a site: what its packets were is not known here."""

    worker: int
    merger: int | None = None
    merging: float = field(default=0.0, compare=False)
    ranges: tuple[tuple[int, int, int], ...] = ()


@frozen
class Discarded:
    """Answer to Discard: the worker's partial is empty."""

    worker: int


@frozen
class MergerJoined:
    """A merger has joined, and holds nothing: it merges partials of workers for the result's owner.
    No other has or had its number. `node`: its host, if workers there should commit to it."""

    merger: int
    node: str | None = None


@frozen
class MergerLost:
    """A merger is lost, and with it all that it has not handed over. Its earlier events have been
    handled; later ones have no effect."""

    merger: int


@frozen
class MergerLeaving:
    """A merger will go: no partials are sent to it if there is another one, to which it hands on
    what it has. It is no merger any more once it is told Dismiss."""

    merger: int


@frozen
class HandedOn:
    """Answer to HandOn: what the merger had is in the partial of merger `to`, which says this."""

    merger: int
    to: int


@frozen
class Collected:
    """Answer to Collect: all that the merger had Committed is in the result, and the merger holds
    nothing of that."""

    merger: int


@frozen
class Refused:
    """Answer to Refuse: the merger takes nothing from the worker any more. If it had taken
    something before, Committed came before."""

    merger: int
    worker: int


@frozen
class RefusedFrom:
    """Answer to RefuseFrom, as Refused is to Refuse: if it was taken, HandedOn came before."""

    merger: int
    giver: int


@frozen
class Tick:
    """Time has passed. Speculation needs this event about every second: no other event tells that a
    worker is late."""


@frozen
class Stop:
    """The user ends the query: no new packets are handed out, workers commit what is done."""

    reason: str = "stopped"


Event = (
    WorkerJoined
    | WorkerLost
    | WorkerLeaving
    | WorkerStays
    | FileOpened
    | FileFailed
    | FilesDone
    | PacketDone
    | PacketFailed
    | Committed
    | Discarded
    | MergerJoined
    | MergerLost
    | MergerLeaving
    | HandedOn
    | Collected
    | Refused
    | RefusedFrom
    | Tick
    | FilesLocated
    | Stop
)


# Actions.


@frozen
class OpenFile:
    """The worker opens the file and answers FileOpened or FileFailed."""

    worker: int
    file: int


@frozen
class Process:
    """The worker processes the packet and answers PacketDone or PacketFailed."""

    worker: int
    packet: Packet


@frozen
class ProcessFiles:
    """The worker processes all entries of these files, a range or a tuple, one after another,
    without asking what each has, and answers FilesDone. It begins no file after `seconds`, and none
    with more than `most` entries."""

    worker: int
    files: Sequence[int]
    most: int
    seconds: float


@frozen
class Commit:
    """The worker hands over its partial, and the receiver answers Committed. The receiver is this
    merger or (None) the owner of the result. Afterwards the worker has no partial, even if the
    merger could not be reached: then MergerLost is the answer. A worker that has put a partial
    aside hands over that one, and goes on with what it has."""

    worker: int
    merger: int | None = None


@frozen
class Discard:
    """The worker throws away its partial, and one that it has put aside and got no Commit for, and
    answers Discarded, because another worker was first with the packet that it has just done."""

    worker: int


@frozen
class Prefetch:
    """The packet is promised to the worker: its bytes should come while the worker does other
    things. The worker has nothing to answer, and must not process the packet before it is told
    to."""

    worker: int
    packet: Packet


@frozen
class Reserve:
    """The worker may begin the packet once it has done the one that it has, to its end, unless it
    has to forget it before that; `begun` of PacketDone says so. A worker that does not gets it by
    Process. `aside`: if it begins the packet so, it puts its partial aside first, with all that it
    has done, and gets a Commit for that, which it carries out beside its packets."""

    worker: int
    packet: Packet
    aside: bool = False


@frozen
class Forget:
    """The packet is not promised to the worker any more, or not reserved: what was fetched of it is
    of no use to it. `to`: the worker that has got its entries instead, if one has."""

    worker: int
    packet: Packet
    to: int | None = None


@frozen
class OpenAhead:
    """The worker opens the file in the background, and answers FileOpened or FileFailed at any
    time later."""

    worker: int
    file: int


@frozen
class Collect:
    """The merger hands over its partial, and the owner of the result answers Collected."""

    merger: int


@frozen
class Refuse:
    """The worker was lost while its partial was on the way to the merger. If the merger has not
    taken it, it will not take it any more. It answers Refused."""

    merger: int
    worker: int


@frozen
class HandOn:
    """All that the merger has is to be merged into the partial of merger `to`, which answers
    HandedOn. The merger keeps it until it is told Dismiss: if `to` is lost, it has it still."""

    merger: int
    to: int


@frozen
class RefuseFrom:
    """Merger `giver` was lost while its partial was on the way to the merger, which answers
    RefusedFrom. See Refuse."""

    merger: int
    giver: int


@frozen
class Dismiss:
    """The merger is no merger any more: what it had is another one's."""

    merger: int


@frozen
class Halt:
    """All workers that have a packet end it early and answer PacketDone with the entry that they
    have reached: the query ends early. If Finish follows at once, it ends without their answers."""


@frozen
class Finish:
    """The query is over. `error`: the reason, if it did not end well."""

    error: BaseException | None = None


Order = OpenFile | Process | ProcessFiles | Commit | Discard
"""An action for a worker, which has one order at a time."""

Hint = Prefetch | Reserve | Forget | OpenAhead
"""An action for a worker that leaves the worker's order alone, and that no order waits for."""

Action = Order | Hint | Collect | Refuse | HandOn | RefuseFrom | Dismiss | Halt | Finish
