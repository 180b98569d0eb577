"""Queries through sessions on the real core, against numbers that uproot and awkward give."""

import threading
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue

import awkward as ak
import hist
import numpy as np
import pytest
import treemill as tm
from treemill.backends.merged_partial import MergedPartial
from treemill.errors import QueryError
from treemill.results.values import BookedHistograms
from treemill.session.api import connect, default_session
from treemill.session.booking_run import BookingRun
from treemill.session.run import QueryNews
from treemill.workers import worker as worker_module

from tests.raising import raises


@pytest.fixture(params=[(1, "threads"), (2, "threads"), (5, "threads"), (2, "processes")], ids=str)
def session(request):
    before = ours()
    workers, mode = request.param
    with connect(workers=workers, mode=mode) as made:
        yield made
    assert ours() <= before, "no thread is left behind"


@pytest.fixture(params=[1, 2, 5])
def threads(request):
    """For tests that reach into workers, which they can where these are threads."""
    with connect(workers=request.param) as made:
        yield made


def ours():
    return {t for t in threading.enumerate() if t.name.startswith("treemill")}


def filled(*axes, weight=None, **columns):
    storage = hist.storage.Double() if weight is None else hist.storage.Weight()
    made = hist.Hist(*axes, storage=storage)
    made.fill(*columns.values(), weight=weight)
    return made


def equal(ours, theirs):
    assert type(ours.storage_type()) is type(theirs.storage_type())
    assert ours.axes == theirs.axes or [a.edges.tolist() for a in ours.axes] == [
        a.edges.tolist() for a in theirs.axes
    ]
    a, b = ours.view(flow=True), theirs.view(flow=True)
    if a.dtype.names:
        np.testing.assert_allclose(a["value"], b["value"], rtol=1e-9)
        np.testing.assert_allclose(a["variance"], b["variance"], rtol=1e-9)
    else:
        np.testing.assert_array_equal(a, b)


def test_several_bookings_in_one_pass(session, events, truth):
    good = events.filter("nMuon >= 2").define("ht", "sum(Jet_pt[Jet_pt > 30])")
    met = good.hist("MET_pt", bins=(50, 0, 100), weight="genWeight")
    two = good.hist("MET_pt", "ht", bins=[(5, 0, 100), (5, 0, 500)])
    jets = events.hist("Jet_pt", bins=[0, 20, 30, 100])
    count, total, mean = good.count(), events.sum("nJet"), good.mean("MET_pt")
    low, high = events.min("MET_pt"), events.max("Jet_pt")
    values = session.run(met, two, jets, count, total, mean, low, high)
    chosen = truth[truth.nMuon >= 2]
    ht = ak.sum(chosen.Jet_pt[chosen.Jet_pt > 30], axis=1)
    axis = hist.axis.Regular
    equal(values[0], filled(axis(50, 0, 100), weight=chosen.genWeight, x=chosen.MET_pt))
    equal(values[1], filled(axis(5, 0, 100), axis(5, 0, 500), x=chosen.MET_pt, y=ht))
    equal(values[2], filled(hist.axis.Variable([0, 20, 30, 100]), x=ak.flatten(truth.Jet_pt)))
    assert values[3:5] == (len(chosen), ak.sum(truth.nJet))
    assert values[5] == pytest.approx(ak.mean(ak.values_astype(chosen.MET_pt, float)), rel=1e-12)
    assert values[6:] == (ak.min(truth.MET_pt), ak.max(truth.Jet_pt))
    assert (type(values[3]), type(values[4]), type(values[5])) == (int, int, float)
    report = session.report
    assert report.complete
    assert report.entries == len(truth)
    assert sum(map(len, report.processed.values())) == 3
    assert met.value is values[0]


def test_axes_come_back(session, events):
    axis = hist.axis.Regular(10, 0, 100, name="met", label="MET [GeV]", metadata="mine")
    jets = hist.axis.IntCategory([0, 1, 2], name="jets")
    made = session.run(events.hist("MET_pt", "nJet", bins=[axis, jets], name="both"))
    assert made.axes[0] == axis
    assert (made.axes[0].label, made.axes[0].metadata) == ("MET [GeV]", "mine")
    assert made.axes.name == ("met", "jets")
    assert made.name == "both"
    own = session.run(events.hist("nJet", bins=jets, label="number"))
    assert (own.axes[0].label, jets.label) == ("number", "jets")
    own = session.run(events.hist("MET_pt", bins=(2, 0, 9), label="MET"))
    assert (own.axes[0].name, own.axes[0].label) == ("MET_pt", "MET")
    own = session.run(events.hist("MET_pt + 1", bins=(2, 0, 9)))
    assert (own.axes[0].name, own.axes[0].label) == ("", "MET_pt + 1")


