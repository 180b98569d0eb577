"""Corrections in expressions and with arrays: docs/corrections.md, missing values, what is not
evaluated, errors, pickling. Values are compared with correctionlib's in tests/oracle."""

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


def binning(name, edges, content, flow):
    return {"nodetype": "binning", "input": name, "edges": edges, "content": content, "flow": flow}


def document(*extra):
    inputs = [
        {"name": "abseta", "type": "real", "description": "of the muon"},
        {"name": "pt", "type": "real"},
        {"name": "scale_factors", "type": "string"},
    ]
    values = {"nominal": 0.97, "systup": 0.99, "systdown": 0.95}

    def cell(scale):
        content = [{"key": key, "value": value * scale} for key, value in values.items()]
        return {"nodetype": "category", "input": "scale_factors", "content": content}

    rows = [
        binning("pt", [0.0, 25.0, 60.0], [cell(1.0 - i / 10), cell(1.1)], "clamp") for i in (0, 1)
    ]
    output = {"name": "weight", "type": "real"}
    corrections = [
        {
            "name": "NUM_TightID",
            "description": "tight muons",
            "version": 3,
            "inputs": inputs,
            "output": output,
            "data": binning("abseta", [0.0, 1.2, "inf"], rows, "error"),
        },
        {
            "name": "strict",
            "version": 1,
            "inputs": [inputs[1]],
            "output": output,
            "data": binning("pt", [20.0, 1000.0], [2.0], "error"),
        },
        {
            "name": "number",
            "version": 1,
            "inputs": [{"name": "n", "type": "int"}],
            "output": output,
            "data": {
                "nodetype": "category",
                "input": "n",
                "content": [{"key": 2, "value": 5}],
                "default": 7,
            },
        },
        *extra,
    ]
    compound = {
        "name": "both",
        "inputs": [inputs[1]],
        "output": output,
        "inputs_update": ["pt"],
        "input_op": "*",
        "output_op": "*",
        "stack": ["strict", "strict"],
    }
    return {"schema_version": 2, "corrections": corrections, "compound_corrections": [compound]}


PILE_UP = {
    "name": "pu",
    "version": 1,
    "inputs": [{"name": "n", "type": "real"}, {"name": "weights", "type": "string"}],
    "output": {"name": "weight", "type": "real"},
    "data": {
        "nodetype": "category",
        "input": "weights",
        "content": [
            {"key": "nominal", "value": binning("n", [0.0, 20.0, 40.0], [0.9, 1.1], "clamp")}
        ],
    },
}
"""With one array among its arguments."""


@pytest.fixture(scope="module")
def content():
    return json.dumps(document()).encode()


@pytest.fixture
def sf(content):
    return tm.corrections(content)


@pytest.fixture
def named(events, sf):
    return events.with_params({"sf": sf})


def test_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_demo(tmp_path)
    names = {}
    for program in programs("corrections"):
        exec(program, names)
    assert names["mass"].value.sum().value > 0
    yields = names["yields"].value
    assert yields["w:down"] < yields["nominal"] < yields["w:up"]
    assert ak.all(names["weights"].arrays(["good"]).good < 1.2)
    found = names["all_muons"].arrays(["each", "Muon_pt"])
    assert ak.all(ak.flatten(found.each)[ak.flatten(found.Muon_pt) <= 15] == 1)


def test_expressions_have_the_values_of_arrays(named, events, sf):
    columns = events.arrays(["Muon_pt", "Muon_eta"])
    found = named.arrays({"x": "sf['NUM_TightID'](abs(Muon.eta), Muon.pt, 'systup')"}).x
    wanted = sf["NUM_TightID"](abs(columns.Muon_eta), columns.Muon_pt, "systup")
    assert found.tolist() == wanted.tolist()
    assert len(set(ak.flatten(found).tolist())) == 3


def test_all_ways_to_call_one(events, named, sf):
    columns = {
        "a": "sf['number'](nMuon)",
        "b": "sf['number'].evaluate(nMuon)",
        "c": "[sf['number'](nMuon) for m in Muon][:1]",
    }
    found = named.arrays(columns)
    wanted = np.where(events.arrays(["nMuon"]).nMuon == 2, 5.0, 7.0)
    assert found.a.tolist() == found.b.tolist() == wanted.tolist()
    one = events.with_params({"f": sf["number"]}).arrays({"x": "f(nMuon)"}).x
    assert one.tolist() == wanted.tolist()
    both = events.with_params({"f": sf.compound["both"]}).mean("f(25 + nMuon)").value
    assert both == named.mean("sf.compound['both'](25 + nMuon)").value == 4
    assert named.mean("sf['number'](2)").value == 5


def test_strings_may_be_columns(named):
    syst = "'systup' if nMuon > 1 else 'systdown'"
    found = named.sum(f"sf['NUM_TightID'](0.5, 30.0, {syst})").value
    parts = [
        "sf['NUM_TightID'](0.5, 30.0, 'systup') if nMuon > 1 else 0",
        "sf['NUM_TightID'](0.5, 30.0, 'systdown') if nMuon <= 1 else 0",
    ]
    assert found == pytest.approx(sum(named.sum(part).value for part in parts))


