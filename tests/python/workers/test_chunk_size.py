"""Chunks of selectors grow and shrink with the time that they take, within bounds."""

from treemill.workers.packets_and_chunks import FIRST_OF_COFFEA, SECONDS_OF_COFFEA, ChunkPace


def test_the_first_chunk_is_small_whatever_its_bytes():
    assert ChunkPace().chunk(1e9) == ChunkPace().chunk(0.0) == 500


def test_chunks_take_half_a_second():
    pace = ChunkPace()
    pace.took(10_000, 1.0)
    assert pace.chunk(8.0) == 5_000
    pace.took(5_000, 0.25)
    assert pace.chunk(8.0) == 10_000


def test_quick_chunks_grow_at_least_twelvefold():
    pace = ChunkPace()
    pace.took(500, 0.12)
    assert pace.chunk(8.0) == 6_000
    pace.took(500, 0.0)
    assert pace.chunk(8.0) == 200_000


def test_bounds_are_kept():
    pace = ChunkPace()
    pace.took(1, 100.0)
    assert pace.chunk(8.0) == 100
    pace.took(1_000_000, 0.1)
    assert pace.chunk(64_000.0) == 1_000


def test_columns_are_read_ahead_for_one_packet_at_most():
    pace = ChunkPace()
    assert pace.ahead(64.0) == 1_000_000
    pace.took(10_000, 1.0)
    assert pace.ahead(64.0) == 10_000
    assert pace.ahead(64_000.0) == 1_000


def test_chunks_of_coffea_are_as_long_as_packets():
    pace = ChunkPace(FIRST_OF_COFFEA, SECONDS_OF_COFFEA)
    assert pace.chunk(8.0) == 50_000
    pace.took(50_000, 0.75)
    assert pace.chunk(8.0) >= 100_000  # which a thread does in two packets' time at most
    pace.took(50_000, 10.0)
    assert pace.chunk(8.0) <= 50_000