def test_automatic_ranges(session, events, truth):
    met, jets, positive = session.run(
        events.hist("MET_pt"), events.hist("nJet"), events.hist("genWeight > 0")
    )
    axis = met.axes[0]
    assert axis.edges[0] <= ak.min(truth.MET_pt)
    assert axis.edges[-1] > ak.max(truth.MET_pt)
    assert met.sum() == len(truth)
    assert isinstance(jets.axes[0], hist.axis.Integer)
    assert jets.values().tolist() == np.bincount(truth.nJet).tolist()
    assert isinstance(positive.axes[0], hist.axis.Boolean)
    assert positive.values()[1] == ak.sum(truth.genWeight > 0)


def test_no_entry_survives(session, events):
    none = events.filter("MET_pt < 0")
    values = session.run(
        none.count(), none.sum("MET_pt"), none.mean("MET_pt"), none.min("nJet"), none.hist("nJet")
    )
    assert values[:4] == (0, 0, None, None)
    assert values[4].sum(flow=True) == 0


def test_empty_tree(session, tmp_path):
    import uproot

    with uproot.recreate(tmp_path / "e.root") as file:
        file.mktree("T", {"x": "f4"})
    events = tm.dataset(tmp_path / "e.root")
    count, made = session.run(events.count(), events.hist("x"))
    assert count == 0
    assert made.sum(flow=True) == 0


def test_value_runs_all_that_is_booked(events, truth):
    count, total = events.count(), events.sum("nJet")
    assert count.value == len(truth)
    assert total.done
    assert total.value == ak.sum(truth.nJet)


def test_other_bookings_errors_do_not_spoil_a_value(events, truth):
    wrong = events.hist("MET_px", bins=(1, 0, 1))
    assert events.count().value == len(truth)
    with raises(tm.QueryError, about="MET_pt"):
        _ = wrong.value


def test_two_datasets_in_one_run(session, paths):
    a, b = tm.dataset(paths[0], "Events"), tm.dataset(paths[2], "Events")
    assert session.run(a.count(), b.count(), a.count()) == (5000, 7321, 5000)


def test_dicts_and_lists_of_bookings(session, paths):
    a, b = tm.dataset(paths[0], "Events"), tm.dataset(paths[2], "Events")
    count = a.count()
    what = {"a": [count, a.max("nJet")], "b": {"n": b.count(), "again": (count,)}, "none": []}
    values = session.run(what)
    assert values == {
        "a": [5000, session.run(a.max("nJet"))],
        "b": {"n": 7321, "again": (5000,)},
        "none": [],
    }
    assert len(session.queries) == 3, "one pass for each dataset"
    assert session.run([count]) == [5000]
    assert session.run([b.count()], count) == ([7321], 5000)
    assert (session.run({}), session.run([])) == ({}, [])
    with raises(tm.QueryError, said="in dicts, lists and tuples, not Dataset"):
        session.run({"a": a})


def test_run_computes_what_it_is_given(session, events):
    count, other = events.count(), events.sum("nJet")
    session.run(count)
    assert not other.done


def test_one_bar_for_several_datasets(paths, monkeypatch):
    seen = []

    class Bar:
        def update(self, progress):
            seen.append(progress)

        def close(self):
            seen.append("closed")

    monkeypatch.setattr("treemill.monitoring.watch._bar", lambda passing: Bar())
    monkeypatch.setattr("treemill.monitoring.watch._FIRST_LOOK", 0.0)
    one, two = (
        tm.dataset(path, "Events", name=name) for path, name in zip(paths[::2], "ab", strict=True)
    )
    with connect(workers=1) as session:
        session.run({"a": one.count(), "b": two.count()}, progress=True)
    assert seen[-1] == "closed"
    assert seen.count("closed") == 1
    assert seen[-2].phase == "b (2 of 2): filling"
    assert (seen[-2].entries, seen[-2].expected) == (12321, 12321)


def test_draw(events, capsys):
    made = events.draw("MET_pt", where="nJet > 2", bins=(10, 0, 100))
    assert isinstance(made, hist.Hist)
    assert "MET_pt" in capsys.readouterr().out


def test_query_errors_come_before_any_work(session, events):
    with pytest.raises(tm.QueryError) as caught:
        session.run(events.filter("nMuon > 1").hist("Jet_px", bins=(1, 0, 1)))
    assert caught.value.text == "Jet_px"
    assert caught.value.span == (0, 6)
    assert "Jet_pt" in caught.value.suggestions


def test_wrong_use(session, events):
    with raises(tm.QueryError, said="takes bookings"):
        session.run(events)
    with raises(tm.QueryError, said="at least one"):
        session.run()
    with raises(tm.QueryError, about="on_error"):
        session.run(events.count(), on_error="never")
    with raises(tm.QueryError, about="address"):
        tm.connect(8786)
    with raises(tm.QueryError, about="mode"):
        tm.connect(workers=4, mode="fibres")
    with raises(tm.QueryError, about="workers"):
        tm.connect(workers=0)


