"""Runs that are cut and go on from what was kept: the counts are those of an undisturbed run."""

import os
import signal
import struct
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
import treemill as tm
from treemill import QueryError, SourceError, UnsupportedError
from treemill.checkpoint import PassRecord

from tests.raising import raises

MODES = pytest.mark.parametrize("mode", ["threads", "processes", "sites"])

PROGRAM = """
import dataclasses, functools, os, sys, threading
import treemill as tm
from treemill.backends.sites import pool
from treemill.checkpoint import Folder, Pace
from treemill.session import run_checkpoint
run_checkpoint.Folder = functools.partial(Folder, pace=Pace(every=0.02, share=1.0))
pool.LEASING = dataclasses.replace(pool.LEASING, first=1000, longest=0.1, shortest=0.01)
mode, folder, *paths = sys.argv[1:]

def connect(mode):
    if mode == "sites":
        return tm.connect([tm.connect(workers=1, mode=each) for each in ("threads", "processes")])
    return tm.connect(workers=2, mode=mode)

class Sum(tm.Selector):
    def begin_worker(self, inputs):
        self.output["n"] = self.output["met"] = 0
    def process(self, events):
        # One packet is never done. The other worker does the rest, and hands it over.
        place = events.metadata["filename"], events.metadata["entrystart"]
        if "STUCK" in os.environ and place == (paths[-1], 0):
            threading.Event().wait()
        if "SLOW" in os.environ:
            threading.Event().wait(0.05)
        self.output["n"] += len(events)
        self.output["met"] += int(sum(events.MET_pt > 20))

with connect(mode) as session:
    output = session.run(Sum(), tm.dataset(paths, "Events"), checkpoint=folder)
    print(output["n"], output["met"], session.report.entries_before, session.report.complete)
"""


def connect(mode):
    """A session of two workers."""
    if mode == "sites":
        return tm.connect([tm.connect(workers=1, mode=each) for each in ("threads", "processes")])
    return tm.connect(workers=2, mode=mode)


def kept(folder):
    """What is kept in the folder by now."""
    try:
        (path,) = Path(folder).glob("[!.]*.results")
        return PassRecord.loads(path.read_bytes(), str(path)).entries
    except (ValueError, FileNotFoundError):
        return 0


@MODES
def test_a_run_that_was_killed_goes_on(mode, paths, truth, tmp_path):
    folder = tmp_path / "kept"
    command = [sys.executable, "-c", PROGRAM, mode, str(folder), *paths]
    with subprocess.Popen(command, env=os.environ | {"STUCK": "1"}) as running:
        deadline = time.monotonic() + 300
        while not kept(folder) and running.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        running.send_signal(signal.SIGKILL)
    before = kept(folder)
    assert 0 < before < len(truth), "it is stuck in the last file"
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    entries, met = len(truth), int((truth.MET_pt > 20).to_numpy().sum())
    assert done.stdout.split() == [str(entries), str(met), str(before), "True"]


@pytest.mark.slow
@MODES
def test_a_run_that_is_killed_again_and_again_ends_with_the_right_counts(
    mode, paths, truth, tmp_path
):
    """At any moment, twenty times: while it starts, works, merges or writes."""
    chance = Random(7)
    command = [sys.executable, "-c", PROGRAM, mode, str(tmp_path / "kept"), *paths]
    before = 0
    for _ in range(20):
        slow = os.environ | {"SLOW": "1"}
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=slow) as running:
            with suppress(subprocess.TimeoutExpired):
                running.wait(chance.uniform(0.1, 3.0))
            running.send_signal(signal.SIGKILL)
        now = kept(tmp_path / "kept")
        assert now >= before, "what was kept stays"
        before = now
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    met = int((truth.MET_pt > 20).to_numpy().sum())
    assert done.stdout.split() == [str(len(truth)), str(met), str(before), "True"]


