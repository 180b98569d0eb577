"""All that works without pyarrow, as one program for an interpreter that has none: see
test_without_pyarrow.py. Its argument is an empty folder."""

import os
import sys

import awkward as ak
import numpy as np
import pytest
import treemill as tm
import uproot
from written import jagged, write

SIZES = (7, 5)
TOTAL = sum(SIZES)
MODES = ("threads", "processes")


def main(folder):
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        pass
    else:
        raise AssertionError("this interpreter has pyarrow")
    os.chdir(folder)
    for i, size in enumerate(SIZES):
        written(f"f{i}.root", sum(SIZES[:i]), size)
    for step in STEPS:
        print(step.__name__, flush=True)
        step()
    assert not [name for name in sys.modules if name.split(".")[0] == "pyarrow"]


def written(path, first, size):
    numbers = np.arange(first, first + size)
    write(
        path,
        x=numbers.astype("f4"),
        event=numbers,
        flag=numbers % 2 == 0,
        fixed=np.repeat(numbers, 3).reshape(size, 3).astype("i4"),
        Jet=ak.zip({name: jagged(*([i] * (i % 3) for i in numbers)) for name in ("pt", "eta")}),
        **({"extra": numbers.astype("f4")} if first == 0 else {}),
    )


def events(**options):
    return tm.dataset(["f0.root", "f1.root"], **options)


def histograms_and_scalars():
    data = events()
    good = data.filter("x > 2").define("ht", "sum(Jet_pt)")
    found, n, total = tm.run(good.hist("ht", bins=(10, 0, 30)), good.count(), good.sum("x"))
    assert n == TOTAL - 3
    assert found.sum(flow=True) == n
    assert total == sum(range(3, TOTAL))
    varied = data.vary("x", {"up": "x + 1"}).hist("x", bins=(20, 0, 20)).value
    assert varied["x:up"].sum() == TOTAL


def arrays():
    data, columns = events(), ["x", "flag", "fixed", "Jet_pt"]
    truth = ak.concatenate([uproot.open(f"f{i}.root:t").arrays(columns) for i in range(2)])
    now = data.arrays(columns)
    assert now.type.content == truth.type.content
    assert ak.to_list(now) == ak.to_list(truth)
    assert ak.to_list(data.filter("x >= 0").take(columns).value) == ak.to_list(truth)
    assert ak.to_list(data.filter("x >= 0").arrays(columns)) == ak.to_list(truth)
    assert ak.to_list(data.arrays({"double": "2 * x"}).double) == [2.0 * i for i in range(TOTAL)]
    assert data.to_numpy("fixed")["fixed"].shape == (TOTAL, 3)
    assert data.filter("flag").take("x").value.tolist() == list(range(0, TOTAL, 2))
    best = data.define("best", "max(Jet_pt)").arrays("best")  # none where there is no jet
    assert ak.to_list(best.best)[:3] == [None, 1.0, 2.0]


def records_strings_and_missing_values():
    data = {
        "s": ["a", "", "ccc"],
        "r": [{"i": 1, "v": [1.5]}, {"i": 2, "v": []}, {"i": 3, "v": [2]}],
    }
    values = ak.Array({**data, "o": [1, None, 3]})
    with uproot.recreate("n.root") as file:
        file.mkrntuple("n", values)
    tree = tm.dataset("n.root:n")
    assert ak.to_list(tree.arrays()) == ak.to_list(values)
    assert tree.filter("s == 'ccc'").take("s").value.tolist() == ["ccc"]


class Sums(tm.Selector):
    def begin_worker(self, inputs):
        self.output["jets"] = 0.0

    def process(self, events):
        self.output["jets"] += float(ak.sum(events[events.x > 2].Jet_pt))


def selectors_and_queries_in_both_ways():
    jets = sum(i * (i % 3) for i in range(3, TOTAL))
    for mode in MODES:
        with tm.connect(workers=2, mode=mode) as session:
            assert session.run(Sums(), events())["jets"] == jets
            assert session.run(Sums(), events().filter("x > 4").define("y", "x"))["jets"] < jets
            assert session.run(events().filter("x > 2").sum("sum(Jet_pt)")) == jets
            taken = session.run(events().filter("x > 2").take(["Jet_pt"]))
            assert ak.sum(taken.Jet_pt) == jets


