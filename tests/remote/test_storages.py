"""`treemill bench storage` and `hammer` against real servers: every reader reads what it should,
dead servers are errors and no hang, many readers share one file."""

import importlib.util
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from treemill.cli.main import cli
from treemill.facility.compare_storage import measured, targets
from treemill.facility.load_test import LoadTest
from treemill.facility.load_tests.job_scheduler import Bounds, job_types
from treemill.facility.scaling.measurements import load
from treemill.facility.storage.findings import findings
from treemill.facility.storage.matrix import Matrix

from tools.servers.nginx import Nginx

from .conftest import skip_without

TREES = [f"store/trees/events_{i}.root" for i in range(3)]
EVENTS = 5000 + 1 + 7321


@pytest.mark.parametrize(
    ("way", "window"), [pytest.param("processes", "0", marks=pytest.mark.slow), ("streams", "1 MB")]
)
def test_each_protocol_reads_the_same(way, window, xrootd, nginx, ganesha, dcap, files, tmp_path):
    servers = xrootd, nginx, ganesha, dcap
    urls = [server.url(path) for server in servers for path in TREES]
    urls += [str(files[path]) for path in TREES]
    # Once, so that the numbers are known.
    options = ("--readers", "2", "--window", window, "--as", way, "--repeat", "1", "--once")
    path = tmp_path / "r.json"
    said = CliRunner().invoke(
        cli, ["bench", "storage", *urls, *options, "--seconds", "30", "-o", str(path)]
    )
    assert said.exit_code == 0, (said.output, said.exception)
    readings = load(path).readings
    assert len(readings) == 5 * 3
    schemes = {"root", "http", "nfs", "dcap", "file"}
    assert {each.protocol for each in readings} == schemes
    assert not any(each.errors for each in readings)
    whole = sum(files[each].stat().st_size for each in TREES)
    for each in readings:
        assert each.files == 6, each
        if each.what == "whole":
            assert (each.bytes_wanted, each.events) == (2 * whole, 0)
            assert each.bytes_asked == 2 * whole
        else:
            assert each.events == 2 * EVENTS
            assert each.bytes_asked >= each.bytes_wanted
        assert each.requests or each.protocol == "file"
        assert each.latency_50 is not None
    for what in ("all", "two"):  # equal bytes, whoever reads them and how
        assert len({each.bytes_wanted for each in readings if each.what == what}) == 1


@pytest.fixture(scope="module")
def laid(tmp_path_factory):
    """One tree as ROOT writes it by itself, and with baskets in any order."""
    skip_without(None if importlib.util.find_spec("ROOT") else "ROOT is not installed")
    program = Path(__file__).with_name("unordered_baskets.py")
    folder = tmp_path_factory.mktemp("laid")
    made = {"flushed": folder / "flushed.root", "unordered": folder / "unordered.root"}
    for path, flush in zip(made.values(), (5000, 0), strict=True):
        words = [sys.executable, "-W", "ignore", str(program), str(path), str(flush), "40000"]
        subprocess.run(words, check=True)
    return made


@pytest.mark.slow
def test_unordered_baskets_are_found_and_each_byte_is_wanted_once(core, laid, xrootd):
    urls = [xrootd.put(path, path.name) for path in laid.values()]
    found = targets(urls)
    assert [each.layout for each in found] == ["flushed", "unordered"]
    readings = []
    matrix = Matrix(found, ["streams"], [1, 2], ["all", "two"], [0, 60_000_000], 1)
    measured(matrix, 60.0, readings.append, once=True)
    trees = {lies: core.File(str(path)).tree("Events") for lies, path in laid.items()}
    stored = {
        (target.layout, what): trees[target.layout].bytes_of(list(names), 0, 40_000)
        for target in found
        for what, names in target.names.items()
    }
    for each in readings:
        assert not each.errors
        assert each.events == 40_000 * each.readers
        assert each.bytes_wanted == stored[each.layout, each.what] * each.readers
    said = [line for line in findings(readings, 2) if line.startswith("compared")]
    place = found[0].storage
    for what, line in zip(("all", "two"), said, strict=True):
        assert re.fullmatch(rf"compared, {what} at {place}: .* times the rate of .*", line)


