"""Selectors on files on a server: what they touch is asked for ahead once it is known, and the
results are those of local files."""

import awkward as ak
import pytest
import treemill as tm
from treemill.workers import chain_chunks, chunk_source
from treemill.workers.chunk_source import _known, key_of, recall

from .conftest import settle

TOUCHED = {"MET_pt", "MET_phi", "nMuon", "Jet_pt", "Jet_eta"}


class Sums(tm.Selector):
    """Touches five columns, one after the other; entries without muons, and few others."""

    def begin_worker(self, inputs):
        self.output["sums"] = 0.0
        self.output["entries"] = 0

    def process(self, events):
        few = events[events.nMuon > 1]
        self.output["entries"] += len(events)
        self.output["sums"] += float(ak.sum(few.MET_pt) + ak.sum(few.MET_phi))
        self.output["sums"] += float(ak.sum(few.Jet_pt) + ak.sum(few.Jet_eta))


@pytest.fixture(autouse=True)
def forgotten(monkeypatch, nothing_remembered):
    """No selector was run before, and none is helped by columns that it may not need."""
    monkeypatch.setattr(chunk_source, "_known", type(_known)())
    monkeypatch.setattr(chain_chunks, "_LEARNING_BYTES", 0)


def run(data, mode="threads", workers=1):
    with tm.connect(workers=workers, mode=mode) as session:
        output = session.run(Sums(), data, progress=False)
        messages = sum(source.messages for source in session.report.io.sources)
        assert session.report.complete
    return output, messages


@pytest.mark.parametrize("mode", ["threads", "processes"])
@pytest.mark.parametrize("filtered", [False, True], ids=["all", "filtered"])
def test_what_was_touched_is_known_to_the_next_run(xrootd, paths, files, mode, filtered):
    urls = [xrootd.url(path) for path in sorted(files) if "/trees/" in path]
    settle(*urls)
    local, distant = (tm.dataset(given, tree="Events") for given in (paths, urls))
    if filtered:
        local, distant = (data.filter("nJet >= 2") for data in (local, distant))
    expected, _ = run(local)
    first, many = run(distant, mode)
    assert first["entries"] == expected["entries"]
    assert first["sums"] == pytest.approx(expected["sums"])
    assert recall(key_of(Sums())) == TOUCHED
    again, few = run(distant, mode)
    assert again["entries"] == expected["entries"]
    assert again["sums"] == pytest.approx(expected["sums"])
    if mode == "threads" and not filtered:
        assert few < many  # the first run has asked for one column after the other


def test_little_is_read_before_it_is_touched_and_the_limit_holds(xrootd, paths, monkeypatch):
    url = xrootd.url("store/trees/events_2.root")
    settle(url)
    _, one_by_one = run(tm.dataset(url, tree="Events"))
    _known.clear()
    monkeypatch.setattr(chain_chunks, "_LEARNING_BYTES", 1 << 30)
    output, together = run(tm.dataset(url, tree="Events"))
    assert output["entries"] == 7321
    assert together < one_by_one


def test_many_workers_with_promises_read_what_is_there(xrootd, paths, files):
    urls = [xrootd.url(path) for path in sorted(files) if "/trees/" in path]
    settle(*urls)
    expected, _ = run(tm.dataset(3 * paths, tree="Events"))
    for _ in range(2):
        found, _ = run(tm.dataset(3 * urls, tree="Events"), workers=3)
        assert found["entries"] == expected["entries"]
        assert found["sums"] == pytest.approx(expected["sums"])
