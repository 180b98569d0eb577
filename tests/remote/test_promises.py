"""Packets that are promised ahead, and files that are opened ahead, on real servers: what is read
is what is in the files, whatever workers are told before they need it."""

import numpy as np
import pytest
import treemill as tm
import uproot
from treemill.scheduling import OpenAhead, Prefetch
from treemill.session.api import connect

from tests.raising import raises

_PASSES = 10
"""Passes at most until something was promised and something was opened ahead."""


@pytest.fixture(params=["root", "http"])
def urls(request, xrootd, files):
    of = xrootd.url if request.param == "root" else xrootd.http_url
    return [of(path) for path in sorted(files) if "/trees/" in path]


def booked(events):
    return events.count(), events.sum("nJet"), events.filter("nMuon >= 2").hist("MET_pt", bins=9)


@pytest.mark.usefixtures("nothing_remembered", "short_packets")
@pytest.mark.parametrize(("mode", "workers"), [("threads", 1), ("threads", 3), ("processes", 2)])
def test_a_pass_with_promises_reads_what_is_in_the_files(urls, paths, mode, workers):
    expected = tm.run(*booked(tm.dataset(3 * paths, tree="Events")))
    lacking = {Prefetch, OpenAhead}
    with connect(workers=workers, mode=mode, trace=100_000) as session:
        # A machine that is busy may have read each file before the next one is open.
        for _ in range(_PASSES):
            found = session.run(*booked(tm.dataset(3 * urls, tree="Events")))
            assert found[:2] == expected[:2]
            assert (found[2].values(flow=True) == expected[2].values(flow=True)).all()
            assert session.report.complete
            records = session.report.trace.records
            lacking -= {type(action) for record in records for action in record.actions}
            if not lacking:
                return
    raise AssertionError(f"no action in {_PASSES} passes: {lacking}")


@pytest.mark.usefixtures("nothing_remembered")
def test_a_file_that_is_gone_when_it_is_opened_ahead_is_named(urls):
    gone = urls[0].replace("events_0", "events_9")
    with connect(workers=1) as session, raises(tm.SourceError, about="events_9"):
        session.run(tm.dataset([*urls, gone], tree="Events").sum("nJet"))


@pytest.mark.usefixtures("nothing_remembered")
@pytest.mark.parametrize("nth", [1, 4])
@pytest.mark.slow
def test_bytes_are_asked_for_once_although_rows_are_taken_out_meanwhile(xrootd, tmp_path, nth):
    path = tmp_path / "waves.root"
    wave = np.random.default_rng(1).random((240, 130_000), np.float32)
    with uproot.recreate(path, compression=None) as file:
        tree = file.mktree("Events", {"event": "i4", "wave": ("f4", (130_000,))})
        for at in range(0, 240, 4):  # baskets of 2 MB
            tree.extend({"event": np.arange(at, at + 4, dtype="i4"), "wave": wave[at : at + 4]})
    xrootd.put(path, "store/waves.root")
    events = tm.dataset(xrootd.http_url("store/waves.root"), tree="Events")
    passed = events.filter(f"event % {nth} == 0 or event % 3 != 0")
    with connect(workers=1) as session:
        copy = str(tmp_path / "copy.root")
        session.run(passed.snapshot(copy, ["event", "wave"], compression=None))
        io = session.report.io
    event = np.arange(240)
    expected = wave[(event % nth == 0) | (event % 3 != 0)]
    assert np.array_equal(uproot.open(f"{copy}:Events/wave").array(library="np"), expected)
    assert io.bytes_over_read < 10e6