@MODES
def test_a_run_that_was_stopped_goes_on(mode, events, truth, tmp_path):
    def counted(chunk):
        return {"n": len(chunk)}

    with connect(mode) as session:
        query = session.submit(counted, events, checkpoint=tmp_path)
        query.stop()
        with suppress(tm.TreemillError):  # it may have been stopped before it had results
            query.result()
        part = query.report.entries
        again = session.submit(counted, events, checkpoint=tmp_path)
        assert again.result() == {"n": len(truth)}
        assert again.report.entries_before == part
        assert again.report.entries == len(truth)
        assert again.progress.entries == len(truth)


@MODES
def test_bookings_with_automatic_ranges_go_on(mode, events, tmp_path):
    with connect(mode) as session:
        plain = session.run(events.hist("MET_pt", bins=20), events.count())
        for before in (0, events.num_entries):
            found = session.run(events.hist("MET_pt", bins=20), events.count(), checkpoint=tmp_path)
            assert session.report.entries_before == before
            assert found[1] == plain[1]
            assert np.array_equal(found[0].values(flow=True), plain[0].values(flow=True))
    names = sorted(path.name for path in tmp_path.glob("[!.]*.results"))
    assert names == ["0-fill.results", "0-ranges.results"]


def test_several_datasets_and_parts_of_them(paths, tmp_path):
    one, two = (tm.dataset(path, "Events") for path in (paths[0], paths[2]))
    for _ in range(2):
        found = tm.run(one.count(), two.count(), checkpoint=tmp_path / "a", entries=(10, 2000))
        assert found == (1990, 1990)
    with raises(QueryError, said="not the same part of the data"):
        tm.run(one.count(), two.count(), checkpoint=tmp_path / "a", entries=(10, 2001))


def test_a_record_of_a_part_is_gone_on_with(events, truth, tmp_path):
    """What is left of each file is done, whatever was kept of it."""
    tm.run(events.hist("MET_pt", bins=(10, 0, 100)), checkpoint=tmp_path)
    (path,) = tmp_path.glob("[!.]*.results")
    record = PassRecord.loads(path.read_bytes(), "")
    parts = {0: [(100, 1200), (4000, 5000)], 2: [(0, 7000)]}
    # The partial of these parts: that of a run which has done them and no others.
    folder = tmp_path / "other"
    with tm.connect(workers=1) as session:
        partial = partial_of(session, events, parts, folder)
    made = PassRecord(
        record.fingerprint, {f: record.identities[f] for f in parts}, parts, {}, partial
    )
    path.write_bytes(made.dumps())
    whole = tm.run(events.hist("MET_pt", bins=(10, 0, 100)), checkpoint=tmp_path)
    assert whole.sum(flow=True) == len(truth)
    plain = tm.run(events.hist("MET_pt", bins=(10, 0, 100)))
    assert np.array_equal(whole.values(flow=True), plain.values(flow=True))

    path.write_bytes(replace(made, sizes={0: 5000, 2: 7321}).dumps())
    with connect("sites") as session:
        whole = session.run(events.hist("MET_pt", bins=(10, 0, 100)), checkpoint=tmp_path)
        assert session.report.entries_before == made.entries
        assert session.report.entries == len(truth)
    assert np.array_equal(whole.values(flow=True), plain.values(flow=True))


def partial_of(session, events, parts, folder):
    """A partial that covers these parts, as the core merges it."""
    from treemill import _core

    merged = None
    for number, (file, start, stop) in enumerate(
        (file, *each) for file, ranges in parts.items() for each in ranges
    ):
        first = [0, 5000, 5001][file]
        at = folder / str(number)
        session.run(
            events.hist("MET_pt", bins=(10, 0, 100)),
            entries=(first + start, first + stop),
            checkpoint=at,
        )
        (path,) = at.glob("[!.]*.results")
        part = _core.Partial.loads(PassRecord.loads(path.read_bytes(), "").partial)
        if merged is None:
            merged = part
        else:
            merged.merge(part)
    return merged.dumps()


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (lambda e: (e.count(), e.hist("MET_pt", bins=(10, 0, 101))), "not the same bookings"),
        (lambda e: (e.filter("MET_pt > 1").count(),), "not the same bookings"),
    ],
)
def test_another_query_is_refused(other, words, events, tmp_path):
    tm.run(events.count(), events.hist("MET_pt", bins=(10, 0, 100)), checkpoint=tmp_path)
    with pytest.raises(QueryError, match=f"{words}.*Give checkpoint= another folder"):
        tm.run(*other(events), checkpoint=tmp_path)


