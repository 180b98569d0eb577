"""What a process remembers of the files that it has read: how much, of which, and that the answers
are those of the files."""

import os

import numpy as np
import pytest
import treemill as tm
import uproot
from treemill._system import cache as caching
from treemill._system import memory
from treemill._system.cache import size_of
from treemill.backends.dask.rules import rules_of
from treemill.facility.systems import CacheDropper
from treemill.session.options import RunOptions

from tests.python.written import settled, write
from tests.raising import raises

GIGABYTE = 10**9


@pytest.fixture(autouse=True)
def cache(core):
    """For this test alone."""
    limit, directory = tm.cache.limit, tm.cache.directory
    tm.cache.limit = GIGABYTE
    tm.cache.clear()
    yield tm.cache
    tm.cache.limit = limit
    tm.cache.clear()
    if tm.cache.directory != directory:
        tm.cache.directory = directory


@pytest.fixture(scope="module")
def left_alone(paths):
    settled(*paths)
    return paths


def passes(events, count, **options):
    """The same query so often; results and reports."""
    found = []
    with tm.connect(**options) as session:
        for _ in range(count):
            some = events.filter("nMuon >= 1").define("ht", "sum(Jet_pt)")
            booked = some.hist("ht", bins=(20, 0, 500)), some.sum("MET_pt"), events.count()
            ht, *numbers = session.run(*booked, progress=False)
            found.append((ht.values(flow=True).tolist(), numbers, session.report))
    return found


def test_the_third_run_neither_reads_nor_decompresses(left_alone):
    first, second, third, fourth = passes(tm.dataset(left_alone, "Events"), 4, workers=2)
    assert first[:2] == second[:2] == third[:2] == fourth[:2]
    # The second may find some of its own: two packets may need the same basket.
    assert first[2].bytes_read > 0
    assert second[2].bytes_read > 0
    assert "from memory" not in str(first[2])
    for _, _, report in (third, fourth):
        assert (report.bytes_read, report.bytes_decompressed) == (0, 0)
        assert report.bytes_from_cache > 0
        assert "MB from memory" in str(report)
    assert tm.cache.held > 0


def test_another_dataset_and_other_questions_find_it_too(left_alone):
    passes(tm.dataset(left_alone, "Events"), 2)
    held = tm.cache.held
    with tm.connect(workers=1) as session:
        session.run(tm.dataset(left_alone[:1], "Events").sum("MET_pt"), progress=False)
        assert session.report.bytes_read == 0 < session.report.bytes_from_cache
    assert tm.cache.held == held


def test_arrays_and_selectors_find_it_too(left_alone, truth):
    events = tm.dataset(left_alone, "Events")
    for _ in range(3):
        found = events.arrays(["MET_pt", "Jet_pt"])
        assert found.Jet_pt.to_list() == truth.Jet_pt.to_list()
    with tm.connect(workers=1) as session:
        # In 64 bits: in 32 the sum depends on how large chunks are, and they are as time allows.
        total = session.run(lambda chunk: {"met": sum(chunk.MET_pt.to_list())}, events)
        assert session.report.bytes_read == 0 < session.report.bytes_from_cache
    assert total["met"] == pytest.approx(sum(truth.MET_pt.to_list()), rel=1e-12)


def test_a_limit_of_nothing_remembers_nothing(left_alone):
    tm.cache.limit = 0
    reports = [report for *_, report in passes(tm.dataset(left_alone, "Events"), 3)]
    assert min(r.bytes_read for r in reports) > 0
    assert tm.cache.held == 0
    assert {r.bytes_from_cache for r in reports} == {0}


def test_a_limit_is_kept_and_made_smaller(left_alone):
    events = tm.dataset(left_alone, "Events")
    (all_of_it,) = passes(events, 1)
    tm.cache.limit = limit = all_of_it[2].bytes_decompressed // 2
    reports = [report for *_, report in passes(events, 4)]
    assert 0 < tm.cache.held <= limit
    assert all(r.bytes_from_cache > 0 and r.bytes_read > 0 for r in reports[2:])
    tm.cache.limit = 1000
    assert tm.cache.held <= 1000


