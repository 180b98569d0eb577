"""Several sites under one session give what one gives; what a site cannot read others read."""

import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import treemill as tm
from treemill.backends.sites.pool import LEASING, FederatedPool
from treemill.backends.sites.site import told
from treemill.backends.threads import ThreadPool
from treemill.cli.trace import load
from treemill.errors import SourceError
from treemill.frozen import replaced
from treemill.monitoring.summary import summary
from treemill.monitoring.text import lines
from treemill.scheduling import Committed, Coverage, FileSize, Missing, joined
from treemill.scheduling.leases import Failed, Opened, Part
from treemill.session import known_files, results_folder
from treemill.session.session import Session
from treemill.workers.workload import Forwarding

from tests.raising import raises


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    from treemill.facility.generate import write

    folder = tmp_path_factory.mktemp("federation")
    made = [folder / f"events_{i}.root" for i in range(4)]
    for i, (path, events) in enumerate(zip(made, (9000, 1, 15_000, 6001), strict=True)):
        write(path, events=events, index=i, cluster=1000, codec="zstd")
    return [str(path) for path in made]


@pytest.fixture
def events(files):
    return tm.dataset(files, tree="Events")


def bookings(events):
    good = events.filter("nMuon >= 2").define("pt", "Muon_pt[0]")
    return {
        "met": events.hist("MET_pt", bins=(50, 0, 200)),
        "pt": good.hist("pt", bins=20),  # finds its range in a pass of its own
        "n": good.count(),
    }


def the_same(there, here):
    assert there["n"] == here["n"] > 0
    for name in ("met", "pt"):
        assert there[name].axes == here[name].axes
        assert np.array_equal(there[name].values(), here[name].values())


@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_two_sites_give_what_one_gives(events, mode):
    sites = [tm.connect(workers=1, mode=mode) for _ in range(2)]
    with tm.connect(sites) as session:
        assert repr(session) == "<session of 2 workers of several sites>"
        the_same(session.run(bookings(events)), tm.run(bookings(events)))
        assert session.report.entries == events.num_entries
        assert not session.report.missing
        out = session.run(lambda chunk: {"n": len(chunk)}, events)
        assert out["n"] == events.num_entries
        part = session.run(events.count(), entries=(100, 20_000))
        assert part == 19_900


@pytest.mark.parametrize("nested", ["a list", "a session"])
def test_a_site_may_itself_be_several_sites(events, nested, monkeypatch):
    small = replace(LEASING, first=2000, longest=0.1, shortest=0.01)  # several leases in each tier
    monkeypatch.setattr("treemill.backends.sites.pool.LEASING", small)
    one, *others = (tm.connect(workers=1) for _ in range(4))
    far = [others[0], [others[1], others[2]]]
    if nested == "a session":
        far = tm.connect([others[0], tm.connect(others[1:])])
    with tm.connect({"near": one, "far": far}) as session:
        assert session.workers == 4
        the_same(session.run(bookings(events)), tm.run(bookings(events)))
        assert session.report.entries == events.num_entries
        out = session.run(lambda chunk: {"n": len(chunk)}, events, monitor=True)
        assert out["n"] == session.report.measured.histograms["entries_per_worker"].sum()
        assert out["n"] == events.num_entries


def test_a_lost_site_of_a_site_leaves_its_part_to_the_others(events):
    inner = Session(FederatedPool({"a": Watched(dies=True), "b": Watched()}))
    with tm.connect([tm.connect(workers=1), inner]) as session:
        assert session.run(events.count()) == events.num_entries
        assert not session.report.missing


@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_what_workers_of_all_sites_do_is_counted(events, mode, monkeypatch):
    small = replace(LEASING, first=2000, longest=0.1, shortest=0.01)  # several passes of each site
    monkeypatch.setattr("treemill.backends.sites.pool.LEASING", small)
    with tm.connect([tm.connect(workers=1, mode=mode) for _ in range(2)]) as session:
        output = session.run(lambda chunk: {"n": len(chunk)}, events, monitor=True)
        made = session.report.measured.histograms
        assert output["n"] == made["entries_per_worker"].sum() == events.num_entries
        assert len(made["entries_per_worker"].axes[0]) == 2
        packets = made["packets_per_worker"].sum()
        assert made["seconds_per_worker"].sum(flow=True) == packets > 2
        assert len(made["workers_per_node"].axes["node"]) == 1
        # A site's passes have bins of their own, which are spread over those of all: no bin by
        # itself is exact, and their mean is.
        assert 0 < made["workers_per_node"].values().mean() <= 2 + 1e-9
        assert set(output["monitor"]) == set(made)
        session.run(events.count(), monitor=False)
        assert session.report.measured is None


def test_each_site_reads_its_own_files(events, files):
    seen = {"a": set(), "b": set()}
    sites = {name: Watched(files=seen[name]) for name in seen}
    mine = {"a": files[:2], "b": files[2:]}
    with Session(FederatedPool(sites, mine)) as session:
        assert session.run(events.count()) == events.num_entries
    assert {name: sorted(each) for name, each in seen.items()} == mine


