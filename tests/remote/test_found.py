"""Replicas that nobody has named: a redirector of XRootD knows them, or a server of HTTP says them
in its answers or in a Metalink document. They are found when a server is late or fails; one with
another file is never read, and no token goes to a server that another one has named.
"""

import threading
import time

import pytest
import treemill as tm

from tests.raising import raises
from tests.remote.conftest import TOKEN, skip_without
from tests.remote.test_faults import PATIENCE, outcome
from tools.link.link import Link, Wire
from tools.link.link import missing as link_missing
from tools.servers.nginx import Nginx
from tools.servers.xrootd import Federation

PATH = "store/trees/events_2.root"
ENTRIES = 7321
ELSEWHERE = "store/mirror/events_2.root"
FIRST, NEXT = "MET_pt", "Jet_pt"

pytestmark = pytest.mark.usefixtures("nothing_remembered")


class Opened:
    """A tree, open as a pass has it open in its middle: no server is asked anew for the file's
    state."""

    def __init__(self, url):
        from treemill import _core

        self.control = _core.Control()
        self.tree = _core.File(str(url)).tree("Events")
        assert self.tree.num_entries == ENTRIES

    def read(self, name):
        """A column's bytes."""
        (column,) = self.tree.read([name], 0, ENTRIES, self.control)
        return column.dumps()

    def sources(self):
        """Bytes that came from each server."""
        return {name: count for name, _, _, _, count, *_ in self.control.servers if count}


def assert_right(found, files):
    assert not isinstance(found, Exception), found
    assert found == Opened(files[PATH]).read(NEXT)


def read_until_asked(events, home, mirror):
    """What is read while the file's own server is away until the mirror was asked."""
    found = []
    home.kill()
    thread = threading.Thread(target=lambda: found.append(outcome(lambda: events.read(NEXT))))
    thread.start()
    until = time.monotonic() + PATIENCE
    while not mirror.requests() and time.monotonic() < until:
        time.sleep(0.01)
    home.restart()  # on this thread: the server ends with the one that starts it
    thread.join()
    return found[0]


def origin(url):
    return "/".join(url.split("/")[:3])


@pytest.fixture
def whole(federation, link):
    """A federation that works afterwards, too."""
    yield federation
    for member, name in zip(federation.servers, ("s1", "s2"), strict=True):
        member.thaw()
        link.set(name, Wire())


def serving(federation, events):
    """The member that serves the open file, and the other one."""
    events.read(FIRST)
    sources = events.sources()
    source = max(sources, key=lambda name: sources[name])
    return sorted(federation.servers, key=lambda member: origin(member.url(PATH)) != source)


def test_a_frozen_server_of_a_federation_is_replaced_by_one_that_is_found(whole, files):
    events = Opened(whole.url(PATH))
    one, other = serving(whole, events)
    one.freeze()
    assert_right(outcome(lambda: events.read(NEXT)), files)
    assert set(events.sources()) == {origin(one.url(PATH)), origin(other.url(PATH))}


def test_a_server_that_gets_a_hundred_times_slower_is_helped_by_one_that_is_found(
    whole, link, files
):
    for name in ("s1", "s2"):
        link.set(name, Wire(mbit=10))
    events = Opened(whole.url(PATH))
    one, other = serving(whole, events)
    link.set(one.host.name.split(".")[0], Wire(mbit=0.1))
    assert_right(outcome(lambda: events.read(NEXT)), files)
    assert events.sources()[origin(other.url(PATH))] > 0


@pytest.fixture
def mirrored(files):
    """Two servers of HTTP. The first one says in each answer that the second one has its files,
    too."""
    skip_without(Nginx.missing())
    with Nginx() as mirror:
        mirror.put(files[PATH], ELSEWHERE)
        link = f"<{mirror.url(ELSEWHERE)}>; rel=duplicate; pri=1"
        with Nginx(link=link) as home:
            home.put(files[PATH], PATH)
            yield home, mirror


def test_a_mirror_that_a_server_names_takes_over_when_it_dies(mirrored, files):
    home, mirror = mirrored
    events = Opened(home.url(PATH))
    events.read(FIRST)
    assert not mirror.requests(), "while all is well nothing is asked of others"
    home.kill()
    assert_right(outcome(lambda: events.read(NEXT)), files)
    assert events.sources()[origin(mirror.url(PATH))] > 0


