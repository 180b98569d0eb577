"""Collections, records and members that are defined or varied anew: one name has one meaning,
however it is written. Random chains of definitions against a slow evaluator; ambiguous names."""

from types import SimpleNamespace

import awkward as ak
import numpy as np
import pytest
import treemill as tm
from hypothesis import given
from hypothesis import strategies as st
from treemill.errors import QueryError

from tests.raising import raises
from tests.random_queries import ENTRIES, Sample, check, thorough
from tests.reference import anew

FILES = 2


@pytest.fixture(scope="module")
def samples(core, tmp_path_factory):
    folder = tmp_path_factory.mktemp("anew")
    made = []
    for seed in range(FILES):
        path = folder / f"anew_{seed}.root"
        anew.write(path, seed, ENTRIES)
        made.append(Sample(path, anew.events, {}))
    return made


@pytest.fixture(scope="module")
def session(core):
    with tm.connect(workers=1, mode="threads") as session:
        yield session


@thorough
@given(st.integers(0, FILES - 1), anew.chains())
def test_chains_of_definitions(samples, session, which, chain):
    steps, texts = chain
    node = samples[which].dataset
    for name, text in steps:
        node = node.define(name, text)
    events = [anew.after(event, steps) for event in samples[which].events]
    check(session, SimpleNamespace(dataset=node, events=events, params={}), texts, None)


@thorough
@given(st.integers(0, FILES - 1), anew.chains(3), anew.chains(1))
def test_variations_are_definitions(samples, session, which, chain, last):
    """What is varied is what would be defined in its place."""
    steps, texts = chain
    (name, text), *_ = last[0]
    node = samples[which].dataset
    for step in steps:
        node = node.define(*step)
    try:
        known = session.run(*(node.define(name, text).take(t) for t in texts), progress=False)
        varied = node.vary(name, {"up": text})
        found = session.run(*(varied.take(t) for t in texts), progress=False)
        nominal = session.run(*(node.take(t) for t in texts), progress=False)
    except QueryError:
        return  # the last step is of another chain: it need not fit
    for new, old, values in zip(known, nominal, found, strict=True):
        assert ak.array_equal(values["nominal"], old, equal_nan=True)
        up = values.get(f"{name.strip('`')}:up", values["nominal"])
        assert ak.array_equal(up, new, equal_nan=True)


def one(node, text):
    return node.sum(text).value


@pytest.fixture
def jets(events):
    return events.define("Jet", "[j for j in Jet if j.pt > 30]")


def test_a_collection_is_one_thing(jets, truth):
    good = truth.Jet_pt[truth.Jet_pt > 30]
    for text in ("sum(j.pt for j in Jet)", "sum(Jet.pt)", "Jet.pt", "[j.pt for j in Jet]"):
        assert one(jets, text) == pytest.approx(ak.sum(good)), text
    assert one(jets, "Jet.pt[0]") == one(jets, "Jet[0].pt")
    filled = jets.hist("Jet.pt", bins=(10, 0, 100), weight="Jet.pt").value
    assert filled.sum(flow=True).value == pytest.approx(ak.sum(good))
    assert jets.filter("any(Jet.pt < 30)").count().value == 0


def test_members_of_what_was_defined(events, truth):
    node = events.define("good", "[j for j in Jet if j.pt > 30]").define("good_pt", "good.pt * 2")
    twice = 2 * ak.sum(truth.Jet_pt[truth.Jet_pt > 30])
    for text in ("good.pt", "good_pt", "[j.pt for j in good]", "sum(good.pt)"):
        assert one(node, text) == pytest.approx(twice), text
    assert one(node, "good[0].pt") == one(node, "good.pt[0]")
    # A list of another length is none of its members, however it is written.
    longer = events.define("good", "[j for j in Jet if j.pt > 30]").define("good_x", "Jet_pt")
    for text in ("good.x", "[j.x for j in good]", "good[0].x"):
        with raises(QueryError, said="good x is no list beside the rest of good"):
            one(longer, text)
    # A number of the event is beside it.
    assert one(node.define("good_n", "len(good)"), "good.n") == one(node, "len(good)")


