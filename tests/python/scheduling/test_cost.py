"""The cost of packets and chunks: what each of them takes whatever its entries, and what entries
take. Pieces are long enough for the first to be a small part, where that is possible."""

import heapq
import random

import pytest
from treemill.scheduling import Cost, Sizing
from treemill.scheduling.sizing import Rates, packet_entries
from treemill.workers.packets_and_chunks import ChunkPace


@pytest.mark.parametrize(("fixed", "rate"), [(0.7, 1e5), (0.03, 2e6), (0.0, 1e4)])
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_the_fit_finds_both(fixed, rate, noise):
    chance, cost = random.Random(1), Cost()
    for _ in range(20):
        entries = int(rate * chance.uniform(0.1, 2.0))
        cost.measured(entries, (fixed + entries / rate) * chance.lognormvariate(0.0, noise))
    assert cost.fixed == pytest.approx(fixed, abs=1e-9 + noise)
    assert cost.rate == pytest.approx(rate, rel=1e-3 + 3 * noise)


def test_pieces_of_one_size_tell_nothing():
    cost = Cost()
    for _ in range(10):
        cost.measured(1000, 0.5)
    assert (cost.fixed, cost.told) == (0.0, False)
    assert cost.worth(1000) == 2000  # so the next one is another
    cost.measured(2000, 0.5)
    assert cost.fixed == pytest.approx(0.5)


def test_pieces_that_ended_early_tell_nothing():
    cost = Cost()
    cost.measured(1500, 2.0, is_whole=False)  # two chunks of a second
    cost.measured(750, 1.0)
    assert not cost.told


def chunks_of(entries, seconds):
    """The chunks of so many entries, each of which takes `seconds(its entries)`."""
    pace, chunks = ChunkPace(), []
    while entries > 0:
        chunks.append(min(pace.chunk(8.0), entries))
        entries -= chunks[-1]
        pace.took(chunks[-1], seconds(chunks[-1]))
    return chunks


@pytest.mark.parametrize("fixed", [0.06, 0.3, 0.5, 0.7, 2.0, 20.0])
def test_chunks_do_not_shrink_where_time_does_not_fall(fixed):
    chunks = chunks_of(1_000_000, lambda n: fixed)
    assert len(chunks) < 15
    assert len(chunks_of(10_000, lambda n: fixed)) <= 6


