"""What each server was asked for, and the record of reads: in reports, progress and pictures."""

import json
import os

import pytest
import treemill as tm
from click.testing import CliRunner
from treemill import _core
from treemill.cli.main import cli

from .conftest import asked_of, settle

PATH = "store/trees/events_2.root"


@pytest.mark.usefixtures("nothing_remembered")
@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_each_server_is_told_apart(xrootd, nginx, files, mode):
    urls = [server.url(PATH) for server in (xrootd, nginx)]
    settle(*urls)
    with tm.connect(workers=2, mode=mode) as session:
        found = session.run(tm.dataset(urls, tree="Events").sum("MET_pt"), progress=False)
        report = session.report
    expected = tm.dataset(2 * [str(files[PATH])], tree="Events").sum("MET_pt").value
    assert found == pytest.approx(expected)
    sources = [asked_of(report.io, url) for url in urls]
    assert [len(each) for each in sources] == [1, 1]
    for (source,) in sources:
        assert min(source.requests, source.messages) > 0
        assert source.bytes_read > 0
        assert source.seconds_busy > 0
        assert source.megabytes_per_second > 0
        assert source.errors == 0
        assert source.source in str(report)
    total = sum(source.bytes_read for (source,) in sources)
    assert total >= report.io.bytes_wanted > 0


@pytest.mark.usefixtures("nothing_remembered")
def test_a_redirector_names_the_server_that_has_the_file(federation):
    settle(federation.url(PATH))
    with tm.connect(workers=1) as session:
        session.run(tm.dataset(federation.url(PATH), tree="Events").sum("nJet"), progress=False)
        report = session.report
    # Each member may have been looked at; the ranges come from one of those that have the file.
    ranges = {
        server: sum(source.requests for source in asked_of(report.io, server.url(PATH)))
        for server in (federation, *federation.servers)
    }
    assert ranges.pop(federation) == 0
    assert max(ranges.values()) > 0


def test_servers_of_a_federation_have_a_file_from_times_of_their_own(federation, files):
    """A pass may hear of one copy's time from the manager, and be led to another copy then."""
    path = "store/copied/events.root"
    url = federation.put(files[PATH], path)

    def marks_of(day):
        for member in federation.servers:
            os.utime(member.data / path, (day * 86400, day * 86400))
        return [_core.remote_stat(where)[-1] for where in (url, federation.servers[0].url(path))]

    assert marks_of(1) != marks_of(2)
    assert _core.File(url).state == (os.path.getsize(files[PATH]), None)
    direct = federation.servers[0].url(path)
    assert _core.File(direct).state[1] == _core.remote_stat(direct)[-1]


@pytest.mark.usefixtures("token", "nothing_remembered")
def test_credentials_are_not_in_names(nginx_tls):
    url = nginx_tls.url(PATH) + "?authz=secret"
    settle(url)
    with tm.connect(workers=1) as session:
        session.run(tm.dataset(url, tree="Events").sum("nJet"), progress=False)
        report = session.report
    assert report.io.sources
    assert "secret" not in str(report.io) + repr(report.io)


@pytest.mark.usefixtures("nothing_remembered")
def test_reads_are_recorded_and_drawn(xrootd, tmp_path):
    pytest.importorskip("matplotlib")
    settle(xrootd.url(PATH))
    trace, figure = tmp_path / "reads.json", tmp_path / "reads.png"
    command = ["bench", "io", f"{xrootd.url(PATH)}:Events"]
    done = CliRunner().invoke(cli, [*command, "--trace", str(trace), "--figure", str(figure)])
    assert done.exit_code == 0, done.output
    reads = [json.loads(line) for line in trace.read_text().splitlines()]
    assert reads
    for read in reads:
        assert read["source"].startswith("root://127.0.0.1:")
        assert read["file"].endswith(PATH)
        assert read["bytes"] == sum(stop - start for start, stop in read["ranges"]) > 0
        assert read["failed"] == 0
    assert [read["sent"] for read in reads] == sorted(read["sent"] for read in reads)
    assert figure.read_bytes().startswith(b"\x89PNG")
