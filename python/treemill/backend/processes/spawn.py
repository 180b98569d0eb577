"""Workers that start as programs of their own, where forks are not to be had or not to be trusted:
they share no memory with the template, and load the task themselves.
"""

from __future__ import annotations

import json
import os
import pickle
import socket
import sys
import tempfile
from typing import IO, Any

__all__ = ["main", "parcel", "spawn"]

_START = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from treemill.backend.processes.spawn import main
main(*map(int, sys.argv[2:]))
"""
_NO_LIMIT = -1


def parcel(task: bytes, inputs: bytes | None) -> IO[bytes]:
    """A nameless file with what workers load, pickled already, for any number of them."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - whoever asked for it closes it
    pickle.dump((task, inputs), file, protocol=5)
    file.flush()
    return file


def spawn(descriptor: int, what: IO[bytes], number: int, memory: int | None) -> int:
    """Starts a worker at this end of a socket; its process id."""
    limit = _NO_LIMIT if memory is None else memory
    command = [sys.executable, "-c", _START, json.dumps(sys.path)]
    command += [str(argument) for argument in (descriptor, what.fileno(), number, limit)]
    for each in (descriptor, what.fileno()):
        os.set_inheritable(each, True)
    return os.posix_spawn(sys.executable, command, os.environ)


def main(descriptor: int, what: int, number: int, limit: int) -> None:
    """A worker's whole life."""
    import signal

    from . import worker_process as child  # start-up

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the session's to hear
    sock = socket.socket(fileno=descriptor)
    # The offset in the file is everybody's, so it is not used.
    task, inputs = pickle.loads(os.pread(what, os.fstat(what).st_size, 0))
    os.close(what)
    child.run(sock, lambda: _loaded(task, inputs), number, None if limit == _NO_LIMIT else limit)


def _loaded(data: bytes, inputs: bytes | None) -> Any:
    task = pickle.loads(data)
    if inputs is not None:
        task.inputs = pickle.loads(inputs)
    task.preload()
    return task
