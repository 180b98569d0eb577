"""A mount whose files lie on servers that are far away and slow: a read-only file system in user
space (FUSE) that shows a folder of this machine. It is a test peer, not a product; it serves in
the form that the kernel's fuse.h describes.

    python slow_mount.py FOLDER PLACE DELAY SERVERS MEGABYTES

Each read of the kernel waits DELAY seconds. The files lie in stripes of 1 MB on SERVERS servers,
of which each sends MEGABYTES in a second, one answer after the other (0: without a limit). When
it is mounted, it prints `mount://PLACE`; each line on its standard input is answered by how often
it was read from since the last one, how many bytes that were, and how many reads waited at once,
at most.
"""

import contextlib
import ctypes
import errno
import os
import stat
import struct
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

STRIPE = 1 << 20
MOST = 1 << 20
"""Bytes of one read, at most."""
THREADS = 64

_IN = struct.Struct("<IIQQIIIHH")
_OUT = struct.Struct("<IiQ")
_ATTRIBUTES = struct.Struct("<QQQQQQIIIIIIIIII")
_READ = struct.Struct("<QQII")
_ASYNC_READ, _MOST_PAGES = 1 << 0, 1 << 22
_READ_ONLY, _NO_SUID, _NO_DEV, _DETACH = 1, 2, 4, 2


class Servers:
    """When the bytes of a read come; and what was read."""

    def __init__(self, delay: float, count: int, megabytes: float) -> None:
        self.delay = delay
        self._speed = megabytes * 1e6
        self._free = [0.0] * count
        self._lock = threading.Lock()
        self._reads = self._bytes = self._now = self._most = 0

    def asked(self, offset: int, size: int) -> float:
        """Seconds until the bytes of a read that is asked for now are here."""
        with self._lock:
            self._reads += 1
            self._bytes += size
            self._now += 1
            self._most = max(self._most, self._now)
            if not self._speed:
                return self.delay
            number = offset // STRIPE % len(self._free)
            now = time.monotonic()
            self._free[number] = max(self._free[number], now) + size / self._speed
            return self._free[number] - now + self.delay

    def answered(self) -> None:
        with self._lock:
            self._now -= 1

    def counts(self) -> tuple[int, int, int]:
        """Reads and bytes since the last time, and the reads that waited at once."""
        with self._lock:
            found = self._reads, self._bytes, self._most
            self._reads = self._bytes = self._most = 0
            return found


class FileSystem:
    """Answers the kernel's questions. A node is a path, by its number."""

    def __init__(self, folder: Path, servers: Servers) -> None:
        self._paths = {1: folder}
        self._numbers = {folder: 1}
        self._files: dict[int, int] = {}
        self._servers = servers
        self.answers = {
            1: self._look_up,
            3: self._attributes,
            14: self._open,
            15: self._read,
            17: self._room,
            18: self._release,
            25: lambda node, body: b"",
            27: lambda node, body: struct.pack("<QIi", 0, 0, 0),
            28: self._list,
            29: lambda node, body: b"",
        }

    def _look_up(self, node: int, body: bytes) -> bytes:
        path = self._paths[node] / os.fsdecode(body.rstrip(b"\0"))
        found = path.stat()
        number = self._numbers.setdefault(path, len(self._numbers) + 1)
        self._paths[number] = path
        return struct.pack("<QQQQII", number, 0, 1, 1, 0, 0) + _attributes(number, found)

    def _attributes(self, node: int, body: bytes) -> bytes:
        return struct.pack("<QII", 1, 0, 0) + _attributes(node, self._paths[node].stat())

    def _open(self, node: int, body: bytes) -> bytes:
        file = os.open(self._paths[node], os.O_RDONLY)
        return struct.pack("<QIi", file, 0, 0)

    def _read(self, node: int, body: bytes) -> bytes:
        file, offset, size, _ = _READ.unpack_from(body)
        time.sleep(self._servers.asked(offset, size))
        try:
            return os.pread(file, size, offset)
        finally:
            self._servers.answered()

    def _release(self, node: int, body: bytes) -> bytes:
        os.close(struct.unpack_from("<Q", body)[0])
        return b""

    def _room(self, node: int, body: bytes) -> bytes:
        return struct.pack("<5Q4I24x", 0, 0, 0, 0, 0, 4096, 255, 4096, 0)

    def _list(self, node: int, body: bytes) -> bytes:
        _, offset, size, _ = _READ.unpack_from(body)
        said = b""
        for number, path in enumerate(sorted(self._paths[node].iterdir())[offset:], offset + 1):
            name = os.fsencode(path.name)
            kind = stat.S_IFMT(path.stat().st_mode) >> 12
            entry = struct.pack("<QQII", 1, number, len(name), kind) + name
            entry += bytes(-len(entry) % 8)
            if len(said) + len(entry) > size:
                break
            said += entry
        return said