def test_another_selector_is_refused_by_what_differs(events, tmp_path):
    class Count(tm.Selector):
        def __init__(self, cut):
            self.cut = cut

        def process(self, chunk):
            return {"n": len(chunk)}

    tm.run(Count(1), events, inputs={"a": 1}, checkpoint=tmp_path)
    with raises(QueryError, said="not the same Count s cut Give"):
        tm.run(Count(2), events, inputs={"a": 1}, checkpoint=tmp_path)
    with raises(QueryError, said="not the same inputs Give"):
        tm.run(Count(1), events, inputs={"a": 2}, checkpoint=tmp_path)
    with raises(QueryError, said="not the same seed Give"):
        tm.run(Count(1), events, inputs={"a": 1}, seed=3, checkpoint=tmp_path)
    Count.process = lambda self, chunk: {"n": 2 * len(chunk)}
    with raises(QueryError, said="not the same Count s code Give"):
        tm.run(Count(1), events, inputs={"a": 1}, checkpoint=tmp_path)


def test_other_values_of_files_are_refused(events, tmp_path):
    """The function that gives them looks at a file."""
    factor = tmp_path / "factor.txt"
    factor.write_text("2")

    def run():  # of a dataset that has not asked for them yet
        weighted = events.define_per_file("factor", lambda file: int(factor.read_text()))
        return tm.run(weighted.sum("MET_pt * factor"), checkpoint=tmp_path / "kept")

    assert run() == pytest.approx(2 * events.sum("MET_pt").value)
    assert run() == pytest.approx(2 * events.sum("MET_pt").value)
    factor.write_text("3")
    with raises(QueryError, about="constants of files"):
        run()


def test_other_files_are_refused(tmp_path):
    from treemill.facility.generate import write

    paths = [tmp_path / "a.root", tmp_path / "b.root"]
    for index, path in enumerate(paths):
        write(path, events=100, index=index, cluster=100, codec="zstd")
    both = tm.dataset([str(path) for path in paths], "Events")
    folder = tmp_path / "kept"
    assert tm.run(both.count(), checkpoint=folder) == 200
    with raises(QueryError, said="not the same files"):
        tm.run(tm.dataset(str(paths[0]), "Events").count(), checkpoint=folder)
    write(paths[1], events=50, index=7, cluster=100, codec="zstd")
    with raises(QueryError, said="b root has changed since"):
        tm.run(tm.dataset([str(path) for path in paths], "Events").count(), checkpoint=folder)


def test_what_cannot_be_kept_is_refused_by_name(events, tmp_path):
    class AtEnd(tm.Selector):
        def process(self, chunk):
            return {}

        def end_worker(self):
            pass

    class Writes(tm.Selector):
        def begin_worker(self, inputs):
            self.output["skim"] = tm.FileOutput(tmp_path / "out.root")

        def process(self, chunk):
            self.output["skim"].write({"x": chunk.MET_pt})

    with raises(UnsupportedError, said="AtEnd has end_worker"):
        tm.run(AtEnd(), events, checkpoint=tmp_path / "a")
    with raises(UnsupportedError, said="a FileOutput cannot be kept by checkpoint"):
        tm.run(Writes(), events, checkpoint=tmp_path / "b")
    with raises(UnsupportedError, said="a snapshot cannot be kept by checkpoint"):
        tm.run(events.snapshot(tmp_path / "s.root", ["MET_pt"]), checkpoint=tmp_path / "c")
    assert not list(tmp_path.glob("*.root"))


