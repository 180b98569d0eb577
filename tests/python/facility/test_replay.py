"""A trace is replayed: with the same workers it takes what it took, with more of them less; and the
report's figures and page. The clusters are simulated, so that nothing depends on this machine."""

import pytest
import treemill as tm
from click.testing import CliRunner
from treemill.cli.main import cli
from treemill.cli.trace import load
from treemill.facility.replay import replay
from treemill.facility.simulation.cluster import Cluster
from treemill.facility.simulation.engine import Engine
from treemill.facility.simulation.one_master import OneMaster
from treemill.facility.simulation.scenario import Faults, Files, Generation, Scenario
from treemill.facility.simulation.strategies import STRATEGIES, sizing
from treemill.monitoring.offline_page import figures, page
from treemill.monitoring.recorded import About, Recorded, RecordedFile
from treemill.monitoring.rows import rows
from treemill.monitoring.summary import against_time, summary
from treemill.scheduling import TimelineReader, Trace


class Both(TimelineReader):
    """Records what the timeline follows."""

    def __init__(self):
        super().__init__()
        self.trace = Trace()

    def follow(self, now, event, actions):
        super().follow(now, event, actions)
        self.trace.record(now, event, list(actions))


def simulated(workers, noise=0.2, deaths=0, seed=1, known=True, mergers=0):
    scenario = Scenario(
        name="made up",
        title="made up",
        generations=(Generation("", 1, workers, 50_000.0, 1e6, 1e6),),
        files=Files(
            per_node=3 * workers, events=400_000, event_kb=1.0, cluster=10_000, known=known
        ),
        faults=Faults(noise=noise, deaths=deaths, deaths_until=5.0),
        seek=0.0,
        shortest=0.5,
        commit_seconds=1.0,
        mergers=mergers,
        seed=seed,
    )
    cluster = Cluster(scenario)
    engine = Engine(scenario, cluster)
    engine.timeline = Both()
    engine.masters = OneMaster(engine, "treemill", STRATEGIES["treemill"](scenario, cluster), None)
    engine.run()
    files = [
        RecordedFile(f"{at}.root", 0, file.events, len(file.cuts) + 1)
        for at, file in enumerate(cluster.files)
    ]
    about = About(
        workers=workers,
        files=tuple(files),
        known=known,
        sizing=sizing(scenario),
        commit_seconds=scenario.commit_seconds,
    )
    made = rows(engine.timeline.trace.records, lambda file: (f"{file}.root", 0))
    return Recorded(made, about), engine.finished, cluster.events


@pytest.mark.parametrize(
    "settings",
    [{}, {"noise": 0.5}, {"known": False}, {"deaths": 3}, {"mergers": 2}],
    ids=str,
)
def test_the_same_workers_take_the_same_time(settings):
    for seed in range(3):
        recorded, seconds, events = simulated(8, seed=seed, **settings)
        again = replay(recorded, None)
        assert again.entries == events
        assert again.seconds == pytest.approx(seconds, rel=0.1)


def test_more_workers_take_what_more_workers_take():
    few, _, events = simulated(4, noise=0.0)
    many = replay(few, 16)
    assert many.workers == 16
    assert many.entries == events
    ideal = events / (16 * 50_000.0)
    assert ideal <= many.seconds < 1.5 * ideal


def test_storage_may_be_the_limit():
    recorded, *_ = simulated(4, noise=0.0)
    whole = sum(each.entries for each in recorded.about.files)
    made = [row._replace(bytes_read=row.entries * 1000) for row in recorded.rows]
    limited = replay(Recorded(made, recorded.about), 40, storage=100.0)
    assert limited.seconds >= whole * 1000 / 100e6
    assert limited.seconds > replay(recorded, 40).seconds


def test_what_is_no_whole_trace_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="no packets"):
        replay(Recorded(simulated(2)[0].rows, About()), None)


def test_rates_against_time_add_up():
    recorded, _, events = simulated(5, deaths=2)
    found = summary(recorded)
    for points in (1, 7, 100):
        _, rates = against_time(found.packets, found.seconds, points, lambda row: row.entries)
        width = found.seconds / points
        assert sum(rates) * width == pytest.approx(events + found.in_vain)
    assert sum(found.stages.values()) == pytest.approx(
        sum(each.left for each in found.workers), rel=0.05
    )


def test_figures_have_what_the_summary_has():
    recorded, _, _ = simulated(5)
    found = summary(recorded)
    (entries, active), (latency, _, workers) = figures(found)  # it has read nothing
    steps = entries.series[0]
    width = found.seconds / 120
    assert sum(steps.y[:-1]) * width == pytest.approx(found.entries)
    assert max(active.series[0].y) <= 5 + 1e-9
    assert len(latency.series[0].y) == len(found.packets)
    assert list(workers.series[1].y) == [each.seconds for each in found.workers]


def test_the_page_escapes_and_needs_no_network():
    pytest.importorskip("matplotlib", reason="pictures need treemill[plot]")
    recorded, _, _ = simulated(2)
    wrong = '<script>alert("x")</script>'
    made = [row._replace(file=wrong) if row.file else row for row in recorded.rows]
    html = page(summary(Recorded(made, About(query=wrong, workers=2))))
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert "http://" not in html
    assert "https://" not in html
    assert "data:image/svg+xml;base64," in html


def test_the_commands(events, tmp_path):
    path = str(tmp_path / "trace.json")
    with tm.connect(workers=2) as session:
        session.run(events.hist("Muon_pt", bins=(10, 0, 100)), trace=path)
    run = CliRunner().invoke
    told = run(cli, ["trace", "report", path, "--most", "2"])
    assert told.exit_code == 0, told.output
    assert "12,322 entries" in told.output
    assert "evaluate" in told.output
    told = run(cli, ["trace", "replay", path, "--workers", "10x", "--workers", "3"])
    assert told.exit_code == 0, told.output
    workers = [line.split()[0] for line in told.output.splitlines()[2:]]
    number = len(summary(load(path)).workers)
    assert workers == [str(number), str(10 * number), "3"]
    assert run(cli, ["trace", "replay", path, "--workers", "no"]).exit_code == 2
