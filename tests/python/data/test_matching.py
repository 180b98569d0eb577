"""Which entries go together: over the boundaries of files, and by the values of two columns."""

from itertools import pairwise

import numpy as np
import pytest
import treemill as tm
from hypothesis import given
from hypothesis import strategies as st
from treemill.data.entry_ranges import parts_between, ranges_of_clusters, starts
from treemill.data.friend_columns import Index
from treemill.errors import QueryError

from tests.raising import raises

sizes = st.lists(st.integers(0, 20), min_size=1, max_size=8)
small = st.integers(-3, 3)
pairs = st.lists(st.tuples(small, small), max_size=30)


@given(sizes, st.integers(0, 100), st.integers(0, 100))
def test_pieces_are_the_entries_of_the_chain_in_order(each, start, length):
    firsts = starts(each)
    chain = [(file, entry) for file, size in enumerate(each) for entry in range(size)]
    stop = min(start + length, len(chain))
    found = parts_between(firsts, start, stop)
    assert [(f, i) for f, a, b in found for i in range(a, b)] == chain[start:stop]
    assert all(a < b for _, a, b in found)


@given(st.sets(st.integers(0, 99)), st.lists(st.integers(0, 99)))
def test_runs_cover_what_is_wanted_and_no_cluster_without_it(wanted, cuts):
    numbers = np.array(sorted(wanted), np.int64)
    found = ranges_of_clusters(numbers, cuts, 100)
    read = {i for a, b in found for i in range(a, b)}
    assert wanted <= read
    edges = sorted({0, 100, *cuts})
    for low, high in pairwise(edges):
        if not wanted & set(range(low, high)):
            assert not read & set(range(low, high))
    assert all(b <= c for (_, b), (c, _) in pairwise(found))


@given(pairs, pairs)
def test_an_index_finds_the_first_entry_of_a_pair(theirs, ours):
    index = Index(*(np.array([pair[i] for pair in theirs], np.int64) for i in (0, 1)))
    found = index.find(*(np.array([pair[i] for pair in ours], np.int64) for i in (0, 1)))
    expected = [theirs.index(pair) if pair in theirs else -1 for pair in ours]
    assert found.tolist() == expected
    assert len(index) == len(set(theirs))


def test_an_index_tells_large_numbers_apart():
    big = 2**62
    index = Index([big, big + 1, -big], [2**53, 2**53 + 1, 0])
    assert index.find([big + 1, big, -big, big], [2**53 + 1, 2**53, 0, 0]).tolist() == [1, 0, 2, -1]


@pytest.mark.parametrize("workers", ["threads", "processes"])
def test_selected_entries_and_no_others(events, truth, workers):
    rng = np.random.default_rng(3)
    chosen = np.sort(rng.choice(len(truth), 500, replace=False))
    some = events.select_entries(rng.permutation(chosen))
    assert some.num_entries == 500
    assert some.arrays("MET_pt").MET_pt.to_list() == truth[chosen].MET_pt.to_list()
    assert some.arrays("MET_pt", -7, -2).MET_pt.to_list() == truth[chosen[-7:-2]].MET_pt.to_list()
    with tm.connect(workers=2, mode=workers) as session:
        count, low = session.run(some.count(), some.filter("MET_pt < 20").count())
        assert (count, low) == (500, int(sum(truth[chosen].MET_pt < 20)))
        assert session.run(some.count(), entries=(10, 30)) == 20
        numbers = session.run(lambda e: {"n": len(e), "sum": float(sum(e.MET_pt))}, some)
    assert numbers["n"] == 500
    assert numbers["sum"] == pytest.approx(sum(truth[chosen].MET_pt.to_list()))


def test_bookings_on_selected_entries_have_values(events, truth):
    mask = np.asarray(truth.MET_pt > 50)
    assert events.select_entries(mask).count().value == int(mask.sum())
    assert events.select_entries([]).count().value == 0


def test_clusters_without_a_selected_entry_are_not_read(events):
    some = events.select_entries([2500, 2501])
    with tm.connect(workers=1) as session:
        assert session.run(some.count()) == 2
        assert session.report.entries == 2


def test_entries_that_there_are_not(events):
    with raises(QueryError, said="entry 99999 is selected of a dataset that has"):
        events.select_entries([0, 99999])
    with raises(QueryError, said="a mask of 3"):
        events.select_entries([True, False, True])


def test_a_friend_must_fit(events, paths):
    friend = tm.dataset(paths[0], tree="Events")
    with raises(QueryError, said="12322 entries and its friend twin has 5000"):
        tm.run(events.add_friend(friend, "twin").sum("twin.MET_pt"))


def test_friends_over_boundaries_of_files(events, paths, tmp_path):
    # The same events, in other files: what was the middle of one is the boundary of another.
    import uproot

    whole = events.arrays(["MET_pt", "nMuon"])
    boundaries = [0, 1234, 1234, 9000, len(whole)]
    for i, (a, b) in enumerate(pairwise(boundaries)):
        with uproot.recreate(tmp_path / f"f{i}.root") as file:
            data = {"met": whole.MET_pt[a:b].to_numpy(), "n": whole.nMuon[a:b].to_numpy()}
            file.mktree("twin", {name: values.dtype for name, values in data.items()})
            if b > a:
                file["twin"].extend(data)
    both = events.add_friend(str(tmp_path / "f*.root"))
    with tm.connect(workers=2) as session:
        same, plain, all_of = session.run(
            both.filter("twin.met == MET_pt and n == nMuon").count(), both.sum("met"), both.count()
        )
    assert same == all_of == len(whole)
    assert plain == pytest.approx(tm.run(events.sum("MET_pt")))
    assert "twin.met" not in both.arrays(stop=3).fields
    assert both.arrays("twin.*", 1000, 1500)["twin.met"].to_list() == (
        whole.MET_pt[1000:1500].to_list()
    )
    got = tm.run(lambda e: {"same": int(sum(e["twin.met"] == e.MET_pt))}, both)
    assert got["same"] == len(whole)
