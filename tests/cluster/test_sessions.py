"""A session on a cluster gives what a local session gives."""

import numpy as np
import pytest
import treemill as tm


def bookings(events):
    good = events.filter("nMuon >= 2").define("pt", "Muon_pt[0]")
    return {
        "met": events.hist("MET_pt", bins=(50, 0, 200)),
        "pt": good.hist("pt", bins=20),  # finds its range in a pass of its own
        "n": good.count(),
        "sum": good.sum("pt"),
    }


def test_the_same_as_locally(session, events):
    there = session.run(bookings(events))
    here = tm.run(bookings(events))
    assert there["n"] == here["n"] > 0
    assert there["sum"] == pytest.approx(here["sum"], rel=1e-12)
    for name in ("met", "pt"):
        assert there[name].axes == here[name].axes
        assert np.array_equal(there[name].values(), here[name].values())
    assert session.report.entries == events.num_entries
    assert not session.report.missing


def test_selectors(session, events):
    out = session.run(lambda chunk: {"n": len(chunk)}, events)
    assert out["n"] == events.num_entries


def test_rows_and_a_part_of_the_data(session, events):
    part = events.filter("nMuon >= 2")
    there, here = (run(part.take("MET_pt"), entries=(100, 25_000)) for run in (session.run, tm.run))
    assert np.array_equal(np.sort(there), np.sort(here))


@pytest.mark.parametrize("given", ["address", "client"])
def test_what_connect_takes(cluster, events, given):
    from distributed import Client

    if given == "address":
        with tm.connect(cluster.scheduler_address) as session:
            assert session.run(events.count()) == events.num_entries
        return
    with Client(cluster, set_as_default=False) as client:
        with tm.connect(client) as session:
            assert session.run(events.count()) == events.num_entries
        assert client.submit(lambda: 1).result() == 1, "the client is left as it was"


def test_an_error_of_the_users_code_names_the_place(session, events):
    def wrong(chunk):
        return {"n": len(chunk) // 0}

    with pytest.raises(tm.WorkerError) as caught:
        session.run(wrong, events)
    assert "ZeroDivisionError" in str(caught.value)
    assert "tcp://" in caught.value.worker
    assert caught.value.file.endswith(".root")
    assert caught.value.entries is not None
    assert "len(chunk) // 0" in caught.value.traceback


@pytest.mark.slow
def test_nobody_answers():
    with pytest.raises(tm.WorkerError, match="no scheduler answers"):
        tm.connect("tcp://127.0.0.1:1")


def test_uploaded_packages(session, events, tmp_path):
    folder = tmp_path / "cuts"
    folder.mkdir()
    for value in (20, 30):
        (folder / "cuts_of_test.py").write_text(f"CUT = {value}\n")
        session.upload(folder)

        def cut(chunk):
            import cuts_of_test

            return {"cut": {cuts_of_test.CUT}}

        assert session.run(cut, events)["cut"] == {value}
