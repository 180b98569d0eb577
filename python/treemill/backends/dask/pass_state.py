"""What a pass on a cluster has, whether the scheduler leads its workers (lead.py) or sub-masters do
(master.py): messages that wait to be sent, patience with workers and with the user's stop, the end.
Knows no worker and no packet.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping

from ...errors import WorkerError
from .messages import End, HeldPartial, PassEnded, PassRequest

__all__ = ["Messages", "PassState"]

Messages = list[tuple[str, object]]
"""Messages to be sent now, with addresses."""


class PassState(ABC):
    """The state of one pass. Public methods return the messages to be sent now."""

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
        self._settled: dict[int, int] | None = None

    @property
    def over(self) -> bool:
        """True if the pass has ended."""
        return self._ended is not None

    @property
    @abstractmethod
    def _addresses(self) -> Collection[str]:
        """The processes that take part."""

    @abstractmethod
    def parts(self, whole: bool = True) -> tuple[HeldPartial, ...] | None:
        """The partials that are held for the client; None if `whole` and workers have something to
        do."""

    @abstractmethod
    def abort(self, reason: str) -> Messages:
        """Ends with what is merged; the work that is not committed is lost."""

    @abstractmethod
    def fail(self, error: BaseException) -> Messages:
        """Ends the pass with an error."""

    @abstractmethod
    def _ask_to_stop(self, reason: str) -> None:
        """Tells workers to end at their next batch and to commit."""

    @abstractmethod
    def _collected(self, holders: Collection[int]) -> None:
        """A client has got the partials that these have held."""

    @abstractmethod
    def _lose(self, address: str, reason: str, fault: bool) -> None:
        """A process is lost. `fault`: whether its packets may be to blame."""

    @abstractmethod
    def _tick(self) -> None:
        """Time has passed, and the pass goes on."""

    def _last_lost(self) -> str | None:
        """Why the last process was lost, if that is known."""
        return None

    def lose(self, address: str, reason: str, fault: bool = True) -> Messages:
        """A process is lost. `fault`: whether its packets may be to blame."""
        self._lose(address, reason, fault)
        return self._told()

    def stop(self, reason: str) -> Messages:
        """Tells workers to end at their next batch and to commit."""
        self._ask_to_stop(reason)
        self._deadline = self._deadline or (self._clock() + self.request.patience, reason)
        return self._told()

    def settle(self, commits: Mapping[int, int]) -> tuple[bool, Messages]:
        """A client has got the partials of these holders. `commits`: how many are in each. False if
        that is not all of the result, or not what the result is now."""
        parts = self.parts()
        if parts is None or {each.merger: each.commits for each in parts} != dict(commits):
            return self._settled == commits, self._told()  # it may not have heard that it was
        self._settled = dict(commits)
        self._collected(commits.keys())
        return True, self._told()

    def tick(self, heard: Mapping[str, float]) -> Messages:
        """Time has passed. `heard`: when each process was last heard of."""
        now, request = self._clock(), self.request
        for address in list(self._addresses):
            if now - heard.get(address, now) > request.silence:
                self._say(address, End(self.name))
                self._lose(address, f"did not answer for {request.silence:g} seconds", True)
        if self.over:
            return self._told()
        if self._alone_since is not None and now - self._alone_since > request.wait:
            words = f"no worker has been there for {request.wait:g} seconds"
            lost = self._last_lost()
            last = f"; the last one was lost during this query: {lost}" if lost else ""
            todo = "start workers, or give connect() a longer wait="
            return self.fail(WorkerError(f"given up: {words}{last}; {todo}"))
        if self._deadline is not None and now > self._deadline[0]:
            reason = self._deadline[1]
            self._deadline = None
            return self.abort(f"{reason}; a worker was not done {request.patience:g} s later")
        self._tick()
        return self._told()

    def _end_with(self, ended: PassEnded) -> None:
        """Ends the pass, and lets its processes go."""
        self._ended = ended
        self.change += 1
        for address in self._addresses:
            self._say(address, End(self.name))

    def _say(self, address: str, message: object) -> None:
        self._out.append((address, message))

    def _told(self) -> Messages:
        out, self._out = self._out, []
        return out
