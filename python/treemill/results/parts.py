"""Hidden folders beside a file that is being written, for its parts: their owners, how they are
removed, and how folders that a killed process has left behind are found. Standard library only.
"""

from __future__ import annotations

import contextlib
import json
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

_OWNER = "owner"
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
    return os.path.join(folder, f".{name}.{client.number}{_SUFFIX}")


def claim(folder: str, client: Client | None = None) -> None:
    """Makes the folder with a note of its owner in it, unless it is there; removes those beside it
    whose clients are gone. Raises OSError, and then has made nothing."""
    remove_abandoned(os.path.dirname(folder))
    client = client or getattr(_local, "client", None) or client_here()
    made = _unnamed(folder)
    os.makedirs(made)
    try:
        Path(made, _OWNER).write_text(json.dumps(client.__dict__))
        os.rename(made, folder)  # so a folder of that name has an owner
    except OSError:
        shutil.rmtree(made, ignore_errors=True)
        if not os.path.isdir(folder):
            raise


def remove(folder: str) -> None:
    """Removes the folder with all its files. A thread that still writes there finds no folder."""
    gone = _unnamed(folder)
    try:
        os.rename(folder, gone)
    except OSError:
        return
    shutil.rmtree(gone, ignore_errors=True)


def _unnamed(folder: str) -> str:
    """A path beside the folder that nothing else has."""
    return os.path.join(os.path.dirname(folder), f".{_word()}{_SUFFIX}")


def remove_if_empty(folder: str) -> None:
    """Removes the folder if it holds nothing but the note of its owner."""
    with contextlib.suppress(OSError):
        if set(os.listdir(folder)) <= {_OWNER}:
            remove(folder)


def remove_abandoned(folder: str) -> None:
    """Removes the folders of parts in this folder whose clients are gone."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            if entry.name.startswith(".") and entry.name.endswith(_SUFFIX):
                client = _owner(entry.path)
                if client is not None and client.is_gone:
                    remove(entry.path)


def _owner(folder: str) -> Client | None:
    try:
        return Client(**json.loads(Path(f"{folder}/{_OWNER}").read_text()))
    except (OSError, ValueError, TypeError):
        return None


@cache
def _machine() -> str:
    """This boot of this machine, with the namespace of process numbers if the system has them."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return _said("sysctl", "-n", "kern.bootsessionuuid") or os.uname().nodename


def _started(pid: int) -> str:
    """When a process has started, in the system's words; "" if there is no such process."""
    if not os.path.isdir("/proc/self"):
        return _said("ps", "-o", "lstart=", "-p", str(pid))
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
