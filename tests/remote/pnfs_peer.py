"""The smallest metadata server and data servers of NFSv4.1 that a test of layouts needs: files in
one folder, striped over data servers, as files layout (RFC 8881) or flex_files (RFC 8435). Faults
are switched on by a test. A peer for tests, not a server: nothing is written.

By hand: `python tests/remote/pnfs_peer.py FILE files|flex SERVERS MEGABYTES_A_SECOND [HOST]
[alone]`, which prints the address; each data server sends no faster than that. Without data servers
no layouts are given; `alone`: sessions have one connection.
"""

import sys
import threading
import time
import zlib
from pathlib import Path
from typing import ClassVar

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.remote.nfs_peer import Reader, RefusedError, Server, opaque, u32, u64

FILES, FLEX = 1, 4
_TYPE, _CHANGE, _SIZE, _FSID, _LEASE, _ID, _TIME, _LAYOUTS = 1, 3, 4, 8, 10, 20, 53, 62
_NOENT, _UNAVAILABLE, _UNKNOWN_TYPE = 2, 10059, 10062
_BAD_STATE, _GRACE, _NO_GRACE = 10025, 10013, 10033
_CONFLICT, _INVALID = 10061, 22
_ROOT = b"root"
OF_A_FILE, OF_A_FILE_SYSTEM, OF_ALL = 1, 2, 3
"""What is recalled and given back."""


class DataServer(Server):
    """Has stripes of files, by handles. rate: bytes per second that it sends at most."""

    def __init__(self, host="127.0.0.1", rate=None):
        super().__init__(host)
        self.stored = {}
        self.dies_after = None
        """READs after which it ends, with the next one's answer unsent."""
        self.refuses_states = 0
        """READs that are told that their state is not known."""
        self._rate = rate
        self._free = 0.0  # when what was sent so far is through
        self._turn = threading.Lock()

    def send(self, connection, body):
        if self._rate is not None:
            with self._turn:
                self._free = max(self._free, time.monotonic()) + len(body) / self._rate
                wait = self._free - time.monotonic()
            time.sleep(max(wait, 0.0))
        super().send(connection, body)

    def content(self, handle):
        """The bytes behind a handle."""
        return self.stored[bytes(handle)]

    def check(self, state):
        """See Server."""
        if self.dies_after is not None and self.reads >= self.dies_after:
            self.stop()
            raise OSError
        if self.refuses_states:
            self.refuses_states -= 1
            raise RefusedError(_BAD_STATE)


