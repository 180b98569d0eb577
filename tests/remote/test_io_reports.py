"""Reports of reading count all that goes over the wire, opening files included, and say of several
queries what they took together."""

import re
import shutil

import pytest
import treemill as tm

from tools.servers.nginx import Nginx

from .conftest import asked_of, serve, settle, skip_without

FIRST, SECOND = "store/trees/events_0.root", "store/trees/events_2.root"


def sent(lines):
    """Messages that asked for bytes, and the bytes of their answers: a state is one byte."""
    told = [re.search(r"range=(\S+) sent=(\d+)", line).groups() for line in lines]
    asked = [int(count) for ranges, count in told if ranges != "bytes=0-0"]
    return len(asked), sum(asked)


@pytest.mark.usefixtures("nothing_remembered")
def test_what_the_server_has_sent_is_what_was_read(files):
    skip_without(Nginx.missing())
    # A server of its own: what other tests have asked for in vain may come at any time.
    with Nginx() as nginx:
        url = serve(nginx, files).url(SECOND)
        settle(url)
        events = tm.dataset(url, tree="Events")
        with tm.connect(workers=2, mode="threads") as session:
            session.run(events.sum("MET_pt"), progress=False)
            io = session.report.io
        messages, size = sent(nginx.requests())
    (source,) = asked_of(io, url)
    assert source.messages == messages
    assert io.bytes_read == sum(source.bytes_read for source in io.sources)
    # The answer that opens a file has its first bytes, which are counted when they are wanted.
    assert size - 8192 * messages <= source.bytes_read <= size
    assert 0 < io.bytes_wanted <= io.bytes_read


@pytest.mark.usefixtures("nothing_remembered")
def test_opening_counts_where_no_column_is_read(xrootd):
    # A file of its own: another test may have left this server's files open.
    shutil.copyfile(xrootd.data / FIRST, xrootd.data / "opened_once.root")
    url = xrootd.url("opened_once.root")
    settle(url)
    events = tm.dataset(url, tree="Events")
    with tm.connect(workers=1, mode="threads") as session:
        session.run(events.count(), progress=False)
        io = session.report.io
    assert io.requests > 0
    assert 0 < io.bytes_wanted <= io.bytes_read


@pytest.mark.usefixtures("nothing_remembered")
def test_bytes_that_two_packets_need_are_used_once(xrootd):
    url = xrootd.url(SECOND)
    settle(url)
    events = tm.dataset(url, tree="Events")
    with tm.connect(workers=2, mode="threads") as session:
        for _ in range(2):
            session.run(events.filter("nMuon > 1").sum("MET_pt"), progress=False)
            assert session.report.io.bytes_wanted <= session.report.io.bytes_read


@pytest.mark.usefixtures("nothing_remembered")
def test_the_last_run_of_any_session_is_told_with_all_of_its_data_sets(xrootd, nginx):
    urls = [server.url(FIRST) for server in (xrootd, nginx)]
    settle(*urls)
    one, other = (tm.dataset(url, tree="Events") for url in urls)
    with tm.connect(workers=1, mode="threads") as session:
        session.run(one.sum("MET_pt"), progress=False)
        assert one.io_report() == session.report.io
        session.run(one.sum("nMuon"), other.sum("nMuon"), progress=False)
        both = one.io_report()
        assert [len(asked_of(both, url)) for url in urls] == [1, 1]
        assert both.bytes_read > session.report.io.bytes_read > 0


@pytest.mark.usefixtures("nothing_remembered")
def test_both_passes_of_a_query_are_counted_and_later_ones_are_not(xrootd):
    url = xrootd.url(FIRST)
    settle(url)
    events = tm.dataset(url, tree="Events")
    with tm.connect(workers=1, mode="threads") as session:
        query = session.submit(events.hist("MET_pt"))  # finds its range first
        query.result(timeout=60)
        both = query.report.io
        session.run(events.sum("nJet"), progress=False)
        assert query.report.io == both
        fixed = session.submit(events.hist("MET_pt", bins=(10, 0, 100)))
        fixed.result(timeout=60)
    assert both.requests > fixed.report.io.requests > 0
