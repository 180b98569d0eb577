"""Files by number, of which few have objects: what is handed out together is noted together."""

from random import Random

import pytest
from treemill.scheduling import FileSize
from treemill.scheduling.entities import Counts, Files, FreshFiles, WorkerState, joined_numbers
from treemill.scheduling.storage_nodes import Left, StorageNodes


def test_numbers_that_follow_one_another_are_a_range():
    assert joined_numbers(3, ()) == range(3, 4)
    assert joined_numbers(3, range(4, 9)) == range(3, 9)
    assert joined_numbers(3, range(5, 7)) == (3, 5, 6)
    assert joined_numbers(3, [4, 6]) == (3, 4, 6)


def test_counts_are_those_of_a_mapping():
    chance, counts, known = Random(1), Counts(), {}
    for _ in range(300):
        start = chance.randrange(50)
        files = range(start, start + chance.randrange(8))
        if chance.random() < 0.3:
            files = chance.sample(range(60), 4)
        if chance.random() < 0.3:
            counts.take_out(files)
            known = {file: count for file, count in known.items() if file not in files}
        else:
            new = {file: chance.randrange(3) for file in files}
            counts.put(files, new.values())
            known |= new
        assert dict(counts.items()) == known
        assert counts.among(files) == {file: known[file] for file in files if file in known}
        assert counts.get(start) == known.get(start)


def fresh_files(sizes):
    files = Files([None if size is None else FileSize(size) for size in sizes])
    fresh = FreshFiles(files)
    for piece in files.pieces(range(len(sizes))):
        fresh.append(piece)
    return files, fresh


def test_files_without_entries_are_not_read():
    files, fresh = fresh_files([10, 0, None, 0])
    assert list(fresh) == [0, 2]
    assert len(fresh) == 2
    assert files.left(list(fresh)) == (1, 10)


def test_files_are_taken_up_to_the_first_one_that_is_large_or_begun():
    files, fresh = fresh_files([10, 10, None, 99, 10])
    assert fresh.take(1, 50) == range(1)
    assert fresh.take(10, 50) == range(1, 3)
    assert fresh.take(10, 50) == []
    assert fresh.pop() is files[3]
    files[4].begin_with([(0, 5)])
    assert [*files.pieces(range(4, 5))] == [files[4]], "it is one that has something done"
    assert len(fresh) == 1


def test_files_that_come_back_are_the_first_ones_again():
    _, fresh = fresh_files([None] * 9)
    assert fresh.take(6, 50) == range(6)
    fresh.put_back(range(4, 6))
    fresh.put_back(range(1, 2))
    assert list(fresh) == [1, 4, 5, 6, 7, 8]
    assert len(fresh) == 6
    assert fresh.withdraw({4, 7}) == [4, 7]
    assert list(fresh) == [1, 5, 6, 8]
    assert fresh.take(3, 50) == [1, 5, 6]


@pytest.mark.parametrize("size", [None, 10])
def test_a_file_is_the_same_with_and_without_an_object(size):
    files, _ = fresh_files([size] * 4)
    seen = files[2]
    files.hand_out(range(1, 4), [7, 8, 9])
    assert [files.peek(number).left for number in range(4)] == [size or 0, 0, 0, 0]
    assert seen.entries == seen.next == 8
    assert files.known(range(1, 4)) == {1: 7, 2: 8, 3: 9}
    files.take_back(range(3, 4))
    assert files.known(range(3, 4)) == ({} if size is None else {3: 10})
    assert files.entries() == ({} if size is None else {0: 10, 3: 10}) | {1: 7, 2: 8}


def test_a_file_that_came_back_and_is_located_counts_once():
    files = Files([FileSize(10), FileSize(20)])
    nodes = StorageNodes(files, ["x://redirector/"] * 2, None)
    file = nodes.pick(WorkerState(0), 1.0)
    nodes.take(file, 10)
    files.take_back(range(1))
    nodes.put_back(range(1))
    assert nodes.left == Left(30, 0)
    nodes.locate({0: "x://a/"})
    assert nodes.left == Left(30, 0)
