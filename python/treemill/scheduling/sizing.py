"""The number of entries of the next packet, from the measured speeds of workers, and the number of
workers that are of use. Arithmetic only.

A packet should last a quarter of the time that is left for the whole query. So packets are long at
first, when asking costs little, and short near the end, so that all workers finish together. If
each packet of a worker takes a time that does not depend on its entries, packets are long enough
for that to be a small part of them; near the end, for it to be half of them at most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

__all__ = [
    "OPENING",
    "OPENINGS",
    "PROMISES",
    "RESERVES",
    "Cost",
    "Crowd",
    "Rates",
    "Sizing",
    "packet_entries",
]

# What a worker's work costs: a time that each piece takes whatever its entries, and a speed
# beyond that, fitted to what the last pieces took. Arithmetic only. A piece is a packet, or a
# chunk of one. Models that are loaded, corrections that are evaluated and graphs that are
# compiled for each piece take the same time for a hundred entries as for a million.

FIXED_PART = 0.1
"""The part of a piece's time that its fixed time should be, at most."""
_MEMORY = 0.8
"""The weight of a piece relative to the next one in the fit. The fixed time changes little."""
_FIRST = 0.3
"""The weight of the first piece relative to the others."""
_APART = 0.04
"""How far the sizes of pieces must be apart to tell what is fixed: two of them by half. (It is one
minus the square of the cosine between 1 / seconds and entries / seconds.)"""
_ALIKE = 1.5
"""Sizes of pieces that differ by less than this factor do not tell."""
_SPREAD = 0.1
"""How far times of equal pieces are apart at least, as a part of them. Two pieces do not tell."""
_UNEXPLAINED = 0.25
"""The part of a piece's time that counts as that of its entries, at least."""
_STRIDE = 8
"""Pieces grow by this factor at most because of a fixed time: what is fitted holds near by."""


@dataclass(slots=True, kw_only=True)
class Cost:
    """The cost of a worker's pieces: `fixed + entries / rate` seconds."""

    fixed: float = 0.0
    sure: float = 0.0
    """As much of the fixed time as is certain: two standard errors less."""
    rate: float = 0.0
    """Entries per second beyond the fixed time; 0 before anything is measured."""
    told: bool = False
    """Whether sizes, its own or those of others, have been far enough apart to tell what is
    fixed."""
    tells: bool = False
    """Whether its own have been."""
    last: int = 0
    """The entries of the last piece."""
    _uu: float = 0.0  # sums of products of 1 / seconds (u) and entries / seconds (v)
    _uv: float = 0.0
    _vv: float = 0.0
    _u: float = 0.0
    _v: float = 0.0
    _weight: float = 0.0
    _stretch: float = 1.0
    """The seconds of the last piece for each of its own."""

    def measured(
        self,
        entries: int,
        seconds: float,
        *,
        own: float | None = None,
        is_whole: bool = True,
        others: float | None = None,
    ) -> float:
        """Notes what a piece took, and gives its speed beyond the fixed time. The newest piece
        counts half in `rate`, because the load of machines changes. `own`: the seconds of it that
        were not those of other workers, which tell what part is fixed. `is_whole`: False for one
        that has ended early, whose size followed from its time, or that has waited for its bytes.
        `others`: how many entries take the others as long as their fixed time, where their pieces
        tell it; it counts as long as this one's are all alike.

        The first piece counts little: files are opened, modules and caches loaded for it once."""
        seconds = max(seconds, 1e-6)
        own = seconds if own is None else max(own, 1e-6)
        if is_whole:
            if self.rate and self._is_alike(entries):
                self._scale(own * self._stretch / self.seconds(entries))
            self._stretch = seconds / own
            self._fit(entries, own, 1.0 if self.last else _FIRST)
        if others is not None and not self.tells:
            self.fixed = self.sure = seconds * others / (others + entries)
            self.told = True
        rate = entries / max(seconds - self.fixed, _UNEXPLAINED * seconds)
        self.rate = (self.rate + rate) / 2 if self.rate else rate
        self.last = entries
        return rate

    def _is_alike(self, entries: float) -> bool:
        """Whether a piece of so many entries and the last one do not tell what is fixed."""
        return self.last < _ALIKE * entries and entries < _ALIKE * self.last

    def _scale(self, factor: float) -> None:
        """Takes the time of all pieces before as so many times as long, if that is much: a piece of
        the last one's size took so much longer than was expected. So another sample has begun, or
        the machine's load has changed, and what part of the time is fixed has not."""
        if 1.0 / _ALIKE < factor < _ALIKE:
            return
        self.fixed, self.sure = self.fixed * factor, self.sure * factor
        self.rate /= factor
        self._u, self._v = self._u / factor, self._v / factor
        square = factor * factor
        self._uu, self._uv, self._vv = self._uu / square, self._uv / square, self._vv / square

    def _fit(self, entries: int, seconds: float, weight: float) -> None:
        """Fits `seconds = fixed + b * entries`, in which deviations count by the part that they are
        of the time."""
        u, v = 1.0 / seconds, entries / seconds
        self._uu = _MEMORY * self._uu + weight * u * u
        self._uv = _MEMORY * self._uv + weight * u * v
        self._vv = _MEMORY * self._vv + weight * v * v
        self._u = _MEMORY * self._u + weight * u
        self._v = _MEMORY * self._v + weight * v
        self._weight = _MEMORY * self._weight + weight
        determinant = self._uu * self._vv - self._uv * self._uv
        if determinant <= _APART * self._uu * self._vv:
            return
        self.told = self.tells = True
        fixed = (self._vv * self._u - self._uv * self._v) / determinant
        slope = (self._uu * self._v - self._uv * self._u) / determinant
        variance = self._vv / determinant
        if slope < 0.0:
            fixed, slope, variance = self._u / self._uu, 0.0, 1.0 / self._uu
        left = self._weight - fixed * self._u - slope * self._v
        variance *= max(left / self._weight, _SPREAD**2)
        self.fixed = self._stretch * max(fixed, 0.0)
        self.sure = self._stretch * max(fixed - 2.0 * math.sqrt(variance), 0.0)

    def seconds(self, entries: int) -> float:
        """The time that a piece is expected to take; only if something was measured."""
        return self.fixed + entries / self.rate

    def worth(self, entries: float) -> float:
        """The entries of the next piece, which would have so many: more, if the fixed time were
        more than `FIXED_PART` of it, but not many times those of the last one. As long as nothing
        tells what is fixed, pieces are not alike: two sizes tell."""
        if self.told:
            enough = self.fixed * self.rate * (1.0 / FIXED_PART - 1.0)
            return max(entries, min(enough, float(_STRIDE * self.last)))
        return 2.0 * self.last if self._is_alike(entries) else entries


