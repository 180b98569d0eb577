"""Good-run lists: masks in the core as coffea's, and sets of luminosity sections."""

import gzip
import json
from itertools import pairwise

import numpy as np
import pytest
import treemill as tm
import uproot
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.raising import raises

RUNS = st.integers(1, 6) | st.sampled_from([273158, 2**31 - 1])
RANGE = st.tuples(st.integers(0, 40), st.integers(0, 9)).map(lambda r: [r[0], r[0] + r[1]])
CERTIFIED = st.dictionaries(RUNS.map(str), st.lists(RANGE, max_size=5), max_size=6)


def pairs(certified):
    return {(int(run), s) for run, ranges in certified.items()
            for first, last in ranges for s in range(first, last + 1)}  # fmt: skip


@given(CERTIFIED, CERTIFIED)
def test_sets(one, other):
    a, b = tm.LumiSections(one), tm.LumiSections(other)
    assert set(a) == pairs(one)
    assert len(a) == len(pairs(one))
    assert set(a | b) == set(a + b) == pairs(one) | pairs(other)
    assert set(a & b) == pairs(one) & pairs(other)
    assert set(a - b) == pairs(one) - pairs(other)
    assert tm.LumiSections(a.to_json()) == a == tm.LumiSections.of(a)
    assert all((place in a) == (place in pairs(one)) for place in pairs(one) | pairs(other))
    for ranges in a.ranges.values():
        assert all(last + 1 < first for (_, last), (first, _) in pairwise(ranges))


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    """A file of random runs and sections, of the types of NanoAOD, and these."""
    path = tmp_path_factory.mktemp("luminosity") / "runs.root"
    rng = np.random.default_rng(7)
    runs = rng.choice([1, 2, 3, 4, 5, 6, 273158, 2**31 - 1], 4000).astype(np.uint32)
    lumis = rng.integers(0, 51, 4000).astype(np.uint32)
    with uproot.recreate(path) as file:
        file["Events"] = {"run": runs, "luminosityBlock": lumis, "x": np.arange(4000.0)}
        file["other"] = {"Run": runs.astype(np.int64), "ls": lumis.astype(np.int16)}
    return str(path), runs, lumis


@settings(max_examples=15)
@given(CERTIFIED)
def test_masks(entries, certified):
    path, runs, lumis = entries
    mask = tm.lumi_mask(certified)
    good = pairs(certified)
    wanted = [(run, lumi) in good for run, lumi in zip(runs.tolist(), lumis.tolist(), strict=True)]
    assert mask(runs, lumis).tolist() == wanted
    passed = tm.dataset(path, "Events").filter(mask).take("x").value
    assert passed.tolist() == np.flatnonzero(wanted).tolist()


def test_what_was_processed(entries, tmp_path):
    path, runs, lumis = entries
    events = tm.dataset(path, "Events")
    certified = {"1": [[1, 20], [25, 25]], "273158": [[0, 50]]}
    good = events.filter(tm.lumi_mask(certified), name="certified")
    everything, done, flow = tm.run(events.lumi_sections(), good.lumi_sections(), good.report())
    assert set(everything) == set(zip(runs.tolist(), lumis.tolist(), strict=True))
    assert done == everything & tm.LumiSections(certified)
    assert flow[0].name == "certified"
    done.save(str(tmp_path / "done.json"))
    assert tm.lumi_mask(tmp_path / "done.json").sections == done
    assert json.loads((tmp_path / "done.json").read_text()) == done.to_json()
    other = tm.dataset(path, "other").lumi_sections(run="Run", luminosity_block="ls").value
    assert other == everything
    named = tm.lumi_mask(certified, run="Run", luminosity_block="ls")
    assert tm.dataset(path, "other").filter(named).count().value == good.count().value
    with tm.connect(workers=2, mode="processes") as session:
        assert session.run(good.lumi_sections()) == done


def test_in_selectors_and_filesets(entries):
    path, runs, lumis = entries
    mask = tm.lumi_mask({"1": [[1, 20]], "2": [[3, 4]]})
    n = int(mask(runs, lumis).sum())
    made = tm.run(
        lambda chunk: {"n": int(mask(chunk.run, chunk.luminosityBlock).sum())},
        tm.dataset(path, "Events"),
    )
    assert made["n"] == n
    fs = tm.fileset({"data": f"{path}:Events"})
    sections, count = tm.run(fs.filter(mask).lumi_sections(), fs.filter(mask).count())
    assert count == {"data": n}
    assert isinstance(sections["data"], tm.LumiSections)


