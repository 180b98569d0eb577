"""The packetizer under any order of events: a small world of workers and files, led by chance."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from treemill.scheduling import (
    Commit,
    Committed,
    FileSize,
    Finish,
    OpenFile,
    PacketDone,
    PacketFailed,
    Packetizer,
    Policy,
    Process,
    Sizing,
    Stop,
    WorkerJoined,
    WorkerLeaving,
    WorkerLost,
)
from treemill.scheduling.sizing import packet_entries

from tests.python.packet_history import History
from tests.python.packet_world import World
from tests.random_search import examples

sizes = st.lists(st.integers(0, 700), max_size=5)
workers = st.integers(1, 4)


def chooser(data):
    return lambda options: data.draw(st.sampled_from(options))


@given(sizes, workers, st.sets(st.integers(0, 4)), st.floats(0, 0.3), st.data())
def test_every_entry_once_in_any_order(sizes, workers, known, commit_seconds, data):
    world = World(sizes, chooser(data), workers, known, commit_seconds=commit_seconds)
    world.run()
    assert world.finishes == [Finish(None)]
    assert not world.halted
    coverage = world.check_account()
    assert coverage.missing == []
    assert world.packetizer.over
    assert world.packetizer.expected_entries == sum(sizes)


@given(sizes, workers, st.data())
def test_failures_are_tried_again(sizes, workers, data):
    failures = {}

    def fails(order):
        what = order if isinstance(order, OpenFile) else getattr(order, "packet", None)
        if what is None:
            return None
        key = (what.file,)
        # Twice per file at most: below the limit of three attempts, whatever they hit.
        if failures.get(key, 0) < 2 and data.draw(st.booleans()):
            failures[key] = failures.get(key, 0) + 1
            return OSError("now and then")
        return None

    world = World(sizes, chooser(data), workers)
    world.run(fails=fails)
    assert world.finishes == [Finish(None)]
    assert world.check_account().missing == []


@given(sizes, workers, st.booleans(), st.data())
def test_what_always_fails_is_given_up(sizes, workers, skip, data):
    broken = data.draw(st.sets(st.integers(0, 4)))
    cannot_open = data.draw(st.booleans())
    error = OSError("always")

    def fails(order):
        if isinstance(order, OpenFile):
            return error if cannot_open and order.file in broken else None
        if isinstance(order, Process) and order.packet.file in broken and order.packet.start < 200:
            return error
        return None

    world = World(sizes, chooser(data), workers, skip_errors=skip)
    world.run(fails=fails)
    coverage = world.check_account()
    hit = any((n and (i in broken)) or (i in broken and cannot_open) for i, n in enumerate(sizes))
    assert len(world.finishes) == 1
    if skip:
        assert world.finishes[0].error is None
        assert all(gap.file in broken and gap.error is error for gap in coverage.missing)
        assert bool(coverage.missing) == hit
    else:
        assert (world.finishes[0].error is error) == hit
    assert max((p.attempt for _, p in world.packets), default=0) <= 3


@given(sizes, st.integers(2, 4), st.data())
@examples(250)
def test_workers_come_and_go(sizes, workers, data):
    world = World(sizes, chooser(data), workers)
    new = itertools.count(workers)
    for _ in range(20_000):
        if not world.orders:
            break
        deed = data.draw(st.sampled_from(["step"] * 8 + ["lose", "join"]))
        # Losses count as failed attempts of what the worker had; too many end the query.
        if deed == "lose" and len(world.partials) > 1:
            world.lose(data.draw(st.sampled_from(sorted(world.partials))))
        elif deed == "join" and not world.packetizer.over:
            world.join(next(new))
        else:
            world.step()
    coverage = world.check_account()
    assert len(world.finishes) == 1
    assert (world.finishes[0].error is None) == (coverage.missing == [])


def test_no_worker_left_is_an_error():
    world = World([100], min, 1)
    world.lose(0)
    assert "no worker is left" in str(world.finishes[0].error)
    world.check_account()


@given(sizes, workers, st.integers(0, 30), st.data())
def test_stop_keeps_what_is_done_and_names_the_rest(sizes, workers, steps, data):
    world = World(sizes, chooser(data), workers)
    for _ in range(steps):
        if world.orders:
            world.step()
    world.tell(Stop("enough"))
    before = len(world.packets)
    running = sum(isinstance(order, Process) for order in world.orders.values())
    world.run()
    assert len(world.packets) == before + running, "no new packets after a stop"
    assert [finish.error for finish in world.finishes] == [None]
    coverage = world.check_account()
    assert all(gap.reason == "enough" for gap in coverage.missing)


def test_packets_end_at_cuts_where_there_are_any():
    world = World([0, 450, 0, 0, 450], min, 3)
    world.run()
    for _, packet in world.packets:
        for edge in (packet.start, packet.stop):
            assert edge in (0, 100, 200, 300, 450)


def test_a_worker_keeps_its_file_and_others_take_fresh_ones():
    world = World([300, 300, 300], min, 2, known={0, 1, 2})
    assert {order.packet.file for order in world.orders.values()} == {0, 1}
    world.step()
    assert world.orders[0].packet.file == 0


def test_commits_come_about_every_second():
    world = World([5000], lambda options: options[0], 1, known={0}, commit_seconds=0.015)
    commits = 0
    while world.orders:
        commits += isinstance(world.orders[0], Commit)
        world.step()
    assert commits > 3
    world.check_account()


def commits(workers, handing_over):
    """How often worker 0 commits for a second of packets, if each commit takes so long. So many
    workers have packets; the others rest."""
    policy, now = Policy(speculate=True, expected_workers=4), 0.0
    packetizer = Packetizer([FileSize(1000)] * 4, policy, sizing=Sizing(first=50, longest=0.4))
    (order,) = packetizer.handle(WorkerJoined(0), now)
    for other in range(1, workers):
        packetizer.handle(WorkerJoined(other), now)
    for resting in range(workers, 4):
        packetizer.handle(WorkerJoined(resting), now)
        packetizer.handle(WorkerLeaving(resting), now)
    count = 0
    while now < 3.0 and order is not None:
        if isinstance(order, Commit):
            count, now = count + 1, now + handing_over
            event = Committed(0)
        else:
            packet, seconds = order.packet, (order.packet.stop - order.packet.start) / 1000
            now += seconds
            event = PacketDone(0, packet.number, packet.stop, seconds)
        mine = [each for each in packetizer.handle(event, now) if getattr(each, "worker", 1) == 0]
        order = mine[0] if mine else None
    return count / (now - count * handing_over)


def test_near_the_end_commits_are_as_frequent_as_their_cost_allows():
    assert commits(4, 0.2) < 0.6 * commits(4, 0.001)


def test_one_that_nobody_can_overtake_commits_every_second():
    assert commits(1, 0.001) <= 1.0 < commits(4, 0.001)


def test_a_failed_packet_goes_to_another_worker():
    world = World([60, 60], min, 2, known={0, 1})
    world.run(fails=lambda order: OSError("here") if order.worker == 0 else None)
    assert {packet.attempt for worker, packet in world.packets if worker == 0} == {1}
    assert 2 in {packet.attempt for worker, packet in world.packets if worker == 1}
    assert world.check_account().missing == []


def test_final_errors_are_not_tried_again():
    world = World([60], min, 2, known={0})
    order = world.orders.pop(0)
    error = ValueError("malformed")
    world.tell(PacketFailed(0, order.packet.number, error, retry=False))
    assert world.halted
    world.run()
    assert world.finishes[0].error is error


@pytest.mark.parametrize(
    ("rate", "left", "entries"),
    [
        (None, 10**9, 50_000),  # nothing measured
        (None, 1000, 500),  # less than that for each
        (1e6, 400e6, 20_000_000),  # 200 s left for two: the longest
        (1e6, 16e6, 2_000_000),  # 8 s left: a quarter of them
        (1e6, 1e6, 300_000),  # 0.5 s left: the shortest
        (1e6, 2e5, 100_000),  # 0.1 s left: this worker's part
    ],
)
def test_sizes(rate, left, entries):
    assert packet_entries(Sizing(), rate, 2 * (rate or 0), left, 2) == entries


def test_no_packet_is_shorter_than_what_it_costs():
    short = Sizing(shortest=0.2, longest=2.0, least=0.1)
    # 1000 entries a second each, 40 left: half of them would be done in 20 ms.
    assert packet_entries(short, 1000.0, 2000.0, 40, 2) == 100
    assert packet_entries(short, None, 2000.0, 40, 2) == 100
    assert packet_entries(short, 1000.0, 2000.0, 10_000, 2) == 1000 * 5 // 4


def history_with_done(seed, **kinds):
    history = History(seed, done=True, **kinds)
    before = dict(history.world.result)
    history.live()
    packets = {(p.file, e) for _, p in history.world.packets for e in range(p.start, p.stop)}
    assert not packets & set(before), "what was done before is handed out to nobody"
    history.world.check_account()
    return history


@pytest.mark.parametrize("seed", range(150))
def test_what_was_done_before_is_left_alone(seed):
    assert history_with_done(seed).world.packetizer.coverage().missing == []


@pytest.mark.parametrize("seed", range(150))
def test_what_was_done_before_is_counted_once_whatever_goes_wrong(seed):
    history_with_done(
        seed, stops=seed % 2 == 0, fails=True, mergers=seed % 3 == 0, far=seed % 5 == 0
    )


def test_a_query_that_was_done_before_has_nothing_to_do():
    world = World(
        [100, 50], lambda options: options[0], 2, done={0: [(0, 60), (60, 100)], 1: [(0, 50)]}
    )
    world.run()
    assert not world.packets
    assert world.packetizer.over
    assert world.check_account().entries == 150


@pytest.mark.parametrize("known", [(), (0,)])
def test_more_than_the_file_has_cannot_have_been_done(known):
    with pytest.raises(ValueError, match=r"file 0 has 100 entries, and those up to 101"):
        World([100], lambda options: options[0], 1, known, done={0: [(90, 101)]}).run()


def test_a_file_that_is_not_opened_misses_what_was_not_done():
    world = World(
        [300], lambda options: options[0], 1, done={0: [(0, 10), (50, 200)]}, skip_errors=True
    )
    world.run(fails=lambda order: OSError("always"))
    missing = world.check_account().missing
    assert [(gap.start, gap.stop) for gap in missing] == [(10, 50), (200, None)]


def test_packets_end_where_something_was_done():
    world = World([1000], lambda options: options[0], 1, (0,), done={0: [(120, 130), (500, 990)]})
    world.run()
    spans = sorted((packet.start, packet.stop) for _, packet in world.packets)
    assert {120, 500, 1000} <= {stop for _, stop in spans}
    assert {0, 130, 990} <= {start for start, _ in spans}


@pytest.mark.parametrize("commit_seconds", [100.0, math.inf])
def test_a_query_ends_whose_workers_die_sooner_than_they_commit(commit_seconds):
    made = Packetizer(
        [FileSize(3_000)],
        Policy(commit_seconds=commit_seconds, max_attempts=1_000),
        sizing=Sizing(first=100, shortest=0.1, longest=0.1, ask=0.0),
    )
    now = 0.0
    made.handle(WorkerJoined(0), now)
    for worker in range(1, 1_000):
        actions = made.handle(WorkerJoined(worker), now)
        made.handle(WorkerLost(worker - 1), now)
        for _ in range(8):  # a life: there are 30 packets
            orders = [each for each in actions if getattr(each, "worker", None) == worker]
            for order in orders:
                now += 0.1
                done = Committed(worker)
                if isinstance(order, Process):
                    done = PacketDone(worker, order.packet.number, order.packet.stop, 0.1)
                actions = made.handle(done, now)
        made.validate()
        if made.over:
            break
    assert made.over
    assert made.coverage().entries == 3_000


def test_a_worker_commits_no_sooner_because_others_go_that_have_nothing_to_lose():
    made = Packetizer([FileSize(3_000_000)], Policy(commit_seconds=100.0))
    for worker in range(10):
        made.handle(WorkerJoined(worker), 0.0)
    made.handle(WorkerLeaving(1), 1.0)
    order = made.handle(PacketDone(1, 1, made._state.ledger.working(1).stop, 1.0), 1.0)
    assert order == [Commit(1)]
    made.handle(Committed(1), 1.0)
    made.handle(WorkerLost(1), 1.0)
    assert made._state.commit_seconds(1.0) == 100.0
    for worker in (2, 3, 4):
        assert made._state.commit_seconds(1.0) == 100.0
        made.handle(WorkerLost(worker), 1.0)
    made.validate()
    assert made._state.commit_seconds(1.0) == 10 / 3 / 2, "ten were there for a second"