def test_a_bad_file_stops_the_query_or_is_left_out(session, paths, tmp_path):
    bad = tmp_path / "bad.root"
    bad.write_bytes(Path(paths[0]).read_bytes()[:5000])
    events = tm.dataset([*paths, str(bad)], "Events")
    with raises(tm.FormatError, about="bad.root"):
        session.run(events.count())
    assert session.run(events.count(), on_error="skip") == 12322
    report = session.report
    assert not report.complete
    assert [(gap.file, gap.stop) for gap in report.missing] == [(str(bad), None)]
    assert "bad.root" in str(report)


def test_a_file_that_lacks_a_branch_is_named(session, paths, tmp_path):
    import uproot

    with uproot.recreate(tmp_path / "other.root") as file:
        file.mktree("Events", {"x": "f4"}).extend({"x": np.zeros(3, "f4")})
    events = tm.dataset([paths[0], str(tmp_path / "other.root")], "Events")
    with raises(tm.QueryError, about="other.root"):
        session.run(events.sum("MET_pt"))


def test_submit(session, events):
    query = session.submit(events.count(), events.hist("MET_pt"))
    count, made = query.result(timeout=60)
    assert count == 12322
    assert made.sum() == 12322
    assert query.done
    assert query.progress.entries == 12322
    assert query.progress.expected == 12322
    assert query.report.complete
    assert query.snapshot()[0] == 12322
    query.stop()  # nothing to stop any more
    assert query.result()[0] == 12322


@pytest.mark.parametrize("data_sets", [(), ("a", "b")])
def test_histograms_are_made_while_workers_work_and_given_away_once(
    events, paths, monkeypatch, data_sets
):
    go = threading.Event()
    if data_sets:
        files = dict(zip(data_sets, (paths[:1], paths[1:]), strict=True))
        events = tm.fileset({name: {"files": files[name], "treename": "Events"} for name in files})
    process = worker_module.Worker._process

    def waits(self, packet):
        assert go.wait(60)
        return process(self, packet)

    monkeypatch.setattr(worker_module.Worker, "_process", waits)
    made, empty = [], BookedHistograms._empty

    def noted(self):
        made.append(go.is_set())
        return empty(self)

    monkeypatch.setattr(BookedHistograms, "_empty", noted)
    booked = (
        events.hist("MET_pt", bins=(20, 0, 100), weight="nJet"),
        events.count(),
        events.hist("nJet", "MET_pt", bins=[(10, 0, 10), (5, 0, 100)]),
    )
    with tm.connect(workers=1) as session:
        query = session.submit(*booked)
        news = SimpleQueue()
        query.watch(news, QueryNews.AT_WORK)
        assert news.get(timeout=60) is QueryNews.AT_WORK
        query.prepare()
        assert made == [False] * 2 * max(len(data_sets), 1)
        go.set()
        first = query.result(timeout=60)
        assert made == [False] * 2 * max(len(data_sets), 1)
        later = query.snapshot()
        again = SimpleQueue()
        query.watch(again, QueryNews.AT_WORK)
        assert again.get(timeout=60) is QueryNews.AT_WORK, "it is heard late, too"
        query.prepare()  # it is over
        plain = session.run(*(b for b in booked if b is not booked[1]), entries=12322)

    def histograms(values):
        return [each[name] for each in values for name in data_sets] if data_sets else values

    firsts, laters = (histograms((values[0], values[2])) for values in (first, later))
    for one, other, third in zip(firsts, laters, histograms(plain), strict=True):
        assert one == other == third
        assert one is not other
        assert one.sum(flow=True) == other.sum(flow=True) != 0
    firsts[0].reset()
    assert laters[0].sum(flow=True).value != 0


def test_the_next_dataset_is_compiled_while_workers_work_on_one(events, paths, monkeypatch):
    other, go, compiled = tm.dataset(paths[:1], tree="Events"), threading.Event(), []
    process, filling = worker_module.Worker._process, BookingRun._filling

    def waits(self, packet):
        assert go.wait(60)
        return process(self, packet)

    def noted(self):
        compiled.append(self.titles)
        if len(compiled) == 2:
            go.set()
        return filling(self)

    monkeypatch.setattr(worker_module.Worker, "_process", waits)
    monkeypatch.setattr(BookingRun, "_filling", noted)
    with connect(workers=1) as session:
        whole, part = session.run(events.sum("nJet"), other.sum("nMuon"))
        assert compiled == [["sum(nJet)"], ["sum(nMuon)"]]
        bad = other.sum("nothing")
        first = events.max("nJet")
        with raises(QueryError, about="nothing"):
            session.run(first, bad)
        assert compiled[2:] == [["max(nJet)"], ["sum(nothing)"], ["sum(nothing)"]]
        assert first.done
        assert not bad.done
    monkeypatch.undo()
    assert whole == events.sum("nJet").value
    assert part == other.sum("nMuon").value