def test_a_fixed_time_is_a_tenth_of_a_chunk():
    chunks = chunks_of(3_000_000, lambda n: 0.2 + n / 100_000)
    last = sorted(chunks[len(chunks) // 2 : -1])
    assert last[0] > 0.7 * 9 * 0.2 * 100_000


def test_slow_entries_have_short_chunks():
    chunks = chunks_of(20_000, lambda n: n * 2e-3)
    assert max(chunks) <= 1000
    assert sorted(chunks)[len(chunks) // 2] == pytest.approx(250, rel=0.2)


def packets_of(fixed, rate, entries, sizing):
    """The packets of a single one of two workers, which does half of all."""
    cost, packets = Cost(), []
    left = entries
    while left > 0:
        known = cost.rate or None
        total = 2 * cost.rate
        packets.append(min(packet_entries(sizing, known, total, left, 2, cost=cost), left))
        left -= 2 * packets[-1]
        cost.measured(packets[-1], fixed + packets[-1] / rate)
    return packets


@pytest.mark.parametrize("fixed", [0.01, 0.1, 1.0])
def test_a_packets_fixed_time_is_a_tenth_of_it(fixed):
    sizing = Sizing(first=1000, shortest=1e-3, longest=1.0)
    packets = packets_of(fixed, 1e5, 3_000_000, sizing)
    # The first ones tell, and the last ones share the rest.
    small = [n for n in packets if n < 0.8 * 9 * fixed * 1e5]
    assert len(small) <= 10
    without = packets_of(0.0, 1e5, 3_000_000, sizing)
    assert len(packets) <= len(without)


def shared(files, workers, sizing):
    """The seconds that all workers together need for files of (entries, fixed time, rate), one
    after another, and the packets, as (entries, seconds)."""
    rates, packets, ended = Rates(), [], 0.0
    left = [entries for entries, _, _ in files]
    free = [(0.0, worker) for worker in range(workers)]
    busy = {}
    while free:
        now, worker = heapq.heappop(free)
        if worker in busy:
            rates.measured(worker, *busy.pop(worker), is_whole=True)
        ended = max(ended, now)
        file = next((number for number, rest in enumerate(left) if rest), None)
        if file is None:
            continue
        own, total, cost = rates.of(worker), rates.total(workers), rates.cost(worker)
        entries = packet_entries(
            sizing, own, total, sum(left), workers, cost=cost, in_file=left[file]
        )
        entries = min(entries, left[file])
        left[file] -= entries
        seconds = files[file][1] + entries / files[file][2]
        packets.append((entries, seconds))
        busy[worker] = entries, seconds
        heapq.heappush(free, (now + seconds, worker))
    return ended, packets


@pytest.mark.parametrize("workers", [2, 8])
@pytest.mark.parametrize(
    "files",
    [
        [(1_000_000, 1.0, 1e5)],
        [(300_000, 0.1, 1e5)] * 3,
        # Samples of the tt̄ analysis: those of other simulations have fewer variations.
        [(20_000, 1.1, 2e5), *[(20_000, 0.16, 1e6)] * 4, *[(20_000, 1.1, 2e5)] * 4],
    ],
)
def test_the_end_takes_few_packets_that_are_all_fixed_time(files, workers):
    """Each of them would take as long as a worker that does all that is left."""
    sizing = Sizing(first=20_000, shortest=1e-3, longest=1.0)
    alone = sum(fixed + entries / rate for entries, fixed, rate in files)
    longest = max(fixed for _, fixed, _ in files)
    seconds, packets = shared(files, workers, sizing)
    assert len(packets) <= 2 * len(files) + 6 * workers
    # What is shared is the time of entries; nobody waits for more than a few fixed times.
    assert seconds <= 1.1 * alone / workers + 6 * longest


def test_packets_without_a_fixed_time_are_as_long_as_they_were():
    sizing = Sizing(first=1000, shortest=1e-3, longest=1.0)
    packets = packets_of(0.0, 1e5, 3_000_000, sizing)
    assert max(packets[4:]) == 100_000
    assert packets[-1] < 5000


def test_pieces_that_are_all_alike_count_as_those_of_others():
    """A file whose clusters are equal may give one worker the same number of entries each time."""
    rates, fixed, rate = Rates(), 0.1, 1e6

    def took(worker, entries):
        rates.measured(worker, entries, fixed + entries / rate, is_whole=True)

    for entries in (50_000, 100_000, 300_000):
        took(0, entries)
        took(1, 50_000)
    told = rates.cost(1)
    assert told.told
    assert not told.tells
    assert told.fixed == pytest.approx(fixed, rel=0.1)
    assert told.worth(50_000) >= 300_000
    took(1, 200_000)
    assert rates.cost(1).tells  # its own count from now on
    rates.forget(0)
    took(2, 50_000)
    assert rates.cost(2).fixed == pytest.approx(fixed, rel=0.1)


def test_another_sample_has_the_same_part_that_is_fixed():
    """A sample of the same processor may take five times as long. Its first file tells how much,
    and the pieces of the sample before tell what part of that is fixed."""
    cost = Cost()
    for entries in (17_500, 2500, 20_000):
        cost.measured(entries, 0.25 + entries * 1e-5)
    assert cost.fixed == pytest.approx(0.25)
    cost.measured(20_000, 5 * 0.45)
    assert cost.fixed == pytest.approx(5 * 0.25, rel=0.25)
    assert cost.sure > 0.5 * cost.fixed
    assert cost.worth(1000) > 20_000


def test_a_worker_expects_the_part_that_is_fixed_of_the_others():
    rates = Rates()
    for entries in (17_500, 2500, 20_000):
        rates.measured(0, entries, 0.25 + entries * 1e-5, is_whole=True)
    for seconds in (0.45, 5 * 0.45):
        rates.measured(1, 20_000, seconds, is_whole=True)
    assert rates.cost(1).fixed == pytest.approx(5 * 0.25, rel=0.25)


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_waiting_for_a_lock_does_not_hide_what_is_fixed(workers):
    """Pieces last up to as many times longer as there are workers, by chance."""
    chance, cost = random.Random(3), Cost()
    for _ in range(12):
        entries = chance.randrange(1000, 40_000)
        own = 0.5 + entries * 1e-5
        stretch = chance.uniform(1.0, workers)
        cost.measured(entries, own * stretch, own=own)
    assert cost.fixed == pytest.approx(0.5 * stretch)
    assert cost.sure > 0.5 * cost.fixed


def test_a_worker_that_has_done_nothing_is_expected_to_be_like_the_others():
    rates = Rates()
    for worker in (0, 1):
        for entries in (50_000, 100_000, 300_000):
            rates.measured(worker, entries, 0.5 + entries / 1e5, is_whole=True)
    assert rates.seconds(2, 100_000) == pytest.approx(1.5, rel=0.1)
    assert rates.cost(2).rate == pytest.approx(1e5, rel=0.1)
    assert rates.cost(2).fixed == pytest.approx(0.5, rel=0.1)
    assert rates.cost(2).sure <= rates.cost(2).fixed