def friends():
    write("by_entry.root", score=np.arange(TOTAL) / 2)
    assert events().add_friend("by_entry.root", alias="a").sum("a.score").value == 33.0
    order = np.arange(TOTAL)[::-1]
    write("by_index.root", event=order[2:], score=order[2:] * 1.0)
    indexed = events().add_friend("by_index.root", alias="b", index="event")
    assert ak.to_list(indexed.arrays("b.score")["b.score"])[-3:] == [9.0, None, None]
    assert indexed.filter("b.score >= 0").count().value == TOTAL - 2
    memory = events().add_friend({"w": np.arange(TOTAL), "v": [[1, 2]] * TOTAL}, alias="m")
    assert memory.sum("m.w * sum(m.v)").value == 3 * sum(range(TOTAL))


def entry_lists():
    some = events().select_entries([3, 5, 9])
    assert some.count().value == 3
    assert some.arrays("x").x.tolist() == [3.0, 5.0, 9.0]


def defaults():
    data = events(missing={"extra": -1.0})
    assert data.arrays("extra").extra.tolist() == [*map(float, range(7)), *[-1.0] * 5]
    assert data.sum("extra").value == 21 - 5
    none = events(missing={"extra": None})
    assert ak.to_list(none.arrays("extra").extra)[-1] is None
    assert none.filter("extra >= 0").count().value == 7


def by_uproot():
    from treemill.data import file_tree as filetree

    def blind(self, names, *arguments):
        raise tm.UnsupportedError("it is blind")

    read, filetree.FileTree._read_cores = filetree.FileTree._read_cores, blind
    try:
        assert ak.to_list(tm.dataset("f0.root").arrays("Jet_pt").Jet_pt)[2] == [2.0, 2.0]
    finally:
        filetree.FileTree._read_cores = read


def snapshots():
    good, columns = (
        events(missing={"extra": None}).filter("x > 2"),
        ["x", "flag", "Jet_pt", "extra"],
    )
    for name, kind in (("s.root", "ttree"), ("t.root", "rntuple")):
        tm.run(good.snapshot(name, columns, format=kind, fill={"extra": -5.0}))
        again = tm.dataset(name).arrays()
        assert again.x.tolist() == list(range(3, TOTAL))
        assert again.extra.tolist()[-1] == -5.0
        assert ak.to_list(again.Jet_pt) == ak.to_list(good.arrays("Jet_pt").Jet_pt)


class Skim(tm.Selector):
    def begin_worker(self, inputs):
        self.output["skim"] = tm.FileOutput("skim.root")

    def process(self, events):
        self.output["skim"].write({"x": events.x, "Jet_pt": events.Jet_pt})


def coffeas_processors():
    from coffea import processor

    class Total(processor.ProcessorABC):
        def process(self, events):
            return {"sum": float(ak.sum(events.x))}

        def postprocess(self, accumulator):
            return accumulator

    assert tm.run(Total(), events())["sum"] == sum(range(TOTAL))


def files_of_selectors():
    tm.run(Skim(), events())
    assert tm.dataset("skim.root").count().value == TOTAL


def shows():
    data = events()
    data.show()
    data.scan("x", "Jet_pt")
    assert data.head(["x"]).x.tolist() == [0, 1, 2, 3, 4]
    assert data.draw("x", "x > 2").sum() == TOTAL - 3


def what_needs_it_says_so():
    data = events()
    for act in (
        lambda: data.to_arrow("x"),
        lambda: data.snapshot("x.parquet", ["x"]),
        lambda: data.snapshot("x.feather", ["x"]),
    ):
        with pytest.raises(tm.UnsupportedError, match=r"pip install 'treemill\[arrow\]'") as raised:
            act()
        assert isinstance(raised.value, ImportError)


STEPS = (
    histograms_and_scalars,
    arrays,
    records_strings_and_missing_values,
    selectors_and_queries_in_both_ways,
    friends,
    entry_lists,
    defaults,
    by_uproot,
    snapshots,
    coffeas_processors,
    files_of_selectors,
    shows,
    what_needs_it_says_so,
)

if __name__ == "__main__":
    main(sys.argv[1])
