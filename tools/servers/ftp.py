"""An FTP server: pyftpdlib, from PyPI (dependency group `servers`, in its own environment)."""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import cache

from .process import Server

__all__ = ["FTP"]


@cache
def _python() -> str | None:
    """The interpreter that has pyftpdlib: of the environment that `make test` makes, or this."""
    candidates = (shutil.which(f"{sys.prefix}/servers/bin/python"), sys.executable)
    command = ("-c", "import pyftpdlib")
    for each in filter(None, candidates):
        if subprocess.run([each, *command], capture_output=True).returncode == 0:
            return each
    return None


class FTP(Server):
    """A server for a user with a password."""

    program = "pyftpdlib"
    USER, PASSWORD = "someone", "not-to-be-shown"

    @classmethod
    def missing(cls) -> str | None:
        """See Server."""
        return None if _python() else "pyftpdlib is not installed (requirements/servers.txt)"

    def url(self, path: str) -> str:
        """`ftp://`, with user and password."""
        return f"ftp://{self.USER}:{self.PASSWORD}@{self.host.address}:{self.ports[0]}/{path}"

    def _start(self) -> None:
        # Another user may not be able to read the packages of this environment.
        (port,) = self.ports
        words = [_python() or "", "-m", "pyftpdlib", "-i", self.host.address, "-p", str(port)]
        words += ["-d", str(self.data), "-u", self.USER, "-P", self.PASSWORD]
        self._wait_for_port(self._run(words, "ftp", is_ours=True), port)
