"""`treemill bench generate`, `run` and `report`, from a user's side, on this machine."""

import json
import re
import time
from dataclasses import replace

import awkward as ak
import numpy as np
import pytest
import treemill as tm
from click.testing import CliRunner
from treemill.cli.main import cli
from treemill.errors import QueryError, SourceError
from treemill.facility.file_maker import FreeSpace, Made, check_room, described
from treemill.facility.recipe import SCHEMAS, Recipe, counts
from treemill.facility.scaling.breakdown import broken_down
from treemill.facility.scaling.charts import compared, figures
from treemill.facility.scaling.measurements import load
from treemill.facility.scaling.page import page
from treemill.facility.scan_storage import BlockReader
from treemill.facility.standard import EVENTS, Gaussians
from treemill.facility.systems import CacheDropper, drop_caches, drop_files
from treemill.workers.job import Cycles

from tests.raising import raises


def bench(*arguments, fails=False):
    done = CliRunner().invoke(cli, ["bench", *map(str, arguments)])
    if fails:
        assert done.exit_code, done.output
        return str(done.exception) + done.output
    assert done.exit_code == 0, (done.output, done.exception)
    return done.output


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / "d"
    said = bench("generate", folder, "--files", 3, "--events", 60, "--cluster", 20)
    assert "3 files" in said
    return folder


def content(folder):
    return tm.dataset(str(folder / "dataset.json")).arrays()


def test_the_same_events_whoever_makes_them(made, tmp_path):
    events = content(made)
    assert len(events) == 180
    options = ("--files", 3, "--events", 60, "--cluster", 20)
    bench("generate", tmp_path, *options, "--on", "threads", "--workers", 1, "--codec", "lz4")
    assert ak.array_equal(content(tmp_path), events)
    options += ("--on", "threads", "--force")
    bench("generate", tmp_path, *options, "--kind", "rntuple")
    again = content(tmp_path)
    assert all(ak.array_equal(again[name], events[name]) for name in events.fields)
    bench("generate", tmp_path, *options, "--seed", 2)
    assert not ak.array_equal(content(tmp_path), events)


def test_the_event_model(made):
    events = content(made)
    assert 580 < ak.mean(events.nTrack) < 620
    assert ak.all(ak.num(events.Track_px) == events.nTrack)
    assert ak.all(events.Muon_trackIdx < events.nTrack)
    pt = (events.Track_px**2 + events.Track_py**2) ** 0.5
    assert ak.all(abs(pt[events.Muon_trackIdx] - events.Muon_pt) < 1e-6)
    assert ak.all(ak.num(events.spectrum) == 102)
    assert len(set(events.event.to_list())) == 180


def test_the_description_is_for_other_commands(made):
    said = bench("io", made / "dataset.json", "--entries", 0)
    assert said.startswith("180 entries")
    said = CliRunner().invoke(cli, ["show", str(made / "dataset.json"), "Muon_*"]).output
    assert "Muon_trackIdx" in said
    assert "180 entries" in said


def test_nothing_is_overwritten_unless_it_is_said(made):
    stamps = {path: path.stat().st_mtime_ns for path in made.glob("*.root")}
    options = ("--events", 60, "--cluster", 20, "--on", "threads")
    said = bench("generate", made, "--files", 3, *options)
    assert "3 were there already" in said
    said = bench("generate", made, "--files", 3, "--events", 50, fails=True)
    assert "--force" in said
    (made / "dataset.json").rename(made / "kept.json")
    said = bench("generate", made, "--files", 3, "--events", 50, "--on", "threads", fails=True)
    assert "--force" in said
    (made / "kept.json").rename(made / "dataset.json")
    assert {path: path.stat().st_mtime_ns for path in made.glob("*.root")} == stamps
    assert not list(made.glob("*.tmp"))


