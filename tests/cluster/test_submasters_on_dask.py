"""Workers of a cluster that are led by some of them: results are those of any other session, and
the counts are right whatever dies. `STRESS=20` repeats each test so many times.
"""

import os
import signal

import pytest
import treemill as tm
from treemill.cli.trace import load
from treemill.scheduling import Timeline

from tests.waiting import until

from .processes import desk
from .queries import again, at_work, check, committed, started
from .test_faults import processes, pytestmark  # noqa: F401


@pytest.fixture
def connected(processes):  # noqa: F811
    """Four workers in two groups, and a session."""
    processes.add(4)
    with tm.connect(processes.address, submasters=2, silence=20) as session:
        client = session._pool._client
        client.wait_for_workers(4, timeout=60)
        yield session, client


def leaders(client):
    """The processes that lead groups, by id."""

    def look(desk):
        groups = [led for lead in desk._leads.values() for led in lead._roster.groups]
        return [led.leader for led in groups if led.leader]

    addresses = desk(client, look)
    pids = client.run(os.getpid)
    return [pids[each] for each in addresses if each in pids]


@pytest.mark.parametrize("submasters", [2, True])
def test_results_are_those_of_a_local_session(cluster, events, submasters):
    good = events.filter("nMuon >= 2")
    booked = good.hist("MET_pt", bins=20), good.count(), events.mean("MET_pt")
    histogram, count, mean = tm.run(*booked)
    with tm.connect(cluster, submasters=submasters) as session:
        for _ in range(2):
            query = session.submit(
                good.hist("MET_pt", bins=20), good.count(), events.mean("MET_pt")
            )
            found = query.result(60)
            assert found[0] == histogram
            assert found[1] == count
            assert found[2] == pytest.approx(mean, rel=1e-12)
            assert query.report.complete
            assert query.report.entries == events.num_entries


@pytest.mark.slow
def test_more_than_a_hundred_workers_have_submasters_by_rack(processes, events, tmp_path):  # noqa: F811
    for rack in "aabb":
        processes.add(1, 26, "--no-nanny", "--resources", f"rack-{rack}=1")
    with tm.connect(processes.address) as session:
        client = session._pool._client
        client.wait_for_workers(4, timeout=120)

        def racks(desk):
            leads = desk._leads.values()
            groups = [led.group.places for lead in leads for led in lead._roster.groups]
            return sorted(map(sorted, groups))

        query = started(session, events, tmp_path, workers=1, seconds=2e-3)
        until(lambda: desk(client, racks) == [["rack-a"], ["rack-b"]], "both racks lead a group")
        check(events, query.result(120))


def test_what_workers_do_is_counted(connected, events):
    session, _ = connected
    output = session.run(lambda chunk: {"n": len(chunk)}, events, monitor=True)
    assert output["n"] == events.num_entries
    report = session.report
    made = report.measured.histograms
    assert made["entries_per_worker"].sum() >= events.num_entries
    assert made["latency_per_worker"].sum(flow=True) == made["packets_per_worker"].sum()
    assert 0 < made["workers_per_node"].values().max() <= 4 + 1e-9
    assert set(output["monitor"]) == set(made)
    session.run(events.count(), monitor=False)
    assert session.report.measured is None


def test_a_run_with_a_trace_is_led_by_the_scheduler_alone(cluster, events, tmp_path):
    with tm.connect(cluster, submasters=2) as session:
        assert session.run(events.count(), trace=tmp_path / "trace.root") == events.num_entries
    rows = load(str(tmp_path / "trace.root")).rows
    assert sum(row.entries for row in rows if row.counted) == events.num_entries


def test_so_is_a_session_whose_reports_have_traces(cluster, events):
    with tm.connect(cluster, submasters=2, trace=10_000) as session:
        assert session.run(events.count(), progress=False) == events.num_entries
        spans = Timeline.of(session.report.trace).spans
    assert sum(span.entries for span in spans) == events.num_entries


def test_an_error_ends_the_query(cluster, events):
    def process(chunk):
        raise ValueError("no such thing")

    with tm.connect(cluster, submasters=2) as session:
        with pytest.raises(tm.WorkerError, match="no such thing"):
            session.run(process, events, progress=False)
        assert session.run(events.count()) == events.num_entries


@again
def test_a_process_that_leads_is_killed(connected, events, tmp_path, turn):
    session, client = connected
    query = started(session, events, tmp_path, workers=4)
    until(lambda: committed(client), "a commit")
    assert len(leaders(client)) == 2
    os.kill(committed(client)[0], signal.SIGKILL)
    check(events, query.result(60))
    assert query.report.complete


@pytest.mark.slow
@again
def test_one_that_is_led_is_killed(connected, events, tmp_path, turn):
    session, client = connected
    query = started(session, events, tmp_path, workers=4)
    until(lambda: committed(client), "a commit")
    victim = next(pid for pid in at_work(tmp_path / "seen") if pid not in leaders(client))
    os.kill(victim, signal.SIGKILL)
    check(events, query.result(60))


@pytest.mark.slow
@again
def test_one_that_leads_and_stays_silent_is_given_up(processes, events, tmp_path, turn):  # noqa: F811
    processes.add(4)
    with tm.connect(processes.address, submasters=2, silence=2) as session:
        client = session._pool._client
        client.wait_for_workers(4, timeout=60)
        query = started(session, events, tmp_path, workers=4)
        until(lambda: committed(client), "a commit")
        victim = committed(client)[0]
        os.kill(victim, signal.SIGSTOP)
        check(events, query.result(60))
        os.kill(victim, signal.SIGCONT)
        until(lambda: len(client.scheduler_info()["workers"]) == 4, "it is back")
        assert session.run(events.count()) == events.num_entries


@pytest.mark.slow
@again
def test_a_worker_joins_a_group(processes, events, tmp_path, turn):  # noqa: F811
    processes.add(2)
    with tm.connect(processes.address, submasters=3) as session:
        session._pool._client.wait_for_workers(2, timeout=60)
        query = started(session, events, tmp_path, workers=2)
        processes.add(2)
        until(lambda: len(at_work(tmp_path / "seen")) == 4 or query.done, "all are at work")
        check(events, query.result(60))


@pytest.mark.slow
@again
def test_the_query_is_stopped(connected, events, tmp_path, turn):
    session, client = connected
    query = started(session, events, tmp_path, workers=4, seconds=1e-3)
    until(lambda: committed(client), "a commit")
    query.stop()
    found = query.result(60)
    assert 0 < found["n"] == query.report.entries < events.num_entries
    spans = [*found["spans"], *((gap.file, gap.start, gap.stop) for gap in query.report.missing)]
    for path, (size, _) in zip(events.files, events.chain.sizes, strict=True):
        mine = sorted((a, size if b is None else b) for name, a, b in spans if name == path)
        assert [a for a, _ in mine] == [0, *(b for _, b in mine)][:-1], "found or named, once"
        assert mine[-1][1] == size


def test_options_that_make_no_sense():
    with pytest.raises(tm.QueryError, match="submasters is True, False or 2 and more"):
        tm.connect("tcp://nowhere:1", submasters=1)
    with pytest.raises(tm.QueryError, match="is for clusters"):
        tm.connect(submasters=True)