def test_it_is_evaluated_only_where_its_value_is_wanted(named, events):
    with raises(QueryError, said="sf strict : Index below bounds in Binning for"):
        named.sum("sf['strict'](Muon_pt)").value  # noqa: B018
    hard = events.sum("sum(Muon_pt >= 20)").value
    assert 0 < hard < events.sum("len(Muon)").value
    for each in (
        "sum(sf['strict'](m.pt) for m in Muon if m.pt >= 20)",
        "sum(sf['strict'](Muon_pt) if Muon_pt >= 20 else 0)",
        "sum(0 if Muon_pt < 20 else sf['strict'](Muon_pt))",
        "sum([sf['strict'](m.pt) if m.pt >= 20 else 0 for m in Muon])",
        "sum(sf['strict'](Muon_pt[Muon_pt >= 20]))",
    ):
        assert named.sum(each).value == 2 * hard, each
    first = named.filter("len(Muon) > 0 and Muon_pt[0] >= 20")
    assert first.mean("sf['strict'](Muon_pt[0])").value == 2


def test_what_is_computed_from_a_missing_value_is_missing(named, events):
    some = events.filter("nMuon >= 1 and Muon_pt[0] >= 20").count().value
    found = named.filter("nMuon == 0 or Muon_pt[0] >= 20")
    assert found.sum("sf['strict'](Muon_pt[0])").value == 2 * some
    assert found.sum("is_missing(sf['strict'](Muon_pt[0]))").value > 0


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("sf['NUM'](1)", "sf has no"),
        ("sf['strict'](1, 2)", "takes 1 .pt., and gets 2"),
        ("sf['strict']('a')", "takes a number as pt, and gets a string"),
        ("sf['number'](1.5)", "takes an integer as n, and gets a float; write int"),
        ("sf['NUM_TightID'](1, 1, 1)", "takes a string as scale_factors"),
        (
            "sf['NUM_TightID'](1, 1, 'x')",
            "Index not available in Category for input argument 2 val: x",
        ),
        ("sf(1)", "holds several functions"),
        ("sf + 1", "is a function, not a number|functions|not"),
        ("sf.other['a'](1)", "sf has no other"),
        ("sf['strict'][0]", "is one function"),
        ("sf['strict'](pt=1)", "takes no argument pt="),
        ("sf[nMuon](1)", "string in quotes"),
        ("Muon_pt[0](1)", "only a function can be called"),
    ],
)
def test_errors_point_at_what_is_wrong(named, expression, message):
    with pytest.raises(QueryError, match=message):
        named.sum(expression).value  # noqa: B018


STRICT = "1 + sf['strict'](MET_pt)"
"""It is an error for any event that has less than 20 GeV."""


@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_errors_of_a_pass_say_where(named, mode):
    with tm.connect(workers=1, mode=mode) as session, pytest.raises(QueryError) as error:
        session.run(named.sum(STRICT))
    wrong = error.value
    text, (start, stop) = wrong.text, wrong.span
    assert (text, text[start:stop]) == (STRICT, "sf['strict'](MET_pt)")
    assert wrong.file.endswith(".root")
    begin, end = wrong.entries
    assert 0 <= begin < end
    assert f"(file {wrong.file}, entries {begin}..{end})\n  {STRICT}\n      ^^^" in str(wrong)
    assert str(pickle.loads(pickle.dumps(wrong))) == str(wrong)


def test_errors_of_a_pass_are_of_the_expression_that_calls_first(named):
    defined = named.define("weight", STRICT).define("twice", "2 * weight")
    with raises(QueryError, said="Index below bounds") as error:
        defined.sum("twice + 1").value  # noqa: B018
    assert error.value.text == STRICT
    tm.function("strictly(x)", "sf['strict'](x) / 2")
    with raises(QueryError, said="Index below bounds") as error:
        named.sum("3 * strictly(MET_pt)").value  # noqa: B018
    assert error.value.text == "sf['strict'](x) / 2"


def test_what_is_skipped_says_why(events, named):
    with tm.connect(workers=2) as session:
        _, count = session.run([named.sum(STRICT), named.count()], on_error="skip")
        missing = session.report.missing
    assert {each.file for each in missing} == set(events.files)
    assert all(f"entries {each.start}..{each.stop})" in each.reason for each in missing)
    assert sum(each.stop - each.start for each in missing) == events.num_entries - count


def test_a_name_of_the_language_is_no_name_for_it(events, sf):
    with raises(QueryError, said="is a function of the language, and one of"):
        events.with_params({"min": sf["strict"]}).sum("min(MET_pt)").value  # noqa: B018


def test_two_sets_are_told_apart(events, sf):
    other = document()
    other["corrections"][1]["data"]["content"] = [3.0]
    with_other = events.with_params({"sf": tm.corrections(json.dumps(other).encode())})
    a = events.with_params({"sf": sf}).mean("sf['strict'](50.0 + MET_pt * 0)")
    b = with_other.mean("sf['strict'](50.0 + MET_pt * 0)")
    assert tm.run(a, b) == (2, 3)


