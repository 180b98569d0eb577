"""Hidden folders beside a file that is being written, for its parts: their owners, how they are
removed, and how folders that a killed process has left behind are found. A folder's name says its
owner, so that it is made and removed in one step each. Standard library only.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = [
    "Client",
    "claim",
    "client_here",
    "hidden_folder",
    "remove",
    "remove_abandoned",
    "remove_if_empty",
    "work_for",
]

_SUFFIX = ".parts"


@dataclass(frozen=True)
class Client:
    """The owner of parts: a process, known by its number and its start on one boot of one machine,
    and one of its passes. It is sent to workers, who write parts for it."""

    pid: int
    started: str
    machine: str
    number: str
    """A word that no other pass has."""

    @property
    def is_gone(self) -> bool:
        """True if its process has certainly ended. This is not known for processes of other
        machines, or of earlier boots of this machine."""
        return self.machine == _machine() and _started(self.pid) != self.started

    def __str__(self) -> str:
        return f"{self.number}-{self.pid}-{self.started}-{self.machine}"

    @classmethod
    def of(cls, folder: str) -> Client | None:
        """The owner of a folder, if it has the name of a folder of parts."""
        words = folder.removesuffix(_SUFFIX).rpartition(".")[2].split("-")
        if len(words) != 4 or not folder.endswith(_SUFFIX) or not words[1].isdecimal():
            return None
        number, pid, started, machine = words
        return cls(int(pid), started, machine, number)


def client_here() -> Client:
    """This process, for a new pass."""
    return Client(os.getpid(), _own_start(), _machine(), _word())


def _word() -> str:
    """A word that nothing else has."""
    return os.urandom(6).hex()


_local = threading.local()


def work_for(client: Client) -> None:
    """Notes that parts that this thread writes from now on belong to this client."""
    _local.client = client


def hidden_folder(path: str, client: Client | None = None) -> str:
    """The folder beside a file where its parts lie until it is complete. It belongs to one pass;
    without a `client`, to the one that this thread works for."""
    folder, name = os.path.split(path)
    client = client or getattr(_local, "client", None) or client_here()
    return os.path.join(folder, f".{name}.{client}{_SUFFIX}")


def claim(folder: str) -> None:
    """Makes the folder, unless it is there; removes those beside it whose clients are gone. Raises
    OSError, and then has made nothing."""
    remove_abandoned(os.path.dirname(folder))
    os.makedirs(folder, exist_ok=True)


def remove(folder: str) -> None:
    """Removes the folder with all its files. A thread that still writes there finds no folder."""
    gone = os.path.join(os.path.dirname(folder), f".{_word()}.{Client.of(folder)}{_SUFFIX}")
    try:
        os.rename(folder, gone)
    except FileNotFoundError:
        return
    except OSError:  # the disk may have no room for another name
        gone = folder
    shutil.rmtree(gone, ignore_errors=True)


def remove_if_empty(folder: str) -> None:
    """Removes the folder if nothing is in it."""
    with contextlib.suppress(OSError):
        os.rmdir(folder)


def remove_abandoned(folder: str) -> None:
    """Removes the folders of parts in this folder whose clients are gone."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            client = Client.of(entry.name) if entry.name.startswith(".") else None
            if client is not None and client.is_gone:
                remove(entry.path)


def _short(words: str) -> str:
    return hashlib.blake2b(words.encode(), digest_size=8).hexdigest()


@cache
def _machine() -> str:
    """A word for this boot of this machine, with the namespace of process numbers if the system has
    them."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return _short(f"{boot} {os.readlink('/proc/self/ns/pid')}")
    except OSError:
        return _short(_said("sysctl", "-n", "kern.bootsessionuuid") or os.uname().nodename)


def _started(pid: int) -> str:
    """A word for the time when a process has started; "" if there is no such process."""
    if not os.path.isdir("/proc/self"):
        words = _said("ps", "-o", "lstart=", "-p", str(pid))
        return words and _short(words)
    try:
        # The fields after the command's name, which may contain anything: state is field 3, start
        # 22.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]


@cache
def _own_start() -> str:
    """When this process has started. A forked process has a start of its own."""
    return _started(os.getpid())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_own_start.cache_clear)


def _said(*command: str) -> str:
    import subprocess  # start-up

    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""
