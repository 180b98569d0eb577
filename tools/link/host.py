"""Where a program runs: this machine, or a host of an emulated link."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["HERE", "Host", "give"]

_USER = "65534"
"""The number of the user nobody, on Linux. Servers refuse to run as root."""


@dataclass(frozen=True)
class Host:
    """A place for programs, with an address that other hosts reach it by."""

    name: str
    address: str
    enter: tuple[str, ...] = ()
    """What comes before a command so that it runs there."""

    def command(self, words: Sequence[str]) -> list[str]:
        """The command that runs `words` there, as the user that this process has."""
        return [*self.enter, *words]

    def server_command(self, words: Sequence[str], is_ours: bool = False) -> list[str]:
        """The same for a server: as an ordinary user, unless it `is_ours`, and no longer than its
        parent lives."""
        if shutil.which("setpriv") is None:
            return self.command(words)
        user = [f"--reuid={_USER}", f"--regid={_USER}", "--clear-groups"]
        if is_ours or os.geteuid() != 0:
            user = []
        return self.command(["setpriv", *user, "--pdeathsig", "KILL", "--", *words])


def give(path: str | os.PathLike[str]) -> None:
    """Gives a file or folder to the user that servers run as."""
    if os.geteuid() == 0:
        os.chown(path, int(_USER), int(_USER))


HERE = Host("localhost", "127.0.0.1")
