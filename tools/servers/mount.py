"""A mount of a folder as if its files lay on servers far away: the tests' file system in user space
(tests/remote/slow_mount.py) as a process of its own. The kernel here has no client of NFS; what it
asks of a file system, and when, is the same.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from .process import ServerError

__all__ = ["Counts", "SlowMount"]

_SCRIPT = Path(__file__).parents[2] / "tests" / "remote" / "slow_mount.py"
_PATIENCE = 20.0


class Counts(NamedTuple):
    """What the kernel has asked for."""

    reads: int
    bytes: int
    at_once: int
    """Reads that waited together, at most."""


class SlowMount:
    """`folder`, mounted at `place`. Nothing of it is in the system's cache at first.

    delay: seconds of each read. servers: that have the files in stripes of 1 MB. megabytes: that
        each of them sends in a second, at most; 0: without a limit.
    """

    def __init__(
        self, folder: Path, delay: float, servers: int = 1, megabytes: float = 0.0
    ) -> None:
        if reason := self.missing():
            raise ServerError(reason)
        self.place = Path(tempfile.mkdtemp(prefix="treemill-mount-"))
        words = [str(_SCRIPT), str(folder), str(self.place), str(delay), str(servers)]
        self._process = subprocess.Popen(
            [sys.executable, *words, str(megabytes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        if not self._hear().startswith("mount://"):
            _, complaint = self._process.communicate()
            self.place.rmdir()
            raise ServerError(f"nothing was mounted: {complaint.strip()}")

    @staticmethod
    def missing() -> str | None:
        """Why there can be no such mount here; None if there can."""
        if not sys.platform.startswith("linux") or not os.path.exists("/dev/fuse"):
            return "this system has no FUSE"
        if os.geteuid() != 0:
            return "a mount needs root"
        try:
            os.close(os.open("/dev/fuse", os.O_RDWR))
        except OSError as error:
            return f"/dev/fuse: {error.strerror}"
        return None

    def counts(self) -> Counts:
        """What was read since the last time."""
        stdin = self._process.stdin
        assert stdin is not None
        stdin.write("\n")
        stdin.flush()
        return Counts(*map(int, self._hear().split()))

    def stop(self) -> None:
        """Takes the mount away. To be called once more does nothing."""
        if self._process.poll() is None:
            try:
                self._process.communicate(timeout=_PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.communicate()
        if self.place.exists():
            self.place.rmdir()

    def _hear(self) -> str:
        stdout = self._process.stdout
        assert stdout is not None
        return stdout.readline()

    def __enter__(self) -> SlowMount:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
