"""Files that are cut short, disks that are full, selectors that talk: selectors meet them."""

import errno
import os
import time
from pathlib import Path

import awkward as ak
import pytest
import treemill as tm
from treemill.backends.processes.template_client import TemplateWorkers
from treemill.results.file_output import FileOutput

from tests.raising import raises
from tests.waiting import until


@pytest.fixture(params=["threads", "processes"])
def session(request):
    with tm.connect(workers=2, mode=request.param) as made:
        yield made


class Count(tm.Selector):
    def begin_worker(self, inputs):
        self.output["n"] = 0
        self.output["sum"] = 0.0
        self.output["files"] = set()

    def process(self, events):
        self.output["sum"] += float(ak.sum(ak.values_astype(events.MET_pt, float)))
        self.output["n"] += len(events)
        self.output["files"].add(events.metadata["filename"])


def test_a_truncated_file_among_good_ones(session, paths, truth, tmp_path):
    """Its metadata, at the end of a file, are there; data in the middle are gone."""
    bad = tmp_path / "bad.root"
    whole = Path(paths[2]).read_bytes()
    third = len(whole) // 3
    bad.write_bytes(whole[:third] + bytes(third) + whole[2 * third :])
    cut = tmp_path / "cut.root"
    cut.write_bytes(whole[:-2000])
    events = tm.dataset([paths[0], str(bad), str(cut), paths[1]], "Events")
    with raises(tm.FormatError, said="bad cut root"):
        session.run(Count(), events)
    output = session.run(Count(), events, on_error="skip")
    report = session.report
    assert {Path(gap.file).name for gap in report.missing} == {"bad.root", "cut.root"}
    lost = sum(gap.stop - gap.start for gap in report.missing if gap.stop is not None)
    assert output["n"] == report.entries
    assert report.entries + lost == 3000 + 1 + 4321
    assert {str(paths[0]), str(paths[1])} <= output["files"]
    # What was read is right: the entries that the report calls processed, and no others.
    by_file = {paths[0]: truth[:3000], paths[1]: truth[3000:3001], str(bad): truth[3001:]}
    expected = sum(
        float(ak.sum(ak.values_astype(by_file[path].MET_pt[start:stop], float)))
        for path, ranges in report.processed.items()
        for start, stop in ranges
    )
    assert output["sum"] == pytest.approx(expected, rel=1e-9)


class Skim(tm.Selector):
    def begin_worker(self, inputs):
        self.output["skim"] = FileOutput(inputs["path"], as_dataset=inputs["as_dataset"])

    def process(self, events):
        good = events[events.MET_pt > 30]
        self.output["skim"].write({"MET_pt": good.MET_pt, "Jet_pt": good.Jet_pt})


def test_parts_as_a_dataset_replace_an_older_one(session, events, truth, tmp_path):
    path = tmp_path / "skim"
    inputs = {"path": str(path), "as_dataset": True}
    for _ in range(2):
        session.run(Skim(), events, inputs=inputs)
        found = tm.dataset(f"{path}/*.root").arrays(["MET_pt", "Jet_pt"])
        good = truth[truth.MET_pt > 30]
        assert sorted(found.MET_pt.to_list()) == sorted(good.MET_pt.to_list())
        assert ak.sum(ak.num(found.Jet_pt)) == ak.sum(ak.num(good.Jet_pt))
        assert_only(tmp_path, "skim", session)


def assert_only(folder, name, session):
    """Fails unless there is nothing else; soon, if threads throw parts away that were made in
    vain."""
    seconds = {} if session._pool.kind == "threads" else {"seconds": 0}
    until(lambda: [each.name for each in folder.iterdir()] == [name], f"only {name}", **seconds)


class LateSkim(Skim):
    """The first worker with a packet has its first rows when the result is there: another worker
    runs that packet, too."""

    def process(self, events):
        try:
            os.mkdir(f"{self.inputs['flags']}/late")
        except FileExistsError:
            pass
        else:
            while not os.path.exists(self.inputs["path"]):
                time.sleep(0.001)
        super().process(events)


@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_a_late_worker_leaves_no_part(mode, events, tmp_path, monkeypatch):
    folder = tmp_path / "out"
    folder.mkdir()
    inputs = {"path": str(folder / "skim"), "as_dataset": True, "flags": tmp_path}
    end = TemplateWorkers._end

    def slow_end(template_client, number):
        time.sleep(0.3)  # the process that waits could write, if there were a result by now
        end(template_client, number)

    monkeypatch.setattr(TemplateWorkers, "_end", slow_end)
    with tm.connect(workers=2, mode=mode) as session:
        session.run(LateSkim(), events, inputs=inputs)
        assert_only(folder, "skim", session)
    assert_only(folder, "skim", session)


def test_a_disk_that_is_full_when_the_first_part_is_begun(events, tmp_path, monkeypatch):
    mkdir = os.mkdir

    def full(path, mode=0o777):
        if Path(path).name.startswith(".skim.root"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        mkdir(path, mode)

    monkeypatch.setattr(os, "mkdir", full)
    inputs = {"path": str(tmp_path / "skim.root"), "as_dataset": False}
    with (
        tm.connect(workers=2, mode="threads") as session,
        raises(tm.SourceError, said="No space left on device skim root"),
    ):
        session.run(Skim(), events, inputs=inputs)
    assert list(tmp_path.iterdir()) == [], "nothing is left over"


@pytest.mark.parametrize("as_dataset", [False, True])
def test_a_disk_that_is_full_when_parts_are_put_together(
    session, events, tmp_path, monkeypatch, as_dataset
):
    path = tmp_path / "skim.root"
    session.run(Skim(), events, inputs={"path": str(path), "as_dataset": as_dataset})
    before = sorted(each.name for each in [path, *path.glob("*")])

    def full(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", full)
    with raises(tm.SourceError, said="No space left on device skim root"):
        session.run(Skim(), events, inputs={"path": str(path), "as_dataset": as_dataset})
    monkeypatch.undo()
    session.close()  # a worker that has the same packet as another may still be writing
    assert sorted(each.name for each in [path, *path.glob("*")]) == before
    assert [each.name for each in tmp_path.iterdir()] == ["skim.root"], "nothing is left over"


class Fails(Skim):
    def process(self, events):
        super().process(events)
        if events.metadata["entrystop"] > 2500:
            raise ValueError("enough")


def test_a_selector_that_fails_leaves_no_parts(session, events, tmp_path):
    inputs = {"path": str(tmp_path / "skim.root"), "as_dataset": False}
    with raises(tm.WorkerError, about="enough"):
        session.run(Fails(), events, inputs=inputs)
    session.close()
    assert list(tmp_path.iterdir()) == []


def test_prints_arrive(session, events, capfd):
    def talks(chunk):
        print("heard " * 100, flush=True)
        return {"n": len(chunk), "chunks": 1}

    output = session.run(talks, events)
    # CPython 3.11 crashes if `sys.stdout` is replaced while another thread prints (cpython#130163):
    # a worker that has the same packet as another prints after the end of the pass.
    session.close()
    # A chunk that was done twice was heard twice.
    assert capfd.readouterr().out.count("heard") >= 100 * output["chunks"] > 0
