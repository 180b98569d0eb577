"""Leads one pass through sub-masters: leases the dataset to groups of processes (grouping.py), one
process of each of which leads and merges for the others (group_lead.py). It has the face of Lead.

A process that leads a group, and what it has merged, are lost together. Then all that it had is
leased again, and another process of its group leads it, under a number that is new.

Pure but for the clock that it is given: messages in, messages out. Knows addresses as names only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from math import inf

from ...frozen import replaced
from ...scheduling import Coverage, Finish, GroupCounts, Halt, Monitored, Stop, Tick, joined
from ...scheduling.keeping import KeepingLessor
from ...scheduling.messages import (
    Downward,
    Grant,
    HandedUp,
    LessorEvent,
    NotComing,
    Opened,
    SubLost,
)
from .admission import UNLIMITED
from .group_lead import leasing_of
from .group_messages import (
    Apart,
    Declined,
    Down,
    Give,
    Hosted,
    Inherited,
    LeadGroup,
    Release,
    Released,
    Seat,
    Under,
    Unseat,
    Up,
    inner_name,
)
from .grouping import Member
from .inheriting import NO_SITE, Inheriting
from .losses import IN_A_ROW, given_up
from .messages import Crashed, End, HeldPartial, PassEnded, PassRequest, Status
from .near_groups import NearGroups
from .pass_state import Messages
from .roster import Led, Roster

__all__ = ["Master"]


class Master(Inheriting):
    """The state of one pass. Methods return the messages to be sent now, with addresses."""

    def __init__(self, name: str, request: PassRequest, clock: Callable[[], float]) -> None:
        """`name`: what messages call the pass. `request` says how large groups are."""
        assert request.submasters is not None
        super().__init__(name, request, clock)
        self._inner = replaced(
            request,
            files=(),
            done={},
            addresses={},
            keep=inf,
            wait=inf,
            submasters=None,
            trace=0,
            limits=UNLIMITED,
        )
        self._roster = Roster(request.submasters)
        self._near = NearGroups(request.nodes, self._roster.at_host)
        self._near.locate(request.addresses)
        self._in_a_row = 0
        self._counts = None if request.served is None else GroupCounts()
        self._done = {file: joined(ranges) for file, ranges in request.done.items()}
        self._before = Coverage(self._done, []).entries
        self._sizes = {n: size.entries for n, size in enumerate(request.files) if size is not None}
        self._began = clock()
        self._over_at: float | None = None
        self._begun_told = False

    # What others may read.

    @property
    def _addresses(self) -> Collection[str]:
        return self._members.keys()

    def has(self, address: str) -> bool:
        """True if the process takes part."""
        return address in self._members

    def needs(self, address: str) -> bool:
        """True if it may have uncommitted work, or what others have committed."""
        return address in self._members and not self.over

    def coverage(self) -> Coverage:
        """Returns which entries are merged, and which are given up."""
        if self._ended is not None:
            return self._ended.coverage
        lessor = self._lessor
        return Coverage(self._done, []) if lessor is None else lessor.coverage(kept=True)

    def parts(self, whole: bool = True) -> tuple[HeldPartial, ...] | None:
        """The partials that sub-masters have; None if `whole` and workers have something to do."""
        lessor = self._lessor
        if self.over or (whole and (lessor is None or not lessor.only_kept)):
            return None
        if self._estates.any_lost:
            return None
        return () if lessor is None else tuple(self._part(sub) for sub in lessor.keepers)

    def _part(self, sub: int) -> HeldPartial:
        name, estate = inner_name(self.name, sub), self._estates.get(sub)
        if estate is not None:
            return HeldPartial(sub, estate.address, estate.status.commits, name)
        led = self._roster.subs[sub]
        assert led.leader is not None
        return HeldPartial(sub, led.leader, led.status.commits, name)

    def sizes(self) -> Mapping[int, int]:
        """The entries of the files that were opened."""
        return self._sizes

    def monitored(self) -> Monitored | None:
        """Returns what workers have done so far, or in all, if it is counted."""
        counts = self._counts
        return None if counts is None else counts.total(self._seconds())

    def _seconds(self) -> float:
        return (self._over_at or self._clock()) - self._began

    def status(self) -> Status:
        """Returns how far the pass is."""
        roster = self._roster
        expected = 0 if self._lessor is None else self._lessor.expected_entries
        pulse = roster.pulse
        pulse = replaced(pulse, entries=max(min(pulse.entries, expected - self._before), 0))
        return Status(
            self.change,
            pulse,
            expected,
            self._before,
            roster.workers,
            self._seconds(),
            roster.begun >= self.request.workers,
            self.parts(),
            self._ended,
        )

    # Processes.

    def join(self, address: str, host: str, threads: int, place: str) -> Messages:
        """A process may take part. `place`: its rack, or its host."""
        if not self.over and address not in self._members:
            member = self._members[address] = Member(address, host, place, threads)
            self._alone_since = None
            self._near.named(host)
            before = self._roster.at_host(host)
            if self._lessor is not None:
                self._seat(member)
            if self._roster.at_host(host) != before:
                self._moved(self._near.at(host))
        return self._told()

    def begin(self) -> Messages:
        """Forms groups, when all present processes have joined."""
        self._form()
        return self._told()

    def _form(self) -> None:
        if self._lessor is None and self._members:
            self._roster.form(self._members.values())
            groups = self._roster.groups
            self._lessor = KeepingLessor(
                self.request.files,
                leasing_of(self.request),
                reach=self._near.reach,
                expected=[led.group.name for led in groups],
                done=self.request.done,
            )
            for led in groups:
                self._appoint(led)

    def _seat(self, member: Member) -> None:
        """Puts a process that comes later in a group."""
        assert self._lessor is not None
        led = self._roster.seat(member)
        if led.leader is None:
            self._lessor.coming(led.group.name)
            self._handle(NotComing(NO_SITE))
            self._appoint(led)
        elif led.there:
            self._introduce(led, member)

    def _appoint(self, led: Led) -> None:
        """Makes a process of a group its sub-master, if one can be."""
        leader = self._roster.appoint(led)
        if leader is not None and led.sub is not None:
            about = (led.group.name, leader.host, leader.workers, self._inner, self._seconds())
            self._say(leader.address, LeadGroup(self.name, led.sub, *about))

    def _introduce(self, led: Led, member: Member) -> None:
        """Makes a process and its sub-master known to each other."""
        assert led.sub is not None
        assert led.leader is not None
        seat = Seat(self.name, led.sub, member.address, member.host, member.workers)
        self._say(led.leader, seat)
        self._say(member.address, Under(self.name, led.sub, led.leader))

    def leave(self, address: str) -> Messages:
        """A process will go: its workers commit what they have done. If it leads, its group ends
        what it is at and begins anew under another one, which gets what was merged. If none
        stays, it does, for as long as it may."""
        led = self._roster.of.get(address)
        if led is not None and not self.over and address not in led.leaving:
            led.leaving.add(address)
            if address != led.leader and led.sub is not None and led.leader is not None:
                self._say(led.leader, Release(self.name, led.sub, address))
            self._resign()
        return self._told()

    def _lose(self, address: str, reason: str, fault: bool) -> None:
        if self._members.pop(address, None) is None or self.over:
            return
        if not self._members:
            self._alone_since = self._clock()
        self._estate_lost(address, reason)
        led = self._roster.unseat(address)
        if led is None or self._lessor is None:
            return
        if address == led.leader:
            self._depose(led, reason, fault)
        elif led.sub is not None and led.leader is not None:
            self._say(led.leader, Unseat(self.name, led.sub, address, reason, fault))

    def _depose(self, led: Led, reason: str, fault: bool) -> None:
        """The process that leads a group is lost."""
        self._in_a_row += fault
        if self._in_a_row >= IN_A_ROW:
            self._fail(given_up(led.leader or "", reason))
            return
        lost = led.sub
        assert lost is not None
        self._heir_failed(lost)
        self._begin_anew(led, lambda: self._handle(SubLost(lost, reason)))

    # Messages of processes.

    def hear(self, address: str, message: object) -> Messages:
        """Handles a message of a process."""
        led = self._roster.of.get(address)
        estate = self._estates.at(address)
        if self.over:
            return self._told()
        if isinstance(message, Up) and estate is not None:
            if message.sub == estate.sub:
                estate.status = message.status
                self._hear_heir(message)
        elif isinstance(message, Crashed):
            self._fail(message.error)
        elif led is None:
            return self._told()
        elif isinstance(message, Up):
            if (message.sub, address) == (led.sub, led.leader):
                self._hear_sub(led, message)
        elif isinstance(message, Released):
            if message.sub == led.sub and message.address in led.leaving:
                self._drop_out(message.address)
        elif isinstance(message, Apart):
            if message.sub == led.sub and led.leader is not None and led.leader != address:
                leader = led.leader
                self._say(leader, End(self.name))
                self._lose(leader, f"{address} does not reach it: {message.reason}", fault=False)
        else:
            raise TypeError(f"not a message of a worker process: {message!r}")
        return self._told()

    def _hear_sub(self, led: Led, message: Up) -> None:
        led.status = status = message.status
        if self._counts is not None and status.monitored is not None:
            self._counts.update(message.sub, status.monitored)
        if not self._begun_told and self.status().begun:
            self._begun_told = True
            self.change += 1
        if message.error is not None:
            self._fail(message.error)
            return
        self._hear_heir(message)
        for each in message.messages:
            if isinstance(each, Inherited | Declined):
                continue
            if isinstance(each, Hosted):
                self._moved(self._near.named(each.host, each.names))
                continue
            if isinstance(each, Opened):
                self._sizes[each.file] = each.size.entries
            elif isinstance(each, HandedUp):
                self._in_a_row = 0
            self._handle(each)
            if self._lessor is not None and self._lessor.has_resigned(message.sub):
                self._resigned(led)
                return
        if not led.there and message.messages:
            led.there = True
            for member in led.group.members.values():
                self._introduce(led, member)
            for address in led.leaving - {led.leader}:
                assert led.leader is not None
                self._say(led.leader, Release(self.name, message.sub, address))
            self._resign()
            self._bequeath()

    def _drop_out(self, address: str) -> None:
        """A process that leaves has nothing more of the pass."""
        self._say(address, End(self.name))
        self._lose(address, f"worker {address} was retired", fault=False)

    # What the client asks.

    def locate(self, addresses: Mapping[int, Sequence[str]]) -> Messages:
        """The client has found out which hosts have these files."""
        self._moved(self._near.locate(addresses))
        return self._told()

    def _moved(self, files: set[int]) -> None:
        if self._lessor is not None:
            self._lessor.moved(files)

    def _ask_to_stop(self, reason: str) -> None:
        self._handle(Stop(reason))

    def abort(self, reason: str) -> Messages:
        """Ends with what is merged; the work that is not committed is lost."""
        if not self.over:
            self._handle(Stop(reason))
            for sub, led in self._roster.subs.items():
                if led.leader is not None:
                    self._say(led.leader, Give(self.name, sub, reason))
        return self._told()

    def _collected(self, holders: Collection[int]) -> None:
        assert self._lessor is not None
        self._carry_out(self._lessor.collect(list(holders)))

    def fail(self, error: BaseException) -> Messages:
        """Ends the pass with an error."""
        self._fail(error)
        return self._told()

    def _fail(self, error: BaseException) -> None:
        if self.over:
            return
        if self._lessor is not None:
            self._lessor.give_up_all(f"no result: {error}")
        self._end(error)

    def _tick(self) -> None:
        self._form()
        self._bequeath()
        self._handle(Tick())

    # Orders.

    def _handle(self, event: LessorEvent) -> None:
        if self._lessor is None:
            if isinstance(event, Stop):
                self._end(None)
            return
        before = self.parts()
        self._carry_out(self._lessor.handle(event, self._clock()))
        if self.parts() != before:
            self.change += 1

    def _carry_out(self, orders: list[Downward]) -> None:
        for order in orders:
            if isinstance(order, Finish):
                self._end(order.error)
                continue
            subs = list(self._roster.subs) if isinstance(order, Halt) else [order.sub]
            for sub in subs:
                led = self._roster.subs.get(sub)
                if led is not None and led.leader is not None:
                    known = self._near.addresses(order.parts) if isinstance(order, Grant) else {}
                    self._say(led.leader, Down(self.name, sub, order, known))

    def _end(self, error: BaseException | None) -> None:
        lessor = self._lessor
        self._over_at = self._clock()
        coverage = Coverage(self._done, []) if lessor is None else lessor.coverage()
        self._end_with(
            PassEnded(error, coverage, coverage.entries, None, dict(self._sizes), self.monitored())
        )