def test_a_run_that_failed_goes_on_with_what_was_done(events, truth, paths, tmp_path, monkeypatch):
    def counted(chunk):
        if "BROKEN" in os.environ and chunk.metadata["filename"] == paths[2]:
            raise ValueError("not yet")
        return {"n": len(chunk)}

    monkeypatch.setenv("BROKEN", "1")
    report = None
    with tm.connect(workers=1) as session:
        assert session.run(counted, events, checkpoint=tmp_path, on_error="skip") == {"n": 5001}
        report = session.report
    assert not report.complete
    monkeypatch.delenv("BROKEN")
    with tm.connect(workers=1) as session:
        assert session.run(counted, events, checkpoint=tmp_path) == {"n": len(truth)}
        assert session.report.entries_before == 5001


def test_a_damaged_record_says_so(events, tmp_path):
    tm.run(events.count(), checkpoint=tmp_path)
    (path,) = tmp_path.glob("[!.]*.results")
    path.write_bytes(path.read_bytes()[:-1])
    with raises(SourceError, said="is damaged remove it to begin again"):
        tm.run(events.count(), checkpoint=tmp_path)


def test_a_checkpoint_is_a_path(events):
    with raises(QueryError, said="checkpoint is the path of a folder, not 3"):
        tm.run(events.count(), checkpoint=3)


def test_a_run_without_data_is_kept(tmp_path):
    def thrown(chunk):
        return {"n": len(chunk)}

    for _ in range(2):
        assert tm.run(thrown, cycles=1000, checkpoint=tmp_path) == {"n": 1000}


@pytest.mark.parametrize("which", ["folder", "record"])
@pytest.mark.parametrize("mode", [0o020, 0o002])
def test_what_others_may_have_written_is_not_loaded(events, tmp_path, which, mode):
    def counted(chunk):
        return {"n": len(chunk)}

    folder = tmp_path / "kept"
    n = tm.run(counted, events, checkpoint=folder)["n"]
    (record,) = folder.glob("[!.]*.results")
    path = folder if which == "folder" else record
    before = path.stat().st_mode
    path.chmod(before | mode)
    with raises(SourceError, said="may be written to by other users") as raised:
        tm.run(counted, events, checkpoint=folder)
    assert raised.value.file == str(path)
    path.chmod(before)
    assert tm.run(counted, events, checkpoint=folder)["n"] == n


def access_list(kind, allowed):
    """Linux's access control list in which one more user or group has these rights."""
    owner, user, group, one_group, mask, others = 1, 2, 4, 8, 16, 32
    rights = {owner: 7, user if kind == "user" else one_group: allowed, group: 0}
    rights |= {mask: allowed, others: 0}
    entries = [
        (tag, right, 12345 if tag in (user, one_group) else 2**32 - 1)
        for tag, right in sorted(rights.items())
    ]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


@pytest.mark.parametrize("kind", ["user", "group"])
def test_what_an_access_control_list_lets_others_write_is_not_loaded(events, tmp_path, kind):
    folder = tmp_path / "kept"
    n = tm.run(events.count(), checkpoint=folder)
    try:
        os.setxattr(folder, "system.posix_acl_access", access_list(kind, 7))
    except (AttributeError, OSError) as error:
        pytest.skip(f"no access control lists: {error}")
    with raises(SourceError, said="may be written to by other users"):
        tm.run(events.count(), checkpoint=folder)
    os.setxattr(folder, "system.posix_acl_access", access_list(kind, 5))
    assert tm.run(events.count(), checkpoint=folder) == n


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("which", ["folder", "record"])
def test_what_another_user_owns_is_not_loaded(events, tmp_path, which):
    folder = tmp_path / "kept"
    tm.run(events.count(), checkpoint=folder)
    (record,) = folder.glob("[!.]*.results")
    os.chown(folder if which == "folder" else record, 12345, -1)
    with raises(SourceError, about="12345"):
        tm.run(events.count(), checkpoint=folder)
