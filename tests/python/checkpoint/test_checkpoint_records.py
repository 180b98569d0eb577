"""Records of passes without any pass: their bytes, what they are of, how often they are written."""

import importlib
import os
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from treemill import QueryError, SourceError, UnsupportedError
from treemill._system.files import whole_file
from treemill.backends.checkpoint_writer import Checkpointing
from treemill.checkpoint import Fingerprint, Folder, Pace, PassRecord, Wanted, digest
from treemill.scheduling import FileSize, joined

from tests.raising import raises

texts = st.text(max_size=8)
names = st.dictionaries(texts, texts, max_size=4)
ranges = st.lists(
    st.tuples(st.integers(0, 50), st.integers(1, 9)).map(lambda x: (10 * x[0], 10 * x[0] + x[1])),
    min_size=1,
    max_size=4,
    unique_by=lambda each: each[0],
).map(joined)


@st.composite
def records(draw):
    processed = draw(st.dictionaries(st.integers(0, 99), ranges, max_size=4))
    identities = {file: draw(texts) for file in processed}
    sizes = {file: 1000 for file in processed if draw(st.booleans())}
    fingerprint = Fingerprint(draw(names), draw(names))
    return PassRecord(fingerprint, identities, processed, sizes, draw(st.binary(max_size=64)))


@given(records())
def test_a_record_survives_its_bytes(record):
    read = PassRecord.loads(record.dumps(), "x.checkpoint")
    assert read == record
    assert read.entries == sum(b - a for each in record.processed.values() for a, b in each)


@given(records(), st.data())
def test_damage_is_an_error_and_never_another_record(record, data):
    whole = record.dumps()
    at = data.draw(st.integers(0, len(whole) - 1))
    cut = whole[:at]
    flipped = cut + bytes([whole[at] ^ data.draw(st.integers(1, 255))]) + whole[at + 1 :]
    for bad in (cut, flipped, whole + b"x"):
        with raises(SourceError, said="x checkpoint remove it remove it"):
            PassRecord.loads(bad, "x.checkpoint")


@given(st.binary(max_size=300))
def test_any_bytes_are_an_error(data):
    with pytest.raises(SourceError):
        PassRecord.loads(b"treemill checkpoint 1\n" + data, "x")


@given(names, names, names)
def test_a_difference_is_named(versions, parts, others):
    one = Fingerprint(versions, parts)
    assert one.difference(Fingerprint(dict(versions), dict(parts))) is None
    found = one.difference(Fingerprint(versions, others))
    assert (found is None) == (parts == others)


def test_differences_in_words():
    old = Fingerprint({"treemill": "1.0"}, {"inputs": "a", "files": "b", "seed": "c"})
    new = Fingerprint({"treemill": "1.0"}, {"inputs": "x", "files": "y", "seed": "c"})
    assert old.difference(new) == "it is of another run: not the same files and inputs"
    later = Fingerprint({"treemill": "1.1"}, {})
    assert old.difference(later) == "it was written with treemill 1.0, and this is treemill 1.1"


@given(st.floats(0, 1000), st.floats(0.001, 100), st.floats(0.001, 1))
def test_keeping_takes_no_more_than_its_share_of_the_time(cost, every, share):
    wait = Pace(every, share).wait(cost)
    assert wait >= every
    assert cost <= share * (wait + cost) * (1 + 1e-9)


# The folder.


def wanted(**parts):
    return Wanted(Fingerprint({}, parts), ["a.root", "b.root"], {0: "aa", 1: "bb"})


def test_a_checkpoint_gives_what_was_saved_last(tmp_path):
    folder = Folder(tmp_path / "deep" / "er")
    mine = folder.checkpoint("0-fill", wanted(query="q"))
    assert mine.load() is None
    mine.save(b"one", {0: [(0, 10)]})
    mine.save(b"two", {0: [(0, 20)]}, {0: 20})
    mine.close()
    found = folder.checkpoint("0-fill", wanted(query="q")).load()
    assert (found.partial, found.processed, found.sizes) == (b"two", {0: [(0, 20)]}, {0: 20})
    assert sorted(os.listdir(folder.path)) == ["0-fill.lock", "0-fill.results"]


