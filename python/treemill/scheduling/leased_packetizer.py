"""The workers of a sub-master, led by a packetizer. Its files are the parts that were leased, in
the order in which they came. Workers know the files of the dataset: this module translates."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from typing import Any

from ..frozen import replaced
from . import (
    Action,
    Beyond,
    Event,
    FileFailed,
    FileOpened,
    FilesAdded,
    FileSize,
    Forget,
    GiveBack,
    GivenBack,
    NoMoreFiles,
    OpenAhead,
    OpenFile,
    Packet,
    PacketDone,
    Packetizer,
    Policy,
    Prefetch,
    Process,
    Sizing,
    Stop,
    WorkerLost,
)
from .inner import InnerProgress
from .messages import Part

__all__ = ["LeasedPacketizer"]


class LeasedPacketizer:
    """A packetizer whose dataset is leased. See Inner."""

    left_below = 0.0

    def __init__(
        self,
        policy: Policy | None = None,
        sizing: Sizing | None = None,
        node: Callable[[int], str | None] = lambda file: None,
        max_foreign: int | None = None,
    ) -> None:
        """`node`: the node of a file, as in Packetizer. What fails is reported to the parent, which
        decides what comes of it."""
        self.packetizer = Packetizer(
            [],
            replace(policy or Policy(), growing=True, skip_errors=True),
            max_foreign=max_foreign,
            sizing=sizing,
        )
        self._expected = 0 if policy is None else policy.expected_workers
        self._growth = self.packetizer.growth
        self._node = node
        self._parts: list[Part | None] = []  # by the packetizer's number; None: given back
        self._asked: dict[int, list[tuple[int, int]]] = {}  # by worker: files to open, both numbers
        self._shift: dict[int, int] = {}  # by worker: what to add to its packet's entries
        self._opened: list[tuple[int, FileSize]] = []
        self._failures: list[tuple[Part, BaseException]] = []
        self._commits: list[tuple[int, int, int]] = []

    # How it stands.

    @property
    def over(self) -> bool:
        """See Inner."""
        return self.packetizer.over

    @property
    def workers(self) -> int:
        """See Inner."""
        there = len(self.packetizer.workers)
        return max(there, self._expected) if there else 0

    @property
    def rate(self) -> float:
        """See Inner."""
        return self._growth.rate

    @property
    def left(self) -> float:
        """See Inner."""
        return self._growth.left

    @property
    def starving(self) -> bool:
        """See Inner."""
        return not self._growth.has_work

    @property
    def quiet(self) -> bool:
        """See Inner."""
        return self._growth.quiet

    @property
    def has_commits(self) -> bool:
        """See Inner."""
        return bool(self._commits) or self._growth.has_news

    # What happens.

    def handle(self, event: Event, now: float) -> list[Action]:
        """See Inner."""
        if isinstance(event, PacketDone):
            shift = self._shift.get(event.worker, 0)
            if shift:
                event = replaced(event, stop=event.stop - shift)
        elif isinstance(event, FileOpened | FileFailed):
            return self._file_answered(event, now)
        elif isinstance(event, WorkerLost):
            self._asked.pop(event.worker, None)
            self._shift.pop(event.worker, None)
        return self._translated(self.packetizer.handle(event, now))

    def _file_answered(self, event: FileOpened | FileFailed, now: float) -> list[Action]:
        asked = self._asked.get(event.worker, [])
        number = next((number for number, file in asked if file == event.file), None)
        if number is None:
            return []  # of a worker that was given up
        asked.remove((number, event.file))
        actions = self.packetizer.handle(replaced(event, file=number), now)
        part = self._parts[number]
        was_unknown = part is not None and part.stop is None
        is_known = self._growth.entries_of(number) is not None
        if was_unknown and is_known and isinstance(event, FileOpened):
            self._parts[number] = Part(event.file, 0, event.entries, event.cuts)
            self._opened.append((event.file, FileSize(event.entries, event.cuts)))
        return self._translated(actions)

    def add(self, parts: Sequence[Part], beyond: Beyond, now: float) -> list[Action]:
        """See Inner."""
        self._parts += parts
        nodes = tuple(self._node(part.file) for part in parts)
        sizes = tuple(part.size for part in parts)
        added = FilesAdded(sizes, nodes, beyond)
        return self._translated(self.packetizer.handle(added, now))

    def no_more(self, now: float) -> list[Action]:
        """See Inner."""
        return self._translated(self.packetizer.handle(NoMoreFiles(), now))

    def give_back(
        self, entries: int | None, among: Set[int] | None, now: float
    ) -> tuple[list[Part] | None, list[Action]]:
        """See Inner."""
        mine = None
        if among is not None:
            known = enumerate(self._parts)
            mine = frozenset(n for n, part in known if part is not None and part.file in among)
        actions = self.packetizer.handle(GiveBack(entries, mine), now)
        parts = [self._back(each) for each in actions if isinstance(each, GivenBack)]
        return parts, self._translated([a for a in actions if not isinstance(a, GivenBack)])

    def _back(self, given: GivenBack) -> Part:
        part = self._parts[given.file]
        assert part is not None, "a file of unknown size is given back once"
        if given.stop is None:
            self._parts[given.file] = None
            return part
        return replaced(part, start=part.start + given.start, stop=part.start + given.stop)

    def reclaimed(self) -> list[Part] | None:
        """See Inner."""
        return None

    def stop(self, reason: str, now: float) -> list[Action]:
        """See Inner."""
        return self._translated(self.packetizer.handle(Stop(reason), now))

    # What has come of it.

    def _look(self) -> None:
        if not self._growth.has_news:
            return
        news = self.packetizer.take_news()
        for number, ranges in news.processed.items():
            part = self._place(number)
            for start, stop in ranges:
                self._commits.append((part.file, part.start + start, part.start + stop))
        for gap in news.missing:
            if gap.error is not None:  # else it is what was left when it was stopped
                part = self._place(gap.file)
                span = (0, None) if gap.stop is None else (gap.start, gap.stop)
                shifted = [None if each is None else part.start + each for each in span]
                failed = replaced(part, start=shifted[0] or 0, stop=shifted[1])
                self._failures.append((failed, gap.error))

    def sent(self, worker: int) -> list[Packet]:
        """The packets of the worker's partial that is on its way to a merger."""
        return [self._packet(packet) for packet in self.packetizer.sent(worker)]

    @property
    def has_progress(self) -> bool:
        """See Inner."""
        return bool(self._opened or self._failures) or self._growth.has_failures

    def take_progress(self) -> InnerProgress:
        """See Inner."""
        self._look()
        opened, self._opened = self._opened, []
        failures, self._failures = self._failures, []
        return InnerProgress(opened, failures)

    def take_commits(self) -> list[tuple[int, int, int]]:
        """See Inner."""
        self._look()
        commits, self._commits = self._commits, []
        return commits

    # Translation.

    def _place(self, number: int) -> Part:
        part = self._parts[number]
        assert part is not None, "nothing comes of what was given back"
        return part

    def _translated(self, actions: list[Action]) -> list[Action]:
        return [_OUT.get(type(action), _same)(self, action) for action in actions]

    def _packet(self, packet: Packet) -> Packet:
        part = self._place(packet.file)
        start, stop = part.start + packet.start, part.start + packet.stop
        return Packet(packet.number, part.file, start, stop, packet.attempt)

    def _process(self, action: Process) -> Action:
        packet = self._packet(action.packet)
        self._shift[action.worker] = packet.start - action.packet.start
        return Process(action.worker, packet)

    def _hint(self, action: Prefetch | Forget) -> Action:
        return replaced(action, packet=self._packet(action.packet))

    def _open(self, action: OpenFile | OpenAhead) -> Action:
        file = self._place(action.file).file
        self._asked.setdefault(action.worker, []).append((action.file, file))
        return replaced(action, file=file)


def _same(crew: LeasedPacketizer, action: Action) -> Action:
    return action


_OUT: dict[type, Callable[[LeasedPacketizer, Any], Action]] = {
    Process: LeasedPacketizer._process,
    Prefetch: LeasedPacketizer._hint,
    Forget: LeasedPacketizer._hint,
    OpenFile: LeasedPacketizer._open,
    OpenAhead: LeasedPacketizer._open,
}
