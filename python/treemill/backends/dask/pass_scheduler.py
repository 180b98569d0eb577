"""Schedules one pass on a cluster: which processes take part, who merges, what each is told; the
pass's end. Its coordinator and the packetizer decide who does which entries.

Pure but for the clock that it is given: messages in, messages out. Knows addresses as names only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...errors import QueryError
from ...frozen import replaced
from ...scheduling import (
    Action,
    Collected,
    Commit,
    Committed,
    Coverage,
    Dismiss,
    Event,
    FilesDone,
    FilesLocated,
    Finish,
    Halt,
    HandedOn,
    HandOn,
    Hint,
    MergerJoined,
    MergerLeaving,
    MergerLost,
    Monitored,
    Order,
    PacketDone,
    Process,
    ProcessFiles,
    Refuse,
    RefuseFrom,
    Stop,
    Tick,
    WorkerJoined,
    WorkerLeaving,
    WorkerStays,
    ranges_of,
)
from ...scheduling.blame import LOADING
from ...scheduling.coordinator import packetizer_and_coordinator
from ...scheduling.view import Span
from ..base import Heartbeat, given_up, log_of
from .messages import (
    Act,
    Begin,
    Crashed,
    Drop,
    End,
    HeldPartial,
    Hold,
    Loaded,
    PassEnded,
    PassRequest,
    PassUpdate,
    Tell,
    Unreached,
)
from .pass_processes import (
    HostNames,
    LostWorkers,
    Participant,
    PassMergers,
    PassTurns,
    TurnNews,
)

__all__ = ["PassScheduler"]

Messages = list[tuple[str, object]]
"""Messages to be sent now, with addresses."""


class PassScheduler:
    """The state of one pass. Methods return the messages to be sent now, with addresses."""

    def __init__(self, name: str, request: PassRequest, clock: Callable[[], float]) -> None:
        """`name`: what messages call the pass."""
        self.name = name
        self.request = request
        self.change = 0  # counts what a client wants to hear of at once
        self._clock = clock
        self._out: Messages = []
        self._alone_since: float | None = clock()
        self._deadline: tuple[float, str] | None = None
        self._ended: PassEnded | None = None
        self._ready: float | None = None  # since when mergers have all of the result
        self._outcome: PassEnded | None = None  # what it is then
        served = request.served
        self._packetizer, self._coordinator = packetizer_and_coordinator(
            request.files,
            request.policy,
            request.sizing,
            clock,
            nodes=request.nodes,
            done=request.done,
            trace=request.trace,
            served=None if served is None else served.__getitem__,
            log=log_of(request.name),
        )
        self._before = self._packetizer.committed_entries
        self._processes: dict[str, Participant] = {}
        self._of: dict[int, Participant] = {}  # by worker
        self._mergers = PassMergers()
        self._next_worker = 0
        self._host_names = HostNames(request.nodes)
        self._gone = Heartbeat()  # the counters of processes that are lost
        self._lost_workers = LostWorkers(self._packetizer)
        self._begun = False
        self._any_leaving = False  # whether a process has ever been told to leave
        self._turns = PassTurns()
        self.is_suspected = False
        """Whether TurnNews should have what workers have done; see Blame."""
        self._move(self._host_names.nodes(request.addresses))

    # What others may read.

    @property
    def over(self) -> bool:
        """True if the pass has ended."""
        return self._ended is not None

    def has(self, address: str) -> bool:
        """True if the process takes part."""
        return address in self._processes

    @property
    def wants_workers(self) -> bool:
        """True if there is work now for a worker more."""
        if self.over:
            return False
        return self._packetizer.wants(len(self._turns.awaited)) or self._lost_workers.must_wait

    @property
    def seconds_left(self) -> float:
        """How long its workers will take for what none of them has yet."""
        return self._packetizer.seconds_left

    def is_idle(self, worker: int) -> bool:
        """True if the worker has nothing to do."""
        return worker in self._packetizer.idle

    def is_starting(self, worker: int) -> bool:
        """True if the worker is not started yet: its process has to load the task."""
        return worker not in self._of[worker].there

    def in_hand(self, address: str) -> list[Span]:
        """What the workers of a process may be at."""
        process = self._processes.get(address)
        if process is None or self.over:
            return []
        loading = [LOADING] if process.is_told and not process.loaded else []
        return loading + [
            span for number in process.joined for span in self._packetizer.in_hand(number)
        ]

    def needs(self, address: str) -> bool:
        """True if it has uncommitted work, or gets the partials of others that are sent away."""
        process = self._processes.get(address)
        if process is None or self.over:
            return False
        if process.merger is not None and process.merger in self._packetizer.holding[:1]:
            return True
        is_loading = process.is_told and not process.loaded
        return is_loading or not process.joined <= self._packetizer.idle

    def coverage(self) -> Coverage:
        """Returns which entries are merged, and which are given up."""
        if self._ended is not None:
            return self._ended.coverage
        return self._packetizer.coverage(held=True)

    def parts(self, whole: bool = True) -> tuple[HeldPartial, ...] | None:
        """The partials that mergers hold; None if `whole` and workers have something to do."""
        if self.over or (whole and not self._packetizer.only_mergers_hold):
            return None
        return tuple(self._mergers.part(merger) for merger in self._packetizer.holding)

    def sizes(self) -> Mapping[int, int]:
        """The entries of the files that were opened."""
        return self._packetizer.sizes()

    def status(self) -> PassUpdate:
        """Returns how far the pass is."""
        heartbeat = self._gone
        for process in self._processes.values():
            heartbeat = heartbeat.plus(process.counted.heartbeat)
        expected = self._coordinator.expected_entries
        heartbeat = replaced(heartbeat, entries=min(heartbeat.entries, expected - self._before))
        return PassUpdate(
            self.change,
            heartbeat,
            expected,
            self._before,
            len(self._coordinator.workers),
            (self._coordinator.ended or self._ready or self._clock()) - self._coordinator.began,
            self._begun,
            self.parts(),
            self._ended,
        )

    # Processes.

    def join(self, address: str, host: str, threads: int, called: str = "") -> Messages:
        """A process may take part, which people know as `called`. It hears of the pass when one of
        its workers gets a turn: a short query is over before it has one in each process."""
        if not self.over and address not in self._processes:
            numbers = tuple(range(self._next_worker, self._next_worker + threads))
            self._next_worker += threads
            process = Participant(address, host, numbers, called or address)
            self._processes[address] = process
            self._of |= dict.fromkeys(numbers, process)
            for number in numbers:
                self._turns.rest(process, number)
        return self._told()

    def _start(self, process: Participant) -> None:
        """Has a process load the task and start its workers, once."""
        if not process.is_told:
            process.is_told = True
            request = self.request
            about = (request.task, request.inputs, request.packages, process.numbers)
            begin = Begin(self.name, *about, request.title, request.memory)
            self._send_message(process.address, begin)

    def leave(self, address: str) -> Messages:
        """A process will go: its workers commit what they have done, what its merger has becomes
        another one's, and then it has no part in the pass any more."""
        process = self._processes.get(address)
        if process is not None and not process.leaving:
            process.leaving = self._any_leaving = True
            if process.merger is not None:
                self._elect(process.host)
                self._handle(MergerLeaving(process.merger))
            for number in sorted(process.joined):
                self._handle(WorkerLeaving(number))
            self._turns.news.gone += process.resting
        return self._told()

    # Turns: which of the workers may work is decided for all passes together.

    def begin_turn(self, worker: int) -> Messages:
        """A worker may work."""
        process = self._of[worker]
        if self.over or self._processes.get(process.address) is not process:
            return self._told()
        process.resting.discard(worker)
        if worker in process.there:
            self._begin_turn(process, worker)
        else:
            self._turns.awaited.add(worker)
            self._start(process)
        return self._told()

    def _begin_turn(self, process: Participant, worker: int) -> None:
        """A worker that was started has a turn."""
        if worker not in process.joined:
            process.joined.add(worker)
            self._handle(WorkerJoined(worker, process.place))
        elif not process.leaving:
            self._handle(WorkerStays(worker))
        self._report_lost_workers()

    def end_turn(self, worker: int) -> Messages:
        """A worker is to rest after its packet, and to commit before."""
        if worker in self._turns.awaited:
            self._turns.awaited.remove(worker)
            self._turns.rest(self._of[worker], worker)
        elif not self.over and worker in self._packetizer.workers:
            self._turns.withdrawn.add(worker)
            self._handle(WorkerLeaving(worker))
        return self._told()

    def turn_news(self) -> TurnNews:
        """What has become of turns since the last time."""
        return self._turns.take_news()

    def _send_off(self) -> None:
        """Ends processes that leave and have nothing more to lose, or no one to leave it to."""
        if not self._any_leaving:  # asked after each message of any process
            return
        alone = all(each.leaving for each in self._processes.values())
        for process in [each for each in self._processes.values() if each.leaving]:
            if alone or (process.merger is None and process.joined <= self._packetizer.idle):
                if process.is_told:
                    self._send_message(process.address, End(self.name))
                self._lose(process.address, f"worker {process.called} was retired", fault=False)

    def lose(self, address: str, reason: str, fault: bool = True) -> Messages:
        """A process is lost. `fault`: whether its packets may be to blame."""
        self._lose(address, reason, fault)
        return self._told()

    def _lose(self, address: str, reason: str, fault: bool = True) -> None:
        in_hand = self.in_hand(address)
        process = self._processes.pop(address, None)
        if process is None or self.over:
            return
        self._gone = self._gone.plus(process.counted.heartbeat)
        self._turns.lose(process.numbers)
        for number in sorted(process.joined):
            self._lost_workers.add_worker(number, reason, fault)
        if process.merger is not None:
            self._replace(process, process.merger)
        too_many = self._lost_workers.process_lost(fault)
        if too_many and not self._packetizer.is_ending:  # else it has its reason
            error = self._lost_workers.error(self.request.title, address, reason, in_hand)
            self._carry_out(self._coordinator.fail(error))
        self._report_lost_workers()

    def _replace(self, lost: Participant, merger: int) -> None:
        """Makes another process merge for the host of a merger that is lost."""
        lost.merger = None
        self._lost_workers.add_merger(merger)
        self._elect(lost.host)

    def _elect(self, host: str) -> None:
        """Makes a process of this host a merger, if that is needed."""
        process = self._mergers.elect(host, self._processes.values())
        if process is not None and process.merger is not None:
            self._send_message(process.address, Hold(self.name, process.merger))
            self._handle(MergerJoined(process.merger, process.place))

    def _report_lost_workers(self) -> None:
        if self._lost_workers.must_wait:
            return
        for event in self._lost_workers.told():
            self._handle(event)
            if isinstance(event, MergerLost):
                self._mergers.dismiss(event.merger)

    # Messages of processes.

    def receive(self, address: str, message: object) -> Messages:
        """Handles a message of a process."""
        process = self._processes.get(address)
        if process is None or self.over:
            return self._told()
        if isinstance(message, Tell):
            if message.heartbeat is not None:
                process.counted.update(message.heartbeat)
            process.counted.follow(message.event)
            self._hear_event(process, message.event)
        elif isinstance(message, Loaded):
            self._loaded(process, message)
        elif isinstance(message, Unreached):
            self._unreached(process, message)
        elif isinstance(message, Crashed):
            self._carry_out(self._coordinator.fail(message.error))
        else:
            raise TypeError(f"not a message of a worker process: {message!r}")
        return self._told()

    def _hear_event(self, process: Participant, event: Event) -> None:
        # One that was given up and is there again may tell of its earlier workers.
        if isinstance(event, WorkerJoined):
            if not process.leaving and event.worker in process.numbers:
                process.there.add(event.worker)
                if self._turns.started(event.worker):
                    self._begin_turn(process, event.worker)
            return
        if self.is_suspected:
            self._turns.note_done(event, self._packetizer)
        if isinstance(event, Committed) and event.merger is not None:
            if process is not self._mergers.at(event.merger):
                return
            self._mergers.committed(event.merger, event.worker)
        elif isinstance(event, HandedOn) and self._packetizer.next_merger(event.merger) == event.to:
            self._mergers.handed_on(event.merger, event.to)
        elif isinstance(event, PacketDone | FilesDone):
            self._lost_workers.work_was_done()
        self._handle(event)

    def _loaded(self, process: Participant, message: Loaded) -> None:
        process.loaded = message.workers == process.numbers
        process.place = self._host_names.worker(process.host, message.names)
        self._move(self._host_names.nodes_beside(process.host, message.names))
        self._elect(process.host)

    def _unreached(self, process: Participant, message: Unreached) -> None:
        holder = self._mergers.at(message.merger)
        if holder is None or holder.merger != message.merger:
            return  # it is known to be lost: that was the answer
        holder.unreached += 1
        self._replace(holder, message.merger)
        self._send_message(holder.address, Drop(self.name, message.merger))
        self._report_lost_workers()

    # What the client asks.

    def locate(self, addresses: Mapping[int, Sequence[str]]) -> Messages:
        """The client has found out which hosts have these files."""
        self._move(self._host_names.nodes(addresses))
        return self._told()

    def _move(self, nodes: Mapping[int, str]) -> None:
        """These files are at these nodes."""
        if nodes:
            self._handle(FilesLocated(nodes))

    def stop(self, reason: str) -> Messages:
        """Tells workers to end at their next batch and to commit."""
        self._handle(Stop(reason))
        self._deadline = self._deadline or (self._clock() + self.request.patience, reason)
        return self._told()

    def abort(self, reason: str) -> Messages:
        """Ends with what mergers have; the work that is not committed is lost."""
        if not self.over:
            self._handle(Stop(reason))
            for event in self._lost_workers.told():
                self._handle(event)
            self._decided(lambda: self._coordinator.abort(reason))
            self._let_go()
        return self._told()

    def _let_go(self) -> None:
        """All workers were given up, and mergers have the result: the threads are free for others,
        as long as it waits."""
        for process in self._processes.values():
            self._turns.news.gone += process.joined
            process.resting -= process.joined
            process.joined.clear()
        self._turns.withdrawn.clear()

    def settled(self, commits: Mapping[int, int]) -> PassEnded | None:
        """How the pass has ended for a client that has got the partials of these mergers.
        `commits`: how many are in each. None if that is not all of the result, or not what the
        result is now. Mergers keep what they have, for other clients."""
        parts = self.parts()
        if parts is None or {each.merger: each.commits for each in parts} != dict(commits):
            return None
        return self.outcome()

    def outcome(self) -> PassEnded | None:
        """How the pass has ended: it is over, or mergers have all of the result."""
        packetizer, trace = self._packetizer, self._coordinator.trace
        if self._ended is not None or self._ready is None:
            return self._ended
        if self._outcome is not None:
            return self._outcome
        coverage, error = packetizer.coverage_of_held(), packetizer.error
        collected = [Collected(merger) for merger in packetizer.holding]
        self._outcome = PassEnded(
            error,
            coverage,
            coverage.entries,
            None if trace is None else trace.ended(self._ready, collected, error),
            self.sizes(),
            self.monitored(),
        )
        return self._outcome

    def close(self) -> Messages:
        """Nobody wants the result any more."""
        for merger in self._packetizer.holding if self.parts() is not None else ():
            self._handle(Collected(merger))
        return self.fail(QueryError("the query was dropped before its end"))

    def fail(self, error: BaseException) -> Messages:
        """Ends the pass with an error."""
        self._carry_out(self._coordinator.fail(error))
        return self._told()

    # Time.

    def silent(self, heard: Mapping[str, float]) -> list[str]:
        """The processes that have been silent for too long. `heard`: when each was last heard
        of."""
        now, most = self._clock(), self.request.silence
        return [each for each in self._processes if now - heard.get(each, now) > most]

    def give_up(self, address: str, fault: bool) -> Messages:
        """A process has been silent for too long."""
        self._send_message(address, End(self.name))
        called = self._processes[address].called if address in self._processes else address
        reason = f"worker {called} did not answer for {self.request.silence:g} seconds"
        self._lose(address, reason, fault)
        return self._told()

    def tick(self) -> Messages:
        """Time has passed."""
        now, request = self._clock(), self.request
        if self.over:
            return self._told()
        if not self._is_alone:
            self._alone_since = None
        elif self._alone_since is None:
            self._alone_since = now
        elif now - self._alone_since > request.wait:
            words = f"no worker has been there for {request.wait:g} seconds"
            lost = self._lost_workers.reason
            last = f"; the last one was lost during this query: {lost}" if lost else ""
            todo = "start workers, or give connect() a longer wait="
            return self.fail(given_up(request.title, f"{words}{last}; {todo}"))
        if self._deadline is not None and self._ready is not None:
            self._deadline = None  # all have committed in time
        elif self._deadline is not None and now > self._deadline[0]:
            reason = self._deadline[1]
            self._deadline = None
            return self.abort(f"{reason}; a worker was not done {request.patience:g} s later")
        self._handle(Tick())
        return self._told()

    @property
    def _is_alone(self) -> bool:
        """True if no worker is there, nor waits for a turn."""
        return not any(each.there or each.resting for each in self._processes.values())

    # Actions.

    def _handle(self, event: Event) -> None:
        self._decided(lambda: self._coordinator.handle(event))

    def _decided(self, decide: Callable[[], list[Action]]) -> None:
        before = self.parts()
        self._carry_out(decide())
        if self._turns.withdrawn:
            self._turns.note_rests(self._of, self._packetizer)
        after = self.parts()
        if after != before:
            self.change += 1
            self._ready = None if after is None else self._ready or self._clock()
            self._outcome = None

    def _carry_out(self, actions: list[Action]) -> None:
        for action in actions:
            if isinstance(action, Order | Hint):
                self._order(action)
            elif isinstance(action, Refuse | RefuseFrom | HandOn | Dismiss):
                if (to := self._mergers.told(self.name, action)) is not None:
                    self._send_message(*to)
            elif isinstance(action, Halt):
                self._tell_all(Act(self.name, action))
            elif isinstance(action, Finish):
                self._end(action.error)

    def _order(self, action: Order | Hint) -> None:
        process = self._of[action.worker]
        act = Act(self.name, action)
        if isinstance(action, Commit) and action.merger is not None:
            address = self._mergers.part(action.merger).address
            covers = ranges_of(self._packetizer.sent(action.worker))
            taken = self._mergers.taken(action.merger, action.worker)
            act = Act(self.name, action, address, covers, taken)
        elif isinstance(action, Process | ProcessFiles) and self._coordinator.begins(action.worker):
            self._begun = True
            self.change += 1
        self._send_message(process.address, act)

    def monitored(self) -> Monitored | None:
        """Returns what workers have done so far, or in all, if it is counted."""
        counts = self._coordinator.monitored()
        return None if counts is None else counts()

    def _end(self, error: BaseException | None) -> None:
        """Ends the pass, and lets its processes go."""
        self._ended = PassEnded(
            error,
            self._coordinator.coverage(),
            self._coordinator.committed_entries,
            self._coordinator.trace,
            self.sizes(),
            self.monitored(),
        )
        self.change += 1
        self._tell_all(End(self.name))

    def _tell_all(self, message: object) -> None:
        """Tells all processes that know of the pass."""
        for address, process in self._processes.items():
            if process.is_told:
                self._send_message(address, message)

    def _send_message(self, address: str, message: object) -> None:
        self._out.append((address, message))

    def _told(self) -> Messages:
        if not self.over:
            self._send_off()
        out, self._out = self._out, []
        return out
