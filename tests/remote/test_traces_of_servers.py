"""Traces of files on servers: what was asked for and waited for, packet by packet, without
credentials."""

import pytest
import treemill as tm
from treemill.cli.trace import load

from .conftest import settle

PATHS = [f"store/trees/events_{at}.root" for at in (0, 2)]


@pytest.mark.usefixtures("nothing_remembered")
@pytest.mark.parametrize("kind", ["nginx", "xrootd"])
def test_packets_have_what_servers_were_asked_for(request, files, kind, tmp_path):
    server = request.getfixturevalue(kind)
    urls = [server.url(path) for path in PATHS]
    settle(*urls)
    with tm.connect(workers=1) as session:
        session.run(
            tm.dataset(urls, tree="Events").sum("MET_pt"),
            trace=tmp_path / "trace.root",
            trace_steps=True,
        )
        io = session.report.io
    found = load(str(tmp_path / "trace.root"))
    packets = [row for row in found.rows if row.event == "packet"]
    assert sum(row.entries for row in packets if row.counted) == 12321
    # Files are opened for all packets, and for none of them.
    asked = sum(row.bytes_read for row in packets), sum(row.requests for row in packets)
    assert 0 < asked[0] <= io.bytes_read
    assert 0 < asked[1] <= io.requests
    assert sum(row.waits for row in packets) == io.waits
    assert sum(row.waited for row in packets) == pytest.approx(io.waited)
    reads = [row for row in found.rows if row.event == "read"]
    assert sum(row.bytes for row in reads) == asked[0]
    assert sum(len(row.ranges.split()) for row in reads) == asked[1]
    assert {row.source for row in reads} == {"/".join(urls[0].split("/")[:3])}
    assert {row.file for row in reads} == {row.file for row in packets}
    assert not [row for row in reads if row.seconds <= 0 or not row.ok]
    waits = [row for row in found.rows if row.event == "wait"]
    assert sum(row.seconds for row in waits) == pytest.approx(io.waited)
    assert {row.node.split("/")[2] for row in packets} == {"127.0.0.1"}


@pytest.mark.usefixtures("nothing_remembered")
def test_no_credential_is_in_a_trace(nginx, tmp_path):
    settle(nginx.url(PATHS[0]))
    url = nginx.url(PATHS[0]) + "?authz=Bearer%20a-secret"
    for form in ("json", "root"):
        path = tmp_path / f"trace.{form}"
        with tm.connect(workers=1) as session:
            total = tm.dataset(url, tree="Events").sum("MET_pt")
            assert session.run(total, trace=path, trace_steps=True) > 0
        found = load(str(path))
        assert "a-secret" not in repr(found)
        assert any(row.file for row in found.rows)