def test_a_file_with_replicas_is_near_to_the_sites_that_have_one(files, tmp_path):
    copy = tmp_path / "copy.root"
    copy.write_bytes(Path(files[0]).read_bytes())
    events = tm.dataset({"/store/a.root": [files[0], str(copy)]}, tree="Events")
    for near, far in ("ab", "ba"):
        seen = {"a": set(), "b": set()}
        sites = {name: Watched(files=seen[name]) for name in seen}
        with Session(FederatedPool(sites, {near: str(copy), far: "/nowhere/*"})) as session:
            assert session.run(events.count()) == events.num_entries
        assert seen == {near: {files[0]}, far: set()}


def test_what_a_site_cannot_open_is_left_to_the_other(events, files):
    seen = {"a": set(), "b": set()}
    sites = {
        "a": Watched(files=seen["a"], hidden=set(files[2:])),
        "b": Watched(files=seen["b"], hidden=set(files[:2])),
    }
    with Session(FederatedPool(sites)) as session:
        assert session.run(events.count()) == events.num_entries
        assert not session.report.missing
    assert seen["a"] == set(files[:2])


def test_what_no_site_can_open_is_missing(events, files):
    sites = {name: Watched(hidden={files[0]}) for name in "ab"}
    with Session(FederatedPool(sites)) as session:
        with raises(SourceError, said="not at this site"):
            session.run(events.count())
        assert session.run(events.count(), on_error="skip") == events.num_entries - 9000
        (gap,) = session.report.missing
        assert gap.file == files[0]


def test_a_lost_site_leaves_what_only_it_could_read(events, files):
    sites = {"a": Watched(), "b": Watched(dies=True)}
    with Session(FederatedPool(sites, {"a": files[:3], "b": files[3]})) as session:
        with raises(tm.WorkerError, said="no site is left that can read it"):
            session.run(events.count())
        assert session.report.entries == 24_001, "the other site has done all that it can"
        (gap,) = session.report.missing
        assert gap.file == files[3]
        assert "the scheduler is gone" in gap.reason


def test_a_lost_site_is_made_up_for_by_the_other(events):
    with Session(FederatedPool({"a": Watched(), "b": Watched(dies=True)})) as session:
        assert session.run(events.count()) == events.num_entries


def test_if_all_sites_fail_the_error_is_theirs(events):
    sites = {name: Watched(dies=True) for name in "ab"}
    session = Session(FederatedPool(sites))
    with session, raises(tm.WorkerError, said="the scheduler is gone"):
        session.run(events.count())


def test_stop_keeps_what_is_done(events):
    reached, go_on = threading.Event(), threading.Event()

    def slow(chunk):
        reached.set()
        go_on.wait(30)
        return {"n": len(chunk)}

    sites = [tm.connect(workers=1) for _ in range(2)]
    with tm.connect(sites) as session:
        query = session.submit(slow, events)
        assert reached.wait(30)
        query.stop()
        go_on.set()
        out = query.result(timeout=30)
        assert out["n"] == query.report.entries
        missing = sum(gap.stop - gap.start for gap in query.report.missing if gap.stop is not None)
        assert query.report.entries + missing <= events.num_entries


def test_abort_is_no_error_of_the_sites(events):
    reached, go_on = threading.Event(), threading.Event()

    def slow(chunk):
        reached.set()
        go_on.wait(30)
        return {"n": len(chunk)}

    with tm.connect([tm.connect(workers=1) for _ in range(2)]) as session:
        query = session.submit(slow, events)
        assert reached.wait(30)
        query.abort()
        go_on.set()
        with raises(tm.TreemillError, said="the query was aborted"):
            query.result(timeout=30)
        assert query.report.entries == 0


