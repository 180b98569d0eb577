"""The messages between a session, its template process and its workers. The packetizer's events and
actions are sent as they are; these are all others. Plain data.
"""

from __future__ import annotations

import pickle
import socket
import struct
import threading
from collections.abc import Iterator

from ...frozen import frozen
from ..base import Heartbeat

__all__ = [
    "Channel",
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

# Messages between the processes of one session: a length and a pickle, over a UNIX socket. Knows
# no message, no packet and no worker. Both ends are this program, run by the same user, so that
# unpickling is safe.

_HEADER = struct.Struct("<Q")
_PIECE = 1 << 20


class Channel:
    """One end of a socket. All threads may send; one thread receives."""

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        self._sending = threading.Lock()
        self._received = bytearray()
        self.descriptors: list[int] = []
        """File descriptors that came with messages, in their order. The one that takes a descriptor
        closes it."""

    def fileno(self) -> int:
        """The socket's file descriptor, for select and poll."""
        return self.socket.fileno()

    def send(self, message: object, descriptor: int | None = None) -> None:
        """Sends a message, and a file descriptor with it. Raises OSError if the other end is
        gone."""
        data = pickle.dumps(message, protocol=5)
        header = _HEADER.pack(len(data))
        with self._sending:
            if descriptor is not None:
                socket.send_fds(self.socket, [header[:1]], [descriptor])
                header = header[1:]
            if len(data) < _PIECE:
                self.socket.sendall(header + data)
            else:
                self.socket.sendall(header)
                self.socket.sendall(data)

    def receive(self) -> tuple[list[object], bool]:
        """Waits for bytes. Returns the messages that are complete now, and whether the other end is
        still there."""
        try:
            data, descriptors, _, _ = socket.recv_fds(self.socket, _PIECE, 64)
        except (BlockingIOError, InterruptedError):
            return [], True
        except OSError:  # the other process died and reset the connection
            return [], False
        self.descriptors += descriptors
        if not data:
            return [], False
        self._received += data
        return list(self._whole()), True

    def drain(self) -> list[object]:
        """Returns all messages that have arrived, without waiting."""
        messages: list[object] = []
        self.socket.setblocking(False)
        alive = True
        while alive:
            before = len(self._received)
            arrived, alive = self.receive()
            messages += arrived
            if not arrived and len(self._received) == before:
                break
        return messages

    def _whole(self) -> Iterator[object]:
        begin = 0
        while len(self._received) - begin >= _HEADER.size:
            (size,) = _HEADER.unpack_from(self._received, begin)
            end = begin + _HEADER.size + size
            if len(self._received) < end:
                break
            yield pickle.loads(memoryview(self._received)[begin + _HEADER.size : end])
            begin = end
        # pickle has copied the last message, so that no memoryview keeps the buffer.
        del self._received[:begin]

    def close(self) -> None:
        """Closes the socket. The other end sees that."""
        self.socket.close()


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
    heartbeat: Heartbeat
    """The worker's counters when it committed."""


@frozen
class WorkerCrashed:
    """The worker cannot continue, and neither could another one: the pass ends with this error."""

    error: BaseException
