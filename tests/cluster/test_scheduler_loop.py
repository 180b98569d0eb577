"""What treemill does on the event loop of Dask's scheduler, and what it does beside it."""

import asyncio
import pickle
import threading
from types import SimpleNamespace

from treemill.backends.dask.scheduler_plugin import TreemillSchedulerPlugin


class Noted:
    """Notes on which threads it is pickled."""

    threads: list[int] = []  # noqa: RUF012 - of all instances, as pickles make new ones

    def __reduce__(self):
        Noted.threads.append(threading.get_ident())
        return Noted, ()


def with_clients(*names):
    """The plugin on a scheduler that has these Clients."""
    plugin = TreemillSchedulerPlugin()
    plugin._scheduler = SimpleNamespace(clients=dict.fromkeys(names))
    return plugin


def watched(ended):
    """The bytes that a client gets, and the threads that made them, beside that of the loop."""
    plugin = with_clients()
    status = SimpleNamespace(change=2, ended=ended, about=Noted())
    plugin._ownership = SimpleNamespace(watch=lambda caller, name, watcher: status)
    Noted.threads = []
    data = asyncio.run(plugin.watch("pass", 1, 0.0, pickle.dumps(None)))
    return data, set(Noted.threads) - {threading.get_ident()}


def test_the_trace_of_a_pass_is_pickled_beside_the_loop():
    data, others = watched(ended=Noted())
    assert others
    assert not Noted.threads.count(threading.get_ident())
    status, error = pickle.loads(data)
    assert status.change == 2
    assert error is None


def test_the_status_of_a_pass_that_goes_on_is_pickled_at_once():
    _, others = watched(ended=None)
    assert not others


def test_a_session_that_goes_while_its_request_waits_is_no_watcher_any_more():
    """Else the result of a query would stay for minutes after another session has fetched it."""
    plugin = with_clients("a")
    plugin._changes = {}
    watchers = []

    def watch(caller, name, watcher):
        watchers.append(watcher)
        if len(watchers) == 1:  # the Client goes, and then the pass changes
            del plugin._scheduler.clients["a"]
            asyncio.get_running_loop().call_soon(lambda: plugin._changes["pass"].set())
        return SimpleNamespace(change=len(watchers), ended=None)

    plugin._ownership = SimpleNamespace(watch=watch)
    asyncio.run(plugin.watch("pass", 1, 60.0, pickle.dumps(None), "a/1"))
    assert watchers == ["a/1", ""]
