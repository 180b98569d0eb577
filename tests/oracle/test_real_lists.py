"""Lists of lists and of strings in files that experiments wrote, against uproot and awkward."""

import awkward as ak
import numpy as np
import pytest
import treemill as tm
import uproot

from tests.corpus_files import corpus

pytest.importorskip("treemill._core", reason="the native core is not built")


def opened(name, tree):
    place = f"{corpus(name)}:{tree}"
    return tm.dataset(place).with_params({}), uproot.open(place)


def taken(node, *texts):
    with tm.connect(workers=1) as session:
        found = session.run(*[node.take(text) for text in texts], node.count(), progress=False)
    return found[:-1]


def test_vectors_of_vectors_of_an_atlas_file():
    node, tree = opened("uproot-issue-123a.root", "CollectionTree")
    jets = "AnalysisJetsAuxDyn"
    pt, sums, counts = (
        tree[f"{jets}.{name}"].array() for name in ("pt", "SumPtTrkPt500", "NumTrkPt500")
    )
    total, per_jet, first, leading, ratio, cut, combined = taken(
        node,
        f"sum(sum(v) for v in {jets}.NumTrkPt500)",
        f"[max(v) for v in {jets}.SumPtTrkPt500]",
        f"max({jets}.SumPtTrkPt500[0])",
        f"{jets}.NumTrkPt500[0][0]",
        f"[j.SumPtTrkPt500[0] / j.pt for j in {jets}]",
        f"sum(j.pt for j in {jets} if any(s > 0.5 * j.pt for s in j.SumPtTrkPt500))",
        f"sum(s for j in {jets} for s, n in zip(j.SumPtTrkPt500, j.NumTrkPt500) if n > 1)",
    )
    np.testing.assert_array_equal(total, ak.sum(ak.sum(counts, -1), -1))
    assert ak.all(per_jet == ak.max(sums, -1))
    there = ak.to_numpy(ak.num(pt) > 0)
    np.testing.assert_array_equal(first[there], ak.to_numpy(ak.max(sums[there][:, 0], -1)))
    np.testing.assert_array_equal(leading[there], ak.to_numpy(counts[there][:, 0, 0]))
    np.testing.assert_allclose(
        ak.flatten(ratio), ak.flatten(ak.values_astype(sums[:, :, 0], "f8") / pt), 1e-6
    )
    passed = ak.any(sums > 0.5 * ak.values_astype(pt, "f8"), -1)
    np.testing.assert_allclose(cut, ak.sum(ak.values_astype(pt, "f8")[passed], -1), 1e-9)
    expected = ak.sum(ak.sum(ak.values_astype(sums, "f8")[counts > 1], -1), -1)
    np.testing.assert_allclose(combined, expected, 1e-9)


def test_vectors_of_vectors_within_a_loop_over_others():
    node, tree = opened("uproot-issue-123a.root", "CollectionTree")
    jets, others = "AnalysisJetsAuxDyn", "AnalysisMuonsAuxDyn"
    pt, sums = (tree[name].array() for name in (f"{others}.pt", f"{jets}.SumPtTrkPt500"))
    paired, kept = taken(
        node,
        f"sum(m.pt * max(v) for m in {others} for v in {jets}.SumPtTrkPt500)",
        f"[v for m in {others} if m.pt > 20000 for v in {jets}.SumPtTrkPt500 if len(v) > 0]",
    )
    pt, sums = ak.values_astype(pt, "f8"), ak.values_astype(sums, "f8")
    expected = ak.sum(pt, -1) * ak.sum(ak.max(sums, -1), -1)
    assert ak.sum(expected) > 0
    np.testing.assert_allclose(paired, expected, 1e-9)
    filled = sums[ak.num(sums, axis=2) > 0]
    assert kept.to_list() == [
        a.to_list() * int(n) for a, n in zip(filled, ak.sum(pt > 20000, -1), strict=True)
    ]


def test_members_of_records_in_vectors_of_vectors():
    name = "HardScatterVerticesAuxDyn.incomingParticleLinks"
    node, _ = opened("uproot-issue-123a.root", "CollectionTree")
    index, whole = taken(
        node, f"[max(v, default=0) for v in {name}.m_persIndex]", f"{name}.m_persIndex"
    )
    expected = tm.dataset(node.origin.chain.files[0], "CollectionTree").arrays([name])[name]
    assert ak.sum(expected.m_persIndex) > 0
    assert whole.to_list() == expected.m_persIndex.to_list()
    most = ak.fill_none(ak.max(expected.m_persIndex, axis=-1), 0)
    assert index.to_list() == most.to_list()


def test_vectors_of_strings():
    node, tree = opened("uproot-issue76.root", "Events")
    strings = tree["Event/normalStrings"].array()
    number, has, first, some = taken(
        node,
        "len(normalStrings)",
        "'7' in normalStrings",
        "normalStrings[0]",
        "sum(1 for s in normalStrings if s < '5')",
    )
    np.testing.assert_array_equal(number, ak.num(strings))
    lists = strings.to_list()
    assert has.tolist() == ["7" in row for row in lists]
    assert [str(x) for x in first.tolist()] == [row[0] for row in lists]
    assert some.tolist() == [sum(s < "5" for s in row) for row in lists]
    assert 0 < sum(has) < len(lists)


def test_trigger_names_select_events():
    node, tree = opened("uproot-issue-123b.root", "CollectionTree")
    name = "EventInfoAux.streamTagNames"
    tags = tree["EventInfoAux./EventInfoAux.streamTagNames"].array().to_list()
    wanted = max({t for row in tags for t in row}, key=lambda t: (len(t), t))
    passed = node.filter(f"'{wanted}' in {name}").count().value
    assert passed == sum(wanted in row for row in tags)
    assert passed > 0


def test_vectors_that_root_split(root_program, tmp_path):
    """A TLorentzVector, and a TClonesArray of them, written member by member."""
    path, said = tmp_path / "split.root", tmp_path / "split.npz"
    root_program("split_vectors.py", path, said)
    root = np.load(said)
    node = tm.dataset(f"{path}:Events").with_params({})
    met, phi, pair, pts, near = taken(
        node,
        "met.pt",
        "met.phi",
        "fill_missing((muons[0] + muons[1]).mass, -1)",
        "muons.pt",
        "fill_missing(muons[0].deltaR(muons[1]), -1)",
    )
    for found, name in ((met, "met_pt"), (phi, "met_phi"), (pair, "pair"), (near, "near")):
        np.testing.assert_allclose(found, root[name], 1e-6, err_msg=name)
    np.testing.assert_allclose(ak.flatten(pts), root["pts"], 1e-9)


def test_branches_that_are_called_by_their_dimensions():
    """Members of split objects, as ROOT calls them."""
    node, tree = opened("uproot-issue327.root", "DstTree")
    vertices, dcas = (tree[name].array() for name in ("fVtx[3]", "fTracks.fDCA[2]"))
    z, second = taken(node, "fVtx[2]", "[d[1] for d in fTracks.fDCA if d[0] > 0]")
    assert z.tolist() == vertices[:, 2].to_list()
    assert second.to_list() == dcas[:, :, 1][dcas[:, :, 0] > 0].to_list()
    assert ak.sum(ak.num(second)) > 0
