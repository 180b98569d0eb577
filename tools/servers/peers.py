"""The test peers of protocols for which Debian has no server, as processes of their own: a door of
dCap, and a metadata server of pNFS with its data servers.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from ..link.host import HERE, Host
from .process import Process, Server

__all__ = ["DcapDoorProcess", "ParallelNfs"]

_PEERS = Path(__file__).parents[2] / "tests" / "remote"


class _Peer(Server):
    """A script that prints its address when it listens."""

    program = sys.executable
    ports_needed = 0
    _address: str

    def _say(self, script: str, arguments: Sequence[str | os.PathLike[str]]) -> None:
        words = [sys.executable, "-u", str(_PEERS / script), *map(str, arguments)]
        process = self._run([*words, self.host.address], Path(script).stem)
        process.wait_until(lambda: "://" in _said(process), "it says its address")
        self._address = _said(process).strip()


def _said(process: Process) -> str:
    said = process.said()
    return said if said.endswith("\n") else ""


class DcapDoorProcess(_Peer):
    """A door of dCap with its pool, for the files in `data`. The pool's port is another one when it
    is started anew, as those of dCache's pools may be."""

    ports_needed = 1

    def url(self, path: str) -> str:
        """`dcap://`"""
        return self._address + path

    def _start(self) -> None:
        (port,) = self.ports
        self._say("dcap_door.py", [self.data, str(port)])


class ParallelNfs(_Peer):
    """NFSv4.1 with one file in stripes on data servers.

    path: the file. layout: "files" or "flex". count: data servers. megabytes: that each of them
        sends in a second, at most.
    is_alone: whether sessions have one connection, and others are refused.
    """

    def __init__(
        self,
        path: Path,
        layout: str,
        count: int,
        megabytes: float,
        host: Host = HERE,
        *,
        is_alone: bool = False,
    ) -> None:
        self._arguments = [str(path), layout, str(count), str(megabytes), *["alone"] * is_alone]
        super().__init__(host)

    def url(self, path: str = "") -> str:
        """`nfs://`, of its only file."""
        return self._address

    def _start(self) -> None:
        self._say("pnfs_peer.py", self._arguments)
