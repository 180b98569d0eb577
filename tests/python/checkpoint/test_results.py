"""The folder of remembered results without any run: what is there, what is damaged, what goes."""

import errno
import os

import pytest
import treemill.checkpoint.results
from hypothesis import given
from hypothesis import strategies as st
from treemill import SourceError, UnsupportedError
from treemill.checkpoint.results import Results

from tests.raising import raises

DATA, OTHER = b"d" * 16, b"e" * 16
A, B = b"a" * 16, b"b" * 16


def found(folder, data=DATA, wanted=(A, B)):
    """What another process finds."""
    results = Results(folder)
    results.look()
    return results.find(data, wanted)


def test_what_is_added_is_there_for_others(tmp_path):
    results = Results(tmp_path / "kept")
    results.add([(DATA, [7], {A: b"one", B: b"two"})])
    results.add([(OTHER, [7, 8], {A: b"three"})])
    assert results.find(DATA, [A]) == ({A: b"one"}, [7])
    assert found(tmp_path / "kept") == ({A: b"one", B: b"two"}, [7])
    assert found(tmp_path / "kept", OTHER) == ({A: b"three"}, [7, 8])
    assert found(tmp_path / "kept", b"f" * 16) == ({}, [])


def test_processes_see_what_others_add_later(tmp_path):
    first, second = Results(tmp_path), Results(tmp_path)
    first.add([(DATA, [7], {A: b"one"})])
    second.look()
    first.add([(DATA, [7], {B: b"two"})])
    second.look()
    assert second.find(DATA, [A, B])[0] == {A: b"one", B: b"two"}
    second.add([(DATA, [7], {A: b"new"})])
    assert second.find(DATA, [A])[0] == {A: b"new"}, "the newest counts"


@pytest.mark.parametrize("number", [1, 50])
def test_keys_of_small_and_large_records_are_known(tmp_path, number):
    keys = [bytes([n]) * 16 for n in range(number)]
    first, second = Results(tmp_path), Results(tmp_path)
    for data, more in ((DATA, keys), (OTHER, [*keys[1:], A])):
        first.add([(data, [7], dict.fromkeys(more, b"value"))])
    second.look()
    for results in (first, second):
        assert all(results.may_have(key) for key in (*keys, A))
        assert not results.may_have(B)