def test_room_is_checked_first(tmp_path):
    one, same, other = (
        FreeSpace("a", "1:5", 100),
        FreeSpace("b", "1:5", 100),
        FreeSpace("c", "2:5", 100),
    )
    check_room([one, same, other], 180)
    with raises(SourceError, said="GB left"):
        check_room([one, same], 180)
    said = bench(
        "generate",
        tmp_path / "x",
        "--files",
        10**9,
        "--events",
        10**6,
        "--on",
        "threads",
        fails=True,
    )
    assert "GB left" in said
    assert not (tmp_path / "x").exists()


def test_addresses_of_files():
    found = described([Made(0, "/d/e.root", "n1", 5, 10, False)], Recipe(), "root://{host}/{path}")
    assert list(found["demo"]["files"]) == ["root://n1//d/e.root"]
    with raises(QueryError, said="is no address"):
        described([Made(0, "/d/e.root", "n1", 5, 10, False)], Recipe(), "root://{node}/{path}")


def test_open_data_has_the_multiplicities_of_the_real_file():
    n = range(len(counts("jets")))
    trijets = sum(c * k * (k - 1) * (k - 2) // 6 for k, c in zip(n, counts("jets"), strict=True))
    assert trijets / counts("jets").sum() == pytest.approx(41.8, abs=0.01)
    assert counts("muons").sum() == counts("electrons").sum() == 53_446_198
    columns = SCHEMAS["opendata"](1, 0, 0, 20_000)
    jets = ak.num(columns["Jet"])
    assert ak.mean(jets * (jets - 1) * (jets - 2) / 6) == pytest.approx(41.8, rel=0.1)
    muons = sum(c * k for k, c in enumerate(counts("muons"))) / counts("muons").sum()
    assert ak.mean(ak.num(columns["Muon"])) == pytest.approx(muons, rel=0.03)


@pytest.fixture(scope="module")
def results(made, tmp_path_factory):
    path = tmp_path_factory.mktemp("results") / "r.json"
    said = bench(
        *("run", made / "dataset.json", "--on", "threads", "--on", "processes"),
        *("--workers", "1,2", "--repeat", 1, "--events-cpu", 20, "-o", path),
    )
    assert re.search(r"threads, 2 workers: full is limited by", said)
    return path


def test_a_run_measures_each_query_with_each_number_of_workers(results):
    found = load(results)
    normal = {(m.system, m.query, m.workers, m.round) for m in found.measurements if not m.baseline}
    queries = ("none", "full", "partial", "cpu")
    assert normal == {
        (system, query, workers, 0)
        for system in ("threads", "processes")
        for query in queries
        for workers in (1, 2)
    }
    baseline = [m for m in found.measurements if m.baseline]
    # One file, and all of them; `cpu` reads none.
    assert [(m.query, m.files, m.entries) for m in baseline] == [
        *((query, 1, 60) for query in queries[:3]),
        *((query, 3, 180) for query in queries[:3]),
        ("cpu", 0, 20_000),
    ]
    assert all(m.agrees for m in found.measurements)
    for m in found.measurements:
        assert m.breakdown.total == pytest.approx(m.workers * m.seconds, rel=0.01)
        assert (m.bytes_read > 0) == (m.query in ("full", "partial"))
    full, partial = (
        next(m.bytes_read for m in baseline if m.query == query) for query in ("full", "partial")
    )
    assert 0.18 < partial / full < 0.22
    assert found.settings["partial reads"] == f"{partial / full:.1%} of the bytes"
    assert found.dataset["events"] == 180


class _Rng:
    """Notes how many numbers are asked for."""

    def __init__(self):
        self.sizes = []

    def standard_normal(self, size):
        self.sizes.append(size)
        return np.zeros(size)


@pytest.mark.parametrize("cycles", [1, 4])
def test_a_cycle_is_the_same_work_in_chunks_of_any_length(cycles):
    made = Gaussians()
    made.output, made.rng = {}, _Rng()
    made.begin_worker({})
    made.process(Cycles(0, cycles))
    assert made.rng.sizes == [EVENTS] * 16 * cycles
    assert {histogram.sum() for histogram in made.output.values()} == {EVENTS * cycles}


def test_one_process_need_not_read_all_files_alone(made, tmp_path):
    for what, files in (("file", [1]), ("none", [])):
        path = tmp_path / f"{what}.json"
        bench(
            *("run", made / "dataset.json", "--workers", 1, "--query", "none", "--repeat", 1),
            *("--baseline", what, "-o", path),
        )
        assert [m.files for m in load(path).measurements if m.baseline] == files


def test_weak_scaling_gives_each_worker_as_many_events(made, tmp_path):
    path = tmp_path / "r.json"
    bench(
        *("run", made / "dataset.json", "--workers", "1,3", "--repeat", 1, "--scaling", "weak"),
        *("--query", "none", "--warm", "-o", path),
    )
    found = load(path)
    assert [m.entries for m in found.measurements if not m.baseline] == [60, 180]
    assert any("as they were" in note for note in found.notes)


def test_a_result_that_differs_is_said(made, tmp_path, monkeypatch):
    import treemill.facility.run as measure

    answers = iter(range(100))
    monkeypatch.setattr(measure, "digest", lambda results: (str(next(answers)), ()))
    said = bench(
        *("run", made / "dataset.json", "--workers", "1,2", "--query", "none", "--repeat", 1),
        *("-o", tmp_path / "r.json"),
        fails=True,
    )
    assert "ANOTHER RESULT" in said
    assert "a query had another result" in said
    assert any("another result" in note for note in load(tmp_path / "r.json").notes)


def test_what_was_measured_before_an_error_is_kept(made, tmp_path, monkeypatch):
    import treemill.facility.systems as systems

    monkeypatch.setattr(systems, "has_dask", lambda: False)
    said = bench(
        *("run", made / "dataset.json", "--query", "none", "--repeat", 1, "--workers", 1),
        *("--on", "threads", "--on", "dask", "-o", tmp_path / "r.json"),
        fails=True,
    )
    assert "Dask is not installed" in said
    found = load(tmp_path / "r.json")
    assert [(m.system, m.baseline) for m in found.measurements] == [
        ("threads", True),
        ("threads", True),
        ("threads", False),
    ]
    assert any("ended before all was measured" in note for note in found.notes)


def test_the_page_needs_nothing_from_outside(results, tmp_path):
    pytest.importorskip("matplotlib")
    told = json.loads(results.read_text())
    told["notes"] = ["<script>alert(1)</script>"]
    told["measurements"] = [m for m in told["measurements"] if m["query"] == "full"]
    hostile = tmp_path / "a.json"
    hostile.write_text(json.dumps(told))
    bench("report", hostile, "-o", tmp_path / "p.html", "--figures", tmp_path / "figures")
    text = (tmp_path / "p.html").read_text()
    assert "<script" not in text
    assert not re.search(r"""(src|href)\s*=\s*["'](?!data:)""", text)
    assert not re.search(r"url\((?!#)", text)
    for words in ("Query time", "Megabytes per second", "Active workers", "limited by"):
        assert words in text
    pictures = list((tmp_path / "figures").glob("a-*.png"))
    assert len(pictures) == 6
    assert all(path.stat().st_size > 5000 for path in pictures)


def test_two_files_are_compared(results):
    pytest.importorskip("matplotlib")
    found = load(results)
    slow = [replace(m, seconds=2 * m.seconds) for m in found.measurements if m.query == "full"]
    other = replace(found, measurements=slow)
    title, panels = compared([("a", found), ("b", other)])
    assert "compared" in title
    assert {panel.title for row in panels for panel in row} == {"full, threads", "full, processes"}
    fast, slower = panels[0][0].series
    assert [2 * seconds for seconds in fast.y] == list(slower.y)
    nothing = replace(found, measurements=[])
    assert compared([("a", found), ("b", nothing)]) is None
    told = page([("a", nothing), ("b", replace(nothing, dataset={"events": 3}))])
    assert "b is of other data than a: files, events" in told
    assert "is of other data" not in page([("a", nothing), ("b", nothing)])


def test_storage_is_read_once_by_more_and_more_readers(made, tmp_path):
    path = tmp_path / "s.json"
    said = bench(
        *("scan-storage", made / "dataset.json", "--readers", "1,3", "--repeat", 2),
        *("--block", 1, "-o", path),
    )
    assert said.count("MB/s  caches") == 4
    assert "MB/s at most" in said
    whole = sum(file.stat().st_size for file in made.glob("*.root"))
    found = load(path).storage
    assert [(each.readers, each.round, each.bytes_read) for each in found] == [
        (readers, number, whole) for readers in (1, 3) for number in (0, 1)
    ]
    (title, ((panel,),)) = figures(load(path))[0]
    assert "Storage" in title
    assert list(panel.series[0].x) == [1, 3]


def test_names_are_listed_with_commas_or_given_several_times(made, tmp_path):
    path = tmp_path / "s.json"
    bench(
        *("storage", made / "dataset.json", "--readers", 1, "--window", 0, "--repeat", 1, "--once"),
        *("--read", "two,whole", "--read", "two", "--as", "streams", "-o", path),
    )
    assert [(each.what, each.way) for each in load(path).readings] == [
        ("whole", "streams"),
        ("two", "streams"),
    ]


@pytest.mark.parametrize("sizes", [[], [0, 1], [10, 0, 7, 4], [8, 8]])
def test_blocks_are_every_byte_once(sizes):
    reader = BlockReader([(f"f{i}", size) for i, size in enumerate(sizes)], 4)
    found = {}
    for number in range(len(reader)):
        path, start, stop = reader.place(number)
        assert found.get(path, 0) == start
        assert start < stop <= start + 4
        found[path] = stop
    assert found == {f"f{i}": size for i, size in enumerate(sizes) if size}


def test_caches_are_dropped_or_it_is_said_why_not(made, tmp_path):
    files = [str(path) for path in made.glob("*.root")]
    assert CacheDropper(files)(None)["failed"] == set()
    assert drop_files([str(tmp_path / "none")]) == "No such file or directory"
    with tm.connect(workers=1) as session:
        assert drop_caches(session, files, "threads", wanted=True) == "dropped"
        assert drop_caches(session, files, "threads", wanted=False) == "as they were"
        assert drop_caches(session, files, "tcp://a:1", wanted=True) == "dropped"
        assert (
            drop_caches(session, files, "tcp://a:1", wanted=True, hosts=3)
            == "dropped on 1 of 3 hosts"
        )
        assert "on servers" in drop_caches(session, ["root://a//b"], "threads", wanted=True)
        assert "No such file" in drop_caches(session, ["/none"], "tcp://a:1", wanted=True)


def test_words_for_wrong_usage(made, tmp_path):
    assert "which DATASET" in bench("run", fails=True)
    assert "neither the address" in bench("run", made / "dataset.json", "--on", "spark", fails=True)
    assert "not a list of numbers" in bench("run", "x", "--workers", "1,a", fails=True)
    said = bench("run", made / "dataset.json", "--per-node", 1, fails=True)
    assert "is for the address of a cluster" in said
    assert "'most' is none of whole, all, two" in bench("storage", "x", "--read=most", fails=True)
    assert "opendata" in bench("generate", tmp_path / "y", "--schema", "nano", fails=True)
    assert "was not written by" in bench("report", made / "dataset.json", fails=True)


def test_a_breakdown_adds_up_to_the_workers_time(made):
    events = tm.dataset(str(made / "dataset.json"))
    with tm.connect(workers=2, trace=10_000) as session:
        began = time.perf_counter()
        session.run(events.sum("Track_px"), progress=False)
        seconds = time.perf_counter() - began
        found = broken_down(session.report.trace, 2, seconds)
    assert found.total == pytest.approx(2 * seconds, rel=0.01)
    assert found.packets >= 3
