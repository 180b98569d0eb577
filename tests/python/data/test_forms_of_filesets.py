"""The forms in which a fileset can be given, and what is none."""

import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
import treemill as tm
import uproot
from treemill.data import filesets
from treemill.data.file_checks import VerifiedFile

from tests.raising import raises


def test_forms(paths, tmp_path):
    rdf = {
        "samples": {
            "dy": {"trees": ["Events"], "files": paths[:2], "metadata": {"xsec": 6.5}},
            "tt": {"trees": ["Events"], "files": [paths[2]]},
            "both": {"trees": ["Events", "Events"], "files": paths[:2]},
        }
    }
    written = tmp_path / "spec.json"
    written.write_text(json.dumps(rdf))
    for given_as in (rdf, written, str(written)):
        found = tm.fileset(given_as)
        assert found.count().value == {"dy": 5001, "tt": 7321, "both": 5001}
        assert found.metadata["dy"] == {"xsec": 6.5}
    assert tm.dataset(rdf).num_entries == 5001 + 7321 + 5001
    plain = tm.fileset({"a": paths[0], "b": f"{paths[1]}:Events", "c": paths}, tree="Events")
    assert plain.count().value == {"a": 5000, "b": 1, "c": 12322}
    assert "a" in plain
    assert len(plain) == 3
    assert plain["c"].num_entries == 12322


def test_plain_paths_are_looked_at_together(paths, tmp_path, monkeypatch):
    listed = {"num_entries": 5, "size": 9, "clusters": [0], "object_path": "/Events/"}
    files = {
        paths[0]: listed,
        f"{paths[1]}:Events": None,
        paths[2]: "Events",
        str(tmp_path / "none.root"): {"object_path": "Events"},
        str(Path(paths[0]).parent / "*_1.root"): "Events",
    }
    one_by_one, located = [], filesets.located

    def noted(files):
        one_by_one.extend(files)
        return located(files)

    monkeypatch.setattr(filesets, "located", noted)
    for form in (files, {"dy": {"files": files, "metadata": {"xsec": 1.5}}}):
        one_by_one.clear()
        found = filesets.fileset(form)
        assert [(each.path, each.tree) for each in found.locations] == [
            *((path, "Events") for path in paths),
            (str(tmp_path / "none.root"), "Events"),
            (paths[1], "Events"),
        ]
        assert one_by_one == [path for path in files if path not in paths]
        assert found.locations[3].absence
        first, *rest = found.locations
        assert first.verified == VerifiedFile(9, 5, (0,))
        assert all(each.verified is None for each in rest)
        assert all(each.metadata is first.metadata for each in rest)
        assert first.metadata == ({} if form is files else {"xsec": 1.5, "dataset": "dy"})


def test_one_file_with_several_trees(tmp_path):
    path = str(tmp_path / "two.root")
    with uproot.recreate(path) as file:
        file["a"], file["b"] = {"x": np.arange(10.0)}, {"x": np.arange(100.0, 103.0)}
    samples = {"s": {"trees": ["a", "b", "b"], "files": [path] * 3}}
    assert tm.fileset({"samples": samples}).sum("x").value == {"s": 45 + 2 * 303}


@pytest.mark.parametrize(
    ("given_as", "message"),
    [
        ({}, "a mapping of names"),
        (["x.root"], "a mapping of names"),
        ({"files": ["x.root"]}, "give it a name"),
        ({"x.root": {"object_path": "Events"}}, "give it a name"),
        ({"dy": []}, "'dy' of a fileset has no file"),
        ({"dy": 3}, "'dy' of a fileset is a list of files"),
        ({"dy": {"files": ["x"], "metadata": [1]}}, "'dy' of a fileset: metadata is a mapping"),
        ({1: ["x.root"], "1": ["y.root"]}, "two samples of a fileset have the name 1"),
        (
            {"dy": {"files": {}, "left_out": {"x.root": "no such file"}}},
            r"'dy' of a fileset has no file.*1 were left out \(x\.root: no such file\)",
        ),
        ({"samples": {"a": {"trees": ["t", "u"], "files": ["x"]}}}, "2 trees and 1 files"),
        ({"samples": {"a": {"trees": ["t"], "files": []}}}, "a list of files"),
        (
            {"samples": {"a": {"trees": ["t"], "files": ["x"]}}, "friends": {"f": {}}},
            "friends in a specification",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_fileset(given_as, message):
    with pytest.raises(tm.TreemillError, match=message):
        tm.fileset(given_as)


def test_a_mapping_that_makes_what_it_lacks_is_not_verified(paths):
    about = defaultdict(list, object_path="Events")
    assert tm.fileset({"dy": {"files": {paths[0]: about}}}).count().value == {"dy": 5000}
    assert [*about] == ["object_path"]


def test_metadata_of_one_dataset_is_a_mapping(paths):
    with raises(tm.QueryError, said="dataset dy : metadata is a mapping"):
        tm.dataset(paths, "Events", name="dy", metadata=[1])


@pytest.mark.parametrize(
    ("sample", "about"),
    [
        ({"metdata": {"xsec": 1}}, ["'metdata'", "'dy'", "metadata"]),
        ({"tree": "Events"}, ["'tree'", "'treename'"]),
        ({"steps": [[0, 10]]}, ["'steps'", "'dy'"]),
        ({"nevts": 5, "metadata": {"xsec": 1}}, ["'nevts'"]),
    ],
)
def test_items_that_mean_nothing_are_refused(paths, sample, about):
    with raises(tm.QueryError, about=about):
        tm.fileset({"dy": {"files": {paths[0]: "Events"}, **sample}})
    of_file = {"object_path": "Events", "stepz": [[0, 10]]}
    with raises(tm.QueryError, about=[paths[0], "'stepz'"]):
        tm.fileset({"dy": {"files": {paths[0]: of_file}}})
    for name in ("tree", "treename"):
        with raises(tm.QueryError, about=[paths[0], f"'{name}'", "call it 'object_path'"]):
            tm.fileset({"dy": {"files": {paths[0]: {name: "Events"}}}})


def test_items_of_coffeas_and_verified_filesets_are_taken(paths):
    own = {
        "object_path": "Events",
        "steps": [[0, 10]],
        "num_entries": 5000,
        "uuid": "",
        "lfn": None,
    }
    sample = {"files": {paths[0]: own}, "format": "root", "compressed_form": None, "left_out": {}}
    assert tm.fileset({"dy": {**sample, "metadata": {}}}).count().value == {"dy": 10}