@pytest.mark.slow
def test_finding_can_be_switched_off(mirrored, monkeypatch):
    monkeypatch.setenv("TREEMILL_FIND_REPLICAS", "off")
    home, mirror = mirrored
    events = Opened(home.url(PATH))
    home.kill()
    error = outcome(lambda: events.read(NEXT))
    assert isinstance(error, tm.SourceError), error
    assert not mirror.requests()


@pytest.mark.slow
def test_a_mirror_with_another_file_is_asked_and_not_read(mirrored, files):
    home, mirror = mirrored
    mirror.put(files["store/trees/events_0.root"], ELSEWHERE)
    events = Opened(home.url(PATH))
    assert_right(read_until_asked(events, home, mirror), files)
    assert mirror.requests()
    assert events.sources().get(origin(mirror.url(PATH)), 0) <= 2048, "the bytes to compare"


@pytest.mark.usefixtures("token")
def test_a_mirror_gets_no_token(certificate, files):
    skip_without(Nginx.missing())
    with Nginx(certificate=certificate, token=TOKEN) as mirror:
        mirror.put(files[PATH], PATH)
        link = f"<{mirror.url(PATH)}>; rel=duplicate"
        with Nginx(certificate=certificate, token=TOKEN, link=link) as home:
            home.put(files[PATH], PATH)
            events = Opened(home.url(PATH))
            assert_right(read_until_asked(events, home, mirror), files)
        asked = mirror.requests()
    assert asked
    assert all(line.startswith("401 ") for line in asked), asked


DOCUMENT = """<?xml version="1.0" encoding="UTF-8"?>
<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="events.root">
<size>{size}</size><url priority="2">{second}</url><url priority="1">{first}</url>
</file></metalink>"""


def described(tmp_path, first, second, size):
    path = tmp_path / "document.meta4"
    path.write_text(DOCUMENT.format(size=size, first=first, second=second))
    return path


def test_a_metalink_document_is_a_file_of_its_places(mirrored, xrootd, files, tmp_path):
    home, _ = mirrored
    size = files[PATH].stat().st_size
    gone = "root://127.0.0.1:1//gone.root"
    made = described(tmp_path, gone, xrootd.url(PATH), size)
    url = home.put(made, "events.root.meta4")
    with tm.connect(workers=1) as session:
        found = session.run(tm.dataset(f"{url}:Events").sum("nJet"), progress=False)
        sources = {source.source: source.bytes_read for source in session.report.io.sources}
    assert found == tm.dataset(str(files[PATH]), tree="Events").sum("nJet").value
    assert sources[origin(xrootd.url(PATH))] > 0
    wrong = home.put(described(tmp_path, xrootd.url(PATH), gone, size + 1), "wrong.meta4")
    with raises(tm.SourceError, said="as its Metalink document wrong.meta4 says"):
        len(tm.dataset(wrong, tree="Events"))


def test_a_document_that_a_server_names_is_read_when_it_is_needed(files, xrootd, tmp_path):
    skip_without(Nginx.missing())
    size = files[PATH].stat().st_size
    with Nginx() as documents:
        made = described(tmp_path, documents.url("none.root"), xrootd.url(PATH), size)
        document = documents.put(made, "events.meta4")
        link = f'<{document}>; rel=describedby; type="application/metalink4+xml"'
        with Nginx(link=link) as home:
            home.put(files[PATH], PATH)
            events = Opened(home.url(PATH))
            assert not documents.requests()
            home.kill()
            assert_right(outcome(lambda: events.read(NEXT)), files)
    assert events.sources()[origin(xrootd.url(PATH))] > 0


@pytest.mark.slow
def test_a_data_server_that_is_killed_is_replaced(files):
    skip_without(link_missing())
    skip_without(Federation.missing())
    with Link(["client", "r", "s1", "s2"], here="client") as link:
        hosts = link.hosts
        with Federation(hosts["r"], [hosts["s1"], hosts["s2"]]) as federation:
            url = federation.put(files[PATH], PATH)
            events = Opened(url)
            one, other = serving(federation, events)
            one.kill()
            assert_right(outcome(lambda: events.read(NEXT)), files)
            events.read("Muon_pt")
            assert events.sources()[origin(other.url(PATH))] > 0
            with tm.connect(workers=1) as session:
                found = session.run(tm.dataset(url, tree="Events").sum("nJet"), progress=False)
            assert found == tm.dataset(str(files[PATH]), tree="Events").sum("nJet").value