def test_clearing_lets_go_of_all(left_alone, cache):
    events = tm.dataset(left_alone, "Events")
    passes(events, 3)
    assert cache.held > 0
    cache.clear()
    assert (cache.held, cache.limit) == (0, GIGABYTE)
    assert passes(events, 1)[0][2].bytes_read > 0
    assert repr(cache) == "<cache: 0 of 1,000 MB>"


def test_processes_of_one_pass_remember_nothing(left_alone):
    first, *others = passes(tm.dataset(left_alone, "Events"), 3, workers=1, mode="processes")
    for found in others:
        assert found[:2] == first[:2]
        assert found[2].bytes_read > 0 == found[2].bytes_from_cache
    assert tm.cache.held == 0


def test_a_file_that_is_written_anew_gives_new_numbers(core, tmp_path):
    def values(seed):
        return np.random.default_rng(seed).integers(0, 100, 5000, dtype="i4")

    def total():
        return tm.dataset(path).sum("x").value

    old, new = values(1), values(2)
    path = write(tmp_path / "f.root", compression=uproot.ZLIB(1), x=old)
    settled(path)
    assert [total() for _ in range(3)] == [old.sum()] * 3
    assert tm.cache.held > 0
    size = os.stat(path).st_size
    for attempt in range(2, 1000):  # in place, and as long
        new = values(attempt)
        again = write(tmp_path / "g.root", compression=uproot.ZLIB(1), x=new)
        if os.stat(again).st_size == size:
            break
    with open(again, "rb") as source, open(path, "r+b") as target:
        target.write(source.read())
    assert os.stat(path).st_size == size
    assert total() == new.sum() != old.sum()
    settled(path)
    assert [total() for _ in range(3)] == [new.sum()] * 3


def test_a_file_that_was_just_written_is_not_remembered(core, tmp_path):
    path = write(tmp_path / "f.root", x=np.zeros(5000))
    assert [tm.dataset(path).sum("x").value for _ in range(3)] == [0.0] * 3
    assert tm.cache.held == 0


@pytest.mark.parametrize(
    ("size", "meant"),
    [
        (0, 0),
        ("0", 0),
        (123, 123),
        ("100 MB", 10**8),
        ("1.5GB", 15 * 10**8),
        ("2 GiB", 2 << 30),
        ("64kb", 64_000),
        (" 1 TiB ", 1 << 40),
    ],
)
def test_sizes(size, meant):
    assert caching.size_of(size) == meant


@pytest.mark.parametrize(
    "size", [-1, True, None, "", "MB", "1 PB", "1.2.3 MB", "-1 MB", "many", 0.5]
)
def test_what_is_no_size_is_said(size):
    with raises(tm.QueryError, said="500 MB"):
        tm.cache.limit = size
    assert tm.cache.limit == GIGABYTE


@pytest.mark.parametrize(("said", "limit"), [("300 MB", 300 * 10**6), ("0", 0)])
def test_the_environment_says_the_limit(said, limit, monkeypatch):
    monkeypatch.setattr(caching, "_is_set", False)
    monkeypatch.setenv("TREEMILL_CACHE", said)
    assert tm.cache.limit == limit


def test_what_is_wrong_in_the_environment_is_said(monkeypatch):
    monkeypatch.setattr(caching, "_is_set", False)
    monkeypatch.setenv("TREEMILL_CACHE", "much")
    with raises(tm.QueryError, said="TREEMILL_CACHE much"):
        _ = tm.cache.limit


def test_without_a_word_it_is_a_share_of_the_memory(monkeypatch):
    monkeypatch.delenv("TREEMILL_CACHE", raising=False)
    for there, limit in ((16 << 30, 1 << 30), (1 << 40, 2 << 30), (None, 0)):
        monkeypatch.setattr(caching, "_is_set", False)
        monkeypatch.setattr(caching, "available", lambda there=there: there)
        assert tm.cache.limit == limit


