"""Several split objects of one class in a tree, as ROOT writes them: every branch has a name of its
own, a name that several have means none of them, and "all" means all. The values are those of
`root/twins.C`, by formula.
"""

import awkward as ak
import numpy as np
import pytest
import treemill as tm
import uproot

from tests.raising import raises

ENTRIES = np.arange(5)


@pytest.fixture(scope="module")
def path(made_by_root):
    return made_by_root("twins") / "twins.root"


@pytest.fixture(scope="module")
def vectors(path):
    return tm.dataset(path, tree="vectors")


@pytest.fixture(scope="module")
def events(path):
    return tm.dataset(path, tree="events")


@pytest.fixture(scope="module")
def alone(path):
    return tm.dataset(path, tree="alone")


@pytest.fixture(scope="module")
def named(path):
    return tm.dataset(path, tree="named")


def values(dataset, text):
    """The values of an expression, booked and read at once, which agree."""
    booked = dataset.filter("true").take(text).value
    at_once = dataset.arrays({"x": text})["x"]
    assert ak.to_list(booked) == ak.to_list(at_once)
    return ak.to_list(booked)


OF_VECTORS = {
    "mu1.fCoordinates.fPt": 10 + ENTRIES,
    "mu2.fCoordinates.fPt": 20 + ENTRIES,
    "mu3.fCoordinates.fPt": 30 + ENTRIES,
    "`mu2/fCoordinates/fCoordinates.fPt`": 20 + ENTRIES,
    "`mu3./mu3.fCoordinates/mu3.fCoordinates.fPt`": 30 + ENTRIES,
    "mu1.pt": 10 + ENTRIES,
    "mu2.pt": 20 + ENTRIES,
    "mu3.pt": 30 + ENTRIES,
    "mu2.eta": 0.5 + 0 * ENTRIES,
    "mu1.deltaR(mu3)": 1 + 0 * ENTRIES,
    "place1.x": 1 + 0 * ENTRIES,
    "place2.y": ENTRIES,
    "place1.pt": np.hypot(1, ENTRIES),
    "place1.p": np.sqrt(1 + ENTRIES**2 + 9),
    "place2.Mag": np.sqrt(4 + ENTRIES**2 + 25),
    "place2.mag2": 4 + ENTRIES**2 + 25,
    "place1.dot(place2)": 2 + ENTRIES**2 + 15,
    "place2.phi": np.arctan2(ENTRIES, 2),
}


@pytest.mark.parametrize("text", OF_VECTORS)
def test_four_vectors_of_one_class(vectors, text):
    np.testing.assert_allclose(values(vectors, text), OF_VECTORS[text], rtol=1e-6)


OF_EVENTS = {
    "e1.val3": 10 + ENTRIES,
    "e2.val3": 20 + ENTRIES,
    "e3.val3": 30 + ENTRIES,
    "`e2/val3`": 20 + ENTRIES,
    "e2.b": 200 + ENTRIES,
    "e3.b": 300 + ENTRIES,
    "`e3.twins::Base.b`": 300 + ENTRIES,
    # As in C++ the member of the class itself hides that of its base class.
    "e2.same": 2000 + ENTRIES,
    "e3.same": 3000 + ENTRIES,
    "`e2.twins::Base.same`": -2000 - ENTRIES,
    "`e2/twins::Base/same`": -2000 - ENTRIES,
    "`e2.in.q`": 2 + ENTRIES,
    "`e2.deep.in.q`": -2 - ENTRIES,
    "e2.p4.pt": 20 + ENTRIES,
    "e2.p4.fCoordinates.fPt": 20 + ENTRIES,
    "e2.place.fX": 2 + 0 * ENTRIES,
    "e2.place.z": 4 + ENTRIES,
    "len(e2.tracks)": (ENTRIES + 2) % 4,
    "len(e3.tracks)": (ENTRIES + 3) % 4,
}


@pytest.mark.parametrize("text", OF_EVENTS)
def test_members_of_objects_of_one_class(events, text):
    np.testing.assert_allclose(values(events, text), OF_EVENTS[text], rtol=1e-6)


def test_collections_in_objects_of_one_class(events):
    pts = [[10.0 * of + k for k in range((i + of) % 4)] for of in (2,) for i in ENTRIES]
    assert values(events, "e2.tracks.pt") == pts
    assert values(events, "[t.pt for t in e2.tracks if t.id > 0]") == [each[1:] for each in pts]
    assert values(events, "e2.tracks.pt[e2.tracks.id > 0]") == [each[1:] for each in pts]
    with raises(tm.QueryError, said="different lists do not go together"):
        values(events, "e1.tracks.pt * e2.tracks.pt")


