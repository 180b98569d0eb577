"""The smallest metadata server and data servers of NFSv4.1 that a test of layouts needs: files in
one folder, striped over data servers, as files layout (RFC 8881) or flex_files (RFC 8435). Faults
are switched on by a test. A peer for tests, not a server: no state is checked, nothing is written.

By hand: `python tests/remote/pnfs_peer.py FILE files|flex SERVERS MEGABYTES_A_SECOND [HOST]`, which
prints the address; each data server sends no faster than that.
"""

import contextlib
import socket
import struct
import sys
import threading
import time
from pathlib import Path
from typing import ClassVar

FILES, FLEX = 1, 4
_TYPE, _CHANGE, _SIZE, _FSID, _LEASE, _ID, _TIME, _LAYOUTS = 1, 3, 4, 8, 10, 20, 53, 62
_STATE = struct.pack(">I", 1) + b"the-one-file"
_NOENT, _UNAVAILABLE, _NOT_SUPPORTED = 2, 10059, 10004
_ROOT = b"root"


def _u32(*values):
    return struct.pack(f">{len(values)}I", *values)


def _u64(*values):
    return struct.pack(f">{len(values)}Q", *values)


def _opaque(data):
    return _u32(len(data)) + data + bytes(-len(data) % 4)


class _Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def fixed(self, count):
        found = self.data[self.at : self.at + count]
        self.at += count + -count % 4
        return found

    def u32(self):
        return struct.unpack(">I", self.fixed(4))[0]

    def u64(self):
        return struct.unpack(">Q", self.fixed(8))[0]

    def opaque(self):
        return self.fixed(self.u32())

    def words(self):
        return [self.u32() for _ in range(self.u32())]


class _RefusedError(Exception):
    """An operation's status."""


class Server:
    """A listening socket, a thread for each connection, and the operations of all servers."""

    def __init__(self, host="127.0.0.1"):
        self.host = host
        self.reads = 0
        """READs that were answered."""
        self.refuses = 0
        """READs are refused with this status, unless it is zero."""
        self._socket = socket.create_server((host, 0))
        self.port = self._socket.getsockname()[1]
        self._connections = []
        threading.Thread(target=self._accept, daemon=True).start()

    def stop(self):
        """Ends all connections, and takes no new ones."""
        for each in (self._socket, *self._connections):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self):
        while True:
            try:
                connection = self._socket.accept()[0]
            except OSError:
                return
            self._connections.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        stream = connection.makefile("rb")
        try:
            while mark := stream.read(4):
                record = _Reader(stream.read(struct.unpack(">I", mark)[0] & 0x7FFFFFFF))
                xid, kind = record.u32(), record.u32()
                if kind == 1:
                    self.answered(record)
                    continue
                record.fixed(16)  # version of RPC, program, version, procedure
                for _ in range(2):
                    record.u32()
                    record.opaque()
                self._send(connection, _u32(xid, 1, 0, 0, 0, 0) + self._compound(record))
        except (OSError, struct.error):
            return

    def _send(self, connection, body):
        connection.sendall(_u32(0x80000000 | len(body)) + body)

    def answered(self, record):
        """An answer to a call on the back channel."""

    def _compound(self, arguments):
        arguments.opaque()
        arguments.u32()
        status, results, done = 0, b"", 0
        where = {"handle": _ROOT}
        for _ in range(arguments.u32()):
            number = arguments.u32()
            done += 1
            try:
                action = self.OPERATIONS.get(number)
                if action is None:
                    raise _RefusedError(_NOT_SUPPORTED)
                results += _u32(number, 0) + action(self, arguments, where)
            except _RefusedError as refused:
                status = refused.args[0]
                results += _u32(number, status)
                break
        return _u32(status) + _opaque(b"") + _u32(done) + results

    def _exchange(self, arguments, where):
        arguments.fixed(8)
        arguments.opaque()
        arguments.fixed(12)
        return _u64(7) + _u32(1, 0x20000, 0) + _u64(1) + _opaque(b"it") * 2 + _u32(0)

    def _create(self, arguments, where):
        arguments.fixed(16)
        channels = [[arguments.u32() for _ in range(7)] for _ in range(2)]
        arguments.fixed(12)
        return b"s" * 16 + _u32(1, 2) + b"".join(_u32(*channel) for channel in channels)

    def _sequence(self, arguments, where):
        session = arguments.fixed(16)
        sequence, slot, highest, _ = (arguments.u32() for _ in range(4))
        return session + _u32(sequence, slot, highest, highest, 0)

    def _put(self, arguments, where):
        where["handle"] = arguments.opaque()
        return b""

    def _read(self, arguments, where):
        arguments.fixed(16)
        offset, count = arguments.u64(), arguments.u32()
        if self.refuses:
            raise _RefusedError(self.refuses)
        self.reads += 1
        data = self.content(where["handle"])
        return _u32(offset + count >= len(data)) + _opaque(data[offset : offset + count])

    def _complete(self, arguments, where):
        arguments.u32()
        return b""

    def _destroy(self, arguments, where):
        arguments.fixed(16)
        return b""

    OPERATIONS: ClassVar = {
        42: _exchange,
        43: _create,
        44: _destroy,
        53: _sequence,
        58: _complete,
        22: _put,
        25: _read,
    }


