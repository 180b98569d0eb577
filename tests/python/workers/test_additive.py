"""What process puts into the output is added to what is there: replacing it is an error, and usual
code is none."""

import copy
import pickle

import awkward as ak
import hist
import numpy as np
import pytest
import treemill as tm
from treemill.workers.user_selector import Additive, Chunks

from tests.raising import raises


class Runs(tm.Selector):
    """Each chunk is processed by `body`."""

    def __init__(self, body, begin=None):
        self.body, self.made = body, begin

    def begin_worker(self, inputs):
        if self.made is not None:
            self.made(self.output)

    def process(self, events):
        return self.body(self, self.output, events)


@pytest.fixture(scope="module", params=["threads", "processes"])
def session(request, core):
    with tm.connect(workers=2, mode=request.param) as made:
        yield made


def test_a_replaced_number_is_an_error(session, events):
    def process(self, output, chunk):
        output["n"] = len(chunk)

    with raises(tm.QueryError, said="replaces Runs output n return n"):
        session.run(Runs(process), events)
    # One that begin_worker has made is so in the first chunk.
    with raises(tm.QueryError, about="replaces"):
        session.run(Runs(process, lambda output: output.update(n=0)), events, entries=10)


def whole(output, chunk):
    output["n"] = {"n": len(chunk)}


def inner(output, chunk):
    output["d"]["n"] = len(chunk)


def by_update(output, chunk):
    output.update(n=len(chunk))


def by_or(output, chunk):
    output |= {"n": len(chunk)}


def array(output, chunk):
    output["a"] = np.zeros(3) + len(chunk)


def histogram(output, chunk):
    output["h"] = hist.Hist(hist.axis.Regular(3, 0, 90)).fill(chunk.MET_pt)


def text(output, chunk):
    output["t"] = str(chunk.metadata["entrystart"])


def begin(output):
    output |= {"n": 0, "d": {"n": 0}, "a": np.zeros(3)}
    output["h"] = hist.Hist(hist.axis.Regular(3, 0, 90))


@pytest.mark.parametrize("replace", [whole, inner, by_update, by_or, array, histogram, text])
@pytest.mark.parametrize("made", [None, begin])
def test_brothers(events, replace, made):
    def process(self, output, chunk):
        output.setdefault("d", {})
        replace(output, chunk)

    with tm.connect(workers=1) as session, raises(tm.QueryError, about="replaces"):
        session.run(Runs(process, made), events)


def test_another_output(events):
    def process(self, output, chunk):
        self.output = {"n": len(chunk)}

    with tm.connect(workers=1) as session, raises(tm.QueryError, about="replaces"):
        session.run(Runs(process), events)


def usual(self, output, chunk):
    n = len(chunk)
    output["plus"] += n
    output["got"] = output.get("got", 0) + n
    output.setdefault("default", 0)
    output["default"] = output["default"] + n
    if "tested" not in output:
        output["tested"] = 0
    output["tested"] += n
    try:
        output["tried"] += n
    except KeyError:
        output["tried"] = n
    output["in"]["n"] += n
    output["in"].setdefault("deep", {}).setdefault("n", 0)
    output["in"]["deep"]["n"] += n
    output["list"] += [n]
    output["array"] = np.add(output["array"], n)
    output["lists"] = ak.concatenate([output["lists"], [[n]]])
    output["text"] = "v3"
    output["flag"] = True
    output["none"] = None
    output["h"].fill(chunk.MET_pt)
    output["h2"] = output["h2"] + hist.Hist(hist.axis.Regular(3, 0, 90)).fill(chunk.MET_pt)
    output["again"] = output["again"] + 1
    output["again"] = output["again"] + n - 1
    popped = output.pop("popped", 0)
    output["popped"] = popped + n
    for key, value in {**output}.items():
        if key == "spread":
            output[key] = value + n
    self.output = dict(self.output) | {"bound": self.output.get("bound", 0) + n}
    return {"returned": n}


def begin_usual(output):
    output |= {"plus": 0, "in": {"n": 0}, "list": [], "array": np.zeros(2), "again": 0}
    output |= {"lists": ak.Array([[1]])[:0], "spread": 0, "none": None}
    output["h"] = hist.Hist(hist.axis.Regular(3, 0, 90))
    output["h2"] = hist.Hist(hist.axis.Regular(3, 0, 90))


def test_usual_code_is_none(session, events, truth):
    output = session.run(Runs(usual, begin_usual), events)
    n = len(truth)
    for key in [
        "plus",
        "got",
        "default",
        "tested",
        "tried",
        "again",
        "popped",
        "spread",
        "bound",
        "returned",
    ]:
        assert output[key] == n, key
    assert output["in"] == {"n": n, "deep": {"n": n}}
    assert sum(output["list"]) == ak.sum(output["lists"]) == n
    assert output["array"].tolist() == [n, n]
    assert (output["text"], output["flag"], output["none"]) == ("v3", True, None)
    assert output["h"].sum(flow=True) == output["h2"].sum(flow=True) == n
    assert type(output) is dict
    assert type(output["in"]["deep"]) is dict


def test_copies_are_plain():
    made = Additive({"a": {"b": 1}}, Chunks("output"), "output")
    assert type(made["a"]) is Additive
    for other in (copy.deepcopy(made), copy.copy(made), pickle.loads(pickle.dumps(made))):
        assert type(other) is dict
        assert type(other["a"]) is dict
        assert other == made