PROMISES = 4
"""Packets that are promised to one worker, at most."""
OPENINGS = 64
"""Files that one worker opens, or has opened, ahead, at most: for small files what counts is how
many are opened in the five round trips that it takes. Over 137 ms, 100 files of 3.5 MB to read took
two workers 4.4 s with 16, and 4.2 s with 64; read again from this disk, 1.07 and 0.84 s."""
OPENING = 3
"""The factor by which less must be left than is worth a promise before the next file is opened
ahead: opening takes up to five round trips, and what is worth a promise is on its way in two."""

RESERVES = 64
"""Packets that are reserved for one worker, at most."""

_REST = 1.5
"""What is left is not cut when it is less than this many times the length of a packet."""


@dataclass(frozen=True)
class Sizing:
    """The parameters; times in seconds."""

    first: int = 50_000
    """Entries of a worker's first packet, before anything is measured."""
    shortest: float = 0.3
    longest: float = 20.0
    share: float = 0.25
    """The part of the expected time left that a packet should last."""
    least: float = 0.0
    """The shortest packet, even at the end: the fixed cost of a packet for its worker."""
    ask: float = 50e-6
    """The cost of handing out a packet. Packets are never so short, not even at the end, that
    answering all workers takes more than half of the time."""
    ahead: float = 0.3
    """How long the packets that a worker begins without asking last together, if one does not last
    so long: many times what an answer takes, so that one message tells of several short packets. It
    is the length of the shortest packet as a rule, of which one is enough."""
    merge: float = 200e-6
    """The cost of merging a commit."""
    tail: float = 0.0
    """The time before the end in which commits are as frequent as their cost allows; at least the
    time of the last two shortest packets."""