def groups(root, lines, limits):
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(lines)
    for path, limit in limits.items():
        file = root / "sys/fs/cgroup" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(limit)
    return memory.available(str(root))


def test_memory_is_what_the_control_groups_leave(tmp_path):
    physical = memory.available(str(tmp_path / "nothing"))
    assert physical is None or physical > 1 << 20
    two = {"a/b/memory.max": "max\n", "a/memory.max": "1000\n", "memory.max": "5000\n"}
    assert groups(tmp_path / "2", "0::/a/b\n", two) == 1000
    # Of a container's path only the end is there.
    assert groups(tmp_path / "c", "0::/docker/123\n", {"memory.max": "700\n"}) == 700
    one = {
        "memory/a/memory.limit_in_bytes": "900\n",
        "memory/memory.limit_in_bytes": f"{1 << 62}\n",
    }
    assert groups(tmp_path / "1", "5:cpu,memory:/a\n4:pids:/b\n", one) == 900
    assert groups(tmp_path / "n", "0::/\n", {"memory.max": "max\n"}) == physical


@pytest.fixture(scope="module")
def large(core, tmp_path_factory):
    """Baskets of several Zstandard blocks each, so that some are decompressed up to their entry
    offsets only."""
    from treemill.facility.generate import write as generate

    path = tmp_path_factory.mktemp("large") / "events.root"
    generate(path, events=180_000, index=0, cluster=60_000, codec="zstd")
    settled(path)
    return str(path)


@pytest.mark.slow
def test_of_baskets_whose_front_is_there_the_rest_is_read_when_it_is_wanted(large):
    truth = uproot.open(large)["Events"].arrays(["Jet_pt", "Jet_eta"])
    events = tm.dataset(large, "Events")
    node = events.filter("nJet > 1")

    def together(select=node):
        return run(select.sum("sum(Jet_pt * Jet_eta)"))

    def alone():
        return run(events.sum("sum(Jet_eta)"))

    def run(booking):
        with tm.connect(workers=1) as session:
            return session.run(booking, progress=False), session.report

    several = truth[[len(each) > 1 for each in truth.Jet_pt]]
    both = sum(sum(p * e for p, e in zip(*pair, strict=True)) for pair in lists(several))
    first, *_, third = (together() for _ in range(3))
    assert first[0] == third[0] == pytest.approx(both, rel=1e-5)
    assert first[1].bytes_read > 0 == third[1].bytes_read
    fronts = third[1].bytes_from_cache
    whole, again, *_ = (alone() for _ in range(2))
    assert whole[0] == again[0] == pytest.approx(sum(map(sum, truth.Jet_eta.to_list())), rel=1e-5)
    # More than the front was wanted, once; from then on it is there, and serves both.
    assert whole[1].bytes_read > 0 == again[1].bytes_read
    last = together()
    assert last[0] == first[0]
    assert last[1].bytes_read == 0
    assert last[1].bytes_from_cache > fronts


def lists(arrays):
    return zip(arrays.Jet_pt.to_list(), arrays.Jet_eta.to_list(), strict=True)


def test_rntuples_are_remembered_like_trees(core, tmp_path):
    import awkward as ak

    values = ak.Array([{"x": i, "y": [float(i)] * (i % 4)} for i in range(20_000)])
    path = tmp_path / "f.root"
    with uproot.recreate(path, compression=uproot.ZSTD(1)) as file:
        file.mkrntuple("t", values)
    settled(path)
    events = tm.dataset(str(path))
    for number in range(4):
        with tm.connect(workers=1) as session:
            x, y = session.run(events.sum("x"), events.sum("sum(y)"), progress=False)
            report = session.report
        assert (x, y) == (ak.sum(values.x), ak.sum(values.y))
        assert (report.bytes_read == 0) == (number > 1)
        assert (report.bytes_from_cache > 0) == (number > 1)


def test_a_benchmark_drops_it_on_workers(left_alone):
    passes(tm.dataset(left_alone, "Events"), 3, workers=2)
    assert tm.cache.held > 0
    CacheDropper([])(None)
    assert tm.cache.held == 0