@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_workers_get_it_with_the_query(named, mode):
    expected = named.sum("sf['NUM_TightID'](abs(Muon.eta), Muon.pt, 'nominal')").value
    with tm.connect(workers=2, mode=mode) as session:
        found = session.run(named.sum("sf['NUM_TightID'](abs(Muon.eta), Muon.pt, 'nominal')"))
    assert found == pytest.approx(expected)


def test_objects_say_what_they_are_and_are_pickled(sf, content):
    again = pickle.loads(pickle.dumps(sf))
    assert again == sf == tm.corrections(content)
    assert hash(again) == hash(sf)
    one = pickle.loads(pickle.dumps(sf["NUM_TightID"]))
    assert [each.type for each in one.inputs] == ["real", "real", "string"]
    assert one.inputs[0].description == "of the muon"
    assert (one.name, one.version, one.description) == ("NUM_TightID", 3, "tight muons")
    assert one.output.name == "weight"
    assert repr(one) == "<correction NUM_TightID(abseta: real, pt: real, scale_factors: string)>"
    assert "NUM_TightID, number, strict" in repr(sf)
    assert (len(sf), list(sf)) == (3, ["NUM_TightID", "number", "strict"])
    assert "absent" not in sf
    assert sf.compound["both"].version is None


def test_arrays_and_numbers(sf):
    id_ = sf["NUM_TightID"]
    assert id_(0.5, 30, "nominal") == 0.97 * 1.1
    eta, pt = np.array([[0.1], [2.0]]), np.array([10.0, 40.0, 90.0], dtype=np.float32)
    found = id_(eta, pt, "nominal")
    assert found.shape == (2, 3)
    assert found.tolist() == [[0.97, 0.97 * 1.1, 0.97 * 1.1], [0.97 * 0.9, 0.97 * 1.1, 0.97 * 1.1]]
    assert sf["number"](np.array([2, 3], dtype=np.uint8)).tolist() == [5, 7]
    assert id_(np.array([]), np.array([]), "nominal").tolist() == []
    for wrong in [(1.0,), ("a", 1.0, "nominal"), (1.0, 1.0, 1.0), (-1.0, 1.0, "nominal")]:
        with pytest.raises(QueryError):
            id_(*wrong)
    with raises(QueryError, said="an integer is wanted a real number"):
        sf["number"](1.5)
    with raises(QueryError, said="an integer is wanted more than 64 bits"):
        sf["number"](2**70)


@pytest.mark.parametrize(
    "array",
    [
        [10.0, 30.0, 90.0],
        [[10.0, 30.0], [], [90.0]],
        [[10.0, 30.0]],
        [[10.0, None], None, [90.0]],
        [[[10.0], [30.0, 90.0]]],
        [[], []],
        [],
    ],
)
def test_awkward_arrays(array):
    sf, pt = tm.corrections(json.dumps(document(PILE_UP)).encode()), ak.Array(array)

    def one_by_one(function, values):
        if isinstance(values, list):
            return [one_by_one(function, each) for each in values]
        return None if values is None else function(values)

    id_, pu = sf["NUM_TightID"], sf["pu"]
    assert pu(pt, "nominal").to_list() == one_by_one(lambda x: pu(x, "nominal"), array)
    assert id_(pt, pt, "systup").to_list() == one_by_one(lambda x: id_(x, x, "systup"), array)
    assert sf["number"](ak.Array([2, 3])).to_list() == [5, 7]
    assert sf["number"](ak.Array([])).to_list() == []


def test_columns_of_a_selector(events):
    """They are virtual: read when they are looked at."""
    sf = tm.corrections(json.dumps(document(PILE_UP)).encode())

    def weights(chunk):
        return {"sum": float(ak.sum(sf["pu"](chunk.Muon_pt, "nominal")))}

    expected = events.with_params({"sf": sf}).sum("sum(sf['pu'](Muon_pt, 'nominal'))")
    assert tm.run(weights, events)["sum"] == pytest.approx(expected.value)


def test_a_document_may_be_given_as_text(sf, content):
    assert tm.corrections(content.decode()) == sf


def test_documents_that_cannot_be_read(tmp_path):
    with pytest.raises(SourceError):
        tm.corrections(tmp_path / "none.json")
    (tmp_path / "cut.json.gz").write_bytes(gzip.compress(b'{"schema_version": 2}')[:-9])
    with raises(FormatError, about="cut"):
        tm.corrections(tmp_path / "cut.json.gz")
    (tmp_path / "x.json").write_text("{")
    with raises(FormatError, about="x.json"):
        tm.corrections(str(tmp_path / "x.json"))
    with raises(FormatError, said="not backward-compatible"):
        tm.corrections(b'{"schema_version": 1, "corrections": []}')
    network = {"nodetype": "lwtnn", "opaque": {}, "finalizer": {}}
    output = {"name": "w", "type": "real"}
    one = {"name": "nn", "version": 1, "inputs": [], "output": output, "data": network}
    text = json.dumps({"schema_version": 2, "corrections": [one]})
    with raises(UnsupportedError, said="neural networks nn"):
        tm.corrections(text.encode())
