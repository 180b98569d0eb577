"""`treemill bench storage` and `hammer` against real servers: every reader reads what it should,
dead servers are errors and no hang, many readers share one file."""

import signal

import pytest
from click.testing import CliRunner
from treemill.bench.hammer.job_types import job_types
from treemill.bench.hammer.lead import Bounds
from treemill.bench.scaling.measurements import load
from treemill.bench.storage.matrix import Matrix
from treemill.cli.benchmark.hammer import Hammer
from treemill.cli.benchmark.storage import measured, targets
from treemill.cli.main import cli

from tools.servers.nginx import Nginx

from .conftest import skip_without

TREES = [f"store/trees/events_{i}.root" for i in range(3)]
EVENTS = 5000 + 1 + 7321


def test_each_protocol_reads_the_same(xrootd, nginx, files, tmp_path):
    urls = [server.url(path) for server in (xrootd, nginx) for path in TREES]
    urls += [str(files[path]) for path in TREES]
    # Once, so that the numbers are known.
    options = ("--readers", "2", "--window", "0,1 MB", "--repeat", "1", "--once", "--seconds", "30")
    path = tmp_path / "r.json"
    said = CliRunner().invoke(cli, ["bench", "storage", *urls, *options, "-o", str(path)])
    assert said.exit_code == 0, (said.output, said.exception)
    readings = load(path).readings
    assert len(readings) == 3 * 2 * 3 * 2
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


@pytest.mark.parametrize("way", ["streams", pytest.param("processes", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "kind",
    [
        "xrootd",
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("ganesha", "nginx", "dcap")),
    ],
)
def test_many_readers_of_one_file(request, kind, way):
    found = targets([request.getfixturevalue(kind).url(TREES[0])])
    readings = []
    matrix = Matrix(found, [way], [64], ["two"], [60_000_000], 1)
    measured(matrix, 60.0, readings.append, once=True)
    (reading,) = readings
    assert reading.errors == {}
    assert reading.events == 64 * 5000


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
    hammer = Hammer(kinds, targets([nginx.url(path) for path in TREES]), Bounds(4, jobs=4))
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


def test_a_stopped_run_leaves_no_process_behind(nginx, tmp_path):
    kinds = job_types({"job": [{"name": "sleeps", "command": ["sh", "-c", "sleep 600 & wait"]}]})
    found = targets([nginx.url(TREES[0])])
    hammer = Hammer(kinds, found, Bounds(2, jobs=5, grace=600))
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
