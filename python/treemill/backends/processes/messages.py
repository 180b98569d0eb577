"""The messages between a session, its template process and its workers. The packetizer's events and
actions are sent as they are; these are all others. Plain data."""

from __future__ import annotations

from ...frozen import frozen
from ..pulse import Pulse

__all__ = [
    "DropTask",
    "Exited",
    "Fork",
    "Hand",
    "Inputs",
    "Kill",
    "Load",
    "PassGone",
    "Ready",
    "StartFailed",
    "Started",
    "TaskLoaded",
    "WorkerCrashed",
]

Key = tuple[int, int]
"""A worker: the number of its pass, and its number within the pass."""

# From the session to the template.


@frozen
class Inputs:
    """A selector's inputs, for the `Load` messages that follow."""

    digest: bytes
    data: bytes


@frozen
class Load:
    """A pass's task, pickled. `digest`: of the inputs that it needs. `folder`: where relative paths
    begin, in the task and in its workers; None: in the template's own folder."""

    number: int
    digest: bytes | None
    data: bytes
    folder: str | None


@frozen
class Fork:
    """Start a worker; its socket comes with the message. `memory`: the bytes that it may take on
    top of the template's."""

    key: Key
    memory: int | None


@frozen
class Kill:
    """End a worker that does not answer."""

    key: Key


@frozen
class DropTask:
    """Drop a pass's task and kill its workers: the pass is over. `PassGone` answers."""

    number: int


# From the template to the session.


@frozen
class Ready:
    """The template has started."""

    pid: int


@frozen
class TaskLoaded:
    """The task is loaded: workers may be forked."""

    number: int


@frozen
class StartFailed:
    """The task could not be loaded, or a worker could not be started."""

    number: int
    error: BaseException


@frozen
class Started:
    """A worker has this process id."""

    key: Key
    pid: int


@frozen
class Exited:
    """A worker's process has ended. `code` is as in subprocess: negative if a signal ended it."""

    key: Key
    code: int


@frozen
class PassGone:
    """The task is dropped, and no process of the pass is left."""

    number: int


# From a worker to the session.


@frozen
class Hand:
    """A partial, which also says that its packets are committed."""

    data: bytes
    pulse: Pulse
    """The worker's counters when it committed."""


@frozen
class WorkerCrashed:
    """The worker cannot go on, and neither could another one: the pass ends with this error."""

    error: BaseException