def test_definitions_see_what_was_there_before(events, truth):
    node = events.define("A", "[j for j in Jet if j.pt > 30]").define("Jet_pt", "Jet_pt * 2")
    assert one(node, "A.pt") == pytest.approx(ak.sum(truth.Jet_pt[truth.Jet_pt > 30]))
    assert one(node, "Jet.pt") == pytest.approx(2 * ak.sum(truth.Jet_pt))
    with raises(QueryError, about="Jet_new"):
        one(node.define("Jet_new", "Jet.pt"), "A.new")


def test_a_record_is_one_thing(events, truth):
    node = events.define("MET", "vector(pt=MET_pt * 2, phi=MET_phi, eta=0, mass=0)")
    assert one(node, "MET.pt") == pytest.approx(2 * ak.sum(truth.MET_pt))
    assert one(node, "MET.px") == pytest.approx(2 * ak.sum(truth.MET_pt * np.cos(truth.MET_phi)))
    with raises(QueryError, said="MET_pt is ambiguous write MET pt define a"):
        one(node, "MET_pt")
    with raises(QueryError, said="has no sumEt"):
        one(node, "MET.sumEt")
    # What both meanings have alike is in no doubt, nor what the new one has not.
    same = events.define("MET", "vector(pt=MET_pt, phi=MET_phi, eta=0, mass=0)")
    assert one(same, "MET_pt") == pytest.approx(ak.sum(truth.MET_pt))
    assert one(events.define("Jet", "Jet"), "Jet_pt") == pytest.approx(ak.sum(truth.Jet_pt))
    assert one(events.define("Muon", "Muon_pt"), "Muon_eta") == pytest.approx(
        ak.sum(truth.Muon_eta)
    )


def test_old_columns_of_a_new_collection_are_in_doubt(events, jets):
    for text in ("Jet_pt", "sum(Jet_pt)", "MET_pt + Jet_eta[0]"):
        with raises(QueryError, said="is ambiguous, because Jet was defined anew"):
            one(jets, text)
    with raises(QueryError, said="nJet is ambiguous write len Jet"):
        jets.filter("nJet > 2").count().value  # noqa: B018
    assert one(jets, "nMuon") == one(events, "nMuon")
    assert one(jets.define("Jet_pt", "Jet.pt"), "Jet_pt") == one(jets, "Jet.pt")
    with raises(QueryError, said="no column fine_pt: write fine pt"):
        one(events.define("fine", "[j for j in Jet if j.pt > 30]"), "fine_pt")


def test_variations_of_a_collection_and_of_a_record(events, truth):
    node = events.vary("Jet", {"up": "[j for j in Jet if j.pt > 30]"})
    up = ak.sum(truth.Jet_pt[truth.Jet_pt > 30])
    for text in ("Jet.pt", "[j.pt for j in Jet]"):
        values = node.sum(text).value
        assert values["nominal"] == pytest.approx(ak.sum(truth.Jet_pt))
        assert values["Jet:up"] == pytest.approx(up)
    for text in ("Jet_pt", "nJet"):
        with raises(QueryError, said="ambiguous in the variation Jet:up"):
            node.sum(text).value  # noqa: B018
    assert list(node.sum("MET_pt").value) == ["nominal"]
    node = events.vary("MET", {"up": "vector(pt=MET_pt*2, phi=MET_phi, eta=0, mass=0)"})
    for text in ("MET.pt", "MET.px"):
        values = node.sum(text).value
        assert values["MET:up"] == pytest.approx(2 * values["nominal"])
    assert list(events.vary("Jet_pt", {"up": "Jet_pt*2"}).sum("len(Jet)").value) == [
        "nominal",
        "Jet_pt:up",
    ]


def test_what_was_defined_before_a_variation_does_not_see_it(events):
    node = events.define("A", "[j for j in Jet if j.pt > 30]").vary("Jet_pt", {"up": "Jet_pt*2"})
    assert list(node.sum("A.pt").value) == ["nominal"]


def test_constants_are_varied_and_found(events, truth):
    node = events.define("w", "1.0")
    assert node.vary("w", {"up": "w * 1.05"}).sum("w").value == {
        "nominal": pytest.approx(len(truth)),
        "w:up": pytest.approx(1.05 * len(truth)),
    }
    assert set(node.arrays(["w*", "MET_p*"]).fields) == {"w", "MET_pt", "MET_phi"}
    # Constants for expressions are no columns.
    with raises(QueryError, said="no column s name fits"):
        events.with_params({"cut": 3}).take(["cut*"])


