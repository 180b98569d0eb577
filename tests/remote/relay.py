"""A way to a server that is slow, that breaks, or that lets few connections through."""

import contextlib
import socket
import struct
import threading


class Relay:
    """Leads to a server, which brings so many bytes in a second. More connections at once than are
    allowed are reset, as by a firewall. `ebbs`: after so many bytes from the server hardly more
    comes through on the connections that there are than shows that it is there; `waiting` are those
    on which a client waits for more. While `mute` is a number, only so many of the server's first
    bytes come through on each connection, and nothing after them."""

    def __init__(self, server, allowed=1 << 30, speed=1e9, ebbs=None):
        self._server, self._allowed = (server.host.address, server.ports[0]), allowed
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._is_over, self._speed = threading.Event(), speed
        self._wire, self._lock, self._open = threading.Lock(), threading.Lock(), []
        self.port, self.resets = self._listening.getsockname()[1], 0
        self._left_to_bring = ebbs
        self._ebbing = None
        self.waiting, self._waited = [], []
        self.mute = None
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._is_over.set()
        self._listening.close()

    def _accept(self):
        while not self._is_over.is_set():
            try:
                client = self._listening.accept()[0]
                with self._lock:
                    is_allowed = len(self._open) < self._allowed
                if not is_allowed:
                    self.reset([client])
                    continue
                pair = client, socket.create_connection(self._server)
            except OSError:
                return  # closed, or the server is gone
            for each in pair:
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self._open.append(pair)
            for one, other in (pair, pair[::-1]):
                work = (one, other, pair)
                threading.Thread(target=self._forward, args=work, daemon=True).start()

    def _forward(self, one, other, pair):
        brought = 0
        with contextlib.suppress(OSError):  # it was reset
            while received := one.recv(1 << 15):
                brought += len(received)
                if one is pair[1] and self.mute is not None and brought > self.mute:
                    continue
                if one is pair[1] and self._ebbs(len(received), pair):
                    for byte in received:
                        other.sendall(bytes([byte]))
                        self._is_over.wait(0.2)
                    continue
                other.sendall(received)
                with self._wire:
                    self._is_over.wait(len(received) / self._speed)
        if one is pair[0]:
            with self._lock:
                self._waited.append(pair)
                self.waiting = [each for each in self.waiting if each is not pair]
        with self._lock, contextlib.suppress(ValueError):  # the other direction has ended before
            self._open.remove(pair)
        for each in pair:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def _ebbs(self, count, pair):
        """Whether the server has brought what it may bring soon."""
        if self._left_to_bring is None:
            return False
        with self._lock:
            self._left_to_bring -= count
            if self._left_to_bring < 0 and self._ebbing is None:
                self._ebbing = list(self._open)  # what connects later is served well
            if self._ebbing is None or pair not in self._ebbing:
                return False
            if pair not in self._waited:  # it may have been left meanwhile
                self._waited.append(pair)
                self.waiting.append(pair)
        return True

    def reset(self, connections):
        self.resets += bool(connections)
        for each in connections:
            # Nothing lingers: that is a reset, and no end.
            each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def reset_all(self):
        with self._lock:
            lost, self._open = self._open, []
        self.reset([each for pair in lost for each in pair])