KILLED = """
import os, signal, sys
from treemill.checkpoint import Fingerprint, Folder, Wanted
import treemill._system.files
folder = Folder(sys.argv[1])
mine = folder.checkpoint(sys.argv[2], Wanted(Fingerprint({}, {}), [], {}))
mine.load()
treemill._system.files.os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
mine.save(b"half", {})
"""


def test_what_a_killed_process_has_written_in_part_goes_with_the_next_run(tmp_path):
    for name in ("0-fill", "1-fill"):
        command = [sys.executable, "-c", KILLED, str(tmp_path), name]
        assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    parts = {each for each in os.listdir(tmp_path) if ".part." in each}
    assert len(parts) == 2
    users = [f".0-fill.{'a' * 16}.part.root", ".0-fill.mine.part.results", "0-fill.part"]
    for user in users:
        (tmp_path / user).write_bytes(b"")
    mine = Folder(tmp_path).checkpoint("0-fill", wanted())
    assert mine.load() is None
    (other,) = (each for each in parts if each.startswith(".1-fill"))
    locks = ["0-fill.lock", "1-fill.lock"]
    assert sorted(os.listdir(tmp_path)) == sorted([*locks, *users, other])
    mine.close()


def test_what_a_living_process_writes_stays(tmp_path):
    mine = Folder(tmp_path).checkpoint("0-fill", wanted())
    mine.load()
    with whole_file(mine.path) as part:
        with raises(QueryError, said="in use"):
            Folder(tmp_path).checkpoint("0-fill", wanted()).load()
        assert os.path.exists(part)
    mine.close()


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    folder = Folder(tmp_path)
    mine = folder.checkpoint("0-fill", wanted(query="q"))
    mine.load()
    mine.save(b"", {0: [(0, 10)]})
    mine.close()
    other = folder.checkpoint("0-fill", wanted(query="z"))
    with raises(QueryError, said="not the same query Give checkpoint another"):
        other.load()
    other.close()
    of = Wanted(Fingerprint({}, {"query": "q"}), ["a.root", "b.root"], {0: "changed", 1: "bb"})
    with raises(QueryError, said="a root has changed since"):
        folder.checkpoint("0-fill", of).load()


def test_a_file_of_which_nothing_is_done_may_change(tmp_path):
    folder = Folder(tmp_path)
    mine = folder.checkpoint("0-fill", wanted())
    mine.load()
    mine.save(b"", {0: [(0, 10)]})
    mine.close()
    of = Wanted(Fingerprint({}, {}), ["a.root", "b.root"], {0: "aa", 1: "changed"})
    assert folder.checkpoint("0-fill", of).load() is not None


def test_one_run_at_a_time(tmp_path):
    folder = Folder(tmp_path)
    first, second = (folder.checkpoint("0-fill", wanted()) for _ in range(2))
    first.load()
    with pytest.raises(QueryError, match=rf"in use by process {os.getpid()} on"):
        second.load()
    first.close()
    assert second.load() is None


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with raises(SourceError, said="the folder for checkpoint cannot be used"):
        Folder(tmp_path / "file" / "in")


# Digests.

PROGRAM = """
import sys
sys.path.insert(0, {folder!r})
import functools, numpy as np, hist, awkward as ak
import helper
from treemill.backends.checkpoint_writer import Checkpointing
from treemill.checkpoint import digest
SCALE = 3
class Base:
    tags = {{"a", "b", "c", "d"}}
class Selector(Base):
    def __init__(self):
        self.cuts = {{"x": frozenset({{"p", "q", "r"}}), "y": np.arange(3.0)}}
        self.h = hist.Hist.new.Reg(10, 0, 1).Weight()
        self.me = self
    @property
    def scaled(self): return helper.one() * SCALE
    def process(self, events):
        return [inner(e) for e in {{"u", "v", "w"}} if (inner := lambda e: SCALE * helper.one())]
def again(n): return n and again(n - 1)
values = [Selector(), Selector, again, functools.partial(again, 3), ak.Array([[1], [2, 3]]),
          np.sqrt, len, "x".join, {{"k": {{1, 2}}}}, slice(1, 2), np.float32(2), helper]
print(*(digest(value) for value in values))
"""


