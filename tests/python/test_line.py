"""How a session puts treemill on a cluster whose processes are slow or stopped."""

import asyncio
import gc
import pickle
import threading
from types import SimpleNamespace

import pytest
from treemill.errors import WorkerError

pytest.importorskip("distributed", reason="needs Dask: pip install 'treemill[cluster]'")

from treemill.backend.dask import line as lines
from treemill.backend.dask.line import Line
from treemill.backend.dask.messages import VERSION, HeldPartial


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


def test_workers_may_take_longer_to_import_than_to_answer(client, monkeypatch):
    async def install(client):
        await asyncio.sleep(0)
        return {"version": VERSION}

    monkeypatch.setattr(lines, "install", install)
    assert Line(client, silence=0.0).install() == {"version": VERSION}


def test_a_cluster_that_never_takes_it_is_an_error(client, monkeypatch):
    async def install(client):
        await asyncio.Event().wait()

    monkeypatch.setattr(lines, "install", install)
    monkeypatch.setattr(lines, "_INSTALL", 0.0)
    with pytest.raises(WorkerError, match=r"on the scheduler tcp://there:8786 .* within 0 seconds"):
        Line(client, silence=0.0).install()


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
    line = Line(client, silence=60.0)
    line._read = read
    for count, _, _ in line.read("work", parts):
        got.append(count)
    assert got == list(range(9))
    assert most == 4


@pytest.mark.filterwarnings("error")  # of coroutines that are never awaited
def test_a_closed_client_is_an_error(client):
    async def answer():
        return b""

    client.scheduler.treemill_hello = answer
    line = Line(client, silence=60.0)
    assert line.hello() == b""
    closed = asyncio.new_event_loop()
    closed.close()
    running, client.loop.asyncio_loop = client.loop.asyncio_loop, closed
    with pytest.raises(WorkerError, match="the session's Client was closed"):
        line.hello()
    client.loop.asyncio_loop = running
    gc.collect()