@pytest.mark.parametrize("name", ["TREEMILL_CACHE_DISK_LIMIT", "TREEMILL_CACHE_METADATA_LIMIT"])
def test_a_limit_in_the_environment_that_is_no_size_is_named(cache, monkeypatch, name):
    monkeypatch.setenv(name, "abc")
    with pytest.raises(tm.QueryError, match=f"variable {name}: a size is .* not 'abc'"):
        _ = cache.disk_limit, cache.metadata_limit


def test_an_empty_directory_keeps_nothing(cache, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cache.directory = ""
    assert cache.directory is None
    assert not list(tmp_path.iterdir())


def test_a_directory_is_a_path(cache):
    with raises(tm.QueryError, said="the path of a folder, or None, not 5"):
        cache.directory = 5


def test_what_lies_on_the_node_is_named_by_a_path_and_readers_by_a_word(cache, monkeypatch):
    names = ["TREEMILL_CACHE_SHARED", "TREEMILL_CACHE_READERS"]
    for name in names:
        monkeypatch.setenv(name, "")
    assert (cache.shared, cache.readers) == (None, None)
    cache.shared, cache.readers = "/none", "group"
    assert [os.environ[name] for name in names] == ["/none", "group"]
    with raises(tm.QueryError, said="the path of a folder, or None, not 5"):
        cache.shared = 5
    with pytest.raises(tm.QueryError, match=r"readers is .*, not 'cms'"):
        cache.readers = "cms"
    assert (cache.shared, cache.readers) == ("/none", "group")
    cache.shared, cache.readers = None, None
    assert (cache.shared, cache.readers) == (None, None)
    monkeypatch.setenv("TREEMILL_CACHE_READERS", "cms")
    with pytest.raises(tm.QueryError, match=r"variable TREEMILL_CACHE_READERS: .* not 'cms'"):
        cache.directory = None


def test_a_change_that_fails_changes_nothing(cache, tmp_path, monkeypatch):
    kept, other = tmp_path / "kept", tmp_path / "other"
    cache.directory = kept
    monkeypatch.setenv("TREEMILL_CACHE_READERS", "cms")
    with raises(tm.QueryError, about="TREEMILL_CACHE_READERS"):
        cache.directory = other
    monkeypatch.setenv("TREEMILL_CACHE_READERS", "")
    assert cache.directory == str(kept)
    # The folder is fine, and what others share is not: neither is used.
    monkeypatch.setenv("TREEMILL_CACHE_SHARED", str(shared := tmp_path / "shared"))
    shared.mkdir(mode=0o777)
    shared.chmod(0o777)
    with raises(tm.SourceError, about=str(shared)):
        cache.directory = other
    assert cache.directory == str(kept)
    monkeypatch.setattr(caching, "_is_disk_set", False)
    for _ in range(2):  # a user who ignores it is told again
        with raises(tm.SourceError, about="shared"):
            caching.prepare()


def test_a_home_that_is_missing_is_not_made(cache, tmp_path, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("TREEMILL_CACHE_DIRECTORY", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "none"))
    assert cache.metadata_directory is None
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.metadata_directory == str(tmp_path / ".cache" / "treemill" / "metadata")
    monkeypatch.setenv("HOME", str(tmp_path / "none"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "named"))
    assert cache.metadata_directory == str(tmp_path / "named" / "treemill" / "metadata")


def test_sizes_mean_the_same_for_the_cache_for_runs_and_for_operators():
    for text, size in ((".5 GB", 500_000_000), ("1.5GiB", 1_610_612_736), (100, 100)):
        assert size_of(text) == RunOptions(memory=text).memory == rules_of({"memory": text}).memory
        assert size_of(text) == size
    for wrong in (0, "0 GB", "much", True, -1):
        with pytest.raises(tm.QueryError):
            RunOptions(memory=wrong)
        with pytest.raises(tm.QueryError):
            rules_of({"memory": wrong})
