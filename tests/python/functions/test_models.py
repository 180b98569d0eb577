"""Trained models in expressions and with arrays: ways to call them, missing values, what is sent to
workers, errors. Values are compared with the libraries' in tests/oracle."""

import gzip
import json
import pickle

import awkward as ak
import numpy as np
import pytest
import treemill as tm
from treemill.errors import FormatError, QueryError, SourceError, UnsupportedError

from tests.raising import raises
from tests.tutorials import programs, write_demo


def xgboost_tree(feature, threshold, left, right, *, default_left=1, **others):
    return {
        "left_children": [1, -1, -1],
        "right_children": [2, -1, -1],
        "split_indices": [feature, 0, 0],
        "split_conditions": [threshold, left, right],
        "default_left": [default_left, 0, 0],
        "tree_param": {"num_nodes": "3", "size_leaf_vector": "1"},
        **others,
    }


def xgboost_file(
    trees, objective="binary:logitraw", *, groups=None, names=("met", "njet"), **others
):
    groups = groups or [0] * len(trees)
    classes = max(groups) + 1 if max(groups) else 0
    model = {"trees": trees, "tree_info": groups}
    learner = {
        "attributes": {},
        "feature_names": list(names),
        "gradient_booster": {"name": "gbtree", "model": model},
        "learner_model_param": {
            "base_score": "[2.5E-1]",
            "num_class": str(classes),
            "num_feature": "2",
        },
        "objective": {"name": objective},
        **others,
    }
    return json.dumps({"learner": learner, "version": [3, 2, 0]}).encode()


TREES = [xgboost_tree(0, 30.0, -1.0, 1.0), xgboost_tree(1, 3.0, 0.5, -0.5, default_left=0)]

LIGHTGBM = b"""tree
version=v4
num_class=1
num_tree_per_iteration=1
label_index=0
max_feature_idx=1
objective=binary sigmoid:1
feature_names=met njet
feature_infos=none none

Tree=0
num_leaves=3
num_cat=0
split_feature=0 1
threshold=30 2
decision_type=8 10
left_child=-1 -2
right_child=1 -3
leaf_value=-1 0.25 1

end of trees

pandas_categorical:null
"""


@pytest.fixture
def bdt():
    return tm.model(xgboost_file(TREES))


@pytest.fixture
def classes():
    trees = [xgboost_tree(0, 10.0 * i, 0.5, i / 2) for i in range(3)]
    return tm.model(xgboost_file(trees, "multi:softprob", groups=[0, 1, 2]))


def expected(met, njet):
    met, njet = np.asarray(met, np.float32), np.asarray(njet, np.float32)
    return 0.25 + np.where(met < 30, -1, 1) + np.where(njet < 3, 0.5, -0.5)


def test_the_page_runs(tmp_path, monkeypatch):
    xgboost = pytest.importorskip("xgboost")
    monkeypatch.chdir(tmp_path)
    write_demo(tmp_path)
    names = {}
    for program in programs("models")[:-2]:  # test_onnx.py runs the others
        exec(program, names)
    events = names["events"]
    assert names["score"].value.sum() == events.count().value
    assert 0 < names["signal"].value < events.count().value
    rows = names["rows"].astype(np.float32)
    wanted = names["booster"].predict(xgboost.DMatrix(rows, feature_names=["met", "ht", "n"]))
    assert names["node"].arrays(["score"]).score.tolist() == wanted.tolist()
    assert names["mass"].value.sum() > 0


def test_expressions_have_the_values_of_arrays(events, bdt):
    found = events.define("score", "bdt(MET_pt, nJet)", {"bdt": bdt}).arrays(
        ["score", "MET_pt", "nJet"]
    )
    assert found.score.tolist() == expected(found.MET_pt, found.nJet).tolist()
    assert bdt(found.MET_pt, found.nJet).tolist() == found.score.tolist()
    assert bdt(10.0, 5) == expected(10.0, 5)
    each = events.with_params({"bdt": bdt}).arrays(
        {"x": "bdt(Jet_pt, nJet)", "Jet_pt": "Jet_pt", "n": "nJet"}
    )
    wanted = [expected(pt, n).tolist() for pt, n in zip(each.Jet_pt, each.n, strict=True)]
    assert each.x.tolist() == wanted
    assert bdt(each.Jet_pt, each.n).tolist() == wanted


