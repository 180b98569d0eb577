"""Simulated queries: nothing lost, the packetizer's promises kept, PROOF's troubles there."""

import math
from dataclasses import replace
from statistics import median

import pytest
from click.testing import CliRunner
from treemill.backends.dask.scheduler_state import poll_seconds
from treemill.cli.main import cli
from treemill.facility.simulation.cluster import DiskRead, Machine, SimulatedNode
from treemill.facility.simulation.one_master import simulate
from treemill.facility.simulation.scenario import Connection, Distance, load, shipped
from treemill.facility.simulation.strategies import STRATEGIES
from treemill.scheduling import Packet, Span, Timeline


def seeds(name, nodes, strategy, count=3):
    scenario = load(name).at(nodes)
    return [simulate(replace(scenario, seed=seed), strategy) for seed in range(count)]


@pytest.mark.parametrize("name", shipped())
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_event_is_in_the_result(name, strategy):
    outcome = simulate(load(name).at(6), strategy)
    assert (outcome.entries, outcome.twice) == (outcome.expected, 0)
    assert 0 <= outcome.wasted < 1
    assert 0 <= outcome.idle_at_end < outcome.seconds


def test_the_same_seed_gives_the_same_query():
    scenario = load("deaths").at(10)
    first, second = simulate(scenario), simulate(scenario)
    assert (first.seconds, first.spans) == (second.seconds, second.spans)
    assert simulate(replace(scenario, seed=2)).seconds != first.seconds


@pytest.mark.parametrize("nodes", [10, pytest.param(50, marks=pytest.mark.slow)])
def test_200_and_1000_workers_end_together(nodes):
    outcome = simulate(load("farm").at(nodes))
    assert outcome.workers == 20 * nodes
    assert outcome.entries == outcome.expected
    assert outcome.idle_at_end <= 0.05 * outcome.seconds
    assert outcome.wasted <= 0.10
    static = simulate(load("farm").at(nodes), "static")
    assert static.entries == static.expected
    assert static.seconds > 1.5 * outcome.seconds


def test_nodes_that_get_slow_before_the_end_cost_no_tail():
    scenario = load("straggler")
    even = simulate(replace(scenario, faults=replace(scenario.faults, slow_nodes=0.0)))
    for slow in seeds("straggler", scenario.nodes, "treemill"):
        assert (slow.entries, slow.twice) == (slow.expected, 0)
        assert slow.seconds < 1.2 * even.seconds


def test_all_that_a_slow_machine_does_takes_longer_from_then_on():
    machine = Machine(0, rate=100.0, fixed=0.5, width=4, slowdown=3.0, slow_from=10.0)
    for takes in (
        lambda now: machine.seconds(1000, now),
        lambda now: machine.waiting(1000, 300, now),
    ):
        assert takes(10.0) == 3 * takes(9.9) > 0


@pytest.mark.slow
def test_5000_workers_end_together():
    outcome = simulate(load("farm"))
    assert outcome.workers == 5000
    assert outcome.entries == outcome.expected
    assert outcome.idle_at_end <= 0.05 * outcome.seconds
    assert outcome.wasted <= 0.10


@pytest.mark.slow
@pytest.mark.parametrize("name", ["proof192", "proof192remote"])
def test_base_packets_last_for_seconds_at_the_end_and_ours_do_not(name):
    base = seeds(name, 192, "base")
    ours = seeds(name, 192, "treemill")
    assert median(o.last_packet for o in base) > 5.0
    assert median(o.last_packet for o in ours) < 3.0
    assert median(o.seconds for o in base) > 1.2 * median(o.seconds for o in ours)


@pytest.mark.slow
def test_above_100_workers_base_gets_slower_and_ours_does_not():
    few, many = 16, 192
    base = [median(o.seconds / o.ideal for o in seeds("proof192", n, "base")) for n in (few, many)]
    ours = [
        median(o.seconds / o.ideal for o in seeds("proof192", n, "treemill")) for n in (few, many)
    ]
    assert base[1] > 1.08 * base[0]
    assert ours[1] < 1.05 * ours[0]
    assert max(ours) < 1.15


@pytest.mark.parametrize("seed", range(3))
def test_what_each_packet_takes_whatever_its_events_is_a_small_part(seed):
    scenario = replace(load("models"), seed=seed)
    outcome = simulate(scenario)
    assert outcome.entries == outcome.expected
    busy = sum(span.ended - span.began for span in outcome.spans)
    # Of all of them, the first ones, which tell, and the last ones are short.
    assert scenario.generations[0].fixed * len(outcome.spans) < 0.25 * busy
    assert outcome.seconds < 1.35 * outcome.ideal
    assert outcome.idle_at_end < 0.05 * outcome.seconds


def test_deaths_cost_little():
    scenario = load("deaths").at(20)
    outcome = simulate(scenario)
    assert outcome.entries == outcome.expected
    assert outcome.wasted <= 0.10
    assert len({span.worker for span in outcome.spans}) > outcome.workers, "new ones have come"


