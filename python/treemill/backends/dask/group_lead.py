"""Leads one pass in a group of processes, for a sub-master: as lead.py does it on the scheduler,
but what there is to do is leased, and the only merger is the process in which this runs. Both
die together, so what is merged counts as done here at once.

Pure but for the clock that it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import replace
from functools import partial

from ...scheduling import (
    Action,
    Collected,
    Committed,
    Coverage,
    Event,
    Finish,
    HandedOn,
    Monitored,
    Monitoring,
    Policy,
    RefusedFrom,
)
from ...scheduling.leased_packetizer import LeasedPacketizer
from ...scheduling.leasing import Leasing
from ...scheduling.messages import Downward, Upward
from ...scheduling.submaster import SubMaster
from .group_messages import (
    Declined,
    Down,
    Hosted,
    Inherit,
    Inherited,
    LeadGroup,
    Renounce,
    inner_name,
)
from .lead import Lead
from .messages import End, Fetch, Loaded, PassRequest, RecallFrom, Unreached
from .participant import Participant

__all__ = ["HAND_UP_SECONDS", "GroupCoordinator", "GroupLead", "leasing_of"]

HAND_UP_SECONDS = 1.0
"""How often the scheduler hears what a group has merged."""


def leasing_of(request: PassRequest) -> Leasing:
    """Returns how a pass is leased to groups."""
    return replace(
        Leasing.of(request.sizing, skip_errors=request.skip_errors),
        hand_up_seconds=HAND_UP_SECONDS,
    )


class GroupCoordinator:
    """A sub-master in the place of a coordinator. `up` holds what its parent is to hear; the caller
    takes it out."""

    trace = None
    error: BaseException | None = None
    expected_entries = 1 << 62
    """What is leased grows and shrinks: no counter is measured by it."""

    def __init__(self, order: LeadGroup, clock: Callable[[], float]) -> None:
        request = order.request
        policy = Policy(
            commit_seconds=request.commit_seconds,
            collect_seconds=None,
            speculate=request.second_runs,
            expected_workers=0,
        )
        self.nodes = list(request.nodes)
        self.crew = LeasedPacketizer(policy, request.sizing, node=self.nodes.__getitem__)
        self.sub = SubMaster(order.sub, order.site, self.crew, leasing_of(request))
        self.up: list[Upward | Inherited | Declined | Hosted] = []
        self.begun: set[int] = set()
        self.began = clock() - order.seconds  # the whole pass
        self.ended: float | None = None
        self._clock = clock
        served = request.served
        self._monitoring = None if served is None else Monitoring(served.__getitem__)

    @property
    def workers(self) -> Set[int]:
        """The workers that have joined and are not lost."""
        return self.crew.packetizer.workers

    @property
    def committed_entries(self) -> int:
        """Entries that are merged."""
        return self.crew.packetizer.committed_entries

    def join(self) -> None:
        """Says that the sub-master is there."""
        self.up += self.sub.join(self._clock())

    def handle(self, event: Event | Downward) -> list[Action]:
        """Handles an event from the parent or from the group."""
        if self.ended is not None:
            return []
        now = self._clock()
        actions = self._step(event, now)
        if isinstance(event, Committed) and event.merger is not None:
            actions += self._step(Collected(event.merger), now)
        if self.sub.due(now):
            self.up += self.sub.hand_up(now)
        if any(isinstance(action, Finish) for action in actions):
            self.ended = now
        return actions

    def _step(self, event: Event | Downward, now: float) -> list[Action]:
        step = self.sub.handle(event, now)
        self.up += step.up
        if self._monitoring is not None:
            self._monitoring.follow(now - self.began, event, step.orders)
        return step.orders

    def begins(self, worker: int) -> bool:
        """Notes that the worker has got its first packet."""
        self.begun.add(worker)
        return False

    def monitored(self) -> Callable[[], Monitored] | None:
        """See Coordinator."""
        if self._monitoring is None:
            return None
        return partial(self._monitoring.now, (self.ended or self._clock()) - self.began)

    def coverage(self) -> Coverage:
        """The parent has the account of the dataset."""
        return Coverage({}, [])

    def fail(self, error: BaseException) -> list[Action]:
        """Notes that the pass cannot go on, for the parent to say how it ends."""
        self.error = self.error or error
        return []


class GroupLead(Lead):
    """See Lead."""

    def __init__(
        self, name: str, request: PassRequest, clock: Callable[[], float], order: LeadGroup
    ) -> None:
        """`name`: what the group calls the pass. The merger gets the number of the sub-master."""
        self.group = GroupCoordinator(order, clock)
        super().__init__(name, request, clock, (self.group.crew.packetizer, self.group))
        self._number = order.sub
        self._holders.begin_at(order.sub)
        self._sent = self.group.crew.sent
        self._inheriting: dict[int, int] = {}  # by sub-master: the commits of what is fetched

    @property
    def commits(self) -> int:
        """The partials that are merged."""
        return self._holders.commits(self._number)

    def handle(self, message: Down | Inherit | Renounce) -> list[tuple[str, object]]:
        """Handles what the scheduler has said."""
        if isinstance(message, Down):
            self._move(self._places.nodes(message.addresses))
            self._carry_out(self.group.handle(message.message))
        elif isinstance(message, Inherit):
            self._inheriting[message.giver] = message.commits
            of = inner_name(message.work, message.giver)
            about = (message.giver, message.address, message.commits, of)
            self._tell_merger(Fetch(self.name, self._number, *about))
        elif message.giver in self._inheriting:
            self._tell_merger(RecallFrom(self.name, self._number, message.giver))
        return self._told()

    def _tell_merger(self, message: Fetch | RecallFrom) -> None:
        holder = self._holders.at(self._number)
        assert holder is not None, "only one that has joined is asked"
        self._say(holder.address, message)

    def _hear_event(self, process: Participant, event: Event) -> None:
        if isinstance(event, HandedOn):
            commits = self._inheriting.pop(event.merger, None)
            if commits is not None:
                self._holders.inherited(self._number, commits)
                self.group.up.append(Inherited(self._number, event.merger))
        elif isinstance(event, RefusedFrom):
            self._decline(event.giver)
        else:
            super()._hear_event(process, event)

    def _decline(self, giver: int) -> None:
        if self._inheriting.pop(giver, None) is not None:
            self.group.up.append(Declined(self._number, giver))

    def _elect(self, host: str) -> None:
        """Makes the first process the only merger: it is this one, for which others wait."""
        if self._holders.at(self._number) is None:
            super()._elect(host)
            self.group.join()

    def _move(self, nodes: Mapping[int, str]) -> None:
        """Notes it for the files that are granted from now on."""
        for file, node in nodes.items():
            self.group.nodes[file] = node

    def _loaded(self, process: Participant, message: Loaded) -> None:
        super()._loaded(process, message)
        self.group.up.append(Hosted(process.host, message.names))

    def _unreached(self, process: Participant, message: Unreached) -> None:
        """What another one has cannot be got, or a process cannot hand over what it has: then it is
        none of this group, and begins anew."""
        if message.merger != self._number:
            self._decline(message.merger)
            return
        self._say(process.address, End(self.name))
        self._lose(process.address, f"handing over failed: {message.reason}", fault=False)
