"""Small data, and what the tests need to know of processes."""

import os
import select
import threading
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at processes in /proc")


@pytest.fixture(scope="session")
def paths(tmp_path_factory):
    pytest.importorskip("treemill._core", reason="the native core is not built")
    from treemill.facility.generate import write

    folder = tmp_path_factory.mktemp("data")
    made = [folder / f"events_{i}.root" for i in range(3)]
    for i, (path, events) in enumerate(zip(made, (3000, 1, 4321), strict=True)):
        write(path, events=events, index=i, cluster=500, codec="zstd")
    return [str(path) for path in made]


@pytest.fixture(scope="session")
def truth(paths):
    """The same columns by uproot, as one awkward array."""
    import awkward as ak
    import uproot

    return ak.concatenate([uproot.open(path)["Events"].arrays() for path in paths])


@pytest.fixture
def events(paths):
    import treemill as tm

    return tm.dataset(paths, "Events")


def children(pid):
    """Process ids of a process's children."""
    try:
        return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


def wait_for_end(pid, seconds=30):
    """Whether a process has ended, waiting for that."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        # select() takes no descriptor above 1023, and a process of tests may have more files open.
        ended = select.poll()
        ended.register(descriptor, select.POLLIN)
        return bool(ended.poll(1000 * seconds))
    finally:
        os.close(descriptor)


@pytest.fixture
def go():
    event = threading.Event()
    yield event
    event.set()


HANG = """
import os, signal
with open({fifo!r}, "w") as opened:
    opened.write(str(os.getpid()))
while True:
    signal.pause()
"""


class HangsWhenLoaded:
    """In the template, before it has to import anything."""

    def __init__(self, fifo):
        self.fifo = fifo

    def __reduce__(self):
        return exec, (HANG.format(fifo=self.fifo),)


@pytest.fixture
def hanging(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    return HangsWhenLoaded(str(tmp_path / "fifo"))
