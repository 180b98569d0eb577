"""Where it is run: a client and two servers on an emulated link, the servers' files, and runs of
contestants on the client, which end after some patience.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.link.host import Host
from tools.link.link import Link, Wire
from tools.link.link import missing as link_missing
from tools.servers.nginx import Nginx
from tools.servers.process import Server
from tools.servers.xrootd import XRootD

from ..protocol import REPOSITORY
from .contestants import BEGAN, Contestant, Task

LINKS = {
    "0.3 ms": Wire(delay_ms=0.15),
    "0.3 ms, 20 MB/s": Wire(delay_ms=0.15, stream_mbit=160),
    "137 ms": Wire(delay_ms=68.5),
    "137 ms, 20 MB/s": Wire(delay_ms=68.5, stream_mbit=160),
}
"""Round trips, and limits of each connection, as in the paper's Table 2."""

LOCAL = "here"
"""As a link: the same file on this disk."""


@dataclass(frozen=True)
class Run:
    """One run. `seconds` is None if it was ended, or failed with `error`."""

    seconds: float | None
    total: float = 0.0
    counters: dict[str, float] | None = None
    error: str = ""
    passes: tuple[float, ...] = ()
    """Seconds of each pass, if there were several; the last one's are `seconds`."""


@dataclass(frozen=True)
class Meanwhile:
    """What happens while a contestant runs: `action`, so many seconds after its clock started."""

    after: float
    action: Callable[[], object]


SECOND = "second"
"""A server of `root://` on a host of its own, with the files that the others have, too."""


class Field:
    """The link, and servers on its far sides that serve the same files: "root" and "http" on one
    host, SECOND on another."""

    def __init__(self, link: Link, servers: dict[str, Server]) -> None:
        self._link, self._servers = link, servers
        self._client = link.hosts["client"]

    @property
    def far(self) -> Host:
        """Where the servers "root" and "http" are."""
        return self._link.hosts["server"]

    def server(self, scheme: str) -> Server:
        """The server that is called so."""
        return self._servers[scheme]

    def put(self, path: Path, name: str) -> None:
        """Gives the servers a file, without a second copy on the disk if it can be."""
        for server in self._servers.values():
            target = server.data / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.exists():
                if target.samefile(path):
                    continue
                target.unlink()
            try:
                os.link(path, target)
            except OSError:
                server.put(path, name)

    def url(self, scheme: str, name: str) -> str:
        """Of a file that was put, at the server that is called so."""
        return self._servers[scheme].url(name)

    def path(self, name: str) -> str:
        """Of a file that was put, on this disk."""
        return str(self._servers["root"].data / name)

    def set(self, wire: Wire, second: Wire | None = None) -> None:
        """Sets the distance of the servers, and that of the second one if it is another."""
        self._link.set("server", wire)
        self._link.set(SECOND, second or wire)

    def kill(self, scheme: str) -> None:
        """Kills a server, as a crash does."""
        self._servers[scheme].kill()

    def restart(self, scheme: str) -> None:
        """Starts a server that was killed."""
        self._servers[scheme].restart()

    def command(self, words: Sequence[str]) -> list[str]:
        """The command that runs `words` on the client."""
        return self._client.command(words)

    def run(
        self,
        contestant: Contestant,
        task: Task,
        patience: float,
        here: bool = False,
        beside: bool = False,
        meanwhile: Meanwhile | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Run:
        """Runs one in a process of its own: on the client, `here`, without a network, or `beside`
        the servers, on their host."""
        words = [sys.executable, "-W", "ignore", "-m", "bench.io.contestants"]
        words += [contestant.key, task.text()]
        hears, says = os.pipe()
        known = os.environ | dict(contestant.environment) | dict(environment or {})
        host = self.far if beside else self._client
        process = subprocess.Popen(
            words if here else host.command(words),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=REPOSITORY,
            env=known | own_modules() | {BEGAN: str(says)},
            pass_fds=(says,),
            start_new_session=True,
        )
        os.close(says)
        with _beside(hears, meanwhile):
            try:
                said, complaints = process.communicate(timeout=patience)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                return Run(None)
        return _understood(said, complaints)


def own_modules() -> dict[str, str]:
    """The variable by which a process finds this package and `bench`: one in another network need
    not begin in the same folder."""
    paths = [str(REPOSITORY / "python"), str(REPOSITORY), os.environ.get("PYTHONPATH", "")]
    return {"PYTHONPATH": os.pathsep.join(paths)}


@contextlib.contextmanager
def _beside(hears: int, meanwhile: Meanwhile | None) -> Iterator[None]:
    """Has it done when the contestant's clock has run so long, if the contestant still runs."""
    is_over = threading.Event()

    def wait() -> None:
        began = os.read(hears, 1)  # or nothing, when the contestant has ended
        if began and meanwhile is not None and not is_over.wait(meanwhile.after):
            meanwhile.action()

    thread = threading.Thread(target=wait)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
        os.close(hears)


def _understood(said: str, complaints: str) -> Run:
    answer: dict[str, Any] = json.loads(said) if said.strip() else {"error": complaints[-300:]}
    if "error" in answer:
        return Run(None, error=str(answer["error"]))
    told = answer["seconds"], answer["total"], answer["counters"]
    return Run(*told, passes=tuple(answer.get("passes", ())))


def missing() -> str | None:
    """Why there can be no field here; None if there can."""
    return link_missing() or XRootD.missing() or Nginx.missing()


@contextlib.contextmanager
def field() -> Iterator[Field]:
    """A field, with a link that delays nothing yet."""
    with contextlib.ExitStack() as stack:
        link = stack.enter_context(Link(["client", "server", SECOND]))
        far = link.hosts["server"]
        servers = {
            "root": stack.enter_context(XRootD(far)),
            "http": stack.enter_context(Nginx(far)),
            SECOND: stack.enter_context(XRootD(link.hosts[SECOND])),
        }
        yield Field(link, servers)
