"""Several small files in one order: nothing is lost or done twice, whatever goes wrong."""

import tracemalloc

import pytest
from treemill.scheduling import (
    Commit,
    FileOpened,
    FilesDone,
    OpenFile,
    PacketDone,
    Packetizer,
    Policy,
    Process,
    ProcessFiles,
    Spent,
    WorkerJoined,
)
from treemill.scheduling.ledger import Ledger

from tests.python.packet_history import History
from tests.python.packet_world import World

FILES = 40


def lived(seed, **options):
    history = History(seed, files=FILES, small=True, **options)
    history.live()
    coverage = history.world.check_account()
    assert len(history.world.finishes) == 1
    return history.world, coverage


@pytest.mark.parametrize("mergers", [False, True])
@pytest.mark.parametrize("reserve", [False, True])
def test_each_entry_is_counted_once_whatever_happens_to_workers(mergers, reserve):
    at_once = 0
    for seed in range(10):
        world, coverage = lived(seed, mergers=mergers, reserve=reserve)
        assert coverage.missing == []
        assert coverage.entries == sum(world.sizes)
        at_once = max(at_once, world.at_once)
    assert at_once > 1, "there were orders of several files"


@pytest.mark.parametrize("seed", range(30))
def test_what_fails_is_missing_and_nothing_else(seed):
    lived(seed, fails=True, stops=seed % 2 == 0, mergers=seed % 3 == 0, done=seed % 5 == 0)


def world_of(sizes, workers=1, **options):
    # The packetizer looks through all of its files to validate what it knows.
    few = len(sizes) <= FILES
    return World(
        sizes, lambda choices: choices[-1], workers, small_files=True, validates=few, **options
    )


def orders_of(world, fails=lambda order: None):
    found = []
    while world.ready:
        worker = world.ready[0]
        found.append(world.orders[worker])
        world.step_of(worker, fails)
        if not len(found) % 50:
            world.packetizer.validate()
    return found


def test_thousands_of_files_take_few_orders():
    world = world_of([3] * 3000)
    orders = orders_of(world)
    assert world.check_account().entries == 9000
    assert sum(isinstance(order, ProcessFiles) for order in orders) > 10
    assert len(orders) < 1000


def test_a_large_file_among_small_ones_has_packets_of_its_own():
    sizes = [3] * 500
    sizes[300] = 5000
    world = world_of(sizes, workers=2)
    orders_of(world)
    assert world.check_account().entries == sum(sizes)
    assert any(packet.file == 300 for _, packet in world.packets)


def test_several_files_are_given_up_if_they_are_refused_again_and_again():
    world = world_of([3] * 500)
    world.choose = lambda choices: choices[0]  # none of them is done
    orders = orders_of(world)
    assert world.check_account().entries == 1500
    assert sum(isinstance(order, ProcessFiles) for order in orders) == 3


def after_one_file(seconds, opening):
    """The packetizer of many files after the first one, and the worker's next order."""
    packetizer = Packetizer([None] * 100, Policy(small_files=True))
    (order,) = packetizer.handle(WorkerJoined(0), 0.0)
    (order,) = packetizer.handle(FileOpened(0, order.file, 10), 0.0)
    assert isinstance(order, Process)
    spent = Spent(0.0, opening, seconds)
    done = PacketDone(0, order.packet.number, 10, seconds, spent=spent)
    return packetizer, packetizer.handle(done, seconds)[-1]


def test_files_that_are_slow_to_open_by_themselves_are_tried_together():
    packetizer, order = after_one_file(0.2, 0.19)
    assert isinstance(order, ProcessFiles)
    assert order.files == range(1, 3)
    order = packetizer.handle(FilesDone(0, (10, 10), 10, 0.002), 0.3)[-1]
    assert len(order.files) > 10, "together they are not"
    packetizer, order = after_one_file(0.2, 0.19)
    orders = [packetizer.handle(FilesDone(0, (10,), 10, 0.2), 0.3 + i / 100)[-1] for i in range(3)]
    assert [type(order) for order in orders] == [ProcessFiles, ProcessFiles, OpenFile], "slow, too"
    assert isinstance(after_one_file(0.2, 0.01)[1], OpenFile), "it is no small file"


def test_a_failure_is_that_of_one_file():
    def fails(order):
        files = getattr(order, "files", ()) or (getattr(order, "file", None),)
        if isinstance(order, Commit) or 250 not in files:
            return None
        return OSError("this one")

    world = world_of([3] * 500, skip_errors=True)
    world.choose = lambda choices: choices[len(choices) // 2]
    orders_of(world, fails)
    coverage = world.check_account()
    assert [missing.file for missing in coverage.missing] in ([250], [])
    assert coverage.entries >= 1497


def test_the_account_of_small_files_keeps_little_of_each():
    files = 20_000
    ledger, numbers = Ledger(), range(files)
    tracemalloc.start()
    try:
        for first in range(0, files, 500):
            ledger.files_done(1, numbers[first : first + 500], [3] * 500)
        ledger.commit(1)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 150 * files
    assert ledger.coverage().entries == 3 * files
    ledger.files_done(1, [7], [3])
    with pytest.raises(RuntimeError, match="twice"):
        ledger.commit(1)


def test_small_files_of_a_lost_worker_are_packets_again():
    ledger = Ledger()
    ledger.files_done(1, [4, 5, 6], [3, 0, 2])
    assert [(each.file, each.start, each.stop) for each in ledger.held(1)] == [(4, 0, 3), (6, 0, 2)]
    _, lost = ledger.take_back(1)
    assert [(each.file, each.stop) for each in lost] == [(4, 3), (6, 2)]
    assert len({each.number for each in lost}) == 2
    assert not ledger.has_done(1)
    assert ledger.spans(4) == []
