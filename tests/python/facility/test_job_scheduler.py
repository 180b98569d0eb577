"""`treemill bench hammer`: which jobs begin when, and what is kept of them; without any process."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from treemill.errors import QueryError
from treemill.facility.load_tests.job_scheduler import (
    Bounds,
    JobScheduler,
    KillJob,
    Start,
    job_types,
)
from treemill.facility.load_tests.run_summary import (
    HEAD,
    JobEnd,
    LoadTestSummary,
    drawn,
    findings,
    line_of,
    rows,
)
from treemill.facility.scaling.measurements import ResultsFile, load, save
from treemill.facility.scaling.page import page

from tests.raising import raises

times = st.floats(0.01, 20)


@st.composite
def runs(draw):
    """A lead, and how long each job takes and whether it fails."""
    shares = draw(st.lists(st.floats(0.1, 10), min_size=1, max_size=4))
    bounds = Bounds(
        draw(st.integers(1, 8)),
        draw(st.floats(0, 30)),
        draw(st.one_of(st.none(), st.floats(0, 60))),
        draw(st.integers(0, 60)),
        longest=draw(st.floats(5, 15)),
        grace=draw(st.floats(0, 5)),
    )
    lead = JobScheduler(shares, draw(st.integers(1, 3)), bounds)
    lasting = draw(st.lists(st.tuples(times, st.booleans()), min_size=1, max_size=20))
    stop = draw(st.one_of(st.none(), st.tuples(times, st.booleans())))
    return lead, lasting, stop


@given(runs())
def test_a_run_keeps_its_bounds_and_ends(run):
    lead, lasting, stop = run
    bounds, now, ends, seen = lead.bounds, 0.0, {}, []
    kills, stopped = Counter(), None
    while not lead.is_done(now):
        now += 0.25
        assert now < 60 * 21 + 100, "it ends"
        if stop is not None and stopped is None and now >= stop[0]:
            lead.stop(now) if stop[1] else lead.abort()
            stopped = now
        for job, (end, ok) in list(ends.items()):
            if end <= now:
                lead.ended(job, now, ok)
                del ends[job]
        for action in lead.tick(now):
            if isinstance(action, Start):
                assert stopped is None
                assert bounds.seconds is None or now < bounds.seconds
                assert 0 <= action.storage < lead.storages
                seconds, ok = lasting[action.job % len(lasting)]
                ends[action.job] = (now + seconds, ok)
                seen.append(action)
            else:
                kills[action.job] += 1
                ends[action.job] = (now, False)
        assert len(lead.running) <= bounds.allowed(now) <= bounds.most
        assert set(lead.running) == set(ends)
        at_each = Counter(start.storage for start in seen if start.job in ends)
        part = -(-bounds.allowed(now) // lead.storages)
        assert all(number <= part for number in at_each.values()), "each has its part of the places"
    assert len(seen) == lead.started <= bounds.jobs
    assert all(number == 1 for number in kills.values()), "a job is ended once"
    assert lead.tick(now) == []
    # The mix is that of the shares at each moment, up to a job of each kind.
    begun = Counter()
    for number, start in enumerate(seen, 1):
        begun[start.kind] += 1
        for kind, share in enumerate(lead.shares):
            assert abs(begun[kind] - share / sum(lead.shares) * number) <= len(lead.shares)
    # Each kind goes over a storage's files without a gap.
    for kind in range(len(lead.shares)):
        for place in range(lead.storages):
            turns = [s.turn for s in seen if (s.kind, s.storage) == (kind, place)]
            assert turns == list(range(len(turns)))


def test_a_storage_that_is_down_does_not_take_the_places_of_another():
    lead = JobScheduler([1.0], 2, Bounds(4, jobs=100))
    begun = Counter()
    for step in range(60):
        for action in lead.tick(step):
            begun[action.storage] += 1
            if action.storage == 1:  # those of the other one never end
                lead.ended(action.job, step, ok=True)
    assert begun[0] == 2
    assert begun[1] >= 60


def test_kinds_go_round_storages_that_are_equally_fast():
    lead = JobScheduler([1.0, 1.0], 3, Bounds(3, jobs=60))
    begun = Counter()
    for step in range(60):
        for action in lead.tick(step):
            begun[action.kind, action.storage] += 1
            lead.ended(action.job, step, ok=True)
    assert len(begun) == 6
    assert max(begun.values()) - min(begun.values()) <= 1


def test_a_failed_job_leaves_its_place_empty_for_a_while():
    lead = JobScheduler([1.0], 1, Bounds(1, jobs=5))
    assert lead.tick(0) == [Start(0, 0, 0, 0)]
    lead.ended(0, 0.1, ok=False)
    assert lead.tick(0.2) == []
    assert lead.tick(1.2) == [Start(1, 0, 0, 1)]
    lead.ended(1, 1.3, ok=True)
    assert lead.tick(1.3) == [Start(2, 0, 0, 2)]


def test_stop_waits_and_abort_does_not():
    lead = JobScheduler([1.0], 1, Bounds(2, jobs=9, grace=10))
    assert len(lead.tick(0)) == 2
    lead.stop(1)
    assert lead.tick(5) == []
    lead.abort()
    assert lead.tick(5) == [KillJob(0, "the run has ended"), KillJob(1, "the run has ended")]
    assert not lead.is_done(5)
    lead.ended(0, 5, ok=False)
    lead.ended(1, 5, ok=False)
    assert lead.is_done(5)


def test_bounds_that_are_none_are_refused():
    with raises(QueryError, said="--for or --jobs"):
        Bounds(1)
    with raises(QueryError, said="1 job"):
        Bounds(0, jobs=1)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({}, "tables"),
        ({"job": []}, "tables"),
        ({"job": [3]}, "no table"),
        ({"job": [{"read": "all", "hist": "x"}]}, "exactly one"),
        ({"job": [{"name": "n"}]}, "exactly one"),
        ({"job": [{"read": "most"}]}, "not one of"),
        ({"job": [{"read": "all", "filter": "x > 1"}]}, "no histogram to fill"),
        ({"job": [{"read": "all", "share": 0}]}, "share"),
        ({"job": [{"read": "all", "share": True}]}, "share"),
        ({"job": [{"hist": [3]}]}, "hist"),
        ({"job": [{"read": "all", "many": 3}]}, "many"),
        ({"job": [{"read": "all", "files": 0.5}]}, "1 file"),
        ({"job": [{"name": "a", "read": "all"}] * 2}, "two jobs"),
    ],
)
def test_files_of_jobs_that_are_wrong(told, said):
    with pytest.raises(QueryError, match=said):
        job_types(told)


ended = st.builds(
    JobEnd,
    st.floats(0.001, 1000),
    st.floats(0, 1000),
    st.integers(0, 10**6),
    st.integers(0, 10**9),
    st.integers(0, 10**9),
    st.one_of(st.none(), st.integers(0, 200).map(lambda n: f"SourceError: {n}")),
)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), ended), max_size=150))
def test_sums_are_right_and_bounded(jobs):
    account = LoadTestSummary("ab", "xy")
    for number, (kind, storage, each) in enumerate(jobs):
        account.add(kind, storage, each)
        account.look(float(number), 1)
    tallies = account.tallies()
    good = [each for _, _, each in jobs if each.cause is None]
    assert sum(t.done for t in tallies) == len(good)
    assert sum(t.failed for t in tallies) == len(jobs) - len(good)
    assert sum(t.events for t in tallies) == sum(each.events for each in good)
    assert all(sum(t.causes.values()) == t.failed for t in tallies)
    assert all(len(t.causes) <= 51 for t in tallies)
    assert len([*rows(tallies)]) == 4
    assert {len(row) for row in rows(tallies)} == {len(HEAD)}
    said = [*findings(tallies, account.course)]
    assert len(said) == 3
    assert ("no job failed" in said) == (len(good) == len(jobs))


def test_the_course_stays_short_and_the_page_has_it(tmp_path):
    account = LoadTestSummary(["a<b>"], ["root://h"])
    for number in range(5000):
        account.add("a<b>", "root://h", JobEnd(0.5, 0.2, 10, 100, 120))
        account.look(float(number), 3)
    course = account.course
    assert 200 <= len(course) <= 401
    assert [m.seconds for m in course] == sorted(m.seconds for m in course)
    assert course[-1].done > 4900
    ((title, grid),) = drawn(course)
    assert "Endurance" in title
    assert {len(row) for row in grid} == {2}
    assert max(grid[1][0].series[0].y) == pytest.approx(10, rel=0.01)
    assert "done" in line_of(course[-1])
    assert drawn(course[:1]) == []
    results = ResultsFile("2026", {}, {}, {}, jobs=account.tallies(), course=course)
    save(results, tmp_path / "r.json")
    again = load(tmp_path / "r.json")
    assert (again.jobs, again.course) == (results.jobs, results.course)
    html = page([("r", results)])
    assert "a&lt;b&gt;" in html
    assert "<b>" not in html
