"""Messages between processes of one session: a length and a pickle, over a UNIX socket.

Transport only: knows no packet and no worker. Both ends are this program, run by the same user.
"""

from __future__ import annotations

import pickle
import socket
import struct
import threading
from typing import Any

__all__ = ["Channel"]

_HEADER = struct.Struct("<Q")
_PIECE = 1 << 20


class Channel:
    """One end. Any thread may send; one thread receives."""

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        self._sending = threading.Lock()
        self._received = bytearray()
        self.descriptors: list[int] = []
        """Files that came with messages, in their order; whoever takes one owns it."""

    def fileno(self) -> int:
        """For select and poll."""
        return self.socket.fileno()

    def send(self, message: Any, descriptor: int | None = None) -> None:
        """Returns when the message is on its way. Raises OSError where the other end is gone."""
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

    def receive(self) -> tuple[list[Any], bool]:
        """What has arrived, waiting for something to: whole messages, and whether the other end is
        still there."""
        try:
            data, descriptors, _, _ = socket.recv_fds(self.socket, _PIECE, 64)
        except (BlockingIOError, InterruptedError):
            return [], True
        except OSError:  # reset by a process that died
            return [], False
        self.descriptors += descriptors
        if not data:
            return [], False
        self._received += data
        return list(self._whole()), True

    def drain(self) -> list[Any]:
        """All that has arrived, without waiting."""
        messages: list[Any] = []
        self.socket.setblocking(False)
        alive = True
        while alive:
            before = len(self._received)
            arrived, alive = self.receive()
            messages += arrived
            if not arrived and len(self._received) == before:
                break
        return messages

    def _whole(self) -> Any:
        begin = 0
        while len(self._received) - begin >= _HEADER.size:
            (size,) = _HEADER.unpack_from(self._received, begin)
            end = begin + _HEADER.size + size
            if len(self._received) < end:
                break
            yield pickle.loads(memoryview(self._received)[begin + _HEADER.size : end])
            begin = end
        # A memoryview of the last message may be held no longer: pickle has copied it.
        del self._received[:begin]

    def close(self) -> None:
        """The other end sees that nobody is here."""
        self.socket.close()