def _attributes(number: int, found: os.stat_result) -> bytes:
    times = (found.st_atime_ns, found.st_mtime_ns, found.st_ctime_ns)
    return _ATTRIBUTES.pack(
        number, found.st_size, found.st_blocks,
        *(each // 10**9 for each in times), *(each % 10**9 for each in times),
        found.st_mode, found.st_nlink, 0, 0, 0, 4096, 0,
    )  # fmt: skip


def _begin(body: bytes) -> bytes:
    _, minor, most_ahead, flags = struct.unpack_from("<IIII", body)
    ours = flags & (_ASYNC_READ | _MOST_PAGES)
    return struct.pack(
        "<IIIIHHIIHHII24x", 7, min(minor, 31), most_ahead, ours,
        THREADS, THREADS, 4096, 1, MOST // 4096, 0, 0, 0,
    )  # fmt: skip


def serve(device: int, files: FileSystem) -> None:
    """Answers until the mount is gone."""
    pool = ThreadPoolExecutor(THREADS)

    def answer(header: tuple[int, ...], body: bytes) -> None:
        _, code, unique, node, *_ = header
        error, said = 0, b""
        try:
            said = _begin(body) if code == 26 else files.answers[code](node, body)
        except KeyError:
            error = errno.ENOSYS
        except OSError as found:
            error = found.errno or errno.EIO
        with contextlib.suppress(OSError):  # who asked has gone
            os.write(device, _OUT.pack(_OUT.size + len(said), -error, unique) + said)

    while True:
        try:
            asked = os.read(device, 1 << 17)
        except OSError as error:
            if error.errno == errno.ENODEV:
                return
            if error.errno in (errno.ENOENT, errno.EINTR):
                continue
            raise
        header = _IN.unpack_from(asked)
        if header[1] not in (2, 36, 42):  # forget, interrupt, forget many: they are not answered
            pool.submit(answer, header, asked[_IN.size :])


def main() -> None:
    folder, place, delay, count, megabytes = sys.argv[1:6]
    device = os.open("/dev/fuse", os.O_RDWR)
    libc = ctypes.CDLL(None, use_errno=True)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other"
    flags = _READ_ONLY | _NO_SUID | _NO_DEV
    if libc.mount(b"slow", os.fsencode(place), b"fuse.slow", flags, options.encode()):
        sys.exit(f"{place}: {os.strerror(ctypes.get_errno())}")
    servers = Servers(float(delay), int(count), float(megabytes))
    files = FileSystem(Path(folder), servers)

    def tell() -> None:
        for _ in sys.stdin:
            print(*servers.counts(), flush=True)
        # The one who started it has ended. Files may still be open: without us the kernel ends
        # what waits.
        libc.umount2(os.fsencode(place), _DETACH)
        os._exit(0)

    threading.Thread(target=tell, daemon=True).start()
    print(f"mount://{place}", flush=True)
    try:
        serve(device, files)
    finally:
        libc.umount2(os.fsencode(place), _DETACH)
        os._exit(0)  # threads may still wait for a delay


if __name__ == "__main__":
    main()