class DataServer(Server):
    """Has stripes of files, by handles. rate: bytes per second that it sends at most."""

    def __init__(self, host="127.0.0.1", rate=None):
        super().__init__(host)
        self.stored = {}
        self._rate = rate
        self._free = 0.0  # when what was sent so far is through
        self._turn = threading.Lock()

    def _send(self, connection, body):
        if self._rate is not None:
            with self._turn:
                self._free = max(self._free, time.monotonic()) + len(body) / self._rate
                wait = self._free - time.monotonic()
            time.sleep(max(wait, 0.0))
        super()._send(connection, body)

    def content(self, handle):
        """The bytes behind a handle."""
        return self.stored[bytes(handle)]


class MetadataServer(Server):
    """Has files whole, and names the data servers that have their stripes.

    kind: FILES or FLEX. dense: stripes lie one behind the other on their servers (FILES only).
    """

    def __init__(self, servers, kind, unit=4096, dense=False, host="127.0.0.1"):
        self.files = {}
        self.servers, self.kind, self.unit, self.dense = servers, kind, unit, dense
        self.layouts = self.returned = 0
        self.gives_layouts = True
        self.said = []
        self.heard = threading.Event()
        self.gave_back = threading.Event()
        super().__init__(host)

    def put(self, name, data):
        """Adds a file: its address."""
        handle = name.encode()
        self.files[handle] = data
        count = len(self.servers)
        for number, server in enumerate(self.servers):
            if self.dense:
                stripes = range(number * self.unit, len(data), self.unit * count)
                server.stored[handle] = b"".join(data[at : at + self.unit] for at in stripes)
            else:
                # What is not its own is wrong on purpose.
                mine = bytearray(b"\xff" * len(data))
                for at in range(number * self.unit, len(data), self.unit * count):
                    mine[at : at + self.unit] = data[at : at + self.unit]
                server.stored[handle] = bytes(mine)
        return f"nfs://{self.host}:{self.port}/{name}"

    def content(self, handle):
        """The bytes behind a handle."""
        return self.files[bytes(handle)]

    def recall(self):
        """Wants all layouts back, on the connection that came first."""
        sequence = _u32(11) + b"s" * 16 + _u32(1, 0, 0, 0, 0)
        recall = _u32(5, self.kind, 1, 0, 3)
        call = _u32(99, 0, 2, 0x40000000, 1, 1, 0, 0, 0, 0)
        call += _opaque(b"") + _u32(1, 0, 2) + sequence + recall
        self._send(self._connections[0], call)

    def answered(self, record):
        """See Server."""
        record.fixed(16)  # accepted, the verifier, its status
        self.said.append(record.u32())
        self.heard.set()

    def _root(self, arguments, where):
        where["handle"] = _ROOT
        return b""

    def _lookup(self, arguments, where):
        where["handle"] = arguments.opaque()
        if where["handle"] not in self.files:
            raise _RefusedError(_NOENT)
        return b""

    def _handle(self, arguments, where):
        return _opaque(where["handle"])

    def _attributes(self, arguments, where):
        words = arguments.words()
        size = len(self.files.get(where["handle"], b""))
        kind = 2 if where["handle"] == _ROOT else 1
        known = {
            _TYPE: _u32(kind),
            _CHANGE: _u64(5),
            _SIZE: _u64(size),
            _FSID: _u64(1, 2),
            _LEASE: _u32(60),
            _ID: _u64(9),
            _TIME: _u64(1000) + _u32(0),
            _LAYOUTS: _u32(1, self.kind),
        }
        asked = [n for n in sorted(known) if words[n // 32 :] and words[n // 32] >> n % 32 & 1]
        mask = [sum(1 << n % 32 for n in asked if n // 32 == word) for word in (0, 1)]
        return _u32(2, *mask) + _opaque(b"".join(known[n] for n in asked))

    def _open(self, arguments, where):
        arguments.fixed(12)
        arguments.u64()
        arguments.opaque()
        arguments.fixed(8)
        return _STATE + _u32(0) + _u64(1, 1) + _u32(0, 0, 0)

    def _close(self, arguments, where):
        arguments.fixed(20)
        return _STATE

    def _layout(self, arguments, where):
        arguments.fixed(12 + 24 + 16 + 4)
        if not self.gives_layouts:
            raise _RefusedError(_UNAVAILABLE)
        self.layouts += 1
        handle, count = bytes(where["handle"]), len(self.servers)
        if self.kind == FILES:
            handles = b"".join(_opaque(handle) for _ in range(count if self.dense else 1))
            util = self.unit | (1 if self.dense else 0)
            body = b"d" * 16 + _u32(util, 0) + _u64(0)
            body += _u32(count if self.dense else 1) + handles
        else:
            body = _u64(self.unit) + _u32(1, count)
            for number in range(count):
                body += bytes([number]) * 16 + _u32(1) + _STATE + _u32(1) + _opaque(handle)
                body += _opaque(b"0") * 2
            body += _u32(0, 0)
        segment = _u64(0, 2**64 - 1) + _u32(1, self.kind) + _opaque(body)
        return _u32(0) + _STATE + _u32(1) + segment

    def _device(self, arguments, where):
        device = arguments.fixed(16)
        arguments.fixed(12)
        addresses = [
            _u32(1) + _opaque(b"tcp") + _opaque(f"{s.host}.{s.port >> 8}.{s.port & 255}".encode())
            for s in self.servers
        ]
        if self.kind == FILES:
            count = len(addresses)
            body = _u32(count, *range(count), count) + b"".join(addresses)
        else:
            body = addresses[device[0]] + _u32(1, 4, 1, 1 << 20, 1 << 20, 1)
        return _u32(self.kind) + _opaque(body) + _u32(0)

    def _layout_returned(self, arguments, where):
        arguments.fixed(16 + 16 + 16)
        arguments.opaque()
        self.returned += 1
        self.gave_back.set()
        return _u32(0)

    OPERATIONS: ClassVar = {
        **Server.OPERATIONS,
        4: _close,
        9: _attributes,
        10: _handle,
        15: _lookup,
        18: _open,
        24: _root,
        47: _device,
        50: _layout,
        51: _layout_returned,
    }


if __name__ == "__main__":
    path, layout, count, megabytes, *place = sys.argv[1:]
    there = place[0] if place else "127.0.0.1"
    stores = [DataServer(there, float(megabytes) * 1e6) for _ in range(int(count))]
    kinds = {"files": FILES, "flex": FLEX}
    lead = MetadataServer(stores, kinds[layout], 1 << 20, dense=layout == "files", host=there)
    print(lead.put(Path(path).name, Path(path).read_bytes()), flush=True)
    threading.Event().wait()
