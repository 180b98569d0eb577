"""One server with one file, for tests in another language. `python -m tests.remote.serve KIND FILE`
prints `NAME=VALUE` for what the environment of a client must have, and then the file's address.
Lines of its input are orders, each answered by a line: `kill` and `restart`. It ends with its
input. A kind that cannot be served here is an exit with 3, and the reason.
"""

import sys
import tempfile
from pathlib import Path

from tests.remote.dcap_door import DcapDoor
from tools.servers.ganesha import Ganesha
from tools.servers.nginx import Nginx
from tools.servers.process import Server
from tools.servers.s3 import S3
from tools.servers.xrootd import XRootD

KINDS = {"root": XRootD, "http": Nginx, "s3": S3, "nfs": Ganesha}
PATH = "store/file.root"
CANNOT = 3


class Door:
    """The door of dCap, as a server that is killed with all its connections."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._door = DcapDoor(Path(self._folder.name))

    def __enter__(self) -> "Door":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._folder.cleanup()

    def put(self, source: Path, path: str) -> str:
        self._door.put(source, path)
        return self._door.url(path)

    def kill(self) -> None:
        self._door.stop()

    def restart(self) -> None:
        self._door = DcapDoor(self._door.folder, port=self._door.port)


def served(kind: str) -> Server | Door:
    """The server; not yet with a file."""
    if kind == "dcap":
        return Door()
    made = KINDS[kind]
    if reason := made.missing():
        print(reason, flush=True)
        sys.exit(CANNOT)
    return made()


def main(kind: str, file: str) -> None:
    with served(kind) as server:
        for name, value in getattr(server, "environment", {}).items():
            print(f"{name}={value}")
        print(server.put(Path(file), PATH), flush=True)
        for line in sys.stdin:
            {"kill": server.kill, "restart": server.restart}[line.strip()]()
            print("done", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
