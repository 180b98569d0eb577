"""A door and a pool that speak dCap, for tests: read-only, passive mode, one folder.

It does what dCache's door and movers do on the wire, with their quirks (a vectored read has no end
mark, and its blocks do not say which range they are of), and counts what it was asked for. Faults
happen on demand. `tests/remote/test_dcap_door.py` checks it against libdcap's `dccp`. It knows
nothing of treemill.

By hand: `python tests/remote/dcap_door.py FOLDER [PORT] [HOST]`, which prints the address.
"""

import base64
import contextlib
import os
import secrets
import shlex
import shutil
import socket
import stat
import struct
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path

READ, SEEK, CLOSE, ACK, FIN, DATA, LOCATE, SEEK_READ, READV = 2, 3, 4, 6, 7, 8, 9, 11, 13
END = struct.pack(">i", -1)
BLOCK = 256 << 10  # bytes of one block of data, at most: a pool's usual buffer
MOST_COMMAND = 16384  # bytes of one command, at most: a pool's buffer for them
IO_ERROR = 204


@dataclass
class Counts:
    """What has been asked for."""

    doors: int = 0  # control lines
    sessions: int = 0  # files opened
    reads: int = 0  # reads of one range
    vectors: int = 0  # vectored reads
    ranges: int = 0  # ranges in vectored reads
    sent: int = 0  # bytes of files
    stalled: int = 0  # data connections that have begun to say nothing ...
    left: int = 0  # ... and that their client has ended


@dataclass
class Faults:
    """What goes wrong; nothing, unless said so."""

    cut_after: int | None = None  # bytes of files after which each data connection is cut ...
    cuts: int = 1 << 30  # ... but not more often than this
    refuse_open: str | None = (
        None  # the rest of the door's answer to `open`: `failed 33 "..." EPERM`
    )
    reject: str | None = None  # the rest of its answer to `hello`
    no_vectors: bool = False  # pools do not know vectored reads
    broken_ranges: set[int] = field(default_factory=set)  # offsets that the pool cannot read
    missing_bytes: int = 0  # bytes that the pool has fewer than the door says
    vanish: bool = False  # the control line is cut when a file is opened
    silent: bool = False  # the pool answers nothing
    stall_after: int | None = None  # bytes of files after which each data connection brings nothing


class CutOffError(Exception):
    """This connection ends now."""


class DcapDoor:
    """A door on a free port of this machine, and a pool on another one, until `stop`."""

    def __init__(self, folder: Path, host: str = "127.0.0.1", port: int = 0) -> None:
        self.folder, self.host = folder, host
        self.counts, self.faults = Counts(), Faults()
        self._lock = threading.Lock()
        self._movers: dict[tuple[int, bytes], tuple[Path, Control]] = {}
        self._open: set[socket.socket] = set()
        self._door, self._pool = self._listen(self._control, port), self._listen(self._mover, 0)
        self.port = self._door.getsockname()[1]

    def stop(self) -> None:
        """Ends all connections."""
        with self._lock:
            sockets, self._open = [self._door, self._pool, *self._open], set()
        for each in sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def put(self, source: Path, path: str) -> None:
        """Serves a file of this machine at `path`."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)

    def url(self, path: str) -> str:
        return f"dcap://{self.host}:{self.port}/{path}"

    def __enter__(self) -> "DcapDoor":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _listen(self, serve, port: int) -> socket.socket:
        listening = socket.create_server((self.host, port), backlog=256)

        def accept() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return  # stopped
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                with self._lock:
                    self._open.add(connection)
                threading.Thread(
                    target=self._guarded, args=(serve, connection), daemon=True
                ).start()

        threading.Thread(target=accept, daemon=True).start()
        return listening

    def _guarded(self, serve, connection: socket.socket) -> None:
        try:
            serve(connection)
        except (OSError, EOFError, CutOffError):
            pass  # the client is gone, or a test wants this connection to end
        finally:
            with self._lock:
                self._open.discard(connection)
            connection.close()

    def count(self, **more: int) -> None:
        with self._lock:
            for name, by in more.items():
                setattr(self.counts, name, getattr(self.counts, name) + by)

    def _control(self, connection: socket.socket) -> None:
        self.count(doors=1)
        Control(self, connection).run()

    def mover(self, session: int, path: Path, control: "Control") -> tuple[int, str]:
        """A mover that waits for its client: the pool's port and the challenge."""
        challenge = secrets.token_hex(18).encode()
        with self._lock:
            self._movers[session, challenge] = path, control
        return self._pool.getsockname()[1], base64.b64encode(challenge).decode()

    def _mover(self, connection: socket.socket) -> None:
        session, length = struct.unpack(">ii", exactly(connection, 8))
        challenge = base64.b64decode(exactly(connection, length))
        with self._lock:
            path, control = self._movers.pop((session, challenge))
            self.counts.sessions += 1
        with path.open("rb") as file:
            Mover(self, connection, file).run()
        control.say(session, "ok")


