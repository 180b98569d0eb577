"""The four servers that are compared, one for each protocol, with the same files."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tools.link.host import HERE, Host
from tools.servers.ganesha import Ganesha
from tools.servers.nginx import Nginx
from tools.servers.peers import DcapDoorProcess
from tools.servers.process import Server
from tools.servers.xrootd import XRootD

__all__ = ["KINDS", "missing", "started"]

KINDS: Mapping[str, type[Server]] = {
    "root": XRootD,
    "http": Nginx,
    "nfs": Ganesha,
    "dcap": DcapDoorProcess,
}
"""By the scheme of their addresses. The door of dCap is the tests' own, in Python."""


def missing() -> str | None:
    """Why there can be no such servers here; None if there can."""
    return next((reason for kind in KINDS.values() if (reason := kind.missing())), None)


@contextlib.contextmanager
def started(files: Sequence[Path], host: Host = HERE) -> Iterator[Mapping[str, Server]]:
    """All four on a host, with these files by their names."""
    with contextlib.ExitStack() as stack:
        found = {scheme: stack.enter_context(kind(host)) for scheme, kind in KINDS.items()}
        for server in found.values():
            for path in files:
                server.put(path, path.name)
        yield found
