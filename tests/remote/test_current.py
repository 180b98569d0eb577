"""What a user asks of files on servers is of the files as they are now: the number of entries, the
branches, columns that must be as long. The clock is the test's own."""

import time
from types import SimpleNamespace

import pytest
import treemill as tm
from treemill.data import remote

from tests.raising import raises
from tools.servers.ganesha import Ganesha
from tools.servers.nginx import Nginx
from tools.servers.xrootd import XRootD

from .conftest import serve, settle, skip_without

SMALL, LARGE = "store/trees/events_0.root", "store/trees/events_2.root"
SERVERS = {"root": XRootD, "http": Nginx, "nfs": Ganesha}


def started(kind, files):
    skip_without(kind.missing())
    with kind() as made:
        yield serve(made, files)


@pytest.fixture(params=SERVERS)
def server(request, files):
    yield from started(SERVERS[request.param], files)


@pytest.fixture
def nginx_of_its_own(files):
    yield from started(Nginx, files)


@pytest.fixture
def clock(monkeypatch):
    """Lets seconds pass for what is known of files on servers; else the clock stands still."""
    now = [time.monotonic()]
    stopped = SimpleNamespace(monotonic=lambda: now[0], time_ns=time.time_ns)
    monkeypatch.setattr(remote, "time", stopped)

    def wait(seconds):
        now[0] += seconds

    return wait


def dataset(server, path=SMALL):
    settle(server.url(path))
    return tm.dataset(server.url(path), tree="Events")


def test_the_number_of_entries_is_that_of_the_file_as_it_is_now(server, files, clock):
    events = dataset(server)
    assert events.num_entries == 5000
    server.put(files[LARGE], SMALL)
    clock(1.5)
    assert dataset(server).num_entries == 7321
    assert len(events) == 7321
    assert events.select_entries([7000]).count().value == 1


def test_an_array_goes_with_the_file_as_it_is_now(nginx_of_its_own, files, clock):
    events = dataset(nginx_of_its_own)
    assert events.num_entries == 5000
    nginx_of_its_own.put(files[LARGE], SMALL)
    clock(1.5)
    weighted = dataset(nginx_of_its_own).define("w", [1.0] * 7321)
    assert weighted.sum("w").value == 7321


def test_a_friend_is_joined_as_it_is_now(nginx_of_its_own, files, clock):
    friend = dataset(nginx_of_its_own)
    assert friend.num_entries == 5000
    nginx_of_its_own.put(files[LARGE], SMALL)
    settle(nginx_of_its_own.url(SMALL))
    clock(1.5)
    both = tm.dataset(str(files[LARGE]), tree="Events").add_friend(friend, alias="other")
    assert both.filter("other.nJet == nJet").count().value == 7321


@pytest.mark.parametrize("attribute", ["num_entries", "branches", "aliases"])
def test_a_file_that_is_gone_has_none(server, clock, attribute):
    events = dataset(server)
    assert getattr(events, attribute) is not None
    (server.data / SMALL).unlink()
    clock(1.5)
    with raises(tm.SourceError, about="events_0.root"):
        getattr(events, attribute)


def test_what_one_cell_asks_is_asked_of_each_file_once(nginx_of_its_own, files, clock):
    urls = [nginx_of_its_own.url(path) for path in (SMALL, LARGE)]
    settle(*urls)
    events = tm.dataset(urls, tree="Events")
    assert events.num_entries == 5000 + 7321
    before = len(nginx_of_its_own.requests())
    clock(1.5)
    assert (events.num_entries, len(events)) == (5000 + 7321, 5000 + 7321)
    assert "MET_pt" in events.branches
    assert "12,321 entries" in events._repr_html_()
    assert events.sum("nJet").value > 0
    after = nginx_of_its_own.requests()[before:]
    assert sum("range=bytes=0-0" in line for line in after) == 2