@dataclass
class Rates:
    """The measured costs of workers. Their speeds are in entries per second beyond the fixed time
    of packets."""

    _costs: dict[int, Cost] = field(default_factory=dict)
    _sum: float = 0.0
    _fixed: float = 0.0
    _tell: int = 0
    """How many workers' own packets tell their fixed times."""
    _told: float = 0.0
    """The sum of the entries that take them as long as these times."""

    def measured(
        self,
        worker: int,
        entries: int,
        seconds: float,
        *,
        is_whole: bool,
        own: float | None = None,
    ) -> None:
        """Notes how long a packet took; see Cost."""
        cost = self._costs.get(worker)
        if cost is None:
            cost = self._costs[worker] = Cost()
        self._add(cost, -1)
        others = max(self._told, 0.0) / self._tell if self._tell else None
        cost.measured(entries, seconds, own=own, is_whole=is_whole, others=others)
        self._add(cost, 1)

    def _add(self, cost: Cost, sign: int) -> None:
        self._sum += sign * cost.rate
        self._fixed += sign * cost.fixed
        if cost.tells:
            self._tell += sign
            self._told += sign * cost.fixed * cost.rate

    def forget(self, worker: int) -> None:
        """Removes a worker that is lost."""
        cost = self._costs.pop(worker, None)
        if cost is not None:
            self._add(cost, -1)

    def of(self, worker: int) -> float | None:
        """The speed of the worker; None before its first packet is done."""
        cost = self._costs.get(worker)
        return None if cost is None else cost.rate

    def cost(self, worker: int) -> Cost:
        """The worker's costs, or the mean of the others' before its first packet is done."""
        return self._costs.get(worker) or Cost(fixed=self.fixed(), rate=self.mean())

    def seconds(self, worker: int, entries: int) -> float | None:
        """The seconds that so many entries are expected to take the worker, or one like the others;
        None before any is measured."""
        cost = self.cost(worker)
        return cost.seconds(entries) if cost.rate else None

    def fixed(self) -> float:
        """The mean fixed time of the measured workers' packets."""
        return max(self._fixed, 0.0) / len(self._costs) if self._costs else 0.0

    def total(self, workers: int) -> float:
        """The sum for this many workers; those not measured count as the others on average."""
        return self.mean() * workers

    def mean(self) -> float:
        """The mean of the measured workers; 0 before any is measured."""
        return max(self._sum, 0.0) / len(self._costs) if self._costs else 0.0


# How many workers are of use, if only one of them at a time has what they share: threads run
# Python's code under one lock. Their packets tell the CPU time of each worker for a second of its
# own, and the sum of all is how many work at a time. If that is that of a few, the others may wait
# for these, or for something else, such as a sleep; or the machine is busy with other things. So
# it is tried: a few work for a packet, and stay alone if the sum is the same. Pure: time is told.

_WAITING = 0.25
"""The part of their time for which workers have no CPU, on average, that is worth a trial."""
_BEYOND = 0.25
"""So many workers more may seem to work than there are in a trial."""
_FEWEST = 0.5
"""One worker works at any time if they wait for each other, on a machine that is not too busy."""
_AS_MANY = 0.9
"""The part of all workers' CPU time that a few must have, if the others are of no use."""
_PAUSE = 10.0
"""Seconds until the next look; each pause is twice as long as the one before."""
_PATIENCE = 5.0
"""Seconds, or times the longest packet, after which the others do not wait for the few."""


