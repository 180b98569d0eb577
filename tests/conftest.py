"""For all tests: signals as in a terminal, and random tests that try the same cases each time.

`make soak` sets TREEMILL_SOAK and seeds of its own: then the cases are fresh.
"""

import atexit
import os
import shutil
import signal
import sys
import tempfile
from contextlib import ExitStack
from functools import cache

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers

from tests.order_of_files import ordered
from tests.random_search import SOAK, share

# A deadline would measure how busy the machine is; a database would remember the last run.
settings.register_profile(
    "test", deadline=None, database=None, derandomize=True, max_examples=share(250)
)
settings.register_profile("soak", deadline=None, database=None, print_blob=True)
settings.load_profile("soak" if SOAK else "test")
if not SOAK:
    # Hypothesis also tries numbers and words that it finds in the source of modules that happen to
    # be imported, which differ with the tests that a process has run before.
    providers.is_local_module_file = lambda path: False


# Tests write nothing to the user's folders, and servers are asked for all.
os.environ["TREEMILL_CACHE_METADATA_LIMIT"] = "0"
if "XDG_CONFIG_HOME" not in os.environ:
    os.environ["XDG_CONFIG_HOME"] = tempfile.mkdtemp(prefix="treemill-tests-")
    atexit.register(shutil.rmtree, os.environ["XDG_CONFIG_HOME"], ignore_errors=True)


def pytest_configure():
    # A shell that runs tests in the background has them ignore Ctrl-C, which some of them send.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config, items):
    if hasattr(config, "workerinput"):  # several processes share the files
        items[:] = ordered(items)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call():
    # dask_jobqueue, once a test has imported it, ends the process at Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def no_results_remembered():
    """A test that asks for results to be remembered asks for itself, not for the tests after it."""
    yield
    remembering = sys.modules.get("treemill.session.results_folder")
    if remembering is not None:
        remembering._given.clear()


@pytest.fixture(scope="module")
def shared_session():
    """Gives the session of so many workers in a mode, the same one to all tests of a file that
    leave it as it was: processes take a second to start."""
    import treemill as tm

    with ExitStack() as opened:
        yield cache(
            lambda workers, mode: opened.enter_context(tm.connect(workers=workers, mode=mode))
        )


@pytest.fixture
def nothing_in_vain(monkeypatch):
    """No worker is late with a packet that another one then does, too: at the end of a pass that
    this process schedules, one of them would still be at what is in no packet that is done."""
    from treemill.backends import base
    from treemill.scheduling import Policy

    monkeypatch.setattr(base, "Policy", lambda **told: Policy(**told | {"speculate": False}))


@pytest.fixture
def short_packets(monkeypatch):
    """A packet for each cluster of this process's workers, however fast one was: so a worker that
    has a packet can be promised the next one of its file."""
    from dataclasses import replace

    from treemill.backends.processes.pool import ProcessPool
    from treemill.backends.threads import ThreadPool

    for pool in (ThreadPool, ProcessPool):
        short = replace(pool.sizing, first=1000, shortest=0.0, longest=0.0, ask=0.0)
        monkeypatch.setattr(pool, "sizing", short)
