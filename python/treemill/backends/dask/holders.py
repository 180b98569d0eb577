"""The mergers of a pass: which processes they are, and how many partials each has, as it is known
on the scheduler. Which of them gets which partial is for the packetizer to decide."""

from __future__ import annotations

from collections.abc import Iterable

from ...scheduling import Dismiss, HandOn, Refuse, RefuseFrom
from .messages import Drop, Fetch, HeldPartial, Recall, RecallFrom
from .participant import Participant

__all__ = ["Holders"]


class Holders:
    """The processes that merge."""

    def __init__(self) -> None:
        self._there: dict[int, Participant] = {}
        self._commits: dict[int, int] = {}  # by merger, also after it is gone
        self._sent: dict[tuple[int, int], int] = {}  # the same by merger and worker
        self._next = 0

    def elect(self, host: str, processes: Iterable[Participant]) -> Participant | None:
        """Makes a process of this host a merger, if it has none; of any host if there is no merger
        at all. Those that leave do not count."""
        able = [each for each in processes if each.loaded and not each.leaving]
        here = [each for each in able if each.host == host] or able
        if not here or any(each.merger is not None for each in here):
            return None
        process = here[0]
        process.merger, self._next = self._next, self._next + 1
        self._there[process.merger] = process
        return process

    def dismiss(self, merger: int) -> Participant | None:
        """Takes a merger out, whose process may go on as a worker. None if it is unknown."""
        process = self._there.pop(merger, None)
        if process is not None and process.merger == merger:
            process.merger = None
        return process

    def at(self, merger: int) -> Participant | None:
        """The process that is this merger."""
        return self._there.get(merger)

    def part(self, merger: int) -> HeldPartial:
        """Returns what the merger has. It must be there."""
        return HeldPartial(merger, self._there[merger].address, self.commits(merger))

    def commits(self, merger: int) -> int:
        """The partials of workers that the merger has."""
        return self._commits.get(merger, 0)

    def committed(self, merger: int, worker: int) -> None:
        """Notes that the merger has one more partial of the worker."""
        self._commits[merger] = self._commits.get(merger, 0) + 1
        self._sent[merger, worker] = self._sent.get((merger, worker), 0) + 1

    def handed_on(self, merger: int, to: int) -> None:
        """Notes that the partials of a merger are another one's."""
        self._commits[to] = self._commits.get(to, 0) + self._commits.pop(merger, 0)

    def told(
        self, work: str, action: Refuse | RefuseFrom | HandOn | Dismiss
    ) -> tuple[str, object] | None:
        """The message by which a merger of the pass `work` is told this, and its address. None if
        its process is lost, as the packetizer will hear."""
        to = self._there.get(action.to if isinstance(action, HandOn) else action.merger)
        if to is None:
            return None
        if isinstance(action, Refuse):
            taken = self._sent.get((action.merger, action.worker), 0)
            return to.address, Recall(work, action.merger, action.worker, taken)
        if isinstance(action, RefuseFrom):
            return to.address, RecallFrom(work, action.merger, action.giver)
        if isinstance(action, HandOn):
            part = self.part(action.merger)
            about = (part.merger, part.address, part.commits)
            return to.address, Fetch(work, action.to, *about)
        self.dismiss(action.merger)
        return to.address, Drop(work, action.merger)
