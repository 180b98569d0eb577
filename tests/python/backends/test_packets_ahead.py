"""What a worker of a cluster may begin without an order, and when it tells what it has done."""

from treemill.backends.dask.pass_workers import GATHER, ReservedPackets
from treemill.backends.dask.pool import SIZING
from treemill.scheduling import Packet


def packets(count):
    return [Packet(number, 0, 10 * number, 10 * number + 10, 1) for number in range(count)]


def filled(count):
    ahead, made = ReservedPackets(), packets(count)
    for packet in made:
        ahead.add(7, packet)
    return ahead, made


def told(ahead, count):
    return [ahead.take(7)[1] for _ in range(count)]


def test_packets_come_in_order_and_to_their_worker_only():
    ahead, made = filled(3)
    assert ahead.take(8) is None
    assert [ahead.take(7)[0] for _ in made] == made
    assert ahead.take(7) is None


def test_each_packet_is_told_if_one_is_ahead():
    ahead, made = filled(1)
    assert told(ahead, 1) == [True]
    ahead.add(7, made[0])
    assert told(ahead, 1) == [True]


def test_packets_are_told_whenever_half_of_those_ahead_are_used_up():
    ahead, made = filled(12)
    assert told(ahead, 9) == [False] * 5 + [True, False, False, True]
    ahead.add(7, made[0])
    assert told(ahead, 4) == [False, True, True, True], "those that came count from then on"
    assert ahead.take(7) is None


def test_a_partial_is_put_aside_before_the_packet_that_says_so():
    ahead, made = ReservedPackets(), packets(4)
    for packet in made:
        ahead.add(7, packet, packet is made[2])
    assert [ahead.take(7)[2] for _ in made] == [False, False, True, False]


def test_nothing_is_put_aside_before_a_packet_that_is_ordered_instead():
    ahead, made = ReservedPackets(), packets(2)
    ahead.add(7, made[0], aside=True)
    ahead.add(7, made[1])
    ahead.begin(7, made[0])
    assert ahead.take(7) == (made[1], True, False)


def test_what_is_not_told_at_once_waits_no_longer_than_what_is_ahead_nor_much_shorter():
    """Shorter, and each worker calls the scheduler more often than its packets need: it does when
    half of them are left."""
    assert SIZING.ahead == GATHER


def test_what_is_forgotten_is_not_begun():
    ahead, made = filled(3)
    assert ahead.forget(7, made[1])
    assert not ahead.forget(7, made[1])
    assert not ahead.forget(8, made[0])
    ahead.begin(7, made[0])
    assert ahead.take(7)[0] == made[2]
    assert not ahead.forget(7, made[2]), "it was begun"
