"""The benchmark's pure parts: breakdowns of traces, fits, verdicts, plans, files of results."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from treemill.errors import FormatError, QueryError, SourceError
from treemill.facility.exerciser import Size
from treemill.facility.scaling.breakdown import Breakdown, broken_down, counted
from treemill.facility.scaling.charts import figures
from treemill.facility.scaling.limit_diagnosis import (
    LIMITS,
    QueryFacts,
    conclusion,
    conclusions,
    diagnosis,
)
from treemill.facility.scaling.measurements import (
    Measurement,
    ResultsFile,
    ScalingPlan,
    StorageScan,
    load,
    rising,
    save,
)
from treemill.facility.scaling.page import page
from treemill.facility.scaling.summary import baselines, linear, saturating, summaries
from treemill.facility.standard import nearest, share_of
from treemill.scheduling import (
    Commit,
    Committed,
    FileOpened,
    Finish,
    Monitored,
    OpenFile,
    Packet,
    PacketDone,
    Process,
    Spent,
    Trace,
    WorkerJoined,
)
from treemill.scheduling.worker_counters import BINS, WIDTH, WorkerCounters, bin_of

from tests.raising import raises

NOTHING = Breakdown(0, 0, 0, 0, 0, 0, 0, 0)


def trace_of(*records):
    made = Trace()
    for now, event, *actions in records:
        made.record(now, event, actions)
    return made


def test_each_second_of_each_worker_is_in_one_part():
    """Two workers: one opens, does two packets and commits; the other does one packet."""
    a, b, c = Packet(0, 0, 0, 10), Packet(1, 0, 10, 20), Packet(2, 0, 20, 30)
    made = trace_of(
        (0.5, WorkerJoined(0), OpenFile(0, 0)),
        (0.75, WorkerJoined(1)),
        (1.5, FileOpened(0, 0, 30), Process(0, a), Process(1, b)),
        (
            3.0,
            PacketDone(0, 0, 10, 1.25, spent=Spent(0.25, 0, 0.5, 100, reading=0.5)),
            Process(0, c),
        ),
        (4.0, PacketDone(1, 1, 20, 2.5), Commit(1)),
        (4.25, Committed(1)),
        (6.0, PacketDone(0, 2, 30, 2.5), Commit(0)),
        (7.0, Committed(0), Finish(None)),
    )
    found = broken_down(made, 2, 8.0)
    assert found.starting == 0.5 + 1.5
    assert found.opening == 1.0
    assert found.asking == 0.25 + 0.0 + 0.5
    assert found.busy == 1.25 + 2.5 + 2.5
    assert found.committing == 0.25 + 1.0
    assert found.tail == 7.0 - 4.25
    assert found.collecting == 0
    assert found.around == 2.0
    assert found.total == pytest.approx(16.0)
    assert sorted(found.latencies) == [0.0, 0.25, 0.5]
    assert found.packets == 3
    assert (found.cpu, found.reading) == (0.5, 0.5)
    assert found.evaluating == found.busy - 0.5
    assert max(found.active) == 2
    assert found.peak > 30 / 7
    assert found.peak_bytes == pytest.approx(80)  # 100 bytes in 1.25 s


def test_a_worker_that_never_came_is_idle():
    made = trace_of(
        (0.0, WorkerJoined(0), Process(0, Packet(0, 0, 0, 10))),
        (1.0, PacketDone(0, 0, 10, 1.0), Commit(0)),
        (1.0, Committed(0), Finish(None)),
    )
    assert broken_down(made, 3, 1.0).tail == 2.0


def of_worker(packets, seconds, latency, **more):
    sums = {"packets": packets, "seconds": seconds, "latency": latency, "entries": 100, **more}
    return WorkerCounters("h", sums, {"latency": {bin_of(latency / packets): packets}})


def test_counts_say_where_the_time_went_as_well():
    """Two workers for 10 s: they begin after 1 s, and one ends 2 s before the other."""
    both, one = [0.0, *[2.0] * 6, *[1.0] * 2, 0.0], [0.0] * 10
    counts = Monitored(
        10.0,
        {
            0: of_worker(4, 7.0, 1.0, cpu=5.0, opening=0.5, bytes_read=1000),
            1: of_worker(4, 7.0, 1.0, cpu=5.0, opening=0.5, bytes_read=1000),
        },
        1.0,
        {"a": both, "b": one},
    )
    found = counted(counts, 2, 11.0)
    assert found.total == pytest.approx(22.0)
    assert (found.opening, found.busy, found.asking, found.cpu) == (1.0, 13.0, 2.0, 10.0)
    assert found.around == 2.0
    # Without packets and asking there are 4 s, and 2 + 2 + 2 s by the bins of time.
    assert found.starting == found.tail == found.collecting == pytest.approx(4 / 3)
    assert found.committing == pytest.approx(0.0)
    assert found.packets == 8
    assert found.peak == pytest.approx(2 * 200 / 14)
    assert found.peak_bytes == pytest.approx(2 * 2000 / 14)
    assert list(found.active) == both
    assert len(found.latencies) == 8
    assert found.latencies[0] == pytest.approx(0.25, rel=0.2)


def test_no_breakdown_of_counts_without_packets():
    assert counted(Monitored(1.0, {}, 0.05, {}), 2, 1.0) is None
    nothing = Monitored(1.0, {0: WorkerCounters("h")}, 0.05, {})
    assert counted(nothing, 2, 1.0) is None


some_seconds = st.floats(0.0, 50.0)


@given(
    st.lists(st.tuples(some_seconds, some_seconds, st.integers(1, 5000)), min_size=1, max_size=5),
    st.lists(some_seconds, min_size=BINS, max_size=BINS),
    st.floats(0.01, 100.0),
    st.floats(0.0, 10.0),
)
def test_counts_add_up_whatever_they_are(told, spent, seconds, around):
    workers = {
        number: of_worker(packets, at, asking) for number, (at, asking, packets) in enumerate(told)
    }
    width = WIDTH
    while seconds >= width * BINS:
        width *= 2
    found = counted(Monitored(seconds, workers, width, {"a": spent}), len(told), seconds + around)
    if found is None:
        assert not any(spent)  # up to the end of the query
        return
    parts = (found.starting, found.committing, found.tail, found.collecting, found.around)
    assert min(parts) >= 0
    exact = sum(at + asking for at, asking, _ in told) + around * len(told)
    there = len(told) * (seconds + around)
    assert found.total == pytest.approx(max(exact, there), rel=1e-6)
    assert len(found.latencies) <= 2000
    assert diagnosis(QueryFacts(found)).limit in LIMITS


def test_no_breakdown_without_a_whole_trace():
    assert broken_down(Trace(), 1, 1.0) is None
    short = Trace(limit=1)
    for worker in range(2):
        short.record(1.0, WorkerJoined(worker), ())
    assert broken_down(short, 2, 1.0) is None


rates = st.floats(1.0, 1e7)


@given(rates, st.floats(0.0, 1.0))
def test_a_saturating_curve_is_found_again(first, shared):
    workers = [1, 2, 3, 8, 64]
    fit = saturating(workers, [first * n / (1 + shared * (n - 1)) for n in workers])
    assert fit.first == pytest.approx(first, rel=1e-6)
    assert fit.shared == pytest.approx(shared, abs=1e-6)
    assert all(fit.at(n) <= fit.limit * (1 + 1e-9) for n in workers)


@given(st.lists(st.tuples(st.integers(1, 100), rates), max_size=9))
def test_fits_are_finite_for_all_rates(points):
    ns, ys = [float(n) for n, _ in points], [rate for _, rate in points]
    line, curve = linear(ns, ys), saturating(ns, ys)
    assert (line is None) == (not points)
    assert (curve is None) == (len(set(ns)) < 2)
    assert line is None or line.first > 0
    assert curve is None or (curve.first > 0 and 0 <= curve.shared <= 1)


def busy(**times):
    return replace(NOTHING, busy=100.0, **times)


@pytest.mark.parametrize(
    ("limit", "facts"),
    [
        ("CPU", QueryFacts(replace(NOTHING, busy=95, asking=5))),
        ("CPU", QueryFacts(busy(cpu=95, reading=90))),
        ("CPU", QueryFacts(busy(cpu=90, reading=4, waited=6))),
        ("cores", QueryFacts(busy(cpu=50), 0.5)),
        ("cores", QueryFacts(busy(cpu=50, reading=60), reads=False)),
        ("cores", QueryFacts(busy(cpu=30, reading=5))),
        ("disk", QueryFacts(busy(cpu=40, reading=60))),
        ("disk", QueryFacts(busy(cpu=40, reading=90))),
        ("network", QueryFacts(busy(cpu=40, waited=60), remote=True)),
        ("packetizer", QueryFacts(replace(NOTHING, busy=50, asking=30, tail=20))),
        ("merging", QueryFacts(replace(NOTHING, busy=50, committing=20, collecting=15))),
        ("tail", QueryFacts(replace(NOTHING, busy=50, tail=50))),
        ("start-up", QueryFacts(replace(NOTHING, busy=1, starting=1, around=1))),
    ],
)
def test_what_limits(limit, facts):
    found = diagnosis(facts)
    assert found.limit == limit
    assert limit in str(found)
    assert "{" not in str(found)


def test_workers_that_wait_for_cores_do_not_wait_for_the_disk():
    """Four times as many workers as cores: reads take four times as long, too."""
    times = busy(cpu=25, reading=60)
    assert diagnosis(QueryFacts(times)).limit == "disk"
    assert diagnosis(QueryFacts(times, cpu_share_without_data=0.25)).limit == "cores"


parts = st.floats(0, 1e6)


@given(st.builds(Breakdown, *[parts] * 11), st.floats(0, 1), st.booleans(), st.booleans())
def test_every_breakdown_has_a_verdict(breakdown, share, remote, reads):
    found = diagnosis(QueryFacts(breakdown, share, remote, reads))
    assert found.limit in LIMITS
    assert 0 <= found.share <= 1 + 1e-9
    assert not (found.limit in ("disk", "network") and not reads)


def measured(query, workers, seconds, number=0, **more):
    return Measurement("threads", query, workers, number, seconds, 1000, **more)


def results_of(*measurements, storage=()):
    return ResultsFile("2026-11-23T00:00:00", {"cores": 4}, {}, {}, measurements, storage)


def test_summaries_have_medians_and_efficiency():
    found = summaries(
        [
            measured("full", 1, 4.0),
            measured("full", 2, 2.5, 0),
            measured("full", 2, 2.0, 1),
            measured("full", 2, 9.0, 2),
            measured("full", 1, 2.0, baseline=True),
            measured("cpu", 1, 1.0),
        ]
    )
    full, cpu = found
    assert [point.workers for point in full.points] == [1, 2]
    assert full.last.seconds == 2.5
    assert full.efficiency(full.last) == pytest.approx(400 / 2 / 250)
    assert full.beside_baseline(full.last) == pytest.approx(400 / 2 / 500)
    assert cpu.baseline is None
    assert cpu.beside_baseline(cpu.last) is None


def test_workers_are_compared_with_one_process_that_has_all_files():
    pytest.importorskip("matplotlib")
    one, whole = (
        measured("full", 1, seconds, baseline=True, files=files)
        for seconds, files in ((1.0, 1), (4.0, 8))
    )
    few, more = (measured("full", 4, 2.0, on_host=n, files=8) for n in (1, 2))
    found = summaries([one, whole, few, more])
    assert [each.name for each in found] == ["threads, 1 a node", "threads, 2 a node"]
    assert found[0].beside_baseline(found[0].last) == pytest.approx(500 / 4 / 250)
    points = baselines([whole, one])["full"]
    assert [point.runs[0].files for point in points] == [1, 8]
    told = page([("a", results_of(one, whole, few, more))])
    for words in ("one process, one file", "threads, 2 a node", "1.000 (1.000 to 1.000)"):
        assert words in told


def test_a_figure_against_the_workers_of_a_node():
    found = [measured("full", 2 * n, 4.0 / n, on_host=n) for n in (1, 2, 4)]
    (panel,) = [
        panel
        for title, rows in figures(results_of(*found))
        if "workers of a node" in title
        for row in rows
        for panel in row
    ]
    rates, ideal = panel.series
    assert (rates.x, rates.y) == ([1, 2, 4], [250, 500, 1000])
    assert list(ideal.y) == list(rates.y)
    titles = [title for title, _ in figures(results_of(*found[:1]))]
    assert not any("workers of a node" in title for title in titles)


sizes = st.lists(st.integers(0, 1000), max_size=12).map(
    lambda many: [Size(f"b{i}", size) for i, size in enumerate(many)]
)


@given(sizes, st.floats(0.0, 1.0))
def test_no_branch_more_comes_nearer_to_the_share(branches, share):
    names = nearest(branches, share)
    assert len(set(names)) == len(names)
    whole = sum(size.zip_bytes for size in branches)
    taken = sum(size.zip_bytes for size in branches if size.branch in names)
    assert share_of(branches, names) == pytest.approx(taken / max(whole, 1))
    off = abs(taken - share * whole)
    left = [size.zip_bytes for size in branches if size.branch not in names]
    if taken:
        assert all(abs(taken + each - share * whole) >= off - 1e-9 for each in left)
    assert bool(names) == bool(branches)


def test_figures_show_what_was_measured():
    times = replace(NOTHING, busy=1.0, peak=900.0, peak_bytes=7e6, times=[0, 1], active=[2, 1])
    found = dict(
        figures(
            results_of(
                measured("full", 1, 4.0, bytes_read=8_000_000),
                measured("full", 2, 2.5, 0, bytes_read=8_000_000, breakdown=times),
                measured("full", 2, 2.0, 1, bytes_read=8_000_000, breakdown=times),
                measured("full", 1, 2.0, baseline=True),
                measured("cpu", 2, 1.0, breakdown=replace(times, latencies=[1e-9, 0.001, 0.1])),
                storage=[StorageScan("threads", n, 0, 1.0, 10**6 * n) for n in (1, 2)],
            )
        )
    )
    panels = {
        (title, panel.title): {series.label: series for series in panel.series}
        for title, rows in found.items()
        for row in rows
        for panel in row
    }

    def line(figure, panel, label):
        (key,) = [key for key in panels if key[0].startswith(figure) and key[1] == panel]
        series = panels[key][label]
        return list(zip(series.x, series.y, strict=True))

    assert line("Query time", "full", "threads") == [(1, 4.0), (2, 2.25)]
    assert line("Query time", "full", "") == [(1, 4.0), (2, 2.5), (2, 2.0)]
    assert line("Query time", "full", "ideal") == [(1, 4.0), (2, 2.0)]
    assert line("Events", "full", "threads, average") == [(1, 250), (2, 450)]
    assert line("Events", "full", "threads, maximum") == [(1, 250), (2, 900)]
    assert line("Megabytes", "full", "threads, average") == [(1, 2.0), (2, pytest.approx(3.6))]
    assert line("Megabytes", "full", "threads, maximum") == [(1, 2.0), (2, 7.0)]
    fitted = linear([1, 2], [250, 450])
    linear_fit = line("Events", "full", "R₁n")
    assert linear_fit[0] == (1, fitted.first)
    assert linear_fit[-1] == (2, 2 * fitted.first)
    assert line("Rate of a worker", "full", "threads, to its first") == [(1, 1), (2, 0.9)]
    assert line("Rate of a worker", "full", "threads, to one process") == [(1, 0.5), (2, 0.45)]
    assert line("Active", "full, threads, 2 workers", "") == [(0, 2), (1, 1)]
    latencies = line("How long", "cpu", "threads, median 1.00 ms")
    assert sum(count for _, count in latencies) == 3
    assert (latencies[1][0], latencies[-1][0]) == (pytest.approx(0.01), pytest.approx(100))
    assert latencies[0][1] == latencies[-1][1] == 0
    assert line("Storage", "all readers together", "threads") == [(1, 1.0), (2, 2.0)]


def test_one_line_for_a_system_says_what_limits():
    lost = replace(NOTHING, busy=1.0, tail=3.0)
    good = replace(NOTHING, busy=4.0)
    results = results_of(
        measured("cpu", 4, 1.0, breakdown=good),
        measured("full", 4, 1.0, breakdown=lost, bytes_read=10),
    )
    (line,) = conclusion(results)
    assert line.startswith("threads, 4 workers: full is limited by tail")
    assert "Others: cpu: CPU" in line
    kept = replace(results.measurements[1], bytes_read=0, bytes_from_cache=10)
    (again,) = conclusion(replace(results, measurements=[results.measurements[0], kept]))
    assert again == line
    assert conclusions(results_of(measured("full", 4, 1.0))) == []


def test_how_many_readers_the_storage_takes():
    rates = {1: 100, 2: 190, 4: 205, 8: 200}
    scanned = [StorageScan("threads", n, 0, 1.0, 10**6 * rate) for n, rate in rates.items()]
    (line,) = conclusion(results_of(storage=scanned))
    assert line == "storage, threads: 205 MB/s at most; 2 readers get 90% of it."
    (line,) = conclusion(results_of(storage=scanned[:2]))
    assert "2 readers" in line
    assert "more readers than were tried" in line


def test_results_are_read_back(tmp_path):
    path = tmp_path / "r.json"
    given = results_of(
        measured(
            "full",
            2,
            1.0,
            breakdown=replace(NOTHING, busy=1.0, times=[], active=[], latencies=[0.1]),
        ),
        storage=[StorageScan("threads", 2, 0, 1.0, 10**6)],
    )
    save(given, path)
    assert load(path) == replace(
        given, measurements=list(given.measurements), storage=list(given.storage), notes=[]
    )
    assert [each.name for each in tmp_path.iterdir()] == ["r.json"]


def test_other_files_are_errors(tmp_path):
    path = tmp_path / "r.json"
    with raises(SourceError, said="cannot read"):
        load(path)
    for text in ("{", "[]", '{"a": 1}'):
        path.write_text(text)
        with raises(FormatError, said="not written by"):
            load(path)
    path.write_text('{"treemill-benchmark": 1}')
    with raises(FormatError, about="damaged"):
        load(path)
    path.write_text(json.dumps({"treemill-benchmark": 99}))
    with raises(QueryError, said="version 99"):
        load(path)


def test_plans():
    plan = ScalingPlan([1, 2, 4], ["none", "cpu"], 2, 1000, 400, "weak")
    assert [(s.query, s.round, s.events) for s in plan.steps(2)] == [
        ("none", 0, 500),
        ("cpu", 0, 200),
        ("none", 1, 500),
        ("cpu", 1, 200),
    ]
    assert {s.events for s in replace(plan, scaling="strong").steps(1)} == {1000, 400}
    for wrong in ({"queries": ["all"]}, {"scaling": "up"}, {"workers": []}, {"workers": [0]}):
        with pytest.raises(QueryError):
            replace(plan, **wrong)
    assert rising(1) == [1]
    assert rising(9) == [1, 2, 4, 8, 9]