def test_margins_and_outputs(events, bdt, classes):
    node = events.with_params(
        {"bdt": bdt, "classes": classes, "third": classes[2], "sums": classes.raw}
    )
    found = node.arrays(
        {
            "p": "classes[0](MET_pt, nJet) + classes[1](MET_pt, nJet) + third(MET_pt, nJet)",
            "same": "classes.raw[2](MET_pt, nJet) == sums[2](MET_pt, nJet)",
            "raw": "bdt.raw(MET_pt, nJet) == bdt(MET_pt, nJet)",
            "first": "bdt[0](MET_pt, nJet) == bdt.evaluate(MET_pt, nJet)",
            "local": "sum([bdt.pt > 0 for bdt in Jet]) == len(Jet)",
        }
    )
    assert np.allclose(found.p, 1)
    assert all(ak.all(found[name]) for name in ("same", "raw", "first", "local"))
    assert (classes.outputs, classes[1].outputs, bdt.outputs) == (3, 1, 1)
    assert classes.raw[1](50.0, 1) == classes[1].raw(50.0, 1) == np.float32(0.25 + 0.5)


def test_a_missing_argument_is_a_missing_result_unless_it_is_nan(events, bdt):
    node = events.with_params({"bdt": bdt})
    found = node.arrays(
        {
            "missing": "is_missing(bdt(Jet.pt[0], nJet))",
            "nan": "bdt(fill_missing(Jet.pt[0], nan), nJet)",
            "n": "nJet",
        }
    )
    none = found.n == 0
    assert ak.any(none)
    assert found.missing.tolist() == none.tolist()
    assert set(found.nan[none].tolist()) == {0.25 - 1.0 + 0.5}
    assert bdt(np.nan, np.nan) == 0.25 - 1.0 - 0.5


def test_it_is_in_the_plan(events, bdt):
    node = events.define("score", "bdt.raw(MET_pt, nJet)", {"bdt": bdt})
    text = node.hist("score", bins=(4, -2, 2)).explain()
    assert "calls:\n  bdt.raw(met, njet): XGBoost binary:logitraw, 2 trees, margin\n" in text


@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_workers_get_it_with_the_query(events, bdt, classes, mode, tmp_path):
    path = tmp_path / "bdt.json.gz"
    path.write_bytes(gzip.compress(xgboost_file(TREES)))
    params = {"bdt": tm.model(path), "classes": classes, "other": tm.model(LIGHTGBM)}
    path.unlink()
    node = events.with_params(params)
    text = "bdt(MET_pt, nJet) + classes[1](MET_pt, nJet) * other.raw(MET_pt, nJet)"
    wanted = node.sum(text).value
    with tm.connect(workers=2, mode=mode) as session:
        assert session.run(node.sum(text), progress=False) == pytest.approx(wanted)


def test_objects_say_what_they_are_and_are_pickled(bdt, classes):
    other = tm.model(LIGHTGBM)
    assert (bdt.library, bdt.objective, bdt.trees, bdt.best_round) == (
        "XGBoost",
        "binary:logitraw",
        2,
        None,
    )
    assert (other.library, other.inputs) == ("LightGBM", ["met", "njet"])
    assert [other.raw(40.0, 2.0), other.raw(40.0, 2.5)] == [0.25, 1]
    assert repr(bdt) == "<model of the given bytes: XGBoost binary:logitraw, 2 trees, 2 inputs>"
    for each in (bdt, bdt.raw, classes[2], classes[2].raw):
        again = pickle.loads(pickle.dumps(each))
        assert (again, hash(again), repr(again)) == (each, hash(each), repr(each))
    assert len({bdt.identity, bdt.raw.identity, bdt[0].identity, classes.identity}) == 4
    with pytest.raises(TypeError, match="no list"):
        list(classes)
    with pytest.raises(IndexError, match="3 outputs"):
        classes[3]


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("bdt(MET_pt)", r"bdt\(…\) takes 2 \(met, njet\), and gets 1"),
        ("bdt(MET_pt, 'a')", "takes a number as njet, and gets a string"),
        ("classes(MET_pt, nJet)", r"several outputs: write classes\[0\]\(…\), up to classes\[2\]"),
        ("classes[3](MET_pt, nJet)", "classes has no 3"),
        ("classes.margin(MET_pt, nJet)", "classes has no margin"),
        ("classes.raw(MET_pt, nJet)", r"write classes.raw\[0\]"),
        ("bdt + 1", "is a function"),
    ],
)
def test_errors_point_at_what_is_wrong(events, bdt, classes, expression, message):
    with pytest.raises(QueryError, match=message):
        events.with_params({"bdt": bdt, "classes": classes}).sum(expression).value  # noqa: B018