def test_deaths_of_mergers_cost_little():
    scenario = load("mergers").at(20)
    outcome = simulate(scenario)
    assert outcome.entries == outcome.expected
    assert outcome.wasted <= 0.10


def remote(nodes, roots, **changes):
    scenario = replace(load("remote").at(nodes), roots=roots, **changes)
    return replace(scenario, files=replace(scenario.files, per_node=1))


def test_joining_mergers_takes_as_long_as_the_logarithm_of_their_number():
    one_by_one, joined = (simulate(remote(16, roots)) for roots in (0, 2))
    assert one_by_one.entries == joined.entries == joined.expected
    assert one_by_one.last_merges == pytest.approx(16 * 0.010, abs=0.01)
    assert joined.last_merges == pytest.approx((3 + 2) * 0.010, abs=0.01)


@pytest.mark.parametrize("seed", range(2))
def test_mergers_that_die_while_they_join_lose_nothing(seed):
    scenario = remote(6, 1, seed=seed, commit_seconds=1.0)
    faults = replace(scenario.faults, deaths_until=30.0, merger_deaths=200, rejoin=0.5)
    master = replace(scenario.master, latency=0.1, fetch=0.5)
    outcome = simulate(replace(scenario, faults=faults, master=master))
    assert outcome.entries == outcome.expected


@pytest.mark.parametrize("seed", range(3))
def test_mergers_and_workers_that_die_all_the_time_lose_nothing(seed):
    scenario = load("mergers").at(4)
    faults = replace(scenario.faults, deaths=300, merger_deaths=100, rejoin=1.0)
    master = replace(scenario.master, latency=0.5, commit=0.1)
    outcome = simulate(
        replace(scenario, seed=seed, mergers=3, commit_seconds=2.0, faults=faults, master=master)
    )
    assert outcome.entries == outcome.expected
    assert len(outcome.thrown_away) > 100


def test_processes_that_have_nothing_to_say_seldom_call_the_scheduler():
    def calls(processes, silence=60.0):
        return processes / poll_seconds(silence, processes)

    assert calls(100) == 20
    assert calls(500) == calls(3000) == 100
    assert calls(5000) == pytest.approx(166.7, abs=0.1)
    assert all(poll_seconds(silence, 10**6) <= silence / 2 for silence in (2, 10, 60))


def test_readers_share_a_disk():
    node = SimulatedNode("n", disk=100.0, link=1000.0, seek=0.0)
    one, two = (DiskRead(i, 100.0, False, 1000.0) for i in range(2))
    assert node.begin(one, 0.0) == (1.0, one)
    # Half of the first is read; then they share: it ends at 1.5, the other one has 50 left then.
    assert node.begin(two, 0.5) == (1.5, one)
    assert node.end(one, 1.5) == (2.0, two)
    assert node.end(two, 2.0) is None


def test_seeks_and_links_slow_down():
    node = SimulatedNode("n", disk=100.0, link=10.0, seek=1.0)
    near, far = DiskRead(0, 100.0, False, 1000.0), DiskRead(1, 100.0, True, 1000.0)
    node.begin(near, 0.0)
    node.begin(far, 0.0)
    assert near.speed == 25.0
    assert far.speed == 10.0


def test_numbers_of_a_timeline():
    spans = [Span(0, 0.0, 6.0, 10), Span(1, 0.0, 9.0, 10)]
    outcome = Timeline(10.0, 20.0, spans, [Span(0, 6.0, 8.0, 0)], {0, 1})
    assert outcome.idle_at_end == 2.0
    assert math.isclose(outcome.wasted, 0.25)
    assert outcome.last_packet == 9.0
    times, active = outcome.activity(10)
    assert times[-1] == 10.0
    assert active == [0, 2, 2, 2, 2, 2, 2, 2, 2, 1, 0]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_without_noise_and_costs_equal_workers_take_the_ideal_time(strategy):
    text = load("proof24").at(6)
    same = replace(
        text,
        generations=(replace(text.generations[0], nodes=8, disk=1e9, link=1e9),),
        files=replace(text.files, known=True),
        master=replace(text.master, request=0.0, commit=0.0, latency=0.0),
        faults=replace(text.faults, noise=0.0),
        open_seconds=0.0,
    )
    outcome = simulate(same, strategy)
    assert outcome.seconds == pytest.approx(outcome.ideal, rel=0.02)


def test_scenarios_are_checked(tmp_path):
    with pytest.raises(ValueError, match="there are campus, deaths, farm"):
        load("nonsense")
    path = tmp_path / "x.toml"
    path.write_text("title = 'x'\nspeed = 3\ngenerations = []\n[files]\nper_node = 1\n")
    with pytest.raises(ValueError, match="__init__"):
        load(path)
    path.write_text("title = 'x'\ngenerations = []\n[files]\nwheels = 1\n")
    with pytest.raises(ValueError, match="files has no wheels"):
        load(path)