class Control:
    """One control line: commands in, answers out, a line each."""

    def __init__(self, door: DcapDoor, connection: socket.socket) -> None:
        self.door, self.connection = door, connection
        self.lock = threading.Lock()

    def say(self, session: int, words: str) -> None:
        with self.lock:
            self.connection.sendall(f"{session} 0 client {words}\n".encode())

    def run(self) -> None:
        answers = {name: getattr(self, name) for name in ("hello", "stat", "open", "ping")}
        answers["lstat"] = self.stat
        for line in self.connection.makefile("r", encoding="utf-8"):
            session, _, _, command, *words = shlex.split(line)
            if command == "byebye":
                return
            if command not in answers:
                self.say(int(session), f"failed 669 \"Invalid command '{command}'\"")
                continue
            answers[command](int(session), words)

    def hello(self, session: int, words: list[str]) -> None:
        if self.door.faults.reject:
            self.say(session, self.door.faults.reject)
            raise CutOffError
        self.say(session, f"welcome {words[2]} {words[3]}")

    def ping(self, session: int, words: list[str]) -> None:
        self.say(session, "pong")

    def found(self, session: int, url: str) -> Path | None:
        rest = url.split("://", 1)[-1]
        path = self.door.folder / rest.split("/", 1)[-1].lstrip("/")
        if not path.exists():
            self.say(session, 'failed 10001 "No such file or directory" ENOENT')
            return None
        return path

    def stat(self, session: int, words: list[str]) -> None:
        path = self.found(session, words[0])
        if path is None:
            return
        state = path.stat()
        mode = stat.filemode(state.st_mode)
        size, changed = state.st_size, int(state.st_mtime)
        said = f"-st_size={size} -st_uid=0 -st_gid=0 -st_mtime={changed} -st_mode={mode} -st_ino=7"
        self.say(session, f"stat {said}")

    def open(self, session: int, words: list[str]) -> None:
        faults = self.door.faults
        if faults.vanish:
            raise CutOffError
        if faults.refuse_open:
            return self.say(session, faults.refuse_open)
        if "-passive" not in words:
            return self.say(session, 'failed 2 "This door is for passive clients" EPERM')
        path = self.found(session, words[0])
        if path is None:
            return None
        if not path.is_file():
            return self.say(session, 'failed 17 "Path is a Directory" EISDIR')
        port, challenge = self.door.mover(session, path, self)
        return self.say(session, f"connect {self.door.host} {port} {challenge}")