@pytest.mark.parametrize("number", [64, pytest.param(256, marks=pytest.mark.slow)])
@pytest.mark.parametrize("way", ["streams", pytest.param("processes", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "kind",
    [
        "xrootd",
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("ganesha", "nginx", "dcap")),
    ],
)
def test_many_readers_of_one_file(request, kind, way, number):
    if (kind, way, number) == ("xrootd", "processes", 256):
        pytest.skip("xrootd accepts 256 connections at once more slowly than clients wait: 5 s")
    found = targets([request.getfixturevalue(kind).url(TREES[0])])
    readings = []
    matrix = Matrix(found, [way], [number], ["two"], [60_000_000], 1)
    measured(matrix, 60.0, readings.append, once=True)
    (reading,) = readings
    assert reading.errors == {}
    assert reading.events == number * 5000


def test_blocks_of_files_on_servers(nginx, files, tmp_path):
    urls = [nginx.url(path) for path in TREES]
    path = tmp_path / "r.json"
    options = ("--readers", "1,2", "--repeat", "1", "--block", "1", "-o", str(path))
    said = CliRunner().invoke(cli, ["bench", "scan-storage", *urls, *options])
    assert said.exit_code == 0, (said.output, said.exception)
    whole = sum(files[each].stat().st_size for each in TREES)
    assert [each.bytes_read for each in load(path).storage] == [whole] * 2


@pytest.mark.slow  # a connection that is refused is tried again for some seconds
def test_a_server_that_is_gone_is_an_error(files):
    skip_without(Nginx.missing())
    with Nginx() as server:
        found = targets([server.put(files[TREES[0]], "a.root")])
        server.kill()
    readings = []
    matrix = Matrix(found, ["processes", "streams"], [2], ["whole", "two"], [0], 1)
    measured(matrix, 1.0, readings.append)
    for each in readings:
        assert each.bytes_wanted == each.events == 0
        assert sum(each.errors.values()) >= 2
        assert all("a.root" not in cause for cause in each.errors)


def test_jobs_of_every_kind(nginx, files):
    kinds = job_types(
        {
            "job": [
                {"name": "query", "hist": "MET_pt", "filter": "nMuon >= 1", "files": 2},
                {"name": "whole", "read": "whole"},
                {"name": "shell", "command": ["sh", "-c", "exit 3"]},
                {"name": "none", "command": ["/no/such/program"]},
            ]
        }
    )
    hammer = LoadTest(kinds, targets([nginx.url(path) for path in TREES]), Bounds(4, jobs=4))
    hammer.run()
    done = {each.kind: each for each in hammer.account.tallies()}
    assert (done["query"].done, done["query"].events) == (1, 5001)
    assert done["whole"].bytes_wanted == files[TREES[0]].stat().st_size
    assert done["shell"].causes == {"exit status 3": 1}
    assert done["none"].causes == {"cannot be started: No such file or directory": 1}
    live = hammer.board.live(hammer.storages[0])
    assert live.done
    assert (live.progress.phase, live.progress.entries) == ("ended, 2 failed", 5001)
    assert len(live.report.missing) == 2
    assert live.snapshot()["jobs done"].sum() == 2


def test_the_command_runs_jobs_and_tells_what_came_of_them(files, tmp_path):
    """With the live page; the report has the same numbers."""
    jobs, run = tmp_path / "jobs.toml", tmp_path / "run.json"
    jobs.write_text(
        """
        [[job]]
        name = "query"
        hist = ["MET_pt", "sum(Jet_pt)"]

        [[job]]
        name = "copy"
        read = "whole"
        """
    )
    words = ["bench", "hammer", str(jobs), str(files[TREES[0]]), "--jobs", "2", "--for", "10m"]
    said = CliRunner().invoke(cli, [*words, "--at-once", "1", "--live", "-o", str(run)])
    assert said.exit_code == 0, (said.output, said.exception)
    assert "page: http://127.0.0.1:" in said.output
    assert "2 done" in said.output
    assert "no job failed" in said.output
    done = {each.kind: each for each in load(run).jobs}
    assert (done["query"].done, done["query"].events) == (1, 5000)
    assert done["copy"].bytes_wanted == files[TREES[0]].stat().st_size
    assert all(each.cpu > 0 and each.efficiency > 0 for each in done.values())
    shown = CliRunner().invoke(cli, ["bench", "report", str(run)])
    assert shown.exit_code == 0, (shown.output, shown.exception)
    assert "Endurance run" in run.with_suffix(".html").read_text()


@pytest.mark.parametrize(
    ("told", "wrong"),
    [
        ("[[job]]\nname = 'a'\nread = 'whole'\n", "the end of the run"),
        ("[[job]\n", "jobs.toml"),
        ("[[job]]\nname = 'a'\nreads = 'whole'\n", "reads"),
    ],
)
def test_the_command_says_what_is_wrong_with_a_run(told, wrong, tmp_path):
    jobs = tmp_path / "jobs.toml"
    jobs.write_text(told)
    said = CliRunner().invoke(cli, ["bench", "hammer", str(jobs), "no.root"])
    assert said.exit_code != 0
    assert wrong in said.output + str(said.exception)


def test_a_stopped_run_leaves_no_process_behind(nginx, tmp_path):
    kinds = job_types({"job": [{"name": "sleeps", "command": ["sh", "-c", "sleep 600 & wait"]}]})
    found = targets([nginx.url(TREES[0])])
    hammer = LoadTest(kinds, found, Bounds(2, jobs=5, grace=600))
    pids = []
    look = hammer.board.put

    def put(state):
        pids[:] = pids or [each._process.pid for _, each in hammer._running.values()]
        if len(pids) == 2 and hammer.why is None:
            signal.raise_signal(signal.SIGINT)  # as Ctrl-C
        elif hammer.why is not None:
            hammer.end("abort")
        look(state)
        said.append((hammer.board.accounts()[0].progress.phase, state.share))

    said = []
    hammer.board.put = put
    hammer.run()
    assert any(phase == "stopping" and share == 1.0 for phase, share in said)
    assert hammer.why == "interrupted"
    (tally,) = hammer.account.tallies()
    assert tally.causes == {"ended: the run has ended": 2}
    assert len(pids) == 2
