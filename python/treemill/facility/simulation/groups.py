"""A master whose workers are led by sub-masters, as inside a Dask cluster: the sessions' own Master
on the scheduler, and in one process of each group the sessions' own GroupCoordinator. A process
that leads keeps what its group has merged, until the client fetches it; both are lost together.

Stands for the transport: who calls whom, and what each call costs. Knows no socket and no clock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count, groupby
from math import inf

from ...backends.dask.group_messages import Down, GroupStatus, LeadGroup, Under, Unseat, Up
from ...backends.dask.master import Master
from ...backends.dask.messages import PassEnded, PassRequest
from ...backends.dask.polling import poll_seconds
from ...backends.pulse import Pulse
from ...scheduling import Collected, Event, FileSize, MergerLost, Packet, Tick, WorkerLost, host_of
from ...scheduling.messages import Downward
from .desk import MasterDesk, MasterLoad
from .engine import Engine
from .leader import Leader
from .strategies import sizing

__all__ = ["SimulatedGroups"]

_TICK = 0.5
"""Seconds between two looks of a leader at its group."""
_FIRST_POLL = 5.0
_SILENCE = 60.0
"""Seconds without a word after which a process would be given up, as in connect()."""


class _SimulatedProcess:
    """A process of the cluster, with some of its workers."""

    def __init__(self, address: str, machines: range) -> None:
        self.address = address
        self.machines = machines
        self.alive = True
        self.workers: list[int] = []
        self.under: int | None = None  # the sub-master that leads it
        self.leads: Leader | None = None


class SimulatedGroups:
    """The groups of a simulated cluster, led by sub-masters. Implements Masters."""

    def __init__(self, engine: Engine, clock: Callable[[], float] | None) -> None:
        """`clock`: see MasterDesk."""
        self.result: list[Packet] = []
        """What is in the result, noted independently of the master."""
        self._engine = engine
        self._clock = clock
        self._desk = MasterDesk(clock)
        self._master = Master("query", _request(engine), lambda: engine.now)
        self._processes: dict[str, _SimulatedProcess] = {}
        self._leaders: dict[int, Leader] = {}  # by number, also those that are lost
        self._of: list[
            tuple[_SimulatedProcess, int]
        ] = []  # by worker: its process and its sub-master
        self._numbers = count()
        self._fetching = False

    @property
    def loads(self) -> tuple[MasterLoad, ...]:
        """What the master and the sub-masters had to do."""
        return (self._desk.load, *(leader.desk.load for leader in self._leaders.values()))

    def begin(self) -> None:
        """The groups of a simulated cluster, led by sub-masters. Implements Masters."""
        engine = self._engine
        machines, size = engine.cluster.machines, engine.scenario.threads
        first = 0
        for i in range(1, len(machines) + 1):
            is_last = i == len(machines) or machines[i].node != machines[first].node
            if is_last or (size and i - first == size):
                self._add(range(first, i))
                first = i
        self._send(self._master.begin())
        faults = engine.scenario.faults
        engine.spread(faults.deaths, self._kill)
        engine.spread(faults.submaster_deaths, partial(self._kill, leading=True))

    # Processes.

    def _add(self, machines: range) -> None:
        engine = self._engine
        process = _SimulatedProcess(f"process {next(self._numbers)}", machines)
        self._processes[process.address] = process
        host = self._host(process)
        self._send(self._master.join(process.address, host, len(machines), host))
        for poll in (self._poll, self._poll_leader):  # at some time of the first seconds
            engine.at(engine.now + engine.chance.uniform(0.0, _FIRST_POLL), partial(poll, process))

    def _host(self, process: _SimulatedProcess) -> str:
        cluster = self._engine.cluster
        return host_of(cluster.nodes[cluster.machines[process.machines[0]].node].name) or ""

    def _poll(self, process: _SimulatedProcess) -> None:
        """A process asks the master for news, of which there was none."""
        engine = self._engine
        if process.alive:
            self._desk.admit(engine.now, engine.scenario.master.request)
            wait = poll_seconds(_SILENCE, len(self._processes))
            engine.at(engine.now + wait, partial(self._poll, process))

    def _poll_leader(self, process: _SimulatedProcess) -> None:
        """The same of its sub-master."""
        engine = self._engine
        if process.alive:
            leader = None if process.under is None else self._leaders[process.under]
            if leader is not None and leader is not process.leads:
                leader.desk.admit(engine.now, engine.scenario.master.request)
            wait = poll_seconds(_SILENCE, 0)
            engine.at(engine.now + wait, partial(self._poll_leader, process))

    def _kill(self, leading: bool = False) -> None:
        """Lets a process die, and a new one come in its place later."""
        engine = self._engine
        there = [each for each in self._processes.values() if not leading or each.leads is not None]
        if not there:
            return
        victim = engine.chance.choice(there)
        del self._processes[victim.address]
        victim.alive = False
        self._end_workers(victim)
        if victim.leads is not None:
            self._end_leader(victim.leads)
        engine.at(engine.now + engine.scenario.master.latency, partial(self._lost, victim))
        engine.at(engine.now + engine.scenario.faults.rejoin, partial(self._add, victim.machines))

    def _lost(self, process: _SimulatedProcess) -> None:
        self._send(self._master.lose(process.address, "it was killed", fault=False))

    def _end_workers(self, process: _SimulatedProcess) -> None:
        engine = self._engine
        for number in process.workers:
            engine.end(engine.workers[number])
            engine.timeline.follow(engine.now, WorkerLost(number), ())
        process.workers = []

    def _end_leader(self, leader: Leader) -> None:
        leader.alive = False
        self._engine.timeline.follow(self._engine.now, MergerLost(leader.number), ())

    def _join(self, process: _SimulatedProcess, sub: int) -> None:
        """The workers of a process begin under a sub-master."""
        process.under = sub
        for machine in process.machines:
            process.workers.append(len(self._of))
            self._of.append((process, sub))
            self._engine.join(machine)

    # What the master says.

    def _send(self, out: Sequence[tuple[str, object]], answered: str | None = None) -> None:
        """Sends messages. The process that has `answered` gets its own with the answer to its
        call; others had asked for news, and ask again."""
        engine = self._engine
        master = engine.scenario.master
        for address, some in groupby(out, key=lambda each: each[0]):
            messages = [message for _, message in some]
            process = self._processes.get(address)
            if process is not None:
                sent = engine.now
                if address != answered:
                    sent = self._desk.admit(engine.now, master.request)
                engine.at(sent + master.latency, partial(self._understand, process, messages))
        if self._master.over:
            self._finish()
        elif not self._fetching and self._master.parts() is not None:
            self._fetch()

    def _finish(self) -> None:
        ended: PassEnded | None = self._master.status().ended
        assert ended is not None
        if ended.error is not None:
            raise ended.error
        self._engine.finished = self._engine.now

    def _understand(self, process: _SimulatedProcess, messages: Sequence[object]) -> None:
        for message in messages if process.alive else ():
            if isinstance(message, LeadGroup):
                self._lead(process, message)
            elif isinstance(message, Under):
                self._under(process, message)
            elif isinstance(message, Down | Unseat):
                leader = self._leaders[message.sub]
                if process.leads is leader:
                    self._told(leader, message)

    def _lead(self, process: _SimulatedProcess, order: LeadGroup) -> None:
        engine = self._engine
        self._end_workers(process)
        if process.leads is not None:
            self._end_leader(process.leads)
        leader = Leader(order, engine, self._clock, process.address, self._speak)
        process.leads = self._leaders[order.sub] = leader
        leader.begin()
        self._join(process, order.sub)
        engine.at(engine.now + engine.chance.uniform(0.0, _TICK), partial(self._look, leader))

    def _under(self, process: _SimulatedProcess, message: Under) -> None:
        if process.leads is None and process.under != message.sub:
            self._end_workers(process)
            if message.address is not None:
                self._join(process, message.sub)
        elif process.leads is None and message.address is None:
            self._end_workers(process)
            process.under = None

    def _told(self, leader: Leader, message: Down | Unseat) -> None:
        """A sub-master hears of the master."""
        engine = self._engine
        about: list[Event | Downward] = [
            WorkerLost(number, message.reason, message.fault)
            for number in sorted(leader.joined)
            if isinstance(message, Unseat) and self._of[number][0].address == message.address
        ]
        if isinstance(message, Down):
            about = [message.message]
        answered = leader.desk.admit(engine.now, engine.scenario.master.request)
        for event in about:
            engine.at(answered, partial(self._answer, leader, event))

    # Sub-masters.

    def hear(self, event: Event) -> None:
        """The groups of a simulated cluster, led by sub-masters. Implements Masters."""
        process, sub = self._of[event.worker]  # type: ignore[union-attr]
        leader = self._leaders[sub]
        if leader.alive and process.alive and process.under == sub:
            answered = leader.desk.admit(self._engine.now, self._engine.scenario.master.request)
            self._engine.at(answered, partial(self._answer, leader, event))

    def _answer(self, leader: Leader, event: Event | Downward) -> None:
        if leader.alive:
            leader.handle(event)

    def _look(self, leader: Leader) -> None:
        if leader.alive:
            leader.handle(Tick())
            self._speak(leader, pulse=True)
            self._engine.at(self._engine.now + _TICK, partial(self._look, leader))

    def _speak(self, leader: Leader, pulse: bool = False) -> None:
        """A sub-master tells the master what there is to tell, in one call; see Leading."""
        up, leader.group.up = tuple(leader.group.up), []
        group = leader.group
        pulse_now = Pulse(entries=group.committed_entries)
        status = GroupStatus(len(group.workers), len(group.begun), leader.commits, pulse_now)
        if up or (pulse and status != leader.status):
            leader.status = status
            said = Up(self._master.name, leader.number, up, status)
            engine = self._engine
            engine.at(engine.now + engine.scenario.master.latency, partial(self._up, leader, said))

    def _up(self, leader: Leader, said: Up) -> None:
        engine = self._engine
        answered = self._desk.admit(engine.now, engine.scenario.master.request)
        engine.at(answered, partial(self._up_answer, leader.address, said))

    def _up_answer(self, address: str, said: Up) -> None:
        out = self._desk.decide(lambda: self._master.hear(address, said))
        self._send(out, address)

    def tick(self) -> None:
        """The groups of a simulated cluster, led by sub-masters. Implements Masters."""
        self._send(self._desk.decide(lambda: self._master.tick({})))

    # The client.

    def _fetch(self) -> None:
        """Lets the client read what each sub-master keeps, one after another."""
        parts = self._master.parts()
        assert parts is not None
        self._fetching = True
        engine = self._engine
        costs = engine.scenario.master
        seconds = 2 * costs.latency + len(parts) * (2 * costs.latency + costs.fetch)
        engine.at(engine.now + seconds, partial(self._fetched, [each.merger for each in parts]))

    def _fetched(self, subs: Sequence[int]) -> None:
        engine = self._engine
        self._fetching = False
        leaders = [self._leaders[sub] for sub in subs]
        commits = {leader.number: leader.commits for leader in leaders if leader.alive}
        settled, out = self._master.settle(commits)
        if settled:
            for leader in leaders:
                self.result += leader.partial
                engine.timeline.follow(engine.now, Collected(leader.number), ())
        self._send(out)


def _request(engine: Engine) -> PassRequest:
    """Returns what a session would ask for."""
    scenario, cluster = engine.scenario, engine.cluster
    known = scenario.files.known
    return PassRequest(
        name="query",
        title=scenario.title,
        task="",
        inputs=None,
        packages=(),
        files=[FileSize(f.events, f.cuts) if known else None for f in cluster.files],
        nodes=[cluster.nodes[f.node].name for f in cluster.files],
        workers=len(cluster.machines),
        skip_errors=False,
        commit_seconds=scenario.commit_seconds,
        sizing=sizing(scenario),
        silence=inf,
        patience=inf,
        wait=inf,
        keep=inf,
        trace=0,
        submasters=scenario.submasters,
    )