@dataclass
class Crowd:
    """Workers that share a lock, as far as they work at the same time."""

    limit: int | None = None
    """So many workers should have packets; None: all."""
    _shares: dict[int, float] = field(default_factory=dict)
    """The CPU time of each worker's last packet for a second of it. Only of packets during which
    no more and no fewer workers had packets than now."""
    _idle: dict[int, float] = field(default_factory=dict)
    """The part of that packet in which the worker had no CPU, and waited for no server."""
    _since: float = 0.0
    """When the last worker began or ended to have packets, as far as that follows from `limit`."""
    _of_all: float = 0.0
    _is_tried: bool = False
    """Whether the few do as much as all."""
    _next_look: float = 0.0
    _pause: float = _PAUSE
    _heard: float = 0.0
    _longest: float = 0.0

    def measured(
        self,
        worker: int,
        seconds: float,
        cpu: float,
        waited: float,
        now: float,
        working: int,
        others: int,
    ) -> None:
        """Notes what an order took that has ended now: of its seconds, those of the worker's CPU,
        and those for which it waited for servers. `working`: the workers that should have orders;
        `others`: those that have one now."""
        self._heard, self._longest = now, max(self._longest, seconds)
        seconds = max(seconds, 1e-6)
        if others >= working:
            self.stopped(now)  # some of them do not know yet
        if now - seconds < self._since:
            return
        self._shares[worker] = cpu / seconds
        self._idle[worker] = 1.0 - (cpu + waited) / seconds
        if len(self._shares) >= working:
            busy, idle = sum(self._shares.values()), sum(self._idle.values())
            self._shares, self._idle = {}, {}
            self._look(busy, idle / working, working, now)

    def _look(self, busy: float, idle: float, working: int, now: float) -> None:
        if self.limit is None:
            few = max(math.ceil(busy - _BEYOND), 1)
            if now >= self._next_look and busy >= _FEWEST and idle >= _WAITING and few < working:
                self.limit, self._is_tried, self._of_all = few, False, busy
                self.stopped(now)
        elif not self._is_tried:
            self._is_tried = True
            self._put_off(now)
            if busy < _AS_MANY * self._of_all:
                self._let_all(now)
        elif now >= self._next_look:
            self._let_all(now)

    def _put_off(self, now: float) -> None:
        self._next_look = now + self._pause
        self._pause *= 2.0

    def _let_all(self, now: float) -> None:
        self.limit, self._since = None, now
        self._shares, self._idle = {}, {}

    def stopped(self, now: float) -> None:
        """Notes that more workers had orders until now than the limit allows."""
        self._since = now
        self._shares, self._idle = {}, {}

    def is_full(self, working: int, now: float) -> bool:
        """Whether a worker should get nothing because so many others have orders. The others do not
        wait for ever for these."""
        if self.limit is None or working < self.limit:
            return False
        if now - self._heard > _PATIENCE * max(self._longest, 1.0):
            self._put_off(now)
            self._let_all(now)
            return False
        return True


def packet_entries(
    sizing: Sizing,
    rate: float | None,
    total_rate: float,
    entries_left: float,
    workers: int,
    join: bool = True,
    commit: float = 0.0,
    cost: Cost | None = None,
    in_file: float | None = None,
) -> int:
    """The number of entries of the next packet for a worker with this rate, if `entries_left` are
    unassigned and `workers` share them. `join`: a short rest becomes part of the packet, which
    packets of distant files do without. `commit`: seconds between two commits of a worker. `cost`:
    what the worker's packets cost, or those of the others on average, if it is known. `in_file`:
    those of `entries_left` that are in the file that the packet will be of, if not all."""
    cost = cost or Cost()
    fair = entries_left / max(workers, 1)
    if total_rate <= 0.0:
        return max(1, int(min(sizing.first, fair)))
    time_left = entries_left / total_rate
    floor = max(2 * sizing.ask * workers, sizing.least)
    if rate is None:  # it counts as the others on average, but gets a short packet first
        mean = total_rate / max(workers, 1)
        seconds = max(sizing.shortest, cost.fixed / FIXED_PART)
        return max(1, int(mean * max(min(seconds, time_left), floor)))
    seconds = min(max(time_left * sizing.share, sizing.shortest), sizing.longest)
    # A worker that shares with no other has no one to finish together with. On a distant file
    # it gets short packets all the same, so that the bytes of the next are asked for ahead.
    if workers == 1 and join:
        seconds = min(max(seconds, min(time_left, commit)), sizing.longest)
    # From here on it is the time for entries only: as many as are worth the fixed time, but no more
    # for that than an even share. To find out whether there is one is not worth a packet that the
    # others would wait for, should its worker get slow.
    entries = rate * max(seconds - cost.fixed, 0.0)
    most = fair if cost.told else fair * sizing.share
    seconds = max(entries, min(cost.worth(entries), most)) / rate
    # A packet lasts no longer than all workers need for the rest, so that none waits for this one.
    # It lasts as long as that if else the rest would be worth less than half of a packet.
    if time_left < (_REST if join else 1.0) * seconds:
        seconds = time_left
    # Rounded up: one entry less than the rest would leave a whole cluster for another packet.
    entries = max(1, math.ceil(rate * max(seconds, floor - cost.fixed)))
    # Nor do the ends of files and of all take many packets that are all fixed time: neither a
    # packet nor the rest of its file has fewer entries than take as long as what is sure of it.
    worth = cost.sure * rate
    here = entries_left if in_file is None else in_file
    entries = max(entries, math.ceil(min(worth, here)))
    return math.ceil(here) if 0.0 < here - entries < worth else entries
