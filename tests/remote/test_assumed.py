"""Files on servers that this process has had open: a pass over them works before the servers have
answered, and counts only if they are as they were. The servers are frozen meanwhile, so that they
cannot answer."""

import gc
import shutil
import threading

import pytest
import treemill as tm
from treemill.backends.coordinated_pass import CoordinatedPass
from treemill.backends.merged_partial import MergedPartial
from treemill.errors import SourceError, TreemillError
from treemill.facility.generate import write
from treemill.session.booking_run import BookingRun

from tests.raising import raises
from tests.waiting import until
from tools.link.link import Link, Wire
from tools.link.link import missing as link_missing
from tools.servers.nginx import Nginx
from tools.servers.xrootd import XRootD

from .conftest import serve, settle, skip_without, to_be_frozen

FIRST, SECOND = "store/trees/events_0.root", "store/trees/events_2.root"
ENTRIES = 5000 + 7321
SERVERS = {"root": XRootD, "http": Nginx}


@pytest.fixture(params=SERVERS)
def server(request, files):
    with to_be_frozen(SERVERS[request.param], files) as made:
        yield made


@pytest.fixture
def nginx_of_its_own(files):
    """Another file in the place of one is served at once. xrootd serves a file that any client has
    open as it was."""
    with to_be_frozen(Nginx, files) as made:
        yield made


@pytest.fixture(params=SERVERS)
def distant(request, files, tmp_path):
    """A server to which the way takes 8 ms: what opening its files reads is kept, and, in a folder
    of the test's own, their data."""
    kind = SERVERS[request.param]
    skip_without(link_missing() or kind.missing())
    kept = "directory", "limit", "metadata_limit"
    before = {name: getattr(tm.cache, name) for name in kept}
    with Link(["client", "server"], here="client") as link:
        link.set("server", Wire(delay_ms=4))
        with kind(link.hosts["server"]) as made:
            tm.cache.directory, tm.cache.limit = tmp_path / "kept", 0
            tm.cache.metadata_limit = "1 MB"
            yield serve(made, files)
            made.thaw()
            for name, value in before.items():
                setattr(tm.cache, name, value)


@pytest.fixture
def session():
    with tm.connect(workers=2, mode="threads") as made:
        yield made


def urls(server):
    found = [server.url(FIRST), server.url(SECOND)]
    settle(*found)
    return found


def local(files, column="MET_pt"):
    events = tm.dataset([str(files[FIRST]), str(files[SECOND])], tree="Events")
    return float(events.sum(column).value)


def submitted(session, events, column="MET_pt"):
    return session.submit(events.sum(column))


def total(query):
    return float(query.result(timeout=60)[0])


def remembered(session, events):
    """The sum, and its column is in memory: the second pass keeps what the first one has read."""
    total(submitted(session, events))
    return total(submitted(session, events))


def test_a_pass_works_before_the_server_answers_and_waits_for_the_answer(server, files, session):
    events = tm.dataset(urls(server), tree="Events")
    first = remembered(session, events)
    server.freeze()
    query = submitted(session, events)
    until(lambda: query.progress.entries == ENTRIES, "all entries are processed")
    assert query.snapshot() is None
    assert not query.done
    server.thaw()
    assert total(query) == first == local(files)
    assert query.snapshot() is not None


def test_another_dataset_of_known_files_opens_none_to_begin(distant, files, session):
    known = urls(distant)
    first = total(submitted(session, tm.dataset(known, tree="Events")))
    gc.collect()  # what the first dataset had open
    distant.freeze()
    query = submitted(session, tm.dataset(known, tree="Events"))
    until(lambda: query.progress.entries == ENTRIES, "all entries are processed")
    assert not query.done
    distant.thaw()
    assert total(query) == first == local(files)
    assert query.report.io.requests == 0
    assert query.report.io.bytes_from_disk > 0


def test_what_is_not_kept_comes_from_the_server(distant, files, session):
    known = urls(distant)
    total(submitted(session, tm.dataset(known, tree="Events")))
    query = submitted(session, tm.dataset(known, tree="Events"), "nMuon")
    assert total(query) == local(files, "nMuon")
    assert query.report.io.requests > 0


def test_nothing_is_fetched_ahead_of_what_is_kept(server, session):
    events = tm.dataset(urls(server), tree="Events")
    query = submitted(session, events)
    total(query)
    assert query._computes._workload.ahead(0) > 0
    remembered(session, events)
    query = submitted(session, events)
    total(query)
    assert query._computes._workload.ahead(0) == 0
    query = submitted(session, events, "nMuon")
    total(query)
    assert query._computes._workload.ahead(0) > 0


def other(server, tmp_path, path=FIRST, **given):
    """Puts another file in the place of one, as a copy that is moved there does."""
    write(tmp_path / "other.root", events=3000, index=9, cluster=500, codec="zstd")
    beside = server.data / f"{path}.new"
    shutil.copyfile(tmp_path / "other.root", beside)
    beside.rename(server.data / path)
    settle(server.url(path))


