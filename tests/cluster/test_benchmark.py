"""`treemill bench` on a real Dask cluster of two processes."""

import pytest
import treemill as tm
from click.testing import CliRunner
from treemill.cli.main import cli
from treemill.errors import QueryError
from treemill.facility import run
from treemill.facility.scaling.charts import figures
from treemill.facility.scaling.measurements import load
from treemill.scheduling import WorkerJoined

from tests.raising import raises


def bench(*arguments):
    done = CliRunner().invoke(cli, ["bench", *map(str, arguments)])
    assert done.exit_code == 0, (done.output, done.exception)
    return done.output


@pytest.mark.parametrize(("options", "most"), [({"most": 1}, 1), ({"most": 9, "on_host": 3}, 3)])
def test_no_more_workers_take_part_than_may(cluster, events, options, most):
    with tm.connect(cluster, trace=10_000, **options) as session:
        assert session.run(events.count(), progress=False) == events.num_entries
        events_of = [record.event for record in session.report.trace.records]
    assert len([event for event in events_of if isinstance(event, WorkerJoined)]) <= most


def test_limits_are_for_clusters():
    with raises(QueryError, about="on_host"):
        tm.connect(on_host=1)
    with raises(QueryError, said="1 or more"):
        tm.connect(most=0)


@pytest.mark.slow
def test_the_quick_run_needs_nothing_and_measures_all_systems(tmp_path):
    path = tmp_path / "r.json"
    bench("run", "--quick", "--folder", tmp_path / "data", "-o", path)
    found = load(path).measurements
    assert {m.system for m in found} == {"threads", "processes", "dask"}
    assert all(m.agrees and m.breakdown is not None for m in found)
    assert not any(m.bytes_from_cache for m in found)


def test_made_measured_and_scanned_on_a_cluster(cluster, tmp_path):
    address, data = cluster.scheduler_address, tmp_path / "data"
    bench("generate", data, "--files", 3, "--events", 40, "--cluster", 20, "--on", address)
    files = sorted(path.name for path in data.iterdir())
    assert files == ["dataset.json", *(f"events_{i:03d}.root" for i in range(3))]
    path = tmp_path / "r.json"
    bench(
        *("run", data / "dataset.json", "--on", address, "--workers", "1,4", "--repeat", 1),
        *("--events-cpu", 10, "--query", "full", "--query", "cpu", "-o", path),
    )
    found = load(path)
    normal = [m for m in found.measurements if not m.baseline]
    assert [(m.query, m.workers) for m in normal] == [
        ("full", 1), ("cpu", 1), ("full", 4), ("cpu", 4)
    ]  # fmt: skip
    assert all(m.agrees and m.breakdown is not None for m in normal)
    assert {m.caches for m in normal if m.query == "full"} == {"dropped"}
    scanned = tmp_path / "s.json"
    bench(
        *("scan-storage", data / "dataset.json", "--on", address, "--readers", 2),
        *("--repeat", 1, "-o", scanned),
    )
    whole = sum(file.stat().st_size for file in data.glob("*.root"))
    assert [each.bytes_read for each in load(scanned).storage] == [whole]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / "data"
    bench("generate", folder, "--files", 3, "--events", 200, "--cluster", 20, "--schema", "demo")
    return folder / "dataset.json"


def test_workers_of_a_node_are_varied(cluster, made, tmp_path):
    path = tmp_path / "r.json"
    said = bench(
        *("run", made, "--on", cluster.scheduler_address, "--per-node", "1,3", "--repeat", 1),
        *("--query", "none", "--baseline", "none", "-o", path),
    )
    found = load(path)
    # All four are on one host.
    assert [(m.on_host, m.workers) for m in found.measurements] == [(1, 1), (3, 1), (3, 2), (3, 3)]
    assert found.settings["workers on a node"] == [1, 3]
    assert "1 a node, 1 worker: none is limited by" in said
    titles = [title for title, _ in figures(found)]
    assert "Rates against the workers of a node" in titles


def test_workers_without_a_trace_have_a_verdict_too(cluster, made, tmp_path, monkeypatch):
    monkeypatch.setattr(run, "_TRACE", 0)
    path = tmp_path / "r.json"
    said = bench(
        *("run", made, "--on", cluster.scheduler_address, "--workers", 4, "--repeat", 1),
        *("--events-cpu", 400, "--baseline", "none", "-o", path),
    )
    assert "4 workers: full is limited by" in said
    found = load(path)
    for m in found.measurements:
        assert m.agrees
        assert m.breakdown.total >= 0.99 * m.workers * m.seconds
        assert m.breakdown.packets > 0
        assert 0 < max(m.breakdown.active) <= 4 + 1e-9
        assert m.breakdown.latencies
        assert (m.breakdown.peak_bytes > 0) == (m.query in ("full", "partial"))
    titles = [title for title, _ in figures(found)]
    for words in ("Active workers", "How long workers waited"):
        assert any(title.startswith(words) for title in titles)