def run(program, seed):
    env = os.environ | {"PYTHONHASHSEED": str(seed)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_digests_are_the_same_in_every_process_and_differ_if_the_code_does(tmp_path):
    (tmp_path / "deeper.py").write_text("def two():\n    return 2\n")
    helper = tmp_path / "helper.py"
    helper.write_text("import deeper\ndef one():\n    return deeper.two() - 1\n")
    program = PROGRAM.format(folder=str(tmp_path))
    first = run(program, 1)
    assert run(program, 2) == first
    other = run(program.replace("SCALE = 3", "SCALE = 4"), 1)
    assert [a != b for a, b in zip(first, other, strict=True)] == [True, True] + [False] * 10
    (tmp_path / "deeper.py").write_text("def two():\n    return 3\n")
    other = run(program, 1)
    assert [a != b for a, b in zip(first, other, strict=True)] == [True, True] + [False] * 9 + [
        True
    ]


SET = """
import sys
sys.path.insert(0, {folder!r})
import analysis
from treemill.checkpoint import digest
def process(events): return analysis.passes(events)
class Selector:
    def process(self, events): return analysis.Cuts().inside(events)
class Other:
    def process(self, events): return events > analysis.settings.pt
def unconcerned(events): return analysis.count(events)
values = process, Selector, Other, analysis.passes, unconcerned
before = [digest(each) for each in values]
exec({change!r})
print(*(digest(each) != one for each, one in zip(values, before)))
"""


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        ("", [False] * 5),
        ("analysis.settings.pt = 30", [True, False, True, True, False]),
        ("analysis.Base.eta = 2.5", [False, True, False, False, False]),
        ("analysis.LEVELS['tight'] = 3", [True, False, False, True, False]),
        ("analysis.calls = 7; analysis.known['x'] = object()", [False] * 5),
        ("analysis.known['x'] = analysis.known", [False] * 5),
    ],
)
def test_what_a_program_sets_in_its_modules_counts(tmp_path, change, seen):
    (tmp_path / "settings.py").write_text("pt = 20\n")
    (tmp_path / "analysis.py").write_text(
        "import settings\n"
        "LEVELS = {'tight': 2}\n"
        "known, calls = {}, 0\n"
        "def passes(events):\n    return known or above(events)\n"
        "def above(events):\n    return (events > settings.pt) * LEVELS['tight']\n"
        "def count(events):\n    return len(events), known.get(0)\n"
        "class Base:\n    eta = 2.4\n"
        "class Cuts(Base):\n    def inside(self, events):\n        return events < self.eta\n"
    )
    program = SET.format(folder=str(tmp_path), change=change)
    for seed in (1, 2):
        assert run(program, seed) == [str(each) for each in seen]


DECORATED = {
    "a static method": "class It:\n  @staticmethod\n  def f(x): return C * x",
    "a class method": "class It:\n  @classmethod\n  def f(cls, x): return C * x",
    "a property": "class It:\n  @property\n  def f(self): return C",
    "a cached property": "class It:\n  @functools.cached_property\n  def f(self): return C",
    "a decorated method": "class It:\n  @decorated\n  def f(self): return C",
    "a decorated function": "@decorated\ndef It(x): return C * x",
    "use of a decorated function": "@decorated\ndef f(x): return C * x\ndef It(x): return f(x)",
    "use of a cache": "@functools.cache\ndef f(x): return C * x\ndef It(x): return f(x)",
    "use of a lambda": "f = lambda x: C * x\ndef It(x): return f(x)",
}


