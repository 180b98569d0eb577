"""A server's process: started on free ports, ready when its sockets answer, stopped by its own id.
Knows no protocol.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ..link.host import HERE, Host, give

__all__ = ["Process", "Server", "ServerError", "free_ports", "listening"]

_PATIENCE = 20.0
"""Seconds in which a server must be ready, and in which it must have stopped."""
_POLL = 0.01
_ATTEMPTS = 3
"""Another program may take a port between our look and the server's start."""


class ServerError(Exception):
    """The server cannot be started; with the end of what it said."""


_given: set[int] = set()
"""Ports that this process has used: a client in it may still be looking for the server that was
there, and must not meet another one."""


def listening(host: str) -> socket.socket:
    """A socket that listens at a port that this process has not used before."""
    refused = []
    try:
        while True:
            made = socket.create_server((host, 0))
            port = made.getsockname()[1]
            if port not in _given:
                _given.add(port)
                return made
            refused.append(made)  # kept, so that another port is given next
    finally:
        for each in refused:
            each.close()


def free_ports(count: int) -> list[int]:
    """Ports of this machine that nothing listens at, and that this process has not used before."""
    sockets = [listening(HERE.address) for _ in range(count)]
    try:
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


class Process:
    """One program of a server, on `host`. `log`: where it writes. `is_ours`: it runs as the user
    that we are."""

    def __init__(self, words: Sequence[str], host: Host, log: Path, is_ours: bool = False) -> None:
        self.log = log
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                host.server_command(words, is_ours),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=log.parent,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    @property
    def cpu(self) -> float:
        """Processor seconds of the program, and of those that it has started and that still run."""
        return sum(map(_cpu, _of_session(self.pid)))

    def wait_until(self, is_ready: Callable[[], bool], what: str) -> None:
        """Returns when `is_ready` says so. Raises ServerError if the program ends, or is not ready
        in time."""
        end = time.monotonic() + _PATIENCE
        while not is_ready():
            if not self.is_running:
                raise ServerError(f"the server ended before {what}:\n{self.said()}")
            if time.monotonic() > end:
                raise ServerError(f"not within {_PATIENCE:.0f} s: {what}:\n{self.said()}")
            time.sleep(_POLL)

    def said(self) -> str:
        """The end of its log."""
        return self.log.read_text(errors="replace")[-4000:] if self.log.exists() else ""

    def send(self, number: signal.Signals) -> None:
        """Sends a signal, if it still runs."""
        if self.is_running:
            os.kill(self.pid, number)

    def freeze(self) -> None:
        """Returns when it has stopped, if it still runs."""
        self.send(signal.SIGSTOP)
        if self.is_running:
            os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Returns when it has ended, by force if need be."""
        self.send(number)
        self.send(signal.SIGCONT)
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self.send(signal.SIGKILL)
            self._process.wait()


class Server:
    """A server of the files in `data`. Each kind of server starts its programs in `_start`, which
    may be called again, with other ports, if a port was taken meanwhile."""

    program: str
    """What must be installed."""
    ports_needed = 1

    def __init__(self, host: Host = HERE) -> None:
        if reason := self.missing():
            raise ServerError(reason)
        self.host = host
        self.folder = Path(tempfile.mkdtemp(prefix=f"{self.program}-"))
        self.folder.chmod(0o755)
        give(self.folder)
        self.data = self._made("data")
        self.processes: list[Process] = []
        self.ports: list[int] = []
        try:
            self._start_on_free_ports()
        except BaseException:
            self.stop()
            raise

    @classmethod
    def missing(cls) -> str | None:
        """Why there can be no such server here; None if there can."""
        return None if shutil.which(cls.program) else f"{cls.program} is not installed"

    def url(self, path: str) -> str:
        """The URL of a file in `data`, by its path there."""
        raise NotImplementedError

    def put(self, source: str | os.PathLike[str], path: str) -> str:
        """Copies a file into `data`. Gives its URL."""
        target = self.data / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        return self.url(path)

    def stop(self) -> None:
        """Ends the server and removes its folder. To be called once more does nothing."""
        for process in reversed(self.processes):
            process.end()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def cpu(self) -> float:
        """Processor seconds of its programs, up to now."""
        return sum(process.cpu for process in self.processes)

    def kill(self) -> None:
        """Ends the server at once, as a crash does. Its data stays until `stop`."""
        for process in self.processes:
            process.end(signal.SIGKILL)

    def freeze(self) -> None:
        """The server answers no more, but its connections stay. `thaw` undoes it."""
        for process in self.processes:
            process.freeze()

    def thaw(self) -> None:
        """Lets a frozen server go on."""
        for process in self.processes:
            process.send(signal.SIGCONT)

    def restart(self) -> None:
        """Starts a server that was killed anew, on the same ports."""
        self.processes = []
        self._start()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _start(self) -> None:
        """Starts `processes` on `ports`; returns when they answer."""
        raise NotImplementedError

    def _start_on_free_ports(self) -> None:
        for attempt in range(1, _ATTEMPTS + 1):
            self.ports = free_ports(self.ports_needed)
            try:
                self._start()
                return
            except ServerError:
                self.kill()
                self.processes = []
                if attempt == _ATTEMPTS:
                    raise

    def _made(self, name: str) -> Path:
        """A folder of the server's own."""
        path = self.folder / name
        path.mkdir()
        give(path)
        return path

    def _run(self, words: Sequence[str], name: str, is_ours: bool = False) -> Process:
        process = Process(words, self.host, self.folder / f"{name}.log", is_ours)
        self.processes.append(process)
        return process

    def _wait_for_port(self, process: Process, port: int) -> None:
        """Until the process itself, and no other program, listens at a port."""
        process.wait_until(lambda: _listens(process.pid, port), f"port {port} answers")


def _of_session(leader: int) -> Iterator[int]:
    """The processes of a session, which each program here begins."""
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended
            # After the name, which may have spaces: state, parent, group, session.
            if int(status.read_text().rpartition(")")[2].split()[3]) == leader:
                yield int(status.parent.name)


def _cpu(pid: int) -> float:
    """Processor seconds of a process, all threads: clock_getcpuclockid's clock, which is finer than
    the hundredths of /proc."""
    try:
        return time.clock_gettime(~pid << 3 | 2)
    except OSError:
        return 0.0  # it has ended


def _listens(pid: int, port: int) -> bool:
    """Whether a TCP socket listens at a port of the network that a process is in."""
    try:
        tables = [Path(f"/proc/{pid}/net/{name}").read_text() for name in ("tcp", "tcp6")]
    except OSError:
        return False
    sockets = (line.split() for table in tables for line in table.splitlines()[1:])
    listening = "0A"
    return any(s[3] == listening and int(s[1].rpartition(":")[2], 16) == port for s in sockets)