def test_patterns_find_what_was_defined_anew(jets, truth, tmp_path):
    good = truth.Jet_pt[truth.Jet_pt > 30]
    rows = jets.arrays(["nJet*", "Jet_*"])
    assert ak.all(rows.nJet == ak.num(good))
    assert ak.all(rows.Jet_pt == good)
    path = str(tmp_path / "skim.parquet")
    jets.snapshot(path, ["Jet_*", "MET_pt"]).value  # noqa: B018
    assert ak.all(ak.from_parquet(path).Jet_pt == good)
    with raises(QueryError, about="ambiguous"):
        jets.arrays(["Jet_pt"])


def test_friends_columns_are_names_like_others(paths, truth):
    events = tm.dataset(paths[0]).add_friend(tm.dataset(paths[0]), alias="f")
    first = truth[: events.num_entries]
    good = ak.sum(first.Jet_pt[first.Jet_pt > 30])
    for text in ("f.Jet.pt", "[j.pt for j in f.Jet]"):
        assert one(events, text) == pytest.approx(ak.sum(first.Jet_pt)), text
    assert one(events, "len(f.Jet)") == ak.sum(first.nJet)
    ours = events.define("Jet", "[j for j in Jet if j.pt > 30]")
    assert one(ours, "Jet.pt") == pytest.approx(good)
    assert one(ours, "f.Jet.pt") == one(ours, "f.Jet_pt") == one(events, "Jet.pt")
    theirs = events.define("f.Jet", "[j for j in f.Jet if j.pt > 30]")
    for text in ("f.Jet.pt", "[j.pt for j in f.Jet]"):
        assert one(theirs, text) == pytest.approx(good), text
    assert one(theirs, "f.Jet[0].pt") == one(theirs, "f.Jet.pt[0]")
    assert one(theirs, "len(f.Jet)") == ak.sum(first.Jet_pt > 30)
    assert one(theirs, "Jet_pt") == one(events, "Jet_pt")
    with raises(QueryError, about="f.Jet_pt"):
        one(theirs, "f.Jet_pt")


def test_explain_says_what_is_read(jets):
    told = jets.hist("Jet.pt", bins=(10, 0, 100), weight="Jet.eta").explain()
    assert "Jet_pt, Jet_eta" in told
    assert "nJet\n" in told  # the lists that are gone through


class Read(tm.Selector):
    """What the chunks have of some fields."""

    def begin_worker(self, inputs):
        self.output["seen"] = []

    def process(self, chunk):
        for path in self.inputs["paths"]:
            value = chunk
            for name in path:
                value = value[name]
            self.output["seen"].append(
                float(ak.sum(ak.num(value) if self.inputs["num"] else value))
            )


class ReadCollections(Read):
    collections = True


@pytest.mark.parametrize(
    ("selector", "path"),
    [
        (Read, ("Jet_pt",)),
        (Read, ("nJet",)),
        (ReadCollections, ("Jet", "pt")),
        (ReadCollections, ("Jet", "eta")),
    ],
)
def test_selectors_see_no_column_of_what_was_defined_anew(session, jets, events, selector, path):
    inputs = {"paths": [path], "num": False}
    with raises(tm.errors.TreemillError, said="was defined anew"):
        session.run(selector(), jets, inputs=inputs)
    assert session.run(selector(), events, inputs=inputs)["seen"]
    # Others, and what was defined for them, are there.
    node = jets.define("good_pt", "Jet.pt").define("MET_pt", "MET_pt * 2")
    inputs = {"paths": [("good_pt",), ("MET_pt",), ("Muon_pt",)], "num": False}
    found = session.run(Read(), node, inputs=inputs)["seen"]
    assert sum(found[0::3]) == pytest.approx(one(jets, "Jet.pt"))
    assert sum(found[1::3]) == pytest.approx(2 * one(events, "MET_pt"))
    assert sum(found[2::3]) == pytest.approx(one(events, "Muon_pt"))
    # A collection whose member was defined anew does not show the old one.
    inputs = {"paths": [("Jet", "pt")], "num": False}
    with raises(tm.errors.TreemillError, said="was defined anew"):
        session.run(ReadCollections(), events.define("Jet_pt", "Jet_pt * 2"), inputs=inputs)
