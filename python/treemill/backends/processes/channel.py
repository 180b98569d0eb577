"""Messages between the processes of one session: a length and a pickle, over a UNIX socket.

Knows no message, no packet and no worker. Both ends are this program, run by the same user, so that
unpickling is safe.
"""

from __future__ import annotations

import pickle
import socket
import struct
import threading
from collections.abc import Iterator

__all__ = ["Channel"]

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