def test_the_command(tmp_path):
    picture = tmp_path / "x.png"
    run = CliRunner().invoke
    listed = run(cli, ["bench", "simulate"])
    assert listed.exit_code == 0
    assert "192 nodes, 2 workers each" in listed.output
    done = run(cli, ["bench", "simulate", "proof24", "--nodes", "2", "--nodes", "4", "-o", picture])
    assert done.exit_code == 0, done.output
    assert done.output.count("\n") == 1 + 2 * 4 + 1
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert run(cli, ["bench", "simulate", "nonsense"]).exit_code == 2


def waiting(outcome):
    """Seconds beyond the ideal time, as so many round trips of 137 ms."""
    return (outcome.seconds - outcome.ideal) / 0.137


def test_promises_hide_the_way_across_an_ocean():
    ours, cold = (seeds("ocean", 1, strategy) for strategy in ("treemill", "cold"))
    assert max(waiting(o) for o in ours) < 20
    assert median(o.seconds for o in ours) < 0.85 * median(o.seconds for o in cold)
    assert all(o.entries == o.expected for o in ours)
    small, cold = (seeds("ocean100", 1, strategy) for strategy in ("treemill", "cold"))
    assert max(waiting(o) for o in small) < 20
    assert median(o.seconds for o in small) < 0.4 * median(o.seconds for o in cold)


def test_promises_cost_nothing_where_nothing_is_to_be_hidden():
    scenario = load("campus")
    scenario = replace(scenario, faults=replace(scenario.faults, noise=0.0))
    # Half a second of work is promised ahead although it would come at once.
    next_door = replace(scenario.distance, round_trip=1e-6, depth=1e4)
    assert next_door.ahead(scenario.files.event_kb / 1000) == 100_000
    for distance in (scenario.distance, next_door):
        there = replace(scenario, distance=distance)
        for seed in range(3):
            ours, cold = (
                simulate(replace(there, seed=seed), strategy) for strategy in ("treemill", "cold")
            )
            assert ours.seconds < 1.002 * cold.seconds


@pytest.mark.parametrize(("files", "workers"), [(1, 2), (1, 8), (4, 2), (4, 8), (40, 2)])
def test_promises_do_not_spoil_the_balance_of_slow_queries_on_small_columns(files, workers):
    scenario = load("ocean")
    # All bytes of the dataset are on their way in two round trips, and take a minute to compute on.
    slow = replace(scenario.generations[0], workers=workers, rate=20_000)
    small = replace(
        scenario.files, per_node=files, events=1_000_000 // files, event_kb=0.002, cluster=5000
    )
    there = replace(scenario, generations=(slow,), files=small)
    ours, cold = (simulate(there, strategy) for strategy in ("treemill", "cold"))
    assert ours.entries == ours.expected
    assert ours.seconds < 1.05 * cold.seconds


def test_far_files_and_workers_that_die():
    scenario = load("ocean100")
    faults = replace(scenario.faults, deaths=40, deaths_until=15.0, rejoin=0.2)
    outcome = simulate(replace(scenario, faults=faults))
    assert outcome.entries == outcome.expected
    assert len(outcome.thrown_away) > 10


def packet(number, start, stop, file=0):
    return Packet(number, file, start, stop)


def test_a_connection_answers_one_request_after_another():
    wire = Connection(Distance(round_trip=1.0, stream=10.0), 0.1, lambda seconds: seconds)
    assert wire.open(0, 0.0) == 4.0
    # 100 events are 10 MB: a round trip, and a second.
    assert wire.process(packet(0, 0, 100), 4.0, 0.5) == 6.0
    wire.ask(packet(1, 100, 200), 4.0)
    wire.ask(packet(2, 200, 300), 4.0)
    assert wire.process(packet(1, 100, 200), 6.0, 0.5) == 7.0
    assert wire.process(packet(2, 200, 300), 7.0, 5.0) == 12.0, "its bytes came while it computed"


def test_what_is_forgotten_in_time_is_not_sent():
    wire = Connection(Distance(round_trip=1.0, stream=10.0), 0.1, lambda seconds: seconds)
    wire.open(0, -4.0)
    wire.ask(packet(0, 0, 100), 0.0)  # comes from 1 to 2
    wire.ask(packet(1, 100, 1100), 0.0)  # comes from 2 to 12
    wire.forget(packet(1, 100, 1100), 3.0)
    wire.ask(packet(2, 0, 100), 3.0)
    assert wire.process(packet(2, 0, 100), 4.0, 0.0) == 5.0


def test_processes_that_share_packets_among_their_threads_ask_less():
    scenario = load("remote").at(20)
    narrow, wide = simulate(scenario), simulate(replace(scenario, width=10))
    assert wide.workers == narrow.workers / 10
    assert (wide.entries, wide.twice) == (wide.expected, 0)
    assert wide.load.messages < narrow.load.messages / 2
    assert wide.seconds < 1.1 * narrow.seconds
    assert wide.idle_at_end < 0.05 * wide.seconds
