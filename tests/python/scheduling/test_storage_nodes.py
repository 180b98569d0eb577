"""Which file a worker gets next: its own node's, then those of the node that is farthest behind."""

import pytest
from treemill.scheduling import FileSize, node_of
from treemill.scheduling.entities import Files, WorkerState
from treemill.scheduling.storage_nodes import Left, StorageNodes, host_of


@pytest.mark.parametrize(
    ("url", "node", "host"),
    [
        ("root://host.cern.ch:1094//data1/a/b.root", "root://host.cern.ch/data1", "host.cern.ch"),
        ("https://HOST/a.root", "https://host/", "host"),
        ("s3://bucket/folder/a.root", "s3://bucket/folder", "bucket"),
        ("/pool/a.root", "file:///pool", ""),
        ("a.root", "file:///", ""),
    ],
)
def test_names(url, node, host):
    assert node_of(url) == node
    assert host_of(node) == host


def made(entries, names, max_foreign=None):
    files = Files([None if n is None else FileSize(n) for n in entries])
    return files, StorageNodes(files, names, max_foreign)


def give(nodes, worker):
    file = nodes.pick(worker, 0.0)
    if file is not None:
        nodes.move(worker, file)
    return None if file is None else file.number


def test_own_node_first_then_the_one_with_most_left():
    _, nodes = made([100, 100, 1000, 1000], ["x://a/", "x://b/", "x://b/", "x://c/"])
    # a's 100 entries are not that far behind as long as others read there too.
    assert give(nodes, WorkerState(0, "c")) == 3
    assert give(nodes, WorkerState(1, "b")) == 1
    assert give(nodes, WorkerState(2, None)) == 2  # 1100 left at b, with no more than one reader


def test_a_node_far_behind_is_helped_before_the_own_is_empty():
    files, nodes = made([1000, 10_000], ["x://a/", "x://b/"])
    worker = WorkerState(0, "a")
    assert give(nodes, worker) == 1
    slow, fast = WorkerState(1, "a"), WorkerState(2, "b")
    nodes.move(slow, files[0])
    nodes.measured(slow, files[0], 100, 100.0)
    nodes.move(fast, files[1])
    nodes.measured(fast, files[1], 10_000, 1.0)
    assert nodes.next_in(fast) is None, "leaves its file for the one that needs 1,000 s"
    assert nodes.next_in(slow) is files[0]


def test_at_most_so_many_readers_of_other_hosts():
    _, nodes = made([100] * 5, ["x://a/"] * 5, max_foreign=1)
    far, near = WorkerState(0, "b"), WorkerState(1, "a")
    assert give(nodes, far) is not None
    assert give(nodes, WorkerState(2, "b")) is None
    assert give(nodes, near) is not None, "its own host's are not counted"
    nodes.move(far, None)
    assert give(nodes, WorkerState(3, "b")) is not None


def test_a_finished_node_is_not_offered():
    files, nodes = made([100, 50], ["x://a/", "x://b/"])
    worker = WorkerState(0)
    assert give(nodes, worker) == 0
    nodes.take(files[0], 100)
    assert nodes.next_in(worker) is None
    assert give(nodes, worker) == 1
    nodes.take(files[1], 50)
    assert give(nodes, worker) is None
    assert not nodes.left.is_some


def test_a_file_of_unknown_size_is_work_until_it_is_opened():
    files, nodes = made([None], [None])
    assert nodes.left.is_some
    assert give(nodes, WorkerState(0)) == 0
    assert not nodes.left.is_some
    files[0].entries = 10
    nodes.opened(files[0])
    assert nodes.left.is_some
    assert give(nodes, WorkerState(1)) == 0


def test_files_that_are_located_are_read_on_their_hosts():
    files, nodes = made([100, 100, None, 200], ["x://redirector/"] * 4)
    assert nodes.pick(WorkerState(0), 100.0) is files[0], "to be opened ahead"
    nodes.take(files[0], 10)
    nodes.locate(dict(enumerate(["x://a/", "x://a/", "x://b/", "x://b/"])))
    assert nodes.left == Left(390, 1)
    assert [nodes.host(file) for file in files] == ["a", "a", "b", "b"]
    assert give(nodes, WorkerState(1, "b")) == 2
    assert give(nodes, WorkerState(2, "b")) == 3
    assert give(nodes, WorkerState(3, "a")) == 1


def test_what_is_being_opened_is_left_still():
    files, nodes = made([None] * 4, ["x://a/", "x://a/", "x://b/", "x://b/"])
    assert nodes.pick(WorkerState(0, "a"), 1.0) is files[0]
    nodes.begin_opening(0)
    assert nodes.pick(WorkerState(0, "a"), 1.0) is files[1], "no node is behind"
    nodes.end_opening(0)
    assert nodes.pick(WorkerState(0, "a"), 1.0) is files[2], "it could not be opened"


def test_a_worker_that_looks_for_its_next_file_is_no_reader_of_its_node():
    files, nodes = made([100] * 11, ["x://a/"] * 5 + ["x://b/"] * 6)
    readers = [WorkerState(0, "a"), WorkerState(1, "b")]
    assert [give(nodes, worker) for worker in readers] == [0, 5]
    for worker in readers:
        nodes.take(worker.file, 100)
        nodes.measured(worker, worker.file, 100, 1.0)
    assert nodes.pick(readers[0], 0.0) is files[1], "b has more left, and a reader of its own"


def test_a_reader_may_stay_on_a_node_that_is_full_because_of_it():
    files, nodes = made([100, 100], ["x://a/", "x://a/"], max_foreign=1)
    far = WorkerState(0, "b")
    assert give(nodes, far) == 0
    nodes.take(files[0], 100)
    assert give(nodes, WorkerState(1, "c")) is None, "the place is taken"
    assert give(nodes, far) == 1


def test_a_node_comes_to_the_top_when_files_turn_out_large_or_its_reader_slow():
    files, nodes = made([None, None, 100, 100], ["x://a/", "x://a/", "x://b/", "x://c/"])
    assert nodes.pick(WorkerState(0), 10.0) is files[2], "two files of 10 entries"
    assert nodes.pick(WorkerState(0), 1000.0) is files[0], "two files of 1,000 entries"
    files, nodes = made([100, 110], ["x://a/", "x://b/"])
    reader = WorkerState(0, "a")
    nodes.move(reader, files[0])
    nodes.measured(reader, files[0], 10, 0.1)
    assert nodes.pick(WorkerState(1), 1.0) is files[1]
    nodes.measured(reader, files[0], 10, 10.0)
    nodes.take(files[1], 60)
    assert nodes.pick(WorkerState(1), 1.0) is files[0]