@pytest.mark.parametrize(
    ("tree", "name", "instead"),
    [
        ("vectors", "fCoordinates.fPt", "mu1.fCoordinates.fPt or mu2.fCoordinates.fPt"),
        ("events", "val3", "e1.val3 or e2.val3"),
        ("events", "b", "e1.b or e2.b"),
        ("events", "tracks", "e1.tracks or e2.tracks"),
        ("events", "tracks.pt", "e1.tracks.pt or e2.tracks.pt"),
        ("alone", "same", "`data.twins::Base.same` or data.same"),
    ],
)
def test_a_name_of_several_is_ambiguous(path, tree, name, instead):
    dataset = tm.dataset(path, tree=tree)
    for ask in (
        lambda: dataset.sum(f"sum([{name}])").value,
        lambda: dataset.take(f"`{name}`").value,
        lambda: dataset.filter(f"{name} > 0").count().value,
    ):
        with raises(tm.QueryError, said="is ambiguous"):
            ask()
    with raises(tm.QueryError, said="is ambiguous") as error:
        dataset.arrays([name])
    for each in instead.replace("`", "").split(" or "):
        assert each in str(error.value)
        assert each in dataset.branches


def test_members_of_a_single_object_go_by_both_names(alone):
    for name in ("val3", "b", "tracks.pt", "p4.pt", "p4.fCoordinates.fPt", "place.fX"):
        assert values(alone, name) == values(alone, f"data.{name}"), name
    assert values(alone, "fSec") == values(alone, "ts.fSec") == (1000 + ENTRIES).tolist()
    # They are the same lists.
    expected = [each[1:] for each in values(alone, "tracks.pt")]
    assert values(alone, "tracks.pt[data.tracks.id > 0]") == expected
    assert values(alone, "len(data.tracks)") == values(alone, "len(tracks)")
    assert alone.arrays(["data.val3"]).fields == ["data.val3"]
    assert "val3" in list(alone.branches)
    assert alone.branches["data.val3"] is alone.branches["val3"]


def test_two_top_branches_of_one_name(named):
    """The name means the first, as in ROOT and uproot; the second has a number."""
    assert values(named, "x") == ENTRIES.tolist()
    assert values(named, "`x;2`") == (10 + ENTRIES).tolist()
    assert values(named, "q") == (-ENTRIES).tolist()
    assert values(named, "obj.q") == values(named, "`obj/q`") == (100 + ENTRIES).tolist()
    found = named.arrays()
    assert found.fields == ["x", "x;2", "obj.q", "r", "q"]
    assert found["x;2"].to_list() == (10 + ENTRIES).tolist()


@pytest.mark.parametrize("tree", ["vectors", "events", "alone", "named"])
def test_all_means_all(path, tree, tmp_path):
    dataset = tm.dataset(path, tree=tree)
    with uproot.open(path) as file:
        branches = file[tree].itervalues(recursive=True)
        stored = [b for b in branches if not len(b.branches)]
        paths = [b.name if b.parent is file[tree] else f"{_path(b)}" for b in stored]
        theirs = {p: b.array() for p, b in zip(paths, stored, strict=True) if b.num_baskets}
    found = dataset.arrays()
    assert len(found.fields) == len(stored)
    for place, values in theirs.items():
        if tree != "named" or place != "x":
            assert ak.to_list(dataset.arrays([place])[place]) == ak.to_list(values), place
    columns = dataset.snapshot(tmp_path / "all.root", "*").value.columns
    again = tm.dataset(tmp_path / "all.root")
    # Vectors that are stored whole are written member by member.
    whole = {name.rstrip(".") for name in found.fields if "place" in name}
    assert set(columns) == {n for n in found.fields if n.rstrip(".") not in whole} | {
        f"{name}.f{part}" for name in whole for part in "XYZ"
    }
    for name in columns:
        record, _, part = name.rpartition(".")
        own = found[name] if name in found.fields else None
        if own is None:
            full = record if record in found.fields else f"{record}."
            own = found[full][part]
        assert ak.to_list(again.arrays([name])[name]) == ak.to_list(own), name


def _path(branch):
    path = [branch.name]
    while hasattr(branch.parent, "parent") and hasattr(branch.parent, "branches"):
        branch = branch.parent
        if branch.classname.startswith("TTree"):
            break
        path.append(branch.name)
    return "/".join(path[::-1])


