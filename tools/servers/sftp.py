"""An SFTP server: Debian's sshd (openssh-server), for the user that runs it and has a key."""

from __future__ import annotations

import getpass
import os
import shutil
import subprocess
from pathlib import Path

from .process import Server

__all__ = ["SFTP"]

_CONFIGURATION = """\
ListenAddress {address}
Port {port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/known
PidFile none
UsePAM no
StrictModes no
PermitRootLogin prohibit-password
PasswordAuthentication no
Subsystem sftp internal-sftp
"""
_SEPARATION = Path("/run/sshd")
"""sshd of root does not start without it."""


class SFTP(Server):
    """A server for the user that we are. `key` is the file of the key that logs in."""

    program = "sshd"

    @classmethod
    def missing(cls) -> str | None:
        """See Server."""
        for tool in ("sshd", "ssh-keygen"):
            if shutil.which(tool) is None:
                return f"{tool} is not installed (openssh-server, openssh-client)"
        return None

    @property
    def key(self) -> Path:
        """Private."""
        return self.folder / "user"

    def url(self, path: str) -> str:
        """`sftp://`, with the user and without the key."""
        place = f"{self.host.address}:{self.ports[0]}"
        return f"sftp://{getpass.getuser()}@{place}{self.data}/{path}"

    def _start(self) -> None:
        (port,) = self.ports
        for name in ("host", "user"):
            if not (self.folder / name).exists():
                make = [
                    "ssh-keygen",
                    "-q",
                    "-t",
                    "ed25519",
                    "-N",
                    "",
                    "-f",
                    str(self.folder / name),
                ]
                subprocess.run(make, check=True, stdout=subprocess.DEVNULL)
        shutil.copyfile(self.folder / "user.pub", self.folder / "known")
        written = self.folder / "sshd.conf"
        told = {"address": self.host.address, "port": port, "folder": self.folder}
        written.write_text(_CONFIGURATION.format(**told))
        if os.geteuid() == 0:
            _SEPARATION.mkdir(mode=0o755, exist_ok=True)
        # It wants to be called by its whole path, and logs in the user that it is.
        words = [shutil.which("sshd") or "", "-D", "-e", "-f", str(written)]
        self._wait_for_port(self._run(words, "sftp", is_ours=True), port)
