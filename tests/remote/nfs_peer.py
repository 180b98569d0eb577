"""What the test peers of NFSv4.1 have in common: XDR, RPC, COMPOUND, clients, sessions and slots.
The rules that a client has to keep are checked: slots are numbered without a gap, nothing new is
opened before RECLAIM_COMPLETE. Faults are switched on by a test. Knows no file and no layout.
"""

import collections
import contextlib
import itertools
import socket
import struct
import threading
from typing import ClassVar

from tools.servers.process import listening

BAD_SESSION, STALE_CLIENT, MISORDERED, COMPLETE_ALREADY = 10052, 10022, 10063, 10054
NOT_BOUND, NOT_SUPPORTED, CLIENT_BUSY = 10055, 10004, 10074
BIND, EXCHANGE, CREATE, DESTROY, SEQUENCE, COMPLETE, PUT, READ = 41, 42, 43, 44, 53, 58, 22, 25
FREE, FORGET_CLIENT = 45, 57
SLOTS = 64


def u32(*values):
    """Numbers of 32 bits."""
    return struct.pack(f">{len(values)}I", *values)


def u64(*values):
    """Numbers of 64 bits."""
    return struct.pack(f">{len(values)}Q", *values)


def opaque(data):
    """Bytes behind their length."""
    return u32(len(data)) + data + bytes(-len(data) % 4)


class Reader:
    """Takes values from the front of bytes."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def fixed(self, count):
        """So many bytes."""
        found = self.data[self.at : self.at + count]
        self.at += count + -count % 4
        return found

    def u32(self):
        """A number of 32 bits."""
        return struct.unpack(">I", self.fixed(4))[0]

    def u64(self):
        """A number of 64 bits."""
        return struct.unpack(">Q", self.fixed(8))[0]

    def opaque(self):
        """Bytes behind their length."""
        return self.fixed(self.u32())

    def words(self):
        """A list of numbers."""
        return [self.u32() for _ in range(self.u32())]


class RefusedError(Exception):
    """An operation's status."""


