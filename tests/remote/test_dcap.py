"""dCap beyond what `test_reading.py` asks of every protocol: what is asked for and how, and what
goes wrong. The door is `tests/remote/dcap_door.py`, which `dccp` has checked.
"""

import numpy as np
import pytest
import treemill as tm

from tests.raising import raises
from tests.remote.conftest import serve, settle
from tests.remote.dcap_door import DcapDoor

PATH = "store/trees/events_2.root"


@pytest.fixture
def door(files, tmp_path, nothing_remembered):
    """A door of the test's own, which it may break."""
    with DcapDoor(tmp_path) as made:
        yield serve(made, files)


def histogram(address):
    return tm.dataset(address, "Events").hist("MET_pt", bins=(50, 0, 200))


@pytest.fixture(scope="module")
def expected(files):
    return histogram(str(files[PATH])).value.view(flow=True)


def assert_right(door, expected):
    assert np.array_equal(histogram(door.url(PATH)).value.view(flow=True), expected)


def test_ranges_travel_together_and_hardly_more_is_asked_for_than_is_wanted(door, files):
    url = door.url(PATH)
    settle(url)
    with tm.connect(workers=1) as session:
        events = tm.dataset(url, tree="Events")
        bookings = [
            events.hist(name, bins=(50, 0, 200)) for name in ("MET_pt", "Jet_pt", "Muon_pt")
        ]
        len(events)  # what opening reads is told apart
        before = door.counts.sent
        session.run(*bookings, progress=False)
        report = session.report
    over_read = report.io.bytes_read / report.io.bytes_wanted
    assert over_read <= 1.05, report.io
    # What the pool has sent is what was asked for, and not a block more.
    assert door.counts.sent - before <= report.io.bytes_read
    assert door.counts.vectors > 0
    assert door.counts.ranges > 4 * door.counts.vectors
    assert any(source.source.startswith("dcap://127.0.0.1:") for source in report.io.sources)


def test_all_files_of_a_door_share_its_control_line(door, paths):
    urls = [door.url(f"store/trees/events_{i}.root") for i in range(3)]
    found = tm.dataset(urls, tree="Events").sum("MET_pt").value
    assert found == pytest.approx(tm.dataset(paths, tree="Events").sum("MET_pt").value)
    assert door.counts.doors == 1
    assert door.counts.sessions >= 3


def test_a_pool_without_vectored_reads(door, expected):
    door.faults.no_vectors = True
    assert_right(door, expected)
    assert door.counts.vectors == 0
    assert door.counts.reads > 4


def test_connections_that_break_are_made_again(door, expected):
    door.faults.cut_after, door.faults.cuts = 20_000, 3
    assert_right(door, expected)
    assert door.counts.sessions > 1
    assert door.faults.cuts < 3


def test_a_range_that_a_pool_cannot_read_is_an_error_and_not_a_wrong_number(door):
    size = (door.folder / PATH).stat().st_size
    door.faults.broken_ranges = Between(40_000, size - 100_000)
    with pytest.raises(tm.SourceError) as caught:
        histogram(door.url(PATH)).value  # noqa: B018
    assert "read failed (IO not ok)" in str(caught.value)
    assert PATH in str(caught.value)


class Between(set):
    """Every offset but for those at the beginning and at the end, which opening needs."""

    def __init__(self, first, last):
        self.first, self.last = first, last
        super().__init__()

    def __contains__(self, offset):
        return self.first <= offset < self.last


def test_a_copy_that_is_shorter_than_the_door_says(door):
    door.faults.missing_bytes = 1000
    with raises(tm.SourceError, said="the pool s copy has"):
        histogram(door.url(PATH)).value  # noqa: B018


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ({"refuse_open": 'failed 33 "Permission denied." EPERM'}, "Permission denied"),
        ({"refuse_open": 'failed 112 "User timeout canceled session"'}, "brought from tape"),
        ({"reject": 'rejected 1 "Client version rejected"'}, "Client version rejected"),
    ],
)
def test_the_door_says_why(door, fault, said):
    for name, value in fault.items():
        setattr(door.faults, name, value)
    with pytest.raises(tm.SourceError) as caught:
        histogram(door.url(PATH)).value  # noqa: B018
    assert said in str(caught.value)
    assert f"127.0.0.1:{door.port}" in str(caught.value)


def test_a_folder_is_no_file_and_is_not_listed(door):
    with raises(tm.SourceError, said="a folder, not a file"):
        histogram(door.url("store/trees")).value  # noqa: B018
    with raises(tm.SourceError, said="WebDAV door"):
        tm.dataset(door.url("store/trees/*.root"), tree="Events")