def test_a_mask_is_a_column_if_it_is_defined(entries):
    path, runs, lumis = entries
    mask = tm.lumi_mask({"1": [[1, 20]], "2": [[3, 4]]})
    good = mask(runs, lumis)
    events = tm.dataset(path, "Events")
    assert events.define("certified", mask).sum("1 if certified else 0").value == int(good.sum())
    both = events.filter(mask, name="certified").define("again", mask).filter("again")
    assert both.count().value == int(good.sum())
    with raises(tm.QueryError, said="the name of a filter is a text another filter"):
        events.filter("run > 1", mask)


def test_unless(entries):
    path, runs, lumis = entries
    certified = {"1": [[1, 20]], "2": [[3, 4]]}
    good = tm.lumi_mask(certified)(runs, lumis)
    files = {"treename": "Events", "files": [path]}
    fs = tm.fileset(
        {
            "mc": {**files, "metadata": {"is_mc": True, "year": 1}},
            "data": {**files, "metadata": {"is_mc": False, "year": 2}},
        }
    )
    mask = tm.lumi_mask(certified, unless="is_mc")
    assert fs.filter(mask).count().value == {"mc": 4000, "data": int(good.sum())}
    mask = tm.lumi_mask(certified, unless="is_mc and year == 1 or luminosityBlock == 50")
    n = int((good | (lumis == 50)).sum())
    assert fs.filter(mask).count().value == {"mc": 4000, "data": n}
    with raises(tm.QueryError, said="there is no column is_cm"):
        tm.run(fs.filter(tm.lumi_mask(certified, unless="is_cm")).count())
    with pytest.raises(tm.QueryError):
        tm.lumi_mask(certified, unless="is_mc or (")


def test_files(tmp_path):
    made = tmp_path / "Cert.json.gz"
    made.write_bytes(gzip.compress(b'{"5": [[7, 9]]}'))
    mask = tm.lumi_mask(made)
    assert list(mask.sections) == [(5, 7), (5, 8), (5, 9)]
    assert repr(mask) == "<mask of 3 luminosity sections>"
    assert tm.lumi_mask(mask.sections).sections is mask.sections
    with raises(tm.SourceError, said="cannot read the luminosity sections"):
        tm.lumi_mask(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{")
    with raises(tm.SourceError, said="cannot read the luminosity sections"):
        tm.lumi_mask(str(tmp_path / "bad.json"))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [([1], "maps runs to ranges"), ({"x": [[1, 2]]}, "the run 'x'"), ({"1": [[2, 1]]}, "no range"),
     ({"1": [[1]]}, "no range"), ({"1": 3}, "no range"), ({"1": [[1, "2"]]}, "no range"),
     ({"1": [[1, 2**32]]}, "no range"), ({str(2**31): [[1, 2]]}, "no number of a run"),
     ({"1": [[1, 2**32 - 1]]}, "no range")],
)  # fmt: skip
def test_what_is_no_list(wrong, message):
    with pytest.raises(tm.QueryError, match=message):
        tm.lumi_mask(wrong)


def test_the_largest_numbers_and_runs_that_are_there_twice(entries):
    events = tm.dataset(entries[0], "other")
    last = {2**31 - 1: [[2**32 - 2, 2**32 - 2]]}
    mask = tm.lumi_mask(last, run="Run", luminosity_block="ls")
    assert events.filter(mask).count().value == 0
    twice = tm.lumi_mask({1: [[1, 2]], "1": np.array([[2, 4]]), "01": [[7, 7]]})
    assert twice.sections.ranges == {1: ((1, 4), (7, 7))}


def test_errors(entries):
    events = tm.dataset(entries[0], "other")
    with raises(tm.QueryError, said="no column run"):
        tm.run(events.filter(tm.lumi_mask({"1": [[1, 2]]})).count())
    for expr, message in [
        ("in_ranges(ls * 1.5, [1, 2])", "looks for an integer, not"),
        ("in_ranges(ls, [1, 2, 3])", "pairs of integers"),
        ("in_ranges(ls, [1.5, 2])", "pairs of integers"),
        ("in_ranges(ls, [2, 1])", "ends before it begins"),
        ("in_ranges(ls, [5, 6, 1, 2])", "does not lie after"),
        ("in_ranges(ls, ls)", "a list of constants"),
    ]:
        with pytest.raises(tm.QueryError, match=message):
            tm.run(events.filter(expr).count())


def test_a_large_table_is_compiled_at_once(entries):
    path, runs, lumis = entries
    many = {str(run): [[3 * k, 3 * k] for k in range(10_000)] for run in range(1, 7)}
    found = tm.dataset(path, "Events").filter(tm.lumi_mask(many)).count().value
    assert found == int(((runs <= 6) & (lumis % 3 == 0)).sum())