def test_what_a_program_sets_counts_for_what_decorators_have_made(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    for number, (what, text) in enumerate(DECORATED.items()):
        assert sees_other_value(tmp_path, f"decorated_{number}", text), what


def test_what_a_program_sets_counts_for_what_numba_compiles(tmp_path, monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.syspath_prepend(tmp_path)
    text = "import numba\n@numba.njit\ndef f(x): return C * x\ndef It(x): return f(x)"
    assert sees_other_value(tmp_path, "compiled_by_numba", text)


def sees_other_value(folder, name, text):
    """Whether the digest of what this text calls It is another one when a value is."""
    (folder / f"{name}.py").write_text(
        "import functools\n"
        "C = 2\n"
        "def decorated(f):\n"
        "  @functools.wraps(f)\n"
        "  def inner(x): return f(x)\n"
        "  return inner\n" + text
    )
    module = importlib.import_module(name)
    before = digest(module.It)
    assert digest(module.It) == before
    module.C = 3
    return digest(module.It) != before


@given(
    st.recursive(
        st.integers() | st.floats(allow_nan=False) | st.text() | st.booleans(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner),
    )
)
def test_digests_of_equal_data_are_equal(value):
    import copy

    assert digest(value) == digest(copy.deepcopy(value))
    assert digest([value]) != digest([value, 0])


def test_kinds_of_equal_values_differ():
    values = [1, 1.0, True, "1", b"1", [1], (1,), {1}, {1: 1}, None, [[1]]]
    assert len({digest(value) for value in values}) == len(values)


def test_what_has_no_digest_is_named():
    import threading

    with raises(UnsupportedError, said="whether a later run has the same lock"):
        digest({"a": threading.Lock()})


def test_what_packages_offer_has_a_digest():
    import scipy.special

    named = [np.array2string, np.strings.isalpha, np.strings.isdigit, scipy.special.expit]
    named += [scipy.special.sph_harm_y, scipy.special._ufuncs.binom, np.add]
    for kinds in ({}, {"exact": True}, {"certain": True}):
        assert len({digest(each, **kinds) for each in named}) == len(named)
        with raises(UnsupportedError, about="ufunc"):
            digest(np.frompyfunc(len, 1, 1), **kinds)


def test_numpys_vectorize_is_what_it_was_after_a_call():
    each = np.vectorize(abs, otypes=[float])
    before = digest(each)
    each([1, -2])
    assert digest(each) == before
    assert digest(np.vectorize(abs, otypes=[int])) != before


def test_what_numba_compiles_counts_with_the_types_that_it_is_for():
    numba = pytest.importorskip("numba")

    def twice(x):
        return 2 * x

    makers = [numba.njit, numba.vectorize, numba.cfunc("float64(float64)")]
    makers += [numba.njit(f"{each}(float64)") for each in ("float32", "float64")]
    made = [make(twice) for make in makers]
    first = [digest(each) for each in made]
    assert [made[0](1), made[1](1)] == [2, 2]
    assert [digest(each) for each in made] == first
    assert [digest(make(twice)) for make in makers] == first
    assert len(set(first)) == len(made)


@pytest.mark.parametrize("error", [KeyError, RecursionError])
def test_what_raises_where_it_is_asked_has_no_digest(error):
    class Listed(list):
        def __iter__(self):
            raise error("nothing")

    class Holding:
        def __reduce__(self):
            return Holding, (), None, Listed()

    with raises(UnsupportedError, about="Holding"):
        digest([Holding()])


def test_sizes_of_files_that_are_begun_are_known_or_it_says_so(tmp_path):
    files = ["a.root", "b.root", "c.root"]
    wanted = Wanted(Fingerprint({}, {}), files, {})
    processed = {0: [(0, 10)], 1: [(5, 7)]}
    record = PassRecord(wanted.fingerprint, {0: "", 1: ""}, processed, {0: 10, 1: 9}, b"")
    checkpoint = Folder(tmp_path).checkpoint("fill", wanted)
    checkpointing = Checkpointing(checkpoint, record, lambda partial: None)
    assert checkpointing.with_sizes([None] * 3) == [FileSize(10), None, None], "1 has to be opened"
    assert checkpointing.with_sizes_of_begun([None] * 3) == [FileSize(10), FileSize(9), None]
    without = Checkpointing(checkpoint, replace(record, sizes={0: 10}), lambda partial: None)
    with raises(UnsupportedError, said="does not say how many entries b root has"):
        without.with_sizes_of_begun([None] * 3)
    known = [None, FileSize(9, (4,)), None]
    assert without.with_sizes_of_begun(known) == [FileSize(10), FileSize(9, (4,)), None]
