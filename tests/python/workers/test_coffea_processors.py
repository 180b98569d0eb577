"""Processors that keep state, or hand over what they have not read: as coffea's runner has them."""

import pickle
import weakref

import awkward as ak
import cloudpickle
import hist
import numpy as np
import pytest
import treemill as tm
from treemill.session.api import connect
from treemill.workers.selector import PristineCopies
from treemill.workers.user_selector import materialised

coffea = pytest.importorskip("coffea.processor", reason="coffea is not installed")
from coffea.nanoevents import BaseSchema, NanoAODSchema  # noqa: E402
from coffea.processor import test_items as items  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


class Checkpointing(coffea.ProcessorABC):
    """Puts everything into itself, as some of coffea's own examples do."""

    def __init__(self):
        met = hist.Hist.new.Reg(50, 0, 200, name="met").Double()
        cuts = coffea.defaultdict_accumulator(int)
        self.output = coffea.dict_accumulator({"met": met, "cuts": cuts})
        self.number = 0
        self.seen = []

    def process(self, events):
        self.number += len(events)
        self.seen.append(len(events))
        self.output["cuts"]["all"] += len(events)
        self.output["met"].fill(events.MET.pt)
        return {**self.output, "number": self.number, "seen": self.seen}

    def other(self, events):
        return {"n": self.process(events)["number"]}

    def postprocess(self, accumulator):
        accumulator["post"] = True


@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_a_processor_that_keeps_its_output_gives_each_chunk_once(
    events, truth, mode, shared_session
):
    session = shared_session(2, mode)
    found = session.run(Checkpointing(), events)
    assert found["cuts"]["all"] == found["number"] == sum(found["seen"]) == len(truth)
    assert found["met"].sum(flow=True) == len(truth)
    assert len(found["seen"]) > 2, "several chunks, or this says nothing"
    assert found["post"] is True


def test_methods_of_processors_get_coffeas_events_and_no_postprocess(events, truth):
    """coffea's runner takes any function of events."""
    processor = Checkpointing()
    with connect(workers=2) as session:
        assert session.run(processor.other, events) == {"n": len(truth)}
        assert "post" not in session.run(processor.process, events)
    assert processor.number == 0, "the caller's own stays as it is"


def of_two(paths):
    """With what coffea's own test processors look for."""
    return {
        "ZJets": {
            "files": dict.fromkeys(paths[:2], "Events"),
            "metadata": {"checkusermeta": True, "someusermeta": "hello"},
        },
        "Data": {
            "files": dict.fromkeys(paths[2:], "Events"),
            "metadata": {"checkusermeta": True, "someusermeta2": "world"},
        },
    }


OWN = {
    "events": (items.NanoEventsProcessor(mode="virtual", check_filehandle=True), NanoAODSchema),
    "method": (items.NanoEventsProcessor(mode="virtual").process, NanoAODSchema),
    "columns": (items.NanoTestProcessor(mode="virtual"), BaseSchema),
}


@pytest.mark.parametrize(
    ("name", "modes"),
    [("events", ["threads", "processes"]), ("method", ["threads"]), ("columns", ["threads"])],
)
@pytest.mark.slow
def test_coffeas_own_test_processors(paths, name, modes, shared_session):
    processor, schema = OWN[name]
    run = coffea.Runner(coffea.IterativeExecutor(status=False), schema=schema, metadata_cache={})
    expected = run(of_two(paths), processor_instance=processor)
    for mode in modes:
        session = shared_session(2, mode)
        found = session.run(processor, of_two(paths), schema=schema)
        assert found["cutflow"] == expected["cutflow"]
        assert found["cutflow"]["Data_mass"] > 0
        for kind in ("pt", "mass"):
            for dataset in ("ZJets", "Data"):
                ours, theirs = (each[kind][dataset, :] for each in (found, expected))
                np.testing.assert_array_equal(ours.values(flow=True), theirs.values(flow=True))


def test_a_processor_of_records(events, truth):
    """coffea's one for pandas: some columns of some events."""
    found = tm.run(items.NanoTestProcessorPandas(), events)
    chosen = truth[ak.any(truth.Muon_pt > 20, axis=1)]
    assert sorted(found.event) == sorted(chosen.event)
    assert ak.max(found.mu1_pt) == ak.max(chosen.Muon_pt)


def test_fresh_copies_share_code_and_what_only_answers():
    evaluator = type("Evaluator", (), {"__module__": "correctionlib.highlevel"})()
    given = {"list": [1], "evaluator": evaluator, "code": lambda x: x, "class": Checkpointing}
    fresh = PristineCopies(given)
    first, second = fresh.copy(), fresh.copy()
    first["list"].append(2)
    assert second["list"] == fresh.copy()["list"] == [1]
    assert all(second[name] is given[name] for name in ("evaluator", "code", "class"))


def unread(events):
    pt = events.Muon.pt
    return {
        "array": pt[:2],
        "record": events[["run", "event"]],
        "collection": events.Jet[:1],
        "column": coffea.column_accumulator(events.MET.pt),
        "list": [events.MET.phi],
        "tuple": (events.MET.phi[:0],),
        "nested": {"deep": {"eta": events.Jet.eta}},
    }


class Unread(coffea.ProcessorABC):
    def process(self, events):
        return unread(events)

    def postprocess(self, accumulator):
        return None


class CheckpointName(tm.Selector):
    collections = True

    def begin_worker(self, inputs):
        self.output["all"] = []

    def process(self, events):
        self.output["all"].append(events.MET.pt)


def arrays(value):
    if isinstance(value, ak.Array):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from arrays(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from arrays(each)
    elif hasattr(value, "value"):
        yield from arrays(value.value)


@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_nothing_in_a_result_is_still_to_be_read(events, truth, mode, shared_session):
    session = shared_session(2, mode)
    found = session.run(Unread(), events)
    kept = session.run(CheckpointName(), events)
    every = [*arrays(found), *arrays(kept)]
    assert len(every) > 7
    for array in every:
        assert array.layout.is_all_materialized
        assert not [name for name in array.attrs if name.startswith("@")]
    assert sorted(found["record"].event) == sorted(truth.event)
    assert len(found["column"].value) == sum(map(len, kept["all"])) == len(truth)
    assert found["collection"].eta.ndim == 2
    assert len(pickle.loads(cloudpickle.dumps(found["record"]))) == len(found["record"])


def test_what_is_materialised_lets_go_of_its_chunk():
    class Buffer:
        def __call__(self):
            return np.arange(100_000)

    buffer = Buffer()
    form = ak.forms.NumpyForm("int64", form_key="x")
    array = ak.from_buffers(form, 100_000, {"x-data": buffer}, attrs={"@chunk": buffer, "own": 1})
    gone = weakref.ref(buffer)
    found = materialised({"x": array[:2]})["x"]
    del buffer, array
    assert gone() is None
    assert found.tolist() == [0, 1]
    assert dict(found.attrs) == {"own": 1}
    assert ak.to_layout(found).data.base is None or ak.to_layout(found).data.base.size == 2


def test_what_is_in_memory_stays_what_it_is():
    array, numbers = ak.Array([1, 2]), [1, 2]
    output = {"array": array, "numbers": numbers, "text": "x", "none": None}
    assert materialised(output) is output
    assert output["array"] is array
    assert output["numbers"] is numbers
