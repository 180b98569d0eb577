"""The process that leads a group in a simulation: the sessions' own coordinator of a group, its
desk, and its merger, which takes each partial of a worker once. Knows no master.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ...backends.dask.group_lead import GroupCoordinator
from ...backends.dask.group_messages import GroupStatus, LeadGroup
from ...scheduling import (
    Action,
    Commit,
    Committed,
    Event,
    MergerJoined,
    Packet,
    Process,
    Refuse,
    Refused,
    WorkerJoined,
    WorkerLost,
)
from ...scheduling.messages import Downward
from .desk import MasterDesk
from .engine import Engine

__all__ = ["Leader"]


class Leader:
    """A sub-master, with what its group has merged."""

    def __init__(
        self,
        order: LeadGroup,
        engine: Engine,
        clock: Callable[[], float] | None,
        address: str,
        speak: Callable[[Leader], None],
    ) -> None:
        """`clock`: see MasterDesk. `address`: of its process. `speak` is called when there may be
        something to tell the master."""
        self.number = order.sub
        self.address = address
        self.alive = True
        self.partial: list[Packet] = []
        self.commits = 0
        self.joined: set[int] = set()
        """The workers that have joined and are not known to be lost."""
        self.status: GroupStatus | None = None
        """What was told last."""
        self.group = GroupCoordinator(order, lambda: engine.now)
        self.desk = MasterDesk(clock)
        self._engine = engine
        self._speak = speak
        self._refused: set[int] = set()

    def begin(self) -> None:
        """Begins to lead, with a merger of its own."""
        self.group.handle(MergerJoined(self.number))
        self.group.join()
        self._speak(self)

    def handle(self, event: Event | Downward) -> None:
        """Handles an event from the group or from the parent, and carries out what follows."""
        engine = self._engine
        if isinstance(event, WorkerJoined):
            self.joined.add(event.worker)
        elif isinstance(event, WorkerLost):
            self.joined.discard(event.worker)
        actions = self.desk.decide(lambda: self.group.handle(event))
        engine.timeline.follow(engine.now, event, actions)
        self._carry_out(actions)
        self._speak(self)

    def _carry_out(self, actions: Sequence[Action]) -> None:
        engine = self._engine
        arrives = engine.now + engine.scenario.master.latency
        for action in actions:
            if isinstance(action, Commit):
                engine.at(arrives, partial(self._send, action.worker))
            elif isinstance(action, Refuse):
                self._refused.add(action.worker)
                self.handle(Refused(self.number, action.worker))
            elif isinstance(action, Process):
                self.group.begins(action.worker)
        engine.carry_out([each for each in actions if not isinstance(each, Commit | Refuse)])

    def _send(self, number: int) -> None:
        """A worker hands over its partial."""
        engine, worker = self._engine, self._engine.workers[number]
        if worker.alive:
            packets, worker.partial = worker.partial, []
            arrives = engine.now + engine.scenario.master.latency
            engine.at(arrives, partial(self._arrives, number, packets))

    def _arrives(self, number: int, packets: list[Packet]) -> None:
        if self.alive:
            engine = self._engine
            merged = self.desk.admit(engine.now, engine.scenario.master.commit, merges=True)
            engine.at(merged, partial(self._take, number, packets))

    def _take(self, number: int, packets: list[Packet]) -> None:
        if self.alive and number not in self._refused:
            self.partial += packets
            self.commits += 1
            self.handle(Committed(number, self.number))
