"""How a session puts treemill on a cluster whose processes are slow or stopped."""

import asyncio
import gc
import pickle
import threading
import warnings
from types import SimpleNamespace

import pytest
from treemill.errors import UnsupportedError, WorkerError

pytest.importorskip("distributed", reason="needs Dask: pip install 'treemill[cluster]'")

from treemill.backends.dask import scheduler_client as lines
from treemill.backends.dask.messages import VERSION, HeldPartial
from treemill.backends.dask.scheduler_client import SchedulerClient

from tests.raising import raises


@pytest.fixture
def client():
    """As far as a line meets it: an event loop on a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    scheduler = SimpleNamespace(address="tcp://there:8786")
    yield SimpleNamespace(loop=SimpleNamespace(asyncio_loop=loop), scheduler=scheduler)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def hello(workers=1, refused=None, silent=()):
    """What a scheduler says of itself."""
    return {
        "version": VERSION,
        "workers": workers,
        "threads": [workers],
        "hosts": min(workers, 1),
        "refused": refused or {},
        "silent": list(silent),
    }


def test_workers_may_take_longer_to_import_than_to_answer(client, monkeypatch):
    async def install(client):
        await asyncio.sleep(0)
        return hello()

    monkeypatch.setattr(lines, "install", install)
    assert SchedulerClient(client, silence=0.0).install() == hello()


def test_a_cluster_that_never_takes_it_is_an_error(client, monkeypatch):
    async def install(client):
        await asyncio.Event().wait()

    monkeypatch.setattr(lines, "install", install)
    monkeypatch.setattr(lines, "_INSTALL", 0.0)
    with raises(WorkerError, said="on the scheduler tcp://there:8786 within 0"):
        SchedulerClient(client, silence=0.0).install()


REFUSED = {f"tcp://w:{n}": "ModuleNotFoundError: No module named 'treemill'" for n in range(5)}


@pytest.mark.parametrize(
    ("there", "kind", "words"),
    [
        (hello(), None, ""),
        (hello(0), None, ""),  # they come when a query needs them
        (hello(1, REFUSED), RuntimeWarning, "loaded on tcp://w:0, tcp://w:1, tcp://w:2 and 2 more"),
        (hello(1, silent=["tcp://w:7"]), RuntimeWarning, "nothing is heard of tcp://w:7 "),
        (hello(0, REFUSED), UnsupportedError, "no worker of the scheduler .* No module named"),
        (hello(0, REFUSED, ["tcp://w:7"]), WorkerError, "No module.*; nothing is heard of tcp://w"),
    ],
)
def test_workers_that_take_no_part_are_named(client, monkeypatch, there, kind, words):
    async def install(client):
        return there

    monkeypatch.setattr(lines, "install", install)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if kind is None:
            assert SchedulerClient(client, silence=60.0).install() == there
        else:
            with pytest.raises(kind, match=words):
                SchedulerClient(client, silence=60.0).install()


def test_partials_come_in_their_order_some_at_once(client):
    """The first one is answered when a fourth is asked for; no more are on their way."""
    parts = [HeldPartial(number, "tcp://there:1", 1) for number in range(9)]
    asked, most = [], 0
    released = asyncio.Event()

    async def read(work, part):
        nonlocal most
        asked.append(part.merger)
        most = max(most, len(asked) - len(got))
        if len(asked) == 4:
            released.set()
        await released.wait()
        return {"data": b"", "about": pickle.dumps((part.merger, {}))}

    got = []
    scheduler_client = SchedulerClient(client, silence=60.0)
    scheduler_client._read = read
    for count, _, _ in scheduler_client.read("work", parts):
        got.append(count)
    assert got == list(range(9))
    assert most == 4


@pytest.mark.parametrize(
    ("first", "said"),
    [(None, "silent for half a minute"), (OSError("it broke"), "silent for 10 s")],
    ids=["silent", "broken"],
)
def test_it_is_said_how_long_a_scheduler_has_been_silent(client, monkeypatch, first, said):
    answers = [first]

    async def answer():
        if answers and (error := answers.pop()) is not None:
            raise error
        raise TimeoutError

    client.scheduler.treemill_hello = answer
    monkeypatch.setattr(lines, "_AGAIN", 10.0)
    with raises(WorkerError, about="tcp://there:8786", said=said):
        SchedulerClient(client, silence=20.0).hello()


@pytest.mark.filterwarnings("error")  # of coroutines that are never awaited
def test_a_closed_client_is_an_error(client):
    async def answer():
        return b""

    client.scheduler.treemill_hello = answer
    scheduler_client = SchedulerClient(client, silence=60.0)
    assert scheduler_client.hello() == b""
    closed = asyncio.new_event_loop()
    closed.close()
    running, client.loop.asyncio_loop = client.loop.asyncio_loop, closed
    with raises(WorkerError, said="the session s Client was closed"):
        scheduler_client.hello()
    client.loop.asyncio_loop = running
    gc.collect()