class Server:
    """A listening socket, a thread for each connection, and the operations of all servers."""

    def __init__(self, host="127.0.0.1"):
        self.host = host
        self.reads = 0
        """READs that were answered."""
        self.refuses = 0
        """READs are refused with this status, unless it is zero."""
        self.calls = []
        """The operations of each COMPOUND, by their numbers."""
        self.faults = collections.defaultdict(list)
        """By operation: the statuses with which it is refused, one by one; 0: it is not."""
        self.together = {}
        """By operation: a barrier at which it waits once."""
        self.followed = collections.Counter()
        """By operation: how often the next request must come before it is answered."""
        self.accepted = 0
        """Connections."""
        self.is_alone = False
        """A session has the connection that it was made on, and no other one."""
        self.is_parallel = True
        """It says that it gives layouts."""
        self.target = SLOTS - 1
        """The highest slot that clients should use."""
        self.slots = []
        """The slots of all requests."""
        self.freed = []
        """States that clients let go of."""
        self.left = threading.Event()
        """A client has said that it is not there any more."""
        self.renewals = threading.Semaphore(0)
        """Requests that asked for nothing but more time."""
        self.said_all = None
        """A list to which all messages are added: the client's port, whether it is the client that
        says it, and the bytes."""
        self._numbers = itertools.count(7)
        self._clients = {}  # by number: the sequence of the next session
        self._known = {}  # numbers, by owners and verifiers
        self._complete = set()
        self._sessions = {}  # by name: the client, the next sequence of each slot, the connection
        self._lock = threading.Lock()
        self._sending = collections.defaultdict(threading.Lock)
        self._socket = listening(host)
        self.port = self._socket.getsockname()[1]
        self._connections = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def clients(self):
        """The numbers of the clients that it knows."""
        with self._lock:
            return set(self._clients)

    def stop(self):
        """Ends all connections, and takes no new ones."""
        for each in (self._socket, *self._connections):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def forget(self):
        """All clients and sessions are forgotten, as after their leases."""
        with self._lock:
            for known in (self._clients, self._known, self._sessions, self._complete):
                known.clear()

    def restart(self):
        """As if it was ended and started anew."""
        self.forget()
        for each in self._connections:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def sessions_end(self):
        """All sessions are forgotten, and no client."""
        with self._lock:
            self._sessions.clear()

    def _accept(self):
        while True:
            try:
                connection = self._socket.accept()[0]
            except OSError:
                return
            # As servers do: the last bytes of an answer do not wait for a round trip.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.accepted += 1
            self._connections.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        stream = connection.makefile("rb")
        try:
            while mark := stream.read(4):
                record = Reader(stream.read(struct.unpack(">I", mark)[0] & 0x7FFFFFFF))
                self._note(connection, True, mark + record.data)
                xid, kind = record.u32(), record.u32()
                if kind == 1:
                    self.answered(record)
                    continue
                record.fixed(16)  # version of RPC, program, version, procedure
                for _ in range(2):
                    record.u32()
                    record.opaque()
                if not self.together:
                    self._answer(connection, xid, record, stream)
                    continue
                # What comes behind it is not kept waiting.
                asked = connection, xid, record, stream
                threading.Thread(target=self._answer, args=asked, daemon=True).start()
        except (OSError, struct.error):
            return

    def _answer(self, connection, xid, record, stream):
        body = self._compound(record, stream)
        with contextlib.suppress(OSError):
            self.send(connection, u32(xid, 1, 0, 0, 0, 0) + body)

    def send(self, connection, body):
        """Sends a record."""
        record = u32(0x80000000 | len(body)) + body
        with self._sending[connection]:
            self._note(connection, False, record)
            connection.sendall(record)

    def _note(self, connection, is_client, record):
        if self.said_all is not None:
            self.said_all.append((connection.getpeername()[1], is_client, record))

    def answered(self, record):
        """An answer to a call on the back channel."""

    def _compound(self, arguments, stream):
        arguments.opaque()
        arguments.u32()
        status, results, done = 0, b"", 0
        where = {"handle": b"", "connection": stream}
        numbers = []
        self.calls.append(numbers)
        for _ in range(arguments.u32()):
            number = arguments.u32()
            numbers.append(number)
            done += 1
            if self.followed[number] > 0:
                self.followed[number] -= 1
                stream.peek(1)
            try:
                results += u32(number, 0) + self._operation(number, arguments, where)
            except RefusedError as refused:
                status = refused.args[0]
                results += u32(number, status)
                break
        if numbers == [SEQUENCE]:
            self.renewals.release()
        return u32(status) + opaque(b"") + u32(done) + results

    def _operation(self, number, arguments, where):
        if (barrier := self.together.pop(number, None)) is not None:
            barrier.wait(20)
        action = self.OPERATIONS.get(number)
        if action is None:
            raise RefusedError(NOT_SUPPORTED)
        with self._lock:
            if self.faults[number] and (status := self.faults[number].pop(0)):
                raise RefusedError(status)
            return action(self, arguments, where)

    def content(self, handle):
        """The bytes behind a handle."""
        raise NotImplementedError

    def check(self, state):
        """A READ's state is known, or this raises."""

    def _exchange(self, arguments, where):
        who = (arguments.fixed(8), arguments.opaque())
        arguments.fixed(12)
        number = self._known.setdefault(who, next(self._numbers))
        self._clients.setdefault(number, 1)
        flags = (0x20000 if self.is_parallel else 0x10000) | (
            0x80000000 if number in self._complete else 0
        )
        found = u64(number) + u32(self._clients[number], flags, 0)
        return found + u64(1) + opaque(b"it") * 2 + u32(0)

    def _create(self, arguments, where):
        client, sequence = arguments.u64(), arguments.u32()
        if client not in self._clients:
            raise RefusedError(STALE_CLIENT)
        if sequence != self._clients[client]:
            raise RefusedError(MISORDERED)
        self._clients[client] += 1
        arguments.fixed(4)
        channels = [[arguments.u32() for _ in range(7)] for _ in range(2)]
        arguments.fixed(12)
        name = u64(client, next(self._numbers))
        slots = collections.defaultdict(lambda: 1)
        self._sessions[name] = (client, slots, where["connection"])
        return name + u32(sequence, 2) + b"".join(u32(*channel) for channel in channels)

    def _sequence(self, arguments, where):
        session = arguments.fixed(16)
        sequence, slot, _, _ = (arguments.u32() for _ in range(4))
        if session not in self._sessions:
            raise RefusedError(BAD_SESSION)
        where["client"], slots, connection = self._sessions[session]
        if self.is_alone and connection is not where["connection"]:
            raise RefusedError(NOT_BOUND)
        if slots[slot] != sequence:
            raise RefusedError(MISORDERED)
        slots[slot] += 1
        self.slots.append(slot)
        return session + u32(sequence, slot, SLOTS - 1, self.target, 0)

    def _bind(self, arguments, where):
        session = arguments.fixed(16)
        way, _ = arguments.u32(), arguments.u32()
        if session not in self._sessions:
            raise RefusedError(BAD_SESSION)
        if self.is_alone:
            raise RefusedError(NOT_SUPPORTED)
        return session + u32(way, 0)

    def is_complete(self, client):
        """Whether a client has said that it claims nothing else."""
        return client in self._complete

    def _complete_claims(self, arguments, where):
        arguments.u32()
        if where["client"] in self._complete:
            raise RefusedError(COMPLETE_ALREADY)
        self._complete.add(where["client"])
        return b""

    def _put(self, arguments, where):
        where["handle"] = arguments.opaque()
        return b""

    def _read(self, arguments, where):
        state = arguments.fixed(16)
        offset, count = arguments.u64(), arguments.u32()
        if self.refuses:
            raise RefusedError(self.refuses)
        self.check(state)
        self.reads += 1
        data = self.content(where["handle"])
        return u32(offset + count >= len(data)) + opaque(data[offset : offset + count])

    def _destroy(self, arguments, where):
        self._sessions.pop(arguments.fixed(16), None)
        return b""

    def _free(self, arguments, where):
        self.freed.append(arguments.fixed(16))
        return b""

    def _forget_client(self, arguments, where):
        client = arguments.u64()
        if client not in self._clients:
            raise RefusedError(STALE_CLIENT)
        if any(client == known[0] for known in self._sessions.values()):
            raise RefusedError(CLIENT_BUSY)
        del self._clients[client]
        self._known = {who: number for who, number in self._known.items() if number != client}
        self.left.set()
        return b""

    OPERATIONS: ClassVar = {
        FREE: _free,
        FORGET_CLIENT: _forget_client,
        BIND: _bind,
        EXCHANGE: _exchange,
        CREATE: _create,
        DESTROY: _destroy,
        SEQUENCE: _sequence,
        COMPLETE: _complete_claims,
        PUT: _put,
        READ: _read,
    }