def test_the_time_of_a_query_begins_when_the_one_before_has_ended(events, paths):
    other = tm.dataset(paths[:1], tree="Events")
    with connect(workers=1) as session:
        session.run(events.count(), other.count())
        first, second = session.queries
    assert second._began >= first._ended


def test_a_query_that_cannot_start_has_failed(events):
    with connect(workers=1) as session:
        with raises(QueryError, about="nothing"):
            session.run(events.sum("nothing"))
        with raises(QueryError, about="nothing"):
            session.submit(events.sum("nothing"))
        assert [query.state for query in session.queries] == ["failed", "failed"]
        assert all(query.done for query in session.queries)
        assert session.report.entries == 0


def test_feedback(events, monkeypatch):
    """Held after the first commit until feedback was seen."""
    from treemill.monitoring import watch

    monkeypatch.setattr(watch, "_FEEDBACK_EVERY", 0.01)
    seen, called = [], threading.Event()
    commit = MergedPartial.merge

    def held(self, partial, packets):
        commit(self, partial, packets)
        called.wait(60)

    def feedback(values):
        seen.append(values)
        called.set()

    monkeypatch.setattr(MergedPartial, "merge", held)
    with connect(workers=1) as session:
        assert session.run(events.count(), events.sum("nJet"), feedback=feedback)[0] == 12322
    assert 0 < seen[0][0] <= 12322


def test_closed_session(events):
    session = connect(workers=1)
    session.close()
    with pytest.raises(RuntimeError, match="closed"):
        session.run(events.count())


def test_a_session_in_another_thread(events):
    found = []
    thread = threading.Thread(target=lambda: found.append(tm.run(events.count())))
    thread.start()
    thread.join(60)
    assert found == [12322]


def test_queries_at_once(session, events):
    queries = [session.submit(events.sum("nJet"), events.hist("MET_pt")) for _ in range(6)]
    sums = {query.result(timeout=60)[0] for query in queries}
    assert len(sums) == 1


def test_default_session_is_one():
    assert default_session() is default_session()


def test_many_runs_leave_nothing(events):
    with connect(workers=2) as session:
        session.run(events.count())
        before = ours()
        for _ in range(50):
            session.run(events.count())
        assert ours() <= before


def test_logs_tell_what_a_session_does_and_no_secrets(tmp_path, paths, caplog, capfd):
    bad = tmp_path / "bad.root"
    bad.write_bytes(b"no file of ROOT")
    caplog.set_level("DEBUG", "treemill")
    with tm.connect(workers=1) as session:
        events = tm.dataset([*paths, str(bad)], tree="Events")
        n = session.run(events.count(), on_error="skip", progress=False)
    session.close()
    told = [each.getMessage() for each in caplog.records if each.name.startswith("treemill")]
    assert told[0].startswith("session opened")
    assert told[-1] == "session closed"
    assert told.count("session closed") == 1
    assert next(each for each in told if each.startswith("pass")).startswith("pass began")
    assert told.count("pass ended: done") == 1
    assert any(f"{n} entries merged" in each for each in told)
    assert any("skipped" in each and str(bad) in each for each in told)
    faults = [each for each in caplog.records if each.getMessage().startswith("file failed")]
    assert faults
    assert {each.levelname for each in faults} == {"DEBUG"}
    assert {each.treemill["query"] for each in faults} == {session.queries[-1].id}
    assert "session opened" not in capfd.readouterr().err


@pytest.mark.parametrize(
    "address",
    [
        "http://user:hunter2@127.0.0.1:1/a.root?token=hunter2",
        "root://hunter2@127.0.0.1:1//a.root?authz=hunter2",
        "s3://bucket/a.root",
    ],
)
def test_logs_have_no_secrets_of_addresses_and_of_the_environment(address, caplog, monkeypatch):
    for name, value in {
        "AWS_ACCESS_KEY_ID": "hunter2",
        "AWS_SECRET_ACCESS_KEY": "hunter2",
        "AWS_SESSION_TOKEN": "hunter2",
        "AWS_ENDPOINT_URL": "http://127.0.0.1:1",
        "AWS_ALLOW_HTTP": "true",
        "BEARER_TOKEN": "hunter2",
    }.items():
        monkeypatch.setenv(name, value)
    caplog.set_level("DEBUG", "treemill")
    with tm.connect(workers=1) as session, suppress(tm.TreemillError):
        session.run(tm.dataset(address, "t").count(), progress=False)
    told = [each.getMessage() for each in caplog.records if each.name.startswith("treemill")]
    assert any(each.startswith("session opened") for each in told)
    assert "hunter2" not in "\n".join(told) + caplog.text
