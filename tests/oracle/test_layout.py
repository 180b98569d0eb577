"""Arrays have uproot's layout and field names: over the corpus, one branch of each C++ type
of each file; groups of branches; and what is read when nothing is named.
"""

from collections import Counter

import pyarrow
import pytest
import treemill as tm
import treemill._core as core
import uproot

from tests.corpus_files import CORPUS, FILES, with_slow_ones
from tools.readers.compare import difference, readable_branches, walk

pytestmark = [
    pytest.mark.skipif(not FILES, reason=f"no corpus at {CORPUS}"),
    pytest.mark.usefixtures("bounded_memory"),
]

ENTRIES = 20

# Where layouts differ, and why. C++ types are compared without the names of branches in them.
NAMES = (
    "C++ names of classes, sets and maps are no parameters of treemill's layouts: Arrow has none"
)
COUNTER = "uproot takes the member `int N` that counts arrays as unsigned"
KNOWN = {
    ("uproot-small-evnt-tree-nosplit.root", "evt"): COUNTER,
    ("uproot-nesteddirs.root", "N"): COUNTER,
    **{(name, "numberOfHits"): COUNTER for name in FILES if name.startswith("uproot-issue")},
}


def plain(form):
    """A form as nested dictionaries, without the parameters that treemill has not (NAMES)."""
    if isinstance(form, list):
        return [plain(each) for each in form]
    if not isinstance(form, dict):
        return form
    text = {"string", "bytestring", "char", "byte"}
    kept = {k: plain(v) for k, v in form.items() if k not in ("form_key", "parameters")}
    kind = (form.get("parameters") or {}).get("__array__")
    return kept | ({"text": kind} if kind in text else {})


def trees(name):
    """Pairs of a dataset and uproot's tree, and all pairs of branches."""
    with uproot.open(CORPUS / name) as opened:
        for tree in core.File(str(CORPUS / name)).trees():
            if not tree["class"].endswith("RNTuple"):
                title = f"{tree['path']};{tree['cycle']}"
                yield tm.dataset(CORPUS / name, title), opened[title]


def samples(events, theirs):
    """A branch of each C++ type, with its counterpart."""
    seen = set()
    described = events.chain.trees[0].described()
    paths = Counter(branch["path"] for branch in described)
    for branch, other in zip(described, walk(theirs), strict=True):
        if paths[branch["path"]] > 1:
            continue  # which of them is meant is a reader's choice
        key = branch["cpp_type"].split("[")[0], branch["kind"], branch["cpp_type"].count("[")
        if key not in seen and branch["supported"] and not other.branches:
            seen.add(key)
            yield branch, other


def interpreted(other):
    try:
        return other.array(entry_stop=ENTRIES, library="ak")
    except Exception:
        return None  # What uproot cannot read, and how it says so, is not compared.


def short(branch):
    return branch["name"].rstrip(".").split(".")[-1]


@pytest.mark.slow
@pytest.mark.parametrize("name", with_slow_ones(FILES))
def test_branches_have_uproots_layout(name):
    wrong = []
    for events, theirs in trees(name):
        if events.num_entries == 0:
            continue
        for branch, other in samples(events, theirs):
            expected = interpreted(other)
            if expected is None or len(expected) == 0 or (name, short(branch)) in KNOWN:
                continue
            try:
                found = events.arrays(branch["path"], 0, ENTRIES)[branch["path"]]
            except (tm.FormatError, tm.UnsupportedError):
                continue  # test_corpus.py judges these
            if "()" in str(found.type):
                continue  # a class that the file does not describe, and of which it has no items
            if plain(found.layout.form.to_dict()) != plain(expected.layout.form.to_dict()):
                wrong.append(f"{branch['path']}: {found.type}, not {expected.type}")
    assert not wrong, "\n".join(wrong)


GROUPS = [
    # Not uproot-issue-1221.root: of members of one name in many groups uproot takes one for all.
    ("uproot-issue243-new.root", None),
    ("uproot-issue513.root", "Delphes"),
    ("uproot-issue187.root", None),
    ("uproot-issue399.root", "Event"),
]


@pytest.mark.parametrize(("name", "tree"), GROUPS)
def test_groups_are_records_of_their_members(name, tree):
    compared = 0
    for events, theirs in trees(name):
        if tree is not None and not theirs.object_path.endswith(f"{tree};1"):
            continue
        for other in theirs.branches:
            if other.branches and events.branches[other.name].path == other.name:
                try:
                    expected = theirs.arrays(filter_branch=lambda b, o=other: b is o, entry_stop=5)
                    found = events.arrays(other.name, 0, 5)
                except (tm.UnsupportedError, ValueError, KeyError, NotImplementedError):
                    continue  # uproot has none of the members that it does not read
                if not expected.fields:
                    continue
                assert found.fields == expected.fields == [other.name]
                assert found[other.name].fields == expected[other.name].fields
                if plain(found.layout.form.to_dict()) == plain(expected.layout.form.to_dict()):
                    assert difference(found, expected) is None
                    compared += 1
    assert compared


ALL = ["uproot-HZZ-uncompressed.root", "uproot-issue187.root", "uproot-issue243-new.root"]


@pytest.mark.parametrize("name", ALL)
def test_without_names_what_uproot_reads(name):
    for events, theirs in trees(name):
        expected = theirs.arrays(entry_stop=2)
        assert events.arrays(None, 0, 2).fields == expected.fields


def test_two_collections_of_one_name():
    """Delphes', of which a program has added another one called alike: each goes by its own."""
    path = str(CORPUS / "uproot-issue513.root")
    tree = core.File(path).tree("Delphes")
    branches = {b["name"]: b for b in readable_branches(tree)}
    assert len(branches) == len(readable_branches(tree))
    together = tree.read(list(branches), 0, 3)
    for name, column in zip(branches, together, strict=True):
        (alone,) = tree.read([name], 0, 3)
        assert pyarrow.array(column).equals(pyarrow.array(alone)), name
    assert branches["Particle.PT"]["counter"] == "Particle"
    assert branches["Particle;2.PT"]["counter"] == "Particle;2"
    assert branches["Particle.DeltaEta"]["counter"] == "Particle;2"
    events = tm.dataset(f"{path}:Delphes")
    taken = events.take("Particle.DeltaEta").value
    assert taken.to_list() == events.arrays("Particle.DeltaEta")["Particle.DeltaEta"].to_list()
