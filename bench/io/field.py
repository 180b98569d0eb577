"""Where it is run: a client and a server on an emulated link, the server's files, and runs of
contestants on the client, which end after some patience.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.link.link import Link, Wire
from tools.link.link import missing as link_missing
from tools.servers.nginx import Nginx
from tools.servers.process import Server
from tools.servers.xrootd import XRootD

from ..protocol import REPOSITORY
from .contestants import Contestant, Task

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


class Field:
    """The link, and servers on its far side that serve the same files."""

    def __init__(self, link: Link, servers: dict[str, Server]) -> None:
        self._link, self._servers = link, servers
        self._client = link.hosts["client"]

    def put(self, path: Path, name: str) -> None:
        """Gives the servers a file, without a second copy on the disk if it can be."""
        for server in self._servers.values():
            target = server.data / name
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link(path, target)
            except OSError:
                server.put(path, name)

    def url(self, scheme: str, name: str) -> str:
        """Of a file that was put."""
        return self._servers[scheme].url(name)

    def set(self, wire: Wire) -> None:
        """Sets the distance."""
        self._link.set("server", wire)

    def run(self, contestant: Contestant, task: Task, patience: float, here: bool = False) -> Run:
        """Runs one in a process of its own: on the client, or `here`, without a network."""
        words = [sys.executable, "-W", "ignore", "-m", "bench.io.contestants"]
        words += [contestant.key, task.text()]
        paths = [str(REPOSITORY / "python"), str(REPOSITORY), os.environ.get("PYTHONPATH", "")]
        process = subprocess.Popen(
            words if here else self._client.command(words),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=REPOSITORY,
            env=os.environ | dict(contestant.environment) | {"PYTHONPATH": os.pathsep.join(paths)},
            start_new_session=True,
        )
        try:
            said, complaints = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return Run(None)
        return _understood(said, complaints)


def _understood(said: str, complaints: str) -> Run:
    answer: dict[str, Any] = json.loads(said) if said.strip() else {"error": complaints[-300:]}
    if "error" in answer:
        return Run(None, error=str(answer["error"]))
    return Run(answer["seconds"], answer["total"], answer["counters"])


def missing() -> str | None:
    """Why there can be no field here; None if there can."""
    return link_missing() or XRootD.missing() or Nginx.missing()


@contextlib.contextmanager
def field() -> Iterator[Field]:
    """A field, with a link that delays nothing yet."""
    with contextlib.ExitStack() as stack:
        link = stack.enter_context(Link(["client", "server"]))
        far = link.hosts["server"]
        servers = {
            "root": stack.enter_context(XRootD(far)),
            "http": stack.enter_context(Nginx(far)),
        }
        yield Field(link, servers)