def of_other(files, tmp_path, column="MET_pt"):
    events = tm.dataset([str(tmp_path / "other.root"), str(files[SECOND])], tree="Events")
    return float(events.sum(column).value)


def test_a_file_that_has_changed_is_read_anew(nginx_of_its_own, files, session, tmp_path):
    events = tm.dataset(urls(nginx_of_its_own), tree="Events")
    remembered(session, events)
    other(nginx_of_its_own, tmp_path)
    query = submitted(session, events)
    assert total(query) == of_other(files, tmp_path)
    assert query.report.entries == 3000 + 7321
    assert events.num_entries == 3000 + 7321


def test_a_pass_that_a_change_has_stopped_does_not_stop_the_next_one(
    nginx_of_its_own, files, tmp_path, monkeypatch
):
    """The first pass ends on the thread of a worker, which hands over when it is known that a file
    has changed. The next one begins there, and asks a server that takes its time."""
    commit, abort, again = MergedPartial.merge, CoordinatedPass.abort, BookingRun.same_pass
    stopped = threading.Event()

    def late(*args):
        assert stopped.wait(60)
        commit(*args)

    def noted(*args):
        abort(*args)
        stopped.set()

    def slow(computation):
        nginx_of_its_own.freeze()
        threading.Timer(1, nginx_of_its_own.thaw).start()
        return again(computation)

    with tm.connect(workers=1, mode="threads") as session:
        events = tm.dataset(urls(nginx_of_its_own), tree="Events")
        remembered(session, events)
        other(nginx_of_its_own, tmp_path)
        monkeypatch.setattr(MergedPartial, "merge", late)
        monkeypatch.setattr(CoordinatedPass, "abort", noted)
        monkeypatch.setattr(BookingRun, "same_pass", slow)
        assert total(submitted(session, events)) == of_other(files, tmp_path)


@pytest.mark.parametrize("distant", ["http"], indirect=True)
def test_a_file_that_has_changed_is_read_anew_from_afar(distant, files, session, tmp_path):
    known = urls(distant)
    total(submitted(session, tm.dataset(known, tree="Events")))
    other(distant, tmp_path)
    for column in "MET_pt", "nMuon":  # of the first one something is kept
        query = submitted(session, tm.dataset(known, tree="Events"), column)
        assert total(query) == of_other(files, tmp_path, column)


def test_automatic_ranges_are_of_what_is_there(nginx_of_its_own, files, session, tmp_path):
    events = tm.dataset(urls(nginx_of_its_own), tree="Events")
    session.run(events.hist("MET_pt"))
    other(nginx_of_its_own, tmp_path)
    (found,) = session.submit(events.hist("MET_pt")).result(timeout=60)
    there = tm.dataset([str(tmp_path / "other.root"), str(files[SECOND])], tree="Events")
    assert found == there.hist("MET_pt").value


def test_a_file_that_is_gone_is_an_error(server, session):
    events = tm.dataset(urls(server), tree="Events")
    remembered(session, events)
    (server.data / FIRST).unlink()
    with raises(SourceError, about="events_0.root"):
        total(submitted(session, events))
    assert total(session.submit(events.sum("MET_pt"), on_error="skip")) > 0


def test_what_is_stopped_before_the_answer_is_of_files_that_have_not_changed(server, session):
    events = tm.dataset(urls(server), tree="Events")
    first = remembered(session, events)
    server.freeze()
    query = submitted(session, events)
    until(lambda: query.progress.entries == ENTRIES, "all entries are processed")
    query.stop()
    server.thaw()
    assert total(query) == first


def test_what_is_stopped_before_the_answer_is_no_result_if_a_file_has_changed(
    nginx_of_its_own, session, tmp_path
):
    events = tm.dataset(urls(nginx_of_its_own), tree="Events")
    remembered(session, events)
    write(tmp_path / "other.root", events=3000, index=9, cluster=500, codec="zstd")
    nginx_of_its_own.freeze()
    query = submitted(session, events)
    until(lambda: query.progress.entries == ENTRIES, "all entries are processed")
    query.stop()
    shutil.copyfile(tmp_path / "other.root", nginx_of_its_own.data / FIRST)
    nginx_of_its_own.thaw()
    with raises(SourceError, said="run again"):
        total(query)
    assert query.snapshot() is None


def test_to_abort_waits_for_no_answer(server, session):
    events = tm.dataset(urls(server), tree="Events")
    remembered(session, events)
    server.freeze()
    query = submitted(session, events)
    until(lambda: query.progress.entries == ENTRIES, "all entries are processed")
    query.abort()
    with raises(TreemillError, said="aborted by the user"):
        total(query)  # while the server is frozen
    assert query.snapshot() is None