def test_globs_and_records(events, vectors, path):
    assert vectors.arrays("*.fPt").fields == [f"mu{i}.fCoordinates.fPt" for i in (1, 2, 3)]
    assert vectors.arrays("mu2.*").fields == [
        f"mu2.fCoordinates.f{part}" for part in ("Pt", "Eta", "Phi", "M")
    ]
    record = events.arrays("e2")["e2"]
    with uproot.open(path) as file:
        assert record.fields == [b.name for b in file["events/e2"].branches]
    assert record.val3.to_list() == (20 + ENTRIES).tolist()
    assert record["twins::Base", "same"].to_list() == (-2000 - ENTRIES).tolist()
    assert "e2.val3" in repr(events.branches)


class Sums(tm.Selector):
    def process(self, chunk):
        tracks = chunk["e2.tracks"]
        return {"val3": ak.sum(chunk["e2.val3"]), "pt": ak.sum(tracks["tracks.pt"])}


def test_in_selectors_and_with_friends(events, vectors):
    found = tm.run(Sums(), events, progress=False)
    assert found["val3"] == np.sum(20 + ENTRIES)
    assert found["pt"] == events.sum("sum(e2.tracks.pt)").value
    both = vectors.add_friend(events, alias="f")
    assert both.sum("f.e2.val3").value == np.sum(20 + ENTRIES)
    assert both.sum("val3 * 0 + mu2.pt").value if "val3" in both.branches else True


def test_drawings_agree_with_root(path, root_program, tmp_path):
    texts = [
        *(("vectors", t) for t in ("mu2.fCoordinates.fPt", "mu2.Pt()", "place1.Mag()")),
        *(("vectors", t) for t in ("place1.X()", "place2.fZ", "place1.Perp2()", "mu2.Eta()")),
        *(("events", t) for t in ("e2.val3", "e2.b", "e3.b", "e2.same", "e2.p4.Pt()")),
        *(("events", t) for t in ("e2.tracks.pt", "e2.place.Mag()", "Sum$(e3.tracks.pt)")),
        *(("alone", t) for t in ("data.val3", "ts.fSec", "data.b", "data.p4.Pt()")),
        *(("named", t) for t in ("x", "obj.q")),
    ]
    flat = [word for pair in texts for word in pair]
    root_program("draw_values.py", path, tmp_path / "values.npz", *flat)
    with np.load(tmp_path / "values.npz") as root:
        for number, (tree, text) in enumerate(texts):
            drawn = tm.dataset(path, tree=tree).draw(text, "", "goff", bins=(4000, -2000.5, 5999.5))
            expected, _ = np.histogram(root[str(number)], drawn.axes[0].edges)
            assert drawn.values().tolist() == expected.tolist(), (tree, text)


@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_records_of_split_objects_in_selectors(vectors, mode):
    """They are those that `arrays` gives, and four-vectors."""

    def process(events):
        pt = events.mu2.fCoordinates["fCoordinates.fPt"]
        both = events.mu1 + events.mu2
        return {
            "pt": ak.to_list(pt),
            "all": [ak.to_list(events[name].fCoordinates) for name in ("mu1", "mu2")],
            "of two": [events.mu2.pt.to_list(), both.mass.to_list()],
        }

    with tm.connect(mode=mode, workers=1) as session:
        out = session.run(process, vectors)
    assert out["pt"] == (20 + ENTRIES).tolist()
    records = vectors.arrays(["mu1", "mu2"])
    assert out["all"] == [ak.to_list(records[name].fCoordinates) for name in ("mu1", "mu2")]
    assert out["of two"][0] == (20 + ENTRIES).tolist()
    np.testing.assert_allclose(out["of two"][1], values(vectors, "(mu1 + mu2).mass"), 1e-12)


def test_lorentz_vectors_in_selectors(root_program, tmp_path):
    """Of every class, split or not, they have vector's methods, with ROOT's values. So have
    expressions ROOT's methods of two vectors."""
    root_program("write_lorentz.py", tmp_path / "lorentz.root", tmp_path / "values.npz")

    def process(events):
        out = {}
        for name in events.fields:
            if "." not in name and name not in ("several", "v", "w"):
                v = events[name]
                parts = (v.pt, v.eta, v.phi, v.mass, v.energy, v.px, v.rapidity)
                out[name] = [float(part[0]) for part in parts]
        out["several"] = [(events.several[0, 0] + events.several[0, 1]).mass]
        return out

    events = tm.dataset(tmp_path / "lorentz.root")
    out = tm.run(process, events, progress=False)
    methods = ("v.Angle(w)", "v.DrEtaPhi(w)", "v.Dot(w)", "v.DeltaPhi(w)", "v.p*sin(v.Angle(w))")
    out["two"] = [values(events, text)[0] for text in methods]
    with np.load(tmp_path / "values.npz") as root:
        assert {*out} == {*root}
        for name, expected in root.items():
            np.testing.assert_allclose(out[name], expected, 1e-9, err_msg=name)
