"""Sessions on clusters some of whose workers cannot take part: they are named, and the others do
the work."""

import os
import signal
import textwrap

import pytest
import treemill as tm

from .processes import Processes


@pytest.fixture
def hides_treemill(tmp_path):
    """A folder on whose account Python finds no treemill."""
    folder = tmp_path / "hides"
    folder.mkdir()
    program = """
        import sys

        class Hidden:
            def find_spec(self, name, path=None, target=None):
                if name == "treemill":
                    raise ModuleNotFoundError("No module named 'treemill'", name=name)

        sys.meta_path.insert(0, Hidden())
    """
    (folder / "sitecustomize.py").write_text(textwrap.dedent(program))
    return {"PYTHONPATH": str(folder)}


def pids(processes, workers):
    """The process ids of the workers, by address, once there are so many."""
    from distributed import Client

    with Client(processes.address, timeout=60, set_as_default=False) as client:
        client.wait_for_workers(workers, timeout=60)
        return client.run(eval, "__import__('os').getpid()")


def address_of(process, pids):
    return next(address for address, pid in pids.items() if pid == process.pid)


def test_a_worker_without_treemill_is_named_and_others_do_the_work(
    tmp_path, hides_treemill, events
):
    with Processes(tmp_path) as processes:
        processes.add(1)
        processes.environment |= hides_treemill
        (without,) = processes.add(1)
        address = address_of(without, pids(processes, 2))
        words = rf"treemill cannot be loaded on {address}: .*No module named 'treemill'.*install"
        with pytest.warns(RuntimeWarning, match=words):
            session = tm.connect(processes.address)
        with session:
            assert session.workers == 1
            assert session.run(events.count()) == events.num_entries


def test_workers_that_all_lack_treemill_are_an_error(tmp_path, hides_treemill):
    with Processes(tmp_path) as processes:
        processes.environment |= hides_treemill
        processes.add(1)
        (address,) = pids(processes, 1)
        for _ in range(2):  # it is said again to those that connect later
            with pytest.raises(tm.UnsupportedError, match=rf"no worker .* loaded on {address}: "):
                tm.connect(processes.address)


def test_a_frozen_worker_is_named_and_others_do_the_work(tmp_path, events):
    with Processes(tmp_path) as processes:
        processes.add(2)
        frozen, other = pids(processes, 2).items()
        os.kill(frozen[1], signal.SIGSTOP)
        words = f"nothing is heard of {frozen[0]} "
        with pytest.warns(RuntimeWarning, match=words):
            session = tm.connect(processes.address)
        with session:
            found = session.run(lambda chunk: {"n": len(chunk), "by": {os.getpid()}}, events)
            assert found == {"n": events.num_entries, "by": {other[1]}}
