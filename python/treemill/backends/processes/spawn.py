"""Workers that start as programs of their own, for systems on which a fork is not possible or not
safe. They share no memory with the template, and load the task themselves.

Knows no packet and no message.
"""

from __future__ import annotations

import json
import os
import pickle
import socket
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO

from ...errors import QueryError
from ...workers.task import Task

__all__ = ["check_not_loading", "command", "loading", "main", "parcel", "spawn"]

# Whether this process loads what workers need: a script that it imports for that must not start
# worker processes, which would import the script again, without end.

_is_loading = False


@contextmanager
def loading() -> Iterator[None]:
    """Notes that this process, which has one thread, loads a task."""
    global _is_loading
    before, _is_loading = _is_loading, True
    try:
        yield
    finally:
        _is_loading = before


def check_not_loading() -> None:
    """Raises QueryError if this process loads a task."""
    if _is_loading:
        raise QueryError(
            "worker processes import the module of the query's functions and classes, and this "
            "module starts worker processes when it is imported: put the statements that run the "
            'query below `if __name__ == "__main__":`'
        )


# Commands that start one of this folder's modules in a fresh interpreter. Knows no module of
# them.

_START = """
import importlib, json, sys
module, path, arguments = sys.argv[1], *map(json.loads, sys.argv[2:])
sys.path[:] = path
importlib.import_module(module).main(*arguments)
"""


def command(module: str, path: Sequence[str], *arguments: int | str) -> list[str]:
    """The command that calls `main(*arguments)` of a module, with this import path."""
    coded = [json.dumps(path), json.dumps(arguments)]
    return [sys.executable, "-c", _START, f"{__package__}.{module}", *coded]


_NO_LIMIT = -1


def parcel(task: bytes, inputs: bytes | None) -> IO[bytes]:
    """A file without a name that holds a pickled task and pickled inputs, for any number of
    workers."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    pickle.dump((task, inputs), file, protocol=5)
    file.flush()
    return file


def spawn(descriptor: int, what: IO[bytes], number: int, memory: int | None) -> int:
    """Starts a worker on this end of a socket, with the parcel `what`. Returns its process id."""
    limit = _NO_LIMIT if memory is None else memory
    words = command("spawn", sys.path, descriptor, what.fileno(), number, limit)
    for each in (descriptor, what.fileno()):
        os.set_inheritable(each, True)
    return os.posix_spawn(sys.executable, words, os.environ)


def main(descriptor: int, what: int, number: int, limit: int) -> None:
    """Runs a worker from the start of its process to the end."""
    import signal

    from .worker_process import run  # start-up

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the session handles Ctrl-C
    sock = socket.socket(fileno=descriptor)
    # All workers share the offset in the file, so it is not used.
    task, inputs = pickle.loads(os.pread(what, os.fstat(what).st_size, 0))
    os.close(what)
    run(sock, lambda: _loaded(task, inputs), number, None if limit == _NO_LIMIT else limit)


def _loaded(data: bytes, inputs: bytes | None) -> Task:
    with loading():
        task: Task = pickle.loads(data)
        if inputs is not None:
            task.inputs = pickle.loads(inputs)
        task.preload()
    return task