def test_an_error_of_the_users_code_names_the_place(events):
    session = tm.connect([tm.connect(workers=1), tm.connect(workers=1)])
    with session, pytest.raises(tm.WorkerError) as caught:
        session.run(lambda chunk: {"n": len(chunk) // 0}, events)
    assert "ZeroDivisionError" in str(caught.value)
    assert caught.value.file.endswith(".root")


def test_what_connect_refuses(files):
    with tm.connect(workers=1) as alone:
        with raises(tm.QueryError, said="two sites or more"):
            tm.connect([alone])
        with raises(tm.QueryError, said="reach names fnal; the sites are 0, 1"):
            tm.connect([alone, alone], reach={"fnal": "*"})
        with raises(tm.QueryError, said="several sites"):
            tm.connect(reach={"0": "*"})


@pytest.mark.parametrize("option", [{"mode": "processes"}, {"memory": 10}, {"start": "spawn"}])
def test_options_of_this_machine_are_refused_for_clusters(option):
    (name,) = option
    with pytest.raises(tm.QueryError, match=f"{name}= is for workers on this machine"):
        tm.connect("tcp://127.0.0.1:1", **option)


def test_a_package_that_one_site_refuses_is_at_none(tmp_path):
    (tmp_path / "mine.py").write_text("CUT = 20")
    processes = tm.connect(workers=1, mode="processes")
    with tm.connect([processes, tm.connect(workers=1)]) as session:
        told = []
        processes._pool.set_paths = told.append
        with raises(tm.UnsupportedError, about="upload"):
            session.upload(tmp_path)
        assert session.packages == ()
        assert len(told) == 2
        assert told[-1] == []


# What has come of a lease.


def test_what_is_told_of_a_lease():
    parts = (Part(4, 0, None), Part(2, 100, 300), Part(7, 0, None), Part(8, 0, None))
    lost, wrong = OSError("lost"), OSError("wrong")
    coverage = Coverage(
        {0: [(0, 50)], 1: [(0, 20), (30, 200)]},
        [Missing(1, 20, 30, "wrong", wrong), Missing(2, 0, None, "lost", lost)],
    )
    assert told(9, parts, coverage) == [
        Opened(9, 4, FileSize(50)),
        Opened(9, 8, FileSize(0)),
        Committed(9, ranges=((4, 0, 50), (2, 100, 120), (2, 130, 300))),
        Failed(9, Part(2, 120, 130), wrong),
        Failed(9, Part(7, 0, None), lost),
    ]


# Threads that stand for a site with other files, which one machine does not have.


class Watched(ThreadPool):
    """One thread. Notes which files it reads; some are hidden from it; its passes may fail."""

    def __init__(self, files=None, hidden=(), dies=False):
        super().__init__(1)
        self.files = set() if files is None else files
        self.hidden = hidden
        self.dies = dies

    def prepare(self, request):
        if self.dies:
            raise tm.WorkerError("the scheduler is gone")
        return super().prepare(replaced(request, task=WatchedTask(request.task, self)))


class WatchedTask:
    def __init__(self, task, pool):
        self._task, self._pool = task, pool

    def __getattr__(self, name):
        return getattr(self._task, name)

    def workload(self, number):
        return WatchedWorkload(self._task.workload(number), self._pool)


class WatchedWorkload(Forwarding):
    def __init__(self, inner, pool):
        super().__init__(inner)
        self._pool = pool
        self.finish, self.discard = inner.finish, inner.discard

    def bound(self, file):
        path, _ = self.inner.place(file)
        if path in self._pool.hidden:
            raise SourceError(f"{path} is not at this site")
        self._pool.files.add(path)
        return self.inner.bound(file)

    def size(self, file):
        if self.inner.place(file)[0] in self._pool.hidden:
            raise SourceError("it is not at this site")
        return self.inner.size(file)


@pytest.mark.parametrize("steps", [False, True])
def test_several_sites_have_one_trace(events, tmp_path, steps, monkeypatch):
    monkeypatch.setattr("treemill.backends.sites.pool.LEASING", replace(LEASING, first=4000))
    path = tmp_path / "trace.root"
    tm.cache.clear()  # or threads find in it what other tests have read
    sites = {"here": tm.connect(workers=2), "there": tm.connect(workers=1, mode="processes")}
    with tm.connect(sites) as session:
        session.run(events.hist("MET_pt", bins=(50, 0, 200)), trace=path, trace_steps=steps)
        report = session.report
    found = load(str(path))
    ranges = {}
    for row in found.rows:
        if row.counted:
            ranges.setdefault(row.file, []).append((row.start, row.stop))
    assert {file: joined(each) for file, each in ranges.items()} == report.processed
    assert sum(row.entries for row in found.rows if row.counted) == 30_002
    packets = [row for row in found.rows if row.event == "packet"]
    assert len({(row.packet, row.attempt, row.worker) for row in packets}) == len(packets)
    of_site = {row.worker: row.host for row in packets}
    assert set(of_site.values()) <= {"here", "there"}
    assert all(of_site[row.worker] == row.host for row in packets)
    assert [row.time for row in found.rows] == sorted(row.time for row in found.rows)
    assert (found.rows[0].event, found.rows[-1].event) == ("start", "end")
    leases = [row for row in found.rows if row.event == "lease"]
    assert len(leases) > 2
    reads = [row for row in found.rows if row.event == "read"]
    assert bool(reads) == steps
    if steps:
        assert sum(row.bytes for row in reads) == sum(row.bytes_read for row in packets)
    told = summary(found)
    assert told.entries == 30_002
    assert told.ok
    assert list(lines(told))


def test_results_of_sites_are_remembered(events, files, tmp_path, monkeypatch):
    monkeypatch.setattr(results_folder, "_given", [])
    monkeypatch.setattr(known_files, "_FINE", 0)
    tm.remember(tmp_path / "results")
    sites = [tm.connect(workers=1, mode=mode) for mode in ("threads", "processes")]
    with tm.connect(sites) as session:
        here = tm.run(bookings(events), remember=False)
        the_same(session.run(bookings(events)), here)
        assert session.report.remembered.parts == 3 * len(files)
        the_same(session.run(bookings(events)), here)
        assert (session.report.remembered.found, session.report.remembered.parts) == (3, 0)
        assert session.report.entries == session.report.entries_before > 0
        more = session.run({**bookings(events), "sum": events.sum("MET_pt")})
        the_same(more, here)
        assert session.report.remembered.parts == len(files)
    the_same(tm.run(bookings(events)), here)
    assert tm.report().remembered.parts == 0