class Mover:
    """One data connection: binary commands in, blocks of a file out."""

    def __init__(self, door: DcapDoor, connection: socket.socket, file) -> None:
        self.door, self.connection, self.file = door, connection, file
        self.size = max(0, os.fstat(file.fileno()).st_size - door.faults.missing_bytes)
        self.at = self.sent = 0
        self.is_sound = True

    def run(self) -> None:
        while True:
            (length,) = struct.unpack(">i", exactly(self.connection, 4))
            if not 4 <= length <= MOST_COMMAND:
                raise CutOffError
            body = exactly(self.connection, length)
            (command,) = struct.unpack(">i", body[:4])
            if self.door.faults.silent:
                continue
            if command == CLOSE:
                return self.message(ACK, CLOSE)
            self.obey(command, body[4:])

    def obey(self, command: int, body: bytes) -> None:
        match command:
            case 3:  # SEEK
                offset, whence = struct.unpack(">qi", body)
                self.at = offset + {0: 0, 1: self.at, 2: self.size}[whence]
                self.message(ACK, SEEK, extra=struct.pack(">q", self.at))
            case 9:  # LOCATE
                self.message(ACK, LOCATE, extra=struct.pack(">qq", self.size, self.at))
            case 2 | 11:  # READ, SEEK_READ
                if command == SEEK_READ:
                    offset, whence, length = struct.unpack(">qiq", body)
                    self.at = offset + {0: 0, 1: self.at, 2: self.size}[whence]
                else:
                    (length,) = struct.unpack(">q", body)
                self.door.count(reads=1)
                self.begin(command)
                self.at += self.blocks(self.at, length)
                self.connection.sendall(END)
                self.end(command)
            case 13 if not self.door.faults.no_vectors:  # READV
                (number,) = struct.unpack(">i", body[:4])
                self.door.count(vectors=1, ranges=number)
                self.begin(command)
                for offset, length in struct.iter_unpack(">qi", body[4 : 4 + 12 * number]):
                    self.blocks(offset, length)
                self.end(command)
            case _:
                self.message(ACK, 666, 9, "Invalid mover command")

    def begin(self, command: int) -> None:
        self.message(ACK, command)
        self.connection.sendall(struct.pack(">ii", 4, DATA))

    def end(self, command: int) -> None:
        code, text = (0, "") if self.is_sound else (IO_ERROR, "FIN : read failed (IO not ok)")
        self.message(FIN, command, code, text)
        self.is_sound = True

    def message(
        self, kind: int, command: int, code: int = 0, text: str = "", extra: bytes = b""
    ) -> None:
        body = struct.pack(">iii", kind, command, code) + extra
        if code:
            body += struct.pack(">h", len(text)) + text.encode()
        self.connection.sendall(struct.pack(">i", len(body)) + body)

    def blocks(self, offset: int, length: int) -> int:
        """Sends what there is of a range; how much that was."""
        if offset in self.door.faults.broken_ranges:
            self.is_sound = False
            return 0
        done = 0
        while done < length:
            most = min(BLOCK - 4, length - done, max(0, self.size - offset - done))
            block = os.pread(self.file.fileno(), most, offset + done)
            if not block:
                break
            self.cut(len(block))
            self.connection.sendall(struct.pack(">i", len(block)) + block)
            self.door.count(sent=len(block))
            self.sent += len(block)
            done += len(block)
        return done

    def cut(self, more: int) -> None:
        faults = self.door.faults
        if faults.cut_after is not None and faults.cuts > 0 and self.sent + more > faults.cut_after:
            faults.cuts -= 1
            raise CutOffError
        if faults.stall_after is not None and self.sent + more > faults.stall_after:
            self.door.count(stalled=1)
            while self.connection.recv(BLOCK):
                pass  # until the client ends it
            self.door.count(left=1)
            raise CutOffError


def exactly(connection: socket.socket, length: int) -> bytes:
    """As many bytes as this."""
    parts = b""
    while len(parts) < length:
        part = connection.recv(length - len(parts))
        if not part:
            raise EOFError
        parts += part
    return parts


if __name__ == "__main__":
    folder, port, host, *_ = [*sys.argv[1:], *["0", "127.0.0.1"][len(sys.argv) - 2 :]]
    with DcapDoor(Path(folder), host, int(port)) as running:
        print(running.url(""), flush=True)
        threading.Event().wait()
