"""`treemill.model` of ONNX files: inputs and outputs of all shapes beside onnxruntime's results,
what is refused, processes. Models are made with onnx's helpers."""

import pickle
import sys

import awkward as ak
import numpy as np
import pytest
import treemill as tm
from treemill.errors import FormatError, MissingPackageError, QueryError, UnsupportedError

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from tests.raising import raises  # noqa: E402
from tests.tutorials import programs  # noqa: E402

FLOAT, INT, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def made(nodes, inputs, outputs, **weights):
    info = [helper.make_tensor_value_info(*each) for each in inputs]
    gives = [helper.make_tensor_value_info(*each) for each in outputs]
    tables = [numpy_helper.from_array(np.asarray(each), name) for name, each in weights.items()]
    graph = helper.make_graph(nodes, "net", info, gives, tables)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    return model.SerializeToString()


@pytest.fixture(scope="module")
def perceptron():
    """Three numbers to a score."""
    rng = np.random.default_rng(5)
    first, second = rng.normal(size=(3, 8)), rng.normal(size=(8, 1))
    nodes = [
        helper.make_node("MatMul", ["x", "first"], ["a"]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("MatMul", ["b", "second"], ["c"]),
        helper.make_node("Sigmoid", ["c"], ["score"]),
    ]
    weights = {"first": first.astype(np.float32), "second": second.astype(np.float32)}
    return made(nodes, [("x", FLOAT, ["n", 3])], [("score", FLOAT, ["n", 1])], **weights)


@pytest.fixture(scope="module")
def several():
    """Two inputs of their own; three outputs: two probabilities, a class, a bool."""
    nodes = [
        helper.make_node("Cast", ["n"], ["as_real"], to=FLOAT),
        helper.make_node("Concat", ["pt", "as_real"], ["both"], axis=1),
        helper.make_node("Softmax", ["both"], ["probabilities"], axis=1),
        helper.make_node("ArgMax", ["both"], ["label"], axis=1, keepdims=0),
        helper.make_node("Greater", ["pt", "as_real"], ["is_more"]),
    ]
    inputs = [("pt", FLOAT, ["rows", 1]), ("n", INT, ["rows", 1])]
    outputs = [
        ("probabilities", FLOAT, ["rows", 2]),
        ("label", INT, ["rows"]),
        ("is_more", BOOL, ["rows", 1]),
    ]
    return made(nodes, inputs, outputs)


def by_runtime(content, **feed):
    return runtime.InferenceSession(content).run(None, feed)


def test_one_tensor_of_features(events, truth, perceptron):
    net = tm.model(perceptron)
    assert net.inputs == ["x_0", "x_1", "x_2"]
    assert net.outputs == ["score"]
    defined = events.define("score", "net(MET_pt, nJet, MET_phi)", {"net": net})
    found = defined.arrays(["score"]).score.to_numpy()
    columns = [ak.to_numpy(truth[name]) for name in ("MET_pt", "nJet", "MET_phi")]
    stacked = np.stack(columns, axis=1).astype(np.float32)
    expected = by_runtime(perceptron, x=stacked)[0][:, 0]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


def test_of_lists_items(events, truth, perceptron):
    params = {"net": tm.model(perceptron)}
    defined = events.define("Jet_score", "net(Jet.pt, Jet.eta, MET_pt)", params)
    met = ak.broadcast_arrays(truth.MET_pt, truth.Jet_pt)[0]
    columns = [ak.flatten(each).to_numpy() for each in (truth.Jet_pt, truth.Jet_eta, met)]
    expected = by_runtime(perceptron, x=np.stack(columns, axis=1).astype(np.float32))[0][:, 0]
    found = defined.arrays(["Jet_score"]).Jet_score
    assert ak.all(ak.num(found) == truth.nJet)
    np.testing.assert_allclose(ak.flatten(found), expected, rtol=1e-6, atol=1e-7)
    # The first jet's, where there is one.
    first = events.define("first", "net(Jet.pt[0], Jet.eta[0], MET_pt)", params)
    assert first.sum("first").value == pytest.approx(float(ak.sum(ak.firsts(found))), rel=1e-6)


def test_several_inputs_and_outputs(events, truth, several):
    net = tm.model(several)
    assert net.inputs == ["pt", "n"]
    assert net.outputs == ["probabilities_0", "probabilities_1", "label", "is_more"]
    feed = {
        "pt": truth.MET_pt.to_numpy().astype(np.float32)[:, None],
        "n": truth.nJet.to_numpy().astype(np.int64)[:, None],
    }
    probabilities, label, is_more = by_runtime(several, **feed)
    params = {"net": net}
    all_of_it = events.define("out", "net(MET_pt, nJet)", params)
    assert all_of_it.sum("out.label").value == label.sum()
    assert all_of_it.filter("out.is_more").count().value == is_more.sum()
    found = all_of_it.sum("out.probabilities_1").value
    assert found == pytest.approx(float(probabilities[:, 1].sum(dtype=float)), rel=1e-6)
    for index in ("'probabilities_1'", "1"):
        one = events.define("p", f"net[{index}](MET_pt, nJet)", params)
        assert one.sum("p").value == pytest.approx(found, rel=1e-12)
    one = events.define("p", "p(MET_pt, nJet)", {"p": net["probabilities_1"]})
    assert one.sum("p").value == pytest.approx(found, rel=1e-12)


def test_the_documents_programs_run(events, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"events": events, "np": np, "tm": tm}
    for program in programs("models")[-2:]:
        exec(program, names)
    text = "1 / (1 + exp(-(0.02 * MET_pt + 0.001 * sum(Jet.pt) - 0.1 * nJet)))"
    found = names["node"].mean("score").value
    assert found == pytest.approx(events.mean(text).value, rel=1e-5)
    assert names["jets"].sum("len(Jet_score)").value == events.sum("nJet").value


def test_with_arrays(perceptron, several):
    rows = np.random.default_rng(3).normal(size=(7, 3)).astype(np.float32)
    expected = by_runtime(perceptron, x=rows)[0][:, 0]
    net = tm.model(perceptron)
    np.testing.assert_array_equal(net(*rows.T), expected.astype(np.float64))
    assert net(*rows[0].tolist()) == pytest.approx(float(expected[0]))
    found = tm.model(several)(np.array([1.0, 5.0]), np.array([3, 3]))
    assert found["label"].tolist() == [1, 0]
    assert found["is_more"].tolist() == [0, 1]


def test_variations_and_constants(events, perceptron):
    varied = events.with_params({"net": tm.model(perceptron)}).vary("MET_pt", {"up": "MET_pt * 2"})
    found = varied.define("s", "net(MET_pt, 1.5, 2)").sum("s").value
    by_hand = events.define("s", "net(MET_pt * 2, 1.5, 2)", {"net": tm.model(perceptron)})
    assert found["MET_pt:up"] == pytest.approx(by_hand.sum("s").value, rel=1e-6)
    assert found["MET_pt:up"] != found["nominal"]


def test_processes(events, perceptron):
    booked = events.define("s", "net(MET_pt, nJet, 1)", {"net": tm.model(perceptron)}).sum("s")
    with tm.connect(workers=2, mode="processes") as session:
        assert session.run(booked) == pytest.approx(booked.value, rel=1e-6)


def test_copies_are_equal(perceptron):
    net = tm.model(perceptron)
    copy = pickle.loads(pickle.dumps(net))
    assert copy == net
    assert copy.identity == net.identity
    assert "(x_0, x_1, x_2) to score" in repr(net)


def test_calls_that_make_no_sense(events, perceptron, several):
    params = {"net": tm.model(perceptron), "several": tm.model(several)}
    for text, said in (
        ("net(MET_pt, nJet)", r"takes 3 \(x_0, x_1, x_2\), and gets 2"),
        ("net(MET_pt, nJet, 'up')", "no strings"),
        ("several(MET_pt, MET_phi)", "takes an integer as n"),
        ("several['score'](MET_pt, nJet)", 'several has no "score"'),
    ):
        with pytest.raises(QueryError, match=said):
            events.define("s", text, params).sum("s").value  # noqa: B018
    with pytest.raises(KeyError, match="no output"):
        tm.model(several)["score"]
    with pytest.raises(IndexError):
        tm.model(several)[4]


@pytest.mark.parametrize(
    ("inputs", "outputs", "said"),
    [
        ([("x", FLOAT, [1, 3])], [("y", FLOAT, [1, 3])], "first dimension must be the batch's"),
        ([("x", FLOAT, ["n", "m"])], [("y", FLOAT, ["n", "m"])], "no certain length"),
        ([("x", FLOAT, ["n", 2, 2])], [("y", FLOAT, ["n", 2, 2])], "rows of one dimension"),
        (
            [("x", TensorProto.STRING, ["n"])],
            [("y", TensorProto.STRING, ["n"])],
            "tensors of float, double",
        ),
    ],
)
def test_shapes_that_are_refused(inputs, outputs, said):
    content = made([helper.make_node("Identity", ["x"], ["y"])], inputs, outputs)
    with pytest.raises(UnsupportedError, match=said):
        tm.model(content)


IDENTITY = [helper.make_node("Identity", ["x"], ["y"])]


@pytest.mark.parametrize("name", ["INT8", "UINT8", "INT32", "UINT32", "INT64"])
def test_integers_that_do_not_fit_are_errors(events, name):
    """NumPy would wrap them around."""
    kind = getattr(TensorProto, name)
    net = tm.model(made(IDENTITY, [("x", kind, ["n", 1])], [("y", kind, ["n", 1])]))
    named = events.with_params({"net": net})
    assert named.max("net(nJet)").value == events.max("nJet").value
    least, most = np.iinfo(name.lower()).min, np.iinfo(name.lower()).max
    assert net(np.array([least, most])).tolist() == [least, most]
    if name != "INT64":
        for text in ("net(nJet + 2**33)", "net(-2**33 - nJet)"):
            with pytest.raises(QueryError, match=rf"x takes {name.lower()}, {least} to {most}, "):
                named.sum(text).value  # noqa: B018
    for real in (3.0, np.array([np.nan]), np.array([3e9, 1.0])):
        with raises(QueryError, said="x takes integers, and gets real numbers"):
            net(real)


def test_a_model_that_mixes_rows_is_refused(events):
    nodes = [helper.make_node("ReduceSum", ["x", "axes"], ["y"], keepdims=1)]
    ends = [("x", FLOAT, ["n", 1])], [("y", FLOAT, ["m", 1])]
    net = tm.model(made(nodes, *ends, axes=np.array([0])))
    with raises(QueryError, said="the model mixes the rows of a batch"):
        events.with_params({"net": net}).sum("net(MET_pt)").value  # noqa: B018


def test_outputs_of_one_name_are_refused():
    nodes = [helper.make_node("Identity", [each], [f"y{each}"]) for each in ("x", "x_0")]
    inputs = [("x", FLOAT, ["n", 2]), ("x_0", FLOAT, ["n", 1])]
    outputs = [("yx", FLOAT, ["n", 2]), ("yx_0", FLOAT, ["n", 1])]
    with raises(UnsupportedError, said="two outputs of one name yx_0, yx_1, yx_0"):
        tm.model(made(nodes, inputs, outputs))


def test_broken_files(perceptron, tmp_path):
    for cut in (40, len(perceptron) // 2):
        with raises(FormatError, said="onnxruntime refuses it"):
            tm.model(perceptron[:cut])
    path = tmp_path / "net.onnx"
    path.write_bytes(perceptron)
    assert tm.model(path).outputs == ["score"]


def test_without_the_runtime_the_extra_is_named(monkeypatch, perceptron):
    from treemill.functions import onnx as module

    monkeypatch.setattr(module, "_sessions", type(module._sessions)())
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with raises(MissingPackageError, said="treemill onnx"):
        tm.model(perceptron)