@pytest.mark.parametrize("room", [0, 40, 1 << 20])
def test_tables_are_read_or_kept_in_memory(tmp_path, monkeypatch, room):
    monkeypatch.setattr(treemill.checkpoint.results, "_TABLES", room)
    first, second = Results(tmp_path), Results(tmp_path)
    for number, key in enumerate((A, B, A)):
        first.add([(DATA, [7], {key: b"%d" % number})])
        first.settle()
    second.look()
    for results in (first, second):
        assert results.find(DATA, [A, B]) == ({A: b"2", B: b"1"}, [7])
        assert results.find(DATA, [b"c" * 16]) == ({}, [7])
    for path in tmp_path.glob("*.results"):
        path.unlink()
    assert found(tmp_path) == ({}, [])
    third = Results(tmp_path)
    third.look()
    assert third.find(DATA, [A]) == ({}, [])


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of a segment with two records."""
    folder = tmp_path_factory.mktemp("results")
    results = Results(folder)
    results.add([(DATA, [7], {A: b"one", B: b"two"})])
    results.add([(OTHER, [8], {A: b"three"})])
    (path,) = folder.glob("*.results")
    return path.read_bytes()


@given(st.data())
def test_damage_is_never_another_result(whole, tmp_path_factory, data):
    at = data.draw(st.integers(0, len(whole) - 1))
    cut = whole[:at]
    flipped = cut + bytes([whole[at] ^ data.draw(st.integers(1, 255))]) + whole[at + 1 :]
    for bad in (cut, flipped, flipped + whole, cut + whole):
        folder = tmp_path_factory.mktemp("bad")
        path = folder / "x.results"
        path.write_bytes(bad)
        path.chmod(0o600)
        values, entries = found(folder)
        assert values.items() <= {A: b"one", B: b"two"}.items()
        assert entries in ([], [7])
        values, entries = found(folder, OTHER)
        assert values.items() <= {A: b"three"}.items()
        assert entries in ([], [8])


def test_what_was_written_before_a_cut_is_there(whole, tmp_path):
    path = tmp_path / "x.results"
    path.write_bytes(whole[:-1])
    path.chmod(0o600)
    assert found(tmp_path)[0] == {A: b"one", B: b"two"}
    assert found(tmp_path, OTHER) == ({}, [])


def test_what_others_may_write_is_not_taken(tmp_path):
    Results(tmp_path).add([(DATA, [7], {A: b"one"})])
    (path,) = tmp_path.glob("*.results")
    path.chmod(0o666)
    assert found(tmp_path) == ({}, [])
    tmp_path.chmod(0o777)
    with raises(SourceError, about=str(tmp_path)):
        Results(tmp_path)


def test_the_folder_is_one_of_this_machine(tmp_path):
    with raises(UnsupportedError, about="root://server//results"):
        Results("root://server//results")
    (tmp_path / "file").write_text("")
    with raises(SourceError, about=str(tmp_path / "file")):
        Results(tmp_path / "file")


def test_a_full_disk_is_a_warning_and_what_was_there_stays(tmp_path, monkeypatch):
    results = Results(tmp_path)
    results.add([(DATA, [7], {A: b"one"})])
    write = os.write

    def half(handle, data):
        write(handle, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", half)
    with pytest.warns(RuntimeWarning, match="No space left"):
        results.add([(OTHER, [7], {A: b"two"})])
    results.add([(OTHER, [7], {A: b"two"})])
    monkeypatch.undo()
    assert found(tmp_path)[0] == {A: b"one"}
    assert found(tmp_path, OTHER)[0] == {}


def test_what_was_used_least_recently_goes(tmp_path):
    for number, data in enumerate((DATA, OTHER)):
        results = Results(tmp_path)
        results.add([(data, [7], {A: bytes(10_000)})])
        results.settle()
        (path,) = set(tmp_path.glob("*.results")) - {each.path for each in results.segments()[:-1]}
        os.utime(path, (1000 + number, 1000 + number))
    results = Results(tmp_path)
    results.look()
    results.find(DATA, [A])
    results.settle()  # the older one was used now
    assert results.prune(15_000) > 10_000
    assert found(tmp_path)[0]
    assert not found(tmp_path, OTHER)[0]
    assert results.find(DATA, [A])[0], "what is left is still found"
    assert results.prune(0) > 0
    assert results.segments() == []
    assert results.find(DATA, [A]) == ({}, [])


def test_a_run_does_not_write_more_than_the_limit(tmp_path):
    results = Results(tmp_path, limit=15_000)
    results.add([(DATA, [7], {A: bytes(10_000)})])
    results.add([(OTHER, [7], {A: bytes(10_000)})])
    results.settle()
    assert found(tmp_path)[0]
    assert not found(tmp_path, OTHER)[0]
    results.add([(OTHER, [7], {A: bytes(10_000)})])
    results.settle()
    assert found(tmp_path, OTHER)[0], "another run takes the place of the older one"
    assert not found(tmp_path)[0]


def many(folder, number=40):
    """Segments of runs of long ago, of which the last one counts for each value."""
    paths = []
    for run in range(number):
        results = Results(folder)
        results.add([(DATA, [7], {A: b"%d" % run})])
        results.add([(run.to_bytes(16, "little"), [run], {B: bytes(run)})])
        results.settle()
        paths += [each for each in folder.glob("*.results") if each not in paths]
    for run, path in enumerate(paths):
        os.utime(path, (1000 + run, 1000 + run))


def test_many_small_segments_are_joined_and_all_is_there(tmp_path):
    many(tmp_path)
    (damaged, *_) = sorted(tmp_path.glob("*.results"), key=lambda each: each.stat().st_mtime)
    (*_, foreign) = sorted(tmp_path.glob("*.results"), key=lambda each: each.stat().st_mtime)
    data = damaged.read_bytes()
    damaged.write_bytes(data[:-1])  # the second record of the first run
    os.utime(damaged, (1000, 1000))
    foreign.chmod(0o666)
    results = Results(tmp_path)
    results.look()
    results.add([(OTHER, [1], {A: b"now"})])
    assert results.compact() == 39
    assert len(results.segments()) == 3, "the new one, one of others, one that is written to"
    for each in (results, Results(tmp_path)):
        each.look()
        assert each.find(DATA, [A]) == ({A: b"38"}, [7]), "the last one that is the user's own"
        for run in range(1, 39):
            assert each.find(run.to_bytes(16, "little"), [B]) == ({B: bytes(run)}, [run])
        assert each.find(OTHER, [A])[0] == {A: b"now"}
    assert results.compact() == 0


def test_a_full_disk_leaves_segments_as_they_are(tmp_path, monkeypatch):
    many(tmp_path)
    before = {each.path: each.size for each in Results(tmp_path).segments()}

    def full(path, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(treemill.checkpoint.results, "replace_segment", full)
    assert Results(tmp_path).compact() == 0
    assert {each.path: each.size for each in Results(tmp_path).segments()} == before


def test_few_segments_and_those_in_use_stay(tmp_path):
    many(tmp_path, 31)
    assert Results(tmp_path).compact() == 0
    many(tmp_path / "more")
    for path in (tmp_path / "more").glob("*.results"):
        os.utime(path)
    assert Results(tmp_path / "more").compact() == 0


def test_many_records_are_one_write(tmp_path, monkeypatch):
    results, write, writes = Results(tmp_path), os.write, []

    def noted(handle, data):
        writes.append(len(data))
        return write(handle, data)

    monkeypatch.setattr(os, "write", noted)
    records = [(b"%016d" % n, [n], {A: b"%d" % n, B: b"b"}) for n in range(500)]
    results.add(iter(records))
    assert len(writes) == 2, "the segment's first line, and all records"
    monkeypatch.setattr(treemill.checkpoint.results, "AT_ONCE", 1000)
    results.add((data, entries, {b"c" * 16: b"c"}) for data, entries, _ in records)
    assert 2 < len(writes) < 100, "no more at once than fits into memory"
    for data, entries, values in records:
        assert found(tmp_path, data) == (values, entries)
        assert found(tmp_path, data, [b"c" * 16])[0] == {b"c" * 16: b"c"}


def test_what_does_not_fit_is_left_out_of_many(tmp_path):
    results = Results(tmp_path, limit=300)
    results.add([(DATA, [1], {A: bytes(1000)}), (OTHER, [2], {A: b"small"})])
    assert found(tmp_path, DATA) == ({}, [])
    assert found(tmp_path, OTHER) == ({A: b"small"}, [2])


def test_it_is_known_whether_a_value_may_be_anywhere(tmp_path, monkeypatch):
    monkeypatch.setattr(treemill.checkpoint.results, "_TABLES", 0)
    first, second = Results(tmp_path), Results(tmp_path)
    assert not first.may_have(A)
    first.add([(DATA, [7], {A: b"one"})])
    first.add([(OTHER, [7], {A: b"one"})])
    assert first.may_have(A)
    assert not first.may_have(B)
    first.add([(OTHER, [7], {A: b"one", B: b"two"})])
    assert first.may_have(B)
    second.look()
    assert second.may_have(A)
    assert second.may_have(B)
