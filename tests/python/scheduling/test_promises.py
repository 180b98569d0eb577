"""Promises: packets that a worker on far files gets next are named before it gets them, in any life
of workers and mergers exactly once; and the rules one by one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from treemill.scheduling import (
    Commit,
    FileFailed,
    FilesLocated,
    Finish,
    Hint,
    OpenAhead,
    OpenFile,
    Process,
    Stop,
    Tick,
)

from tests.python.packet_history import History
from tests.python.packet_world import World
from tests.random_search import examples

seeds = st.integers(0, 2**32)


@given(seeds)
@examples(1500)
def test_every_entry_is_committed_exactly_once(seed):
    history = History(seed, far=True)
    history.live()
    assert history.world.check_account().missing == []
    assert history.world.finishes == [Finish(None)]


@given(seeds)
@examples(800)
def test_with_failures_the_rest_is_named(seed):
    history = History(seed, fails=True, far=True)
    history.live()
    assert all(gap.error is not None for gap in history.world.check_account().missing)
    assert history.world.finishes == [Finish(None)]


@given(seeds)
@examples(800)
def test_stopped_at_any_moment_the_rest_is_named(seed):
    history = History(seed, stops=True, far=True)
    history.live()
    coverage = history.world.check_account()
    assert all(gap.reason == "enough" for gap in coverage.missing)


@given(seeds, st.booleans())
@examples(800)
def test_with_mergers_that_die(seed, stops):
    history = History(seed, stops=stops, mergers=True, far=True)
    history.live()
    coverage = history.world.check_account()
    assert stops or coverage.missing == []


def test_such_histories_have_promises_in_them():
    kept = broken = opened = discarded = 0
    for seed in range(250):
        history = History(seed, far=True)
        history.live()
        kept += history.world.kept
        broken += history.world.broken
        opened += history.world.opened_ahead
        discarded += history.world.discarded
    assert min(kept, broken, opened, discarded) > 20, (kept, broken, opened, discarded)


def first(options):
    return options[0]


def first_of(entries=400, workers=1, **options):
    """A world of one far file of known size, whose first packets are of 50 entries, after the first
    packet of the first worker: until then nobody knows that the file is far."""
    options = {"commit_seconds": 100.0, "ahead": lambda file: 100, **options}
    return World([entries], min, workers, known={0}, **options)


def test_near_files_get_no_hints():
    world = first_of(ahead=lambda file: 0)
    world.run()
    actions = [action for record in world.trace.records for action in record.actions]
    assert not any(isinstance(action, Hint) for action in actions)


def test_promises_are_made_while_a_packet_is_done_and_kept_in_order():
    world = first_of()
    world.step()
    order, promised = world.orders[0], list(world.promised[0].values())
    assert 1 <= len(promised) <= 4
    assert promised[0].start == order.packet.stop
    world.step()
    assert world.orders[0] == Process(0, promised[0])
    world.run()
    assert world.check_account().missing == []
    assert world.kept > 0
    assert world.broken == 0, "it was alone"


def test_a_commit_does_not_break_promises():
    world = first_of(commit_seconds=0.0)
    while not world.promised[0]:
        world.step()
    promised = next(iter(world.promised[0].values()))
    world.step()
    assert world.orders == {0: Commit(0)}
    assert world.promised[0]
    world.step()
    assert world.orders[0] == Process(0, promised)


def late(**options):
    """Worker 0 has a packet, with which it is late, and promises; there is no other work."""
    world = first_of(**options)
    while not world.promised[0] or world.packetizer._state.nodes.left.is_some:
        world.step()
    world.now += 1000.0
    return world, list(world.promised[0].values())


def test_an_idle_worker_takes_a_promise_over_the_last_one_first():
    world, promised = late()
    world.join(1)
    taken = world.orders[1].packet
    assert (taken.start, taken.stop) == (promised[-1].start, promised[-1].stop)
    assert taken.number not in {packet.number for packet in promised}
    assert promised[-1].number not in world.promised[0]
    world.run()
    assert world.check_account().missing == []


def test_a_worker_that_would_be_slower_takes_nothing_over():
    world, promised = late()
    world.now -= 1000.0  # worker 0 is not late
    world.join(1)
    assert 1 not in world.orders
    assert list(world.promised[0].values()) == promised


def test_promises_of_a_lost_worker_are_done_by_others():
    world, promised = late()
    world.now -= 1000.0
    world.join(1)
    world.lose(0)
    world.run()
    assert world.check_account().missing == []
    attempts = {packet.start: packet.attempt for _, packet in world.packets}
    assert all(attempts[packet.start] == 1 for packet in promised), "none of them has failed"


def test_an_overtaken_worker_loses_its_promises():
    world, _ = late(speculate=True)
    world.join(1)
    copied = world.orders[0].packet
    for _ in range(100):
        if world.orders.get(1) == Process(1, copied):
            break
        if 1 in world.orders:
            order = world.orders.pop(0)
            world.step()
            world.orders[0] = order
        else:
            world.now += 1000.0
            world.tell(Tick())
    else:
        raise AssertionError("the late packet is never run again")
    world.orders.pop(0)
    world.step()
    assert not world.promised[0]
    world.run()
    assert world.check_account().missing == []


def test_a_stop_gives_promises_back():
    world, promised = late()
    world.tell(Stop("enough"))
    world.run()
    missing = world.check_account().missing
    assert missing[-1].stop == promised[-1].stop


def two_files(workers=1, **options):
    """Far files of unknown size; the first one is open, and the next one is being opened ahead."""
    options = {"commit_seconds": 100.0, "ahead": lambda file: 100, **options}
    world = World([300, 300], min, workers, **options)
    world.step()
    assert world.opening == [OpenAhead(0, 1)]
    assert isinstance(world.orders[0], Process)
    return world


def test_the_next_file_is_opened_beside_and_its_packets_are_promised():
    world = two_files()
    world.step_ahead()
    while not any(packet.file == 1 for packet in world.promised[0].values()):
        assert world.orders[0].packet.file == 0
        world.step()
    world.run()
    assert world.check_account().missing == []
    orders = [action for record in world.trace.records for action in record.actions]
    assert sum(isinstance(action, OpenFile) for action in orders) == 1


def test_a_worker_without_entries_waits_for_its_next_file():
    world = two_files()
    while world.orders:
        world.step()
    assert not world.packetizer.over
    world.step_ahead()
    assert world.orders[0].packet.file == 1
    world.run()
    assert world.check_account().missing == []


@pytest.mark.parametrize("end", ["failed", "lost"])
def test_a_file_that_was_not_opened_ahead_is_opened_by_an_order(end):
    world = two_files(max_attempts=1 if end == "failed" else 2)  # packets of the lost one fail
    if end == "failed":
        world.step_ahead(lambda hint: OSError("chance"))
    else:
        world.join(1)
        world.lose(0)
    while not any(isinstance(order, OpenFile) for order in world.orders.values()):
        world.step()
    world.run()
    assert world.finishes == [Finish(None)]
    assert world.check_account().missing == []


def test_an_answer_that_comes_too_late_has_no_effect():
    world = two_files()
    hint = world.opening.pop()
    world.tell(FileFailed(0, 1, OSError("chance"), beside=True))
    before = world.packetizer.expected_entries
    for event in (world.opened(0, 1, beside=True), FileFailed(0, 1, OSError(), beside=True)):
        assert world.packetizer.handle(event, world.now) == []
        world.packetizer.validate()
    assert world.packetizer.expected_entries == before
    assert hint == OpenAhead(0, 1)
    world.run()
    assert world.check_account().missing == []


def test_a_stop_does_not_wait_for_files_that_are_opened_ahead():
    world = two_files()
    world.tell(Stop("enough"))
    while world.orders:
        world.step()
    assert world.finishes == [Finish(None)]
    assert any(gap.file == 1 and gap.stop is None for gap in world.check_account().missing)


def test_files_are_left_for_workers_that_have_not_joined():
    world = World([300] * 3, min, 1, ahead=lambda file: 1000, expected_workers=3)
    world.step()
    assert world.opening == [], "two files, and two workers to come"


def test_what_is_known_of_a_file_beforehand_is_believed():
    world = first_of(tells=True)
    assert world.promised[0], "while the first packet is done"


def test_small_files_are_opened_a_few_at_once():
    world = World([50] * 90, first, 1, known={0}, ahead=lambda file: 10_000, tells=True)
    worker = world.packetizer._state.workers[0]
    assert len(world.opening) == 64
    while world.opening:
        assert len(worker.coming) + len(worker.ready) <= 64, "not all that there are"
        assert len(world.promised[0]) <= 4
        world.step_ahead()
    assert world.opened_ahead == 68
    world.run()
    assert world.check_account().missing == []


@pytest.mark.parametrize("answers", [1, 5, 10])
def test_files_that_were_opened_ahead_are_left_to_workers_of_their_hosts(answers):
    world = World([50] * 16, first, 2, hosts=["a", "b"], known={0}, ahead=lambda file: 10_000)
    workers = world.packetizer._state.workers
    while sum(len(worker.coming) for worker in workers.values()) < 10:
        world.step()
    for _ in range(answers):
        world.step_ahead()
    opened = [(n, file) for n, w in workers.items() for file in [*w.ready, *w.coming]]
    strayed = [(n, file) for n, file in opened if file.number % 2 != n]
    assert 3 < len(strayed) < len(opened)
    world.tell(FilesLocated({n: "x://b/" if n % 2 else "x://a/" for n in range(16)}))
    for number, file in opened:
        worker = workers[number]
        is_own = (number, file) not in strayed
        assert (file in worker.ready or file in worker.coming.keys() - worker.declined) == is_own
    for number, file in strayed:
        if file in workers[number].coming:
            hint = OpenAhead(number, file.number)
            world.opening.remove(hint)
            world.tell(world.opened(number, file.number, beside=True))
            assert file not in workers[number].ready
    world.run()
    assert world.check_account().missing == []


def test_a_file_that_is_read_stays_where_it_is():
    world = World([400], min, 2, known={0}, hosts=["a", "b"], nodes=["x://redirector/"])
    nodes, (file,) = world.packetizer._state.nodes, world.packetizer._state.files
    reader = next(w for w in world.packetizer._state.workers.values() if w.file is file)
    world.tell(FilesLocated({0: "x://b/"}))
    assert nodes.host(file) == "redirector", "it was taken up before"
    assert nodes.next_in(reader) is file
    world.run()
    assert world.check_account().missing == []