class MetadataServer(Server):
    """Has files whole, and names the data servers that have their stripes.

    kind: FILES or FLEX. dense: stripes lie one behind the other on their servers (FILES only).
    mirrors: into how many groups the servers fall, each of which has all stripes (FLEX only).
    """

    def __init__(self, servers, kind, unit=4096, dense=False, host="127.0.0.1", mirrors=1):
        self.files = {}
        self.servers, self.kind, self.unit, self.dense = servers, kind, unit, dense
        self.mirrors = mirrors
        self.flags = 0
        """Of flex_files."""
        self.pause = 0
        """Seconds between two reports of what was read; 0: as clients like it. Of flex_files."""
        self.lease = 60
        """Seconds."""
        self.layouts = self.returned = 0
        self.errors, self.counts = [], []
        """What clients have told: devices and statuses; devices, operations and bytes."""
        self.covers = None
        """Bytes of each part of a layout; None: it is of all of the file."""
        self.unreached = []
        """Hosts and ports at which data servers should be, too, and are not."""
        self.given = []
        """What was given back: a kind of return, and the file's handle."""
        self.laid = {}
        """The sequences of the layouts that clients have, by handles."""
        self.recalled = None
        """What is being recalled: a kind, and a handle or None."""
        self.in_grace = False
        self._epoch = 1  # of the states that it has given
        self.gives_layouts = True
        self.said = []
        self.heard = threading.Event()
        self.gave_back = threading.Event()
        self.heard_error, self.heard_stats = threading.Event(), threading.Event()
        super().__init__(host)

    def put(self, name, data):
        """Adds a file: its address."""
        handle = name.encode()
        self.files[handle] = data
        count = len(self.servers) // self.mirrors
        for number, server in enumerate(self.servers):
            number %= count
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

    def forget(self):
        """See Server. States are forgotten, too."""
        super().forget()
        self.laid.clear()
        self._epoch += 1

    def restart(self):
        """See Server. Nothing new is opened until a client has claimed what it had."""
        self.in_grace = True
        super().restart()

    def _state(self):
        return u32(1, self._epoch) + b"the-file"

    def check(self, state):
        """See Server."""
        if state[4:] not in (self._state()[4:], bytes(12)):
            raise RefusedError(_BAD_STATE)

    def _layout_state(self, handle):
        return u32(self.laid[handle], self._epoch) + u32(zlib.crc32(handle)) + b"laid"

    def recall(self, name=None, kind=OF_ALL, mode=1):
        """Wants layouts back, on the connection that came first: of a file, of the file system or
        all. Meanwhile it gives none, and takes nothing else back (RFC 8881, section 12.5.5.2.1).
        """
        body = u64(1, 2) if kind == OF_A_FILE_SYSTEM else b""
        handle = None
        if name is not None:
            kind, handle = OF_A_FILE, name.encode()
            self.laid[handle] = self.laid.get(handle, 0) + 1
            body = opaque(handle) + u64(0, 2**64 - 1) + self._layout_state(handle)
        self.recalled = kind, handle
        self._call(u32(5, self.kind, mode, 0, kind) + body)

    def recall_slots(self, highest):
        """Wants no slot above this one to be used."""
        self.target = highest
        self._call(u32(10, highest))

    def _call(self, operation):
        session = next(iter(self._sessions))
        sequence = u32(11) + session + u32(1, 0, 0, 0, 0)
        call = u32(99, 0, 2, 0x40000000, 1, 1, 0, 0, 0, 0)
        call += opaque(b"") + u32(1, 0, 2) + sequence + operation
        self.send(self._connections[0], call)

    def answered(self, record):
        """See Server."""
        record.fixed(16)  # accepted, the verifier, its status
        status = record.u32()
        if status:
            self.recalled = None
        self.said.append(status)
        self.heard.set()

    def _root(self, arguments, where):
        where["handle"] = _ROOT
        return b""

    def _lookup(self, arguments, where):
        where["handle"] = arguments.opaque()
        if where["handle"] not in self.files:
            raise RefusedError(_NOENT)
        return b""

    def _handle(self, arguments, where):
        return opaque(where["handle"])

    def _attributes(self, arguments, where):
        words = arguments.words()
        size = len(self.files.get(where["handle"], b""))
        kind = 2 if where["handle"] == _ROOT else 1
        known = {
            _TYPE: u32(kind),
            _CHANGE: u64(5),
            _SIZE: u64(size),
            _FSID: u64(1, 2),
            _LEASE: u32(self.lease),
            _ID: u64(9),
            _TIME: u64(1000) + u32(0),
            _LAYOUTS: u32(1, self.kind) if self.is_parallel else u32(0),
        }
        asked = [n for n in sorted(known) if words[n // 32 :] and words[n // 32] >> n % 32 & 1]
        mask = [sum(1 << n % 32 for n in asked if n // 32 == word) for word in (0, 1)]
        return u32(2, *mask) + opaque(b"".join(known[n] for n in asked))

    def _open(self, arguments, where):
        arguments.fixed(12)
        arguments.u64()
        arguments.opaque()
        arguments.fixed(4)
        claims = arguments.u32() == 1
        if claims:
            arguments.u32()
        if claims and not self.in_grace:
            raise RefusedError(_NO_GRACE)
        if not claims and not self.is_complete(where["client"]):
            raise RefusedError(_GRACE)
        return self._state() + u32(0) + u64(1, 1) + u32(0, 0, 0)

    def _close(self, arguments, where):
        arguments.fixed(20)
        return self._state()

    def _layout(self, arguments, where):
        _, kind, _ = (arguments.u32() for _ in range(3))
        offset, _, least = (arguments.u64() for _ in range(3))
        handle, state = bytes(where["handle"]), arguments.fixed(16)
        if handle not in self.laid or state[4:] != self._layout_state(handle)[4:]:
            self.check(state)
        arguments.u32()
        if self.recalled is not None and self.recalled[1] in (None, handle):
            raise RefusedError(_CONFLICT)
        if kind != self.kind:
            raise RefusedError(_UNKNOWN_TYPE)
        if not self.gives_layouts:
            raise RefusedError(_UNAVAILABLE)
        self.layouts += 1
        self.laid[handle] = self.laid.get(handle, 0) + 1
        count = len(self.servers)
        if self.kind == FILES:
            handles = b"".join(opaque(handle) for _ in range(count if self.dense else 1))
            util = self.unit | (1 if self.dense else 0)
            body = b"d" * 16 + u32(util, 0) + u64(0)
            body += u32(count if self.dense else 1) + handles
        else:
            body = u64(self.unit) + u32(self.mirrors)
            for mirror in range(self.mirrors):
                each = count // self.mirrors
                body += u32(each)
                for number in range(mirror * each, (mirror + 1) * each):
                    efficiency = self.mirrors - mirror
                    body += bytes([number]) * 16 + u32(efficiency) + self._state()
                    body += u32(1) + opaque(handle) + opaque(b"0") * 2
            body += u32(self.flags, self.pause)
        start, length = 0, 2**64 - 1
        if self.covers is not None:
            assert least <= 1
            start, length = offset // self.covers * self.covers, self.covers
        segment = u64(start, length) + u32(1, self.kind) + opaque(body)
        return u32(0) + self._layout_state(handle) + u32(1) + segment

    def _device(self, arguments, where):
        device = arguments.fixed(16)
        arguments.fixed(12)
        places = [[*self.unreached, (server.host, server.port)] for server in self.servers]
        addresses = [
            u32(len(each))
            + b"".join(
                opaque(b"tcp") + opaque(f"{host}.{port >> 8}.{port & 255}".encode())
                for host, port in each
            )
            for each in places
        ]
        if self.kind == FILES:
            count = len(addresses)
            body = u32(count, *range(count), count) + b"".join(addresses)
        else:
            body = addresses[device[0]] + u32(1, 4, 1, 1 << 20, 1 << 20, 1)
        return u32(self.kind) + opaque(body) + u32(0)

    def _layout_returned(self, arguments, where):
        _, _, _, kind = (arguments.u32() for _ in range(4))
        handle = bytes(where["handle"])
        if kind == OF_A_FILE:
            self._file_returned(handle, arguments)
        elif self.recalled != (kind, None):
            raise RefusedError(_INVALID)
        else:
            self.laid.clear()
        if self.recalled is not None and self.recalled[0] == kind:
            self.recalled = None
        self.given.append((kind, handle))
        self.returned += 1
        self.gave_back.set()
        return u32(0)

    def _file_returned(self, handle, arguments):
        arguments.fixed(16)
        state = arguments.fixed(16)
        body = Reader(arguments.opaque())
        if self.recalled is not None and self.recalled[1] is None:
            raise RefusedError(_CONFLICT)
        if handle not in self.laid or state[4:] != self._layout_state(handle)[4:]:
            raise RefusedError(_BAD_STATE)
        if self.kind == FLEX:
            for _ in range(body.u32()):
                self._told_error(body)
            for _ in range(body.u32()):
                self._told_counts(body)
                self._latency(body)
        del self.laid[handle]

    def _told_error(self, body):
        body.fixed(32)
        for _ in range(body.u32()):
            self.errors.append((body.fixed(16)[0], body.u32()))
            assert body.u32() == 25

    def _told_counts(self, body):
        body.fixed(32)
        operations, size, *written = (body.u64() for _ in range(4))
        assert written == [0, 0]
        self.counts.append((body.fixed(16)[0], operations, size))

    @staticmethod
    def _latency(body):
        assert body.opaque() == b"tcp"
        body.opaque()
        body.opaque()
        body.fixed(2 * (5 * 8 + 2 * 12) + 12 + 4)

    def _layout_error(self, arguments, where):
        self._told_error(arguments)
        self.heard_error.set()
        return b""

    def _layout_stats(self, arguments, where):
        self._told_counts(arguments)
        assert arguments.u32() == FLEX
        self._latency(Reader(arguments.opaque()))
        self.heard_stats.set()
        return b""

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
        64: _layout_error,
        65: _layout_stats,
    }


if __name__ == "__main__":
    path, layout, count, megabytes, *more = sys.argv[1:]
    there = next((word for word in more if word != "alone"), "127.0.0.1")
    stores = [DataServer(there, float(megabytes) * 1e6) for _ in range(int(count))]
    kinds = {"files": FILES, "flex": FLEX}
    lead = MetadataServer(stores, kinds[layout], 1 << 20, dense=layout == "files", host=there)
    lead.is_parallel = lead.gives_layouts = bool(stores)
    for server in (lead, *stores):
        server.is_alone = "alone" in more
    print(lead.put(Path(path).name, Path(path).read_bytes()), flush=True)
    threading.Event().wait()
