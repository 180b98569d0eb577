"""Hundreds of small files: the same results as one after another, on threads and processes, and
what is unusual about one of them is said of that one."""

import shutil
import tracemalloc

import numpy as np
import pytest
import treemill as tm
import uproot
from treemill.data.chain_trees import ChainTrees
from treemill.data.location import Location
from treemill.errors import ChangedError, FormatError
from treemill.scheduling import OpenFile
from treemill.workers.file_query import PerFile
from treemill.workers.worker import Worker

from tests.raising import raises

FILES = 300


def write(path, **columns):
    with uproot.recreate(path) as file:
        if int(path.stem[1:]) % 2:
            file.mktree("Events", {name: values.dtype for name, values in columns.items()})
            file["Events"].extend(columns)
        else:
            file["Events"] = columns  # an RNTuple


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of 20 entries, x = 0, 1 … over all of them."""
    where = tmp_path_factory.mktemp("many")
    for number in range(FILES):
        x = np.arange(20 * number, 20 * number + 20, dtype="int32")
        write(where / f"f{number:03}.root", x=x, w=np.ones(20))
    return where


@pytest.fixture
def files(folder, tmp_path):
    """A copy of the first of them, to be spoilt."""
    for path in folder.iterdir():
        shutil.copy2(path, tmp_path / path.name)
    return tmp_path


def total(events):
    return events.sum("x"), events.count()


@pytest.mark.parametrize("mode", ["threads", "processes"])
@pytest.mark.parametrize("workers", [1, 2])
def test_results_are_those_of_all_entries(folder, mode, workers):
    events = tm.dataset(str(folder / "*.root"), tree="Events")
    booked = events.filter("x % 2 == 0").hist("x", bins=(30, 0, 6000), weight="w")
    with tm.connect(workers=workers, mode=mode) as session:
        for _ in range(2):
            query = session.submit(booked, *total(events))
            hist, sums, count = query.result()
            assert (sums, count) == (6000 * 5999 // 2, 6000)
            assert np.array_equal(hist.values(), np.full(30, 100.0))
            assert query.report.entries == 6000
    assert events.num_entries == 6000


def test_results_of_data_sets_stay_apart(folder):
    names = [str(folder / f"f{number:03}.root") for number in range(FILES)]
    fileset = {f"set {i}": {"files": dict.fromkeys(names[i::50], "Events")} for i in range(50)}
    sums = tm.run(tm.fileset(fileset).sum("x"))
    assert dict(sums.items()) == {
        f"set {i}": sum(sum(range(20 * n, 20 * n + 20)) for n in range(i, FILES, 50))
        for i in range(50)
    }


def test_a_broken_file_among_them_is_named(files):
    path = files / "f150.root"
    path.write_bytes(path.read_bytes()[:700])
    events = tm.dataset(str(files / "*.root"), tree="Events")
    with pytest.raises(tm.FormatError) as caught:
        tm.run(events.count())
    assert "f150" in str(caught.value)
    with pytest.warns(UserWarning, match="f150"):
        sums, count = tm.run(*total(events), on_error="skip")
    assert count == 5980
    assert sums == 6000 * 5999 // 2 - sum(range(3000, 3020))


def test_a_basket_that_is_broken_spoils_nothing_but_its_file(files):
    path = files / "f151.root"
    content = bytearray(path.read_bytes())
    with uproot.open(path) as file:
        seek = int(file["Events"]["x"].member("fBasketSeek")[0])
    content[seek : seek + 4] = b"\x00\x00\x00\x05"  # the length of its key
    path.write_bytes(content)
    events = tm.dataset(str(files / "*.root"), tree="Events")
    with pytest.raises(tm.FormatError) as caught:
        tm.run(events.sum("x"))
    assert "f151" in str(caught.value)
    with pytest.warns(UserWarning, match="f151"):
        sums = tm.run(events.sum("x"), on_error="skip")
    assert sums == 6000 * 5999 // 2 - sum(range(3020, 3040))


def test_files_that_differ_are_each_read_as_they_are(files):
    write(files / "f100.root", x=np.arange(2000.0, 2020.0), w=np.full(20, 2.0))
    write(files / "f200.root", x=np.arange(4000, 7000, dtype="int32"), w=np.ones(3000))
    events = tm.dataset(str(files / "*.root"), tree="Events")
    expected = sum(range(6000)) - sum(range(4000, 4020)) + sum(range(4000, 7000))
    assert tm.run(events.sum("x")) == expected
    assert tm.run(events.sum("w")) == 5980 + 20 + 3000


def test_a_column_that_one_of_them_lacks_is_an_error_that_names_it(files):
    write(files / "f123.root", y=np.zeros(3))
    events = tm.dataset(str(files / "*.root"), tree="Events")
    with pytest.raises(tm.QueryError) as caught:
        tm.run(events.sum("x"))
    assert "f123" in str(caught.value)
    defaulted = tm.dataset(str(files / "*.root"), tree="Events", missing={"x": 0})
    assert tm.run(defaulted.sum("x")) == sum(range(6000)) - sum(range(2460, 2480))


def test_files_that_are_replaced_during_a_pass_are_an_error(files):
    events = tm.dataset(str(files / "*.root"), tree="Events")
    with tm.connect(workers=1) as session:
        assert session.run(events.sum("x")) == 6000 * 5999 // 2
        (files / "f010.root").write_bytes((files / "f011.root").read_bytes())
        shutil.copyfile(files / "f299.root", files / "f298.root")
        expected = 6000 * 5999 // 2 + 20 * 20 + 20 * 20
        assert session.run(events.sum("x")) == expected, "between passes they may change"


class Spoilt:
    """A workload whose file is no ROOT file when it is opened."""

    def __init__(self, changed):
        self.seen = changed

    def size(self, file):
        raise FormatError("not a ROOT file")

    def changed(self, file):
        return self.seen


@pytest.mark.parametrize("changed", [None, ChangedError("it was written to")])
def test_a_file_that_is_written_while_it_is_opened_is_one_that_has_changed(core, changed):
    worker = Worker(0, Spoilt(changed), core.Control(), None, None)
    failed = worker.perform(OpenFile(0, 0))
    assert isinstance(failed.error, FormatError if changed is None else ChangedError)
    assert not failed.retry


def seen_by_the_core(number, size=6029):
    modified, changed = 10**18 + number, 10**18 + 2 * number
    return size, changed, (5, 1_000_000 + number, modified, changed)


UUID = "00c0ffee-0000-0000-0000-000000000001"


def trees_of(files):
    return ChainTrees([Location(f"/data/f{number}.root", "Events") for number in range(files)])


def test_python_keeps_nothing_of_files_that_are_not_open():
    files = 10_000
    trees = trees_of(files).pinned()
    states = [seen_by_the_core(number) for number in range(files)]
    tracemalloc.start()
    try:
        assert all(trees.near.opened(number, each, UUID) for number, each in enumerate(states))
        kept = tracemalloc.get_traced_memory()[0] / files
    finally:
        tracemalloc.stop()
    assert kept < 1
    assert trees.identity(files - 1) == states[-1]


def test_a_pass_goes_by_what_it_has_seen_first():
    trees = trees_of(9)
    first, second = trees.pinned(), trees.pinned()
    seen, other = seen_by_the_core(4), seen_by_the_core(4, size=6030)
    assert first.near.opened(4, seen, UUID)
    assert first.near.opened(4, seen, UUID)
    assert not first.near.opened(4, other, UUID)
    assert first.identity(4) == seen
    assert first.near.state(4) == (seen, UUID)
    assert second.near.identity(4) is None
    assert second.near.opened(4, other, None)
    assert trees.near.opened(4, other, None), "outside of passes files may change"
    assert trees.near.opened(4, seen, None)


def test_what_the_core_has_no_place_for_is_left_to_python():
    trees = ChainTrees([Location("/data/ü.root"), Location("/data/a.root", replicas=("a", "b"))])
    near = trees.pinned().near
    assert [near.note(number, seen_by_the_core(0)) for number in (0, 1, 2)] == [None] * 3
    assert near.all_seen() == []


def test_files_that_changed_are_found_by_any_number_of_threads(tmp_path):
    files = 2500  # more than one thread looks at
    paths = [tmp_path / f"f{number:04}" for number in range(files)]
    for path in paths:
        path.write_bytes(b"1")
    trees = ChainTrees([Location(str(path)) for path in paths]).pinned()
    trees.look(range(files))
    assert trees.near.all_seen() == list(range(files))
    assert trees.changed(threads=4) is None
    paths[7].write_bytes(b"12")
    paths[2400].unlink()
    for threads in (1, 4):
        assert trees.near.changed(threads=threads) == [7, 2400]
        assert trees.near.changed([2400, 8, 7], threads=threads) == [2400, 7]
        assert isinstance(trees.changed(threads=threads), ChangedError)


@pytest.fixture
def at_once(monkeypatch):
    """The numbers of files that orders have had, one number for each order of several files."""
    found = []
    run = Worker._process_files

    def counted(worker, order):
        event = run(worker, order)
        found.append(len(event.entries))
        return event

    monkeypatch.setattr(Worker, "_process_files", counted)
    return found


def rows(**options):
    def read(events, session, folder):
        booked = events.filter("x % 3 == 0").take("x")
        return list(session.run(booked, **options))

    return read


def snapshot(events, session, folder):
    session.run(events.filter("x % 3 == 0").snapshot(str(folder / "out.root"), columns=["x"]))
    with uproot.open(folder / "out.root") as file:
        return list(file["Events"]["x"].array(library="np"))


class Kept(tm.Selector):
    def begin_worker(self, inputs):
        self.output["x"] = []

    def process(self, events):
        x = np.asarray(events.x)
        self.output["x"].extend(x[x % 3 == 0].tolist())


def selector(events, session, folder):
    return sorted(session.run(Kept(), events)["x"])


def processor(events, session, folder):
    from coffea.processor import ProcessorABC

    class Sums(ProcessorABC):
        def process(self, events):
            x = np.asarray(events.x)
            return {"x": set(x[x % 3 == 0].tolist())}

        def postprocess(self, accumulator):
            return accumulator

    return sorted(session.run(Sums(), events)["x"])


def friend(events, session, folder):
    other = tm.dataset([str(p) for p in sorted(folder.glob("f*.root"))], tree="Events")
    both = events.add_friend(other, alias="o")
    return list(session.run(both.filter("o.x % 3 == 0").take("x")))


EVERY_THIRD = list(range(0, 6000, 3))


@pytest.mark.parametrize("mode", ["threads", "processes"])
@pytest.mark.parametrize("kind", [rows(), snapshot, selector, processor, friend])
def test_several_files_come_in_one_order_whatever_is_done_with_them(
    folder, tmp_path, mode, kind, at_once, shared_session
):
    if kind is processor:
        pytest.importorskip("coffea")
    for path in folder.iterdir():
        shutil.copy2(path, tmp_path / path.name)
    events = tm.dataset(str(tmp_path / "f*.root"), tree="Events")
    session = shared_session(2, mode)
    assert kind(events, session, tmp_path) == EVERY_THIRD
    if mode == "threads":  # processes have workers of their own
        assert max(at_once, default=0) > 1


@pytest.mark.parametrize("span", [(7, 5993), (25, 26), (0, 6000), (3990, None)])
def test_ranges_of_entries_are_those_of_all_files_together(folder, span, at_once):
    events = tm.dataset(str(folder / "*.root"), tree="Events")
    with tm.connect(workers=2) as session:
        found = session.run(events.take("x"), events.sum("x"), entries=span)
        expected = list(range(6000))[slice(*span)]
        assert list(found[0]) == expected
        assert found[1] == sum(expected)
    if len(expected) > 2000:
        assert max(at_once) > 1


@pytest.mark.parametrize("kind", [rows(on_error="skip"), selector])
def test_a_file_that_fails_among_several_takes_nothing_else_with_it(files, kind):
    path = files / "f151.root"
    content = bytearray(path.read_bytes())
    with uproot.open(path) as file:
        seek = int(file["Events"]["x"].member("fBasketSeek")[0])
    content[seek : seek + 4] = b"\x00\x00\x00\x05"  # the length of its key
    path.write_bytes(content)
    events = tm.dataset(str(files / "*.root"), tree="Events")
    with tm.connect(workers=2) as session:
        if kind is selector:
            with pytest.raises(tm.FormatError) as caught:
                kind(events, session, files)
            assert "f151" in str(caught.value)
            return
        with pytest.warns(UserWarning, match="f151"):
            found = kind(events, session, files)
    assert found == [x for x in EVERY_THIRD if not 3020 <= x < 3040]


def test_rows_of_files_with_other_types_are_in_order_and_exact(files):
    write(files / "f100.root", x=np.arange(2000.0, 2020.0) + 0.5, w=np.ones(20))
    write(files / "f150.root", x=np.full(20, 2**40), w=np.ones(20))
    events = tm.dataset(str(files / "*.root"), tree="Events")
    expected = np.arange(6000.0)
    expected[2000:2020] += 0.5
    expected[3000:3020] = 2.0**40
    with tm.connect(workers=2) as session:
        assert np.array_equal(session.run(events.take("x")), expected)


def test_an_error_of_a_selector_names_its_own_file(folder):
    class Fails(tm.Selector):
        def process(self, events):
            if 3000 in np.asarray(events.x):
                raise ValueError("these")

    events = tm.dataset(str(folder / "*.root"), tree="Events")
    with pytest.raises(tm.TreemillError) as caught:
        tm.run(Fails(), events)
    assert "f150" in str(caught.value)


def number_of(file):
    return int(file.path[-8:-5])


def constants(events):
    """What files of different numbers have in common columns, of each type that a constant has."""
    events = events.define_per_file("number", number_of)
    events = events.define_per_file("is_odd", lambda file: number_of(file) % 2 == 1)
    events = events.define_per_file("half", lambda file: number_of(file) / 2)
    events = events.define_per_file("big", lambda file: 2**63 + 2048 * number_of(file))
    return events.define_per_file("label", lambda file: f"f{number_of(file) % 3}")


@pytest.fixture
def opened(monkeypatch):
    """The numbers of the files that were bound one by one."""
    found = []
    bind = PerFile.bind

    def noted(self, chain, file, *rest):
        found.append(file)
        return bind(self, chain, file, *rest)

    monkeypatch.setattr(PerFile, "bind", noted)
    return found


def test_constants_of_files_are_those_of_each_and_files_come_in_one_order(folder, at_once, opened):
    events = constants(tm.dataset(str(folder / "*.root"), tree="Events"))
    numbers = np.arange(FILES)
    booked = [
        events.sum("number"),
        events.filter("is_odd").count(),
        events.sum("half"),
        events.filter("label == 'f1'").sum("x"),
        events.filter("x % 20 == 0 && label != 'f0'").take("half"),
        events.filter("x % 20 == 19").take("big"),
    ]
    # Two workers share the last files out one by one if the machine is busy.
    with tm.connect(workers=1) as session:
        *found, halves, big = session.run(*booked)
    x = np.arange(20 * FILES)
    assert found == [
        20 * numbers.sum(),
        20 * FILES // 2,
        10 * numbers.sum(),
        x[x // 20 % 3 == 1].sum(),
    ]
    assert list(big) == [2**63 + 2048 * number for number in range(FILES)]
    assert np.array_equal(halves, numbers[numbers % 3 != 0] / 2)
    assert max(at_once) > 1
    assert len(opened) < FILES // 2


def test_constants_of_a_fileset_are_those_of_each_sample(folder, at_once):
    names = [str(folder / f"f{number:03}.root") for number in range(FILES)]
    fileset = {
        f"set{i}": {"files": dict.fromkeys(names[i::2], "Events"), "metadata": {"scale": i + 0.5}}
        for i in range(2)
    }
    sums = tm.run(tm.fileset(fileset).sum("x * scale"))
    odd = np.arange(20 * FILES) // 20 % 2
    for i in range(2):
        assert sums[f"set{i}"] == (np.arange(20 * FILES)[odd == i] * (i + 0.5)).sum()
    assert max(at_once) > 1


def test_a_constant_that_one_file_has_as_a_branch_is_an_error_that_names_it(files):
    write(files / "f123.root", x=np.arange(20, dtype="int32"), number=np.zeros(20))
    events = constants(tm.dataset(str(files / "*.root"), tree="Events"))
    with raises(tm.QueryError, said="number is a branch") as caught:
        tm.run(events.sum("number"))
    assert "f123" in str(caught.value)


def test_a_function_of_a_constant_that_fails_is_called_once_a_file_and_named(folder):
    called = []

    def fails(file):
        called.append(file.path)
        if number_of(file) == 123:
            raise ValueError("not this one")
        return 1

    events = tm.dataset(str(folder / "*.root"), tree="Events").define_per_file("one", fails)
    with raises(tm.WorkerError, about="one") as caught:
        tm.run(events.sum("one"))
    assert "f123" in str(caught.value)
    good = [path for path in called if "f123" not in path]
    assert len(good) == len(set(good))
