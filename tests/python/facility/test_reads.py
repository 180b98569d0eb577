"""Reads of files on servers as lines and as a picture; what servers were asked for, added up."""

import json
from types import SimpleNamespace

import pytest
from treemill.facility.exerciser import Read, draw_reads, read_lines
from treemill.io_report import IOReport, SourceReport

SOME = [
    Read(2, "root://b", "root://b//store/f.root", 50, 70, 0.2, 0.3, True),
    Read(1, "root://a", "root://a//store/f.root", 0, 10, 0.1, 0.2, True),
    Read(1, "root://a", "root://a//store/f.root", 20, 30, 0.1, 0.4, False),
]


def test_a_line_is_a_vectored_read():
    first, second = map(json.loads, read_lines(SOME))
    assert first == {
        "source": "root://a",
        "file": "root://a//store/f.root",
        "sent": 0.1,
        "seconds": 0.4,
        "bytes": 20,
        "ranges": [[0, 10], [20, 30]],
        "failed": 1,
    }
    assert second["source"] == "root://b"


@pytest.mark.parametrize("some", [[], SOME, [r._replace(file=f"/{r.number}") for r in SOME]])
def test_a_picture_is_written(some, tmp_path):
    pytest.importorskip("matplotlib")
    draw_reads(some, tmp_path / "reads.svg", "title")
    text = (tmp_path / "reads.svg").read_text()
    assert "<svg" in text


def test_reports_add_up_by_server():
    one = SourceReport("root://a", 1, 2, 3, 10_000_000, 0, 1, 0.5, 2.0)
    other = SourceReport("root://b", errors=1)
    both = IOReport(sources=(one,)).plus(IOReport(sources=(one, other))).plus(IOReport())
    assert [source.source for source in both.sources] == ["root://a", "root://b"]
    assert both.sources[0].bytes_read == 20_000_000
    assert both.sources[0].megabytes_per_second == pytest.approx(5)
    lines = str(both).splitlines()
    assert lines[1].strip().startswith("root://a: 20.0 MB at 5.0 MB/s, 6 ranges in 4 messages")
    assert "1 ranges failed" in lines[2]


def test_a_server_that_a_run_asked_for_nothing_is_not_in_its_report():
    """It may still be busy with what another run has asked."""
    busy = ("root://a", 0, 0, 0, 0, 0, 0, 0.0, 0.1)
    dead = ("root://b", 0, 0, 0, 0, 1, 0, 0.0, 0.0)
    control = SimpleNamespace(
        waits=(0, 0.0),
        bytes_wanted=0,
        bytes_opening=0,
        bytes_asked=0,
        bytes_read=0,
        bytes_from_cache=0,
        bytes_from_disk=0,
        requests=0,
        servers=[busy, dead],
    )
    assert [each.source for each in IOReport.of(control).sources] == ["root://b"]