def test_errors_with_arrays(bdt, classes):
    with raises(QueryError, said="takes 2 met, njet , and gets 3"):
        bdt(1, 2, 3)
    with raises(QueryError, said="3 outputs"):
        classes(1, 2)


LOOP = {**TREES[0], "left_children": [1, 0, -1], "right_children": [2, 2, -1]}


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (b"{L\x00\x00", UnsupportedError, "UBJSON: save it"),
        (pickle.dumps({}), UnsupportedError, "a Python pickle"),
        (b"\x08\x01", FormatError, "no model of a kind that treemill reads"),
        (b'{"a": 1}', FormatError, "no model in XGBoost's JSON: missing field"),
        (xgboost_file(TREES, "my"), UnsupportedError, 'the objective "my" of XGBoost'),
        (
            xgboost_file(TREES, gradient_booster={"name": "gblinear", "model": {"weights": []}}),
            UnsupportedError,
            'the booster "gblinear" of XGBoost',
        ),
        (
            xgboost_file(TREES).replace(b"[3, 2, 0]", b"[1, 7, 6]"),
            UnsupportedError,
            "binary:logitraw of XGBoost before version 2",
        ),
        (xgboost_file([LOOP]), FormatError, "two ways lead to node 0 .in tree 0"),
        (xgboost_file([{**TREES[0], "left_children": [9, -1, -1]}]), FormatError, "no node 9"),
        (xgboost_file([{**TREES[0], "split_indices": [2, 0, 0]}]), FormatError, "feature 2 of 2"),
        (xgboost_file(TREES, names="abc"), FormatError, "3 names for 2 features"),
        (
            xgboost_file([{**TREES[0], "tree_param": {"size_leaf_vector": "3"}}]),
            UnsupportedError,
            "several outputs",
        ),
        (LIGHTGBM.replace(b"v4", b"v9"), UnsupportedError, "version v9"),
        (LIGHTGBM[: LIGHTGBM.index(b"1\n\nend")], FormatError, "cut off"),
        (LIGHTGBM.replace(b"binary", b"mine"), UnsupportedError, 'objective "mine" of LightGBM'),
        (LIGHTGBM.replace(b"-1 -2", b"-1 0"), FormatError, "two ways lead to node 0 .in tree 0"),
        (LIGHTGBM.replace(b"leaf_value=-1", b"leaf_value="), FormatError, "2 numbers, and not 3"),
        (LIGHTGBM.replace(b":null", b':[["b", "a"]]'), UnsupportedError, "data frame"),
    ],
)
def test_other_files_are_refused(content, error, message):
    with pytest.raises(error, match=message):
        tm.model(content)


@pytest.mark.parametrize("content", [LIGHTGBM, xgboost_file(TREES)], ids=["text", "JSON"])
@pytest.mark.parametrize("given_as", [bytes.decode, bytearray, memoryview])
def test_a_content_may_be_given(content, given_as):
    """As `Booster.model_to_string` and `Booster.save_raw` give them."""
    assert tm.model(given_as(content)) == tm.model(content)


def test_an_object_of_another_library_is_no_content():
    with raises(QueryError, said="or as its content, not as dict: save it in a"):
        tm.model({"learner": {}})


def test_a_file_that_is_not_there():
    with pytest.raises(SourceError):
        tm.model("/nowhere/bdt.json")
