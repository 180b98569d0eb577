"""No message of an error, no dataset and no report says what opens a door: users, passwords and
queries of addresses are left out."""

import asyncio
import pickle

import pytest
import treemill as tm
from treemill.errors import SourceError, WorkerError, traceback_of, warn, without_credentials
from treemill.monitoring.report import MissingEntries, Report

SIGNED = "https://me:secret@host/a.root?X-Amz-Signature=secret&authz=Bearer%20a,secret"


def test_addresses_lose_their_users_and_queries():
    error = SourceError(
        "cannot read https://me:secret@host/a.root?X-Amz-Signature=secret (asked twice)",
        file="root://me@host//a.root?authz=Bearer%20secret",
    )
    assert error.file == "root://host//a.root"
    for text in (str(error), repr(error), str(pickle.loads(pickle.dumps(error)))):
        assert "secret" not in text
        assert "https://host/a.root (asked twice)" in text


def test_places_that_are_filled_in_later_are_clean_too():
    error = SourceError("gone")
    error.file = "s3://key:secret@bucket/a.root"
    assert str(error) == "gone (file s3://bucket/a.root)"


def test_other_text_stays_as_it_is():
    assert str(SourceError("what? a:b@c", file="/a?b.root")) == "what? a:b@c (file /a?b.root)"


@pytest.mark.parametrize("ends", [":", ".", ",", ")", ");", "'", ">", ": no such file", " (twice)"])
def test_a_sentence_goes_on_after_an_address(ends):
    assert without_credentials(f"{SIGNED}{ends}") == f"https://host/a.root{ends}"


def test_datasets_show_no_credentials_and_the_name_of_the_tree():
    events = tm.dataset(SIGNED, tree="dir/Events")
    for text in (repr(events), str(events), repr(events.filter("nJet > 1"))):
        assert text.startswith("<dataset https://host/a.root:dir/Events>")
        assert "secret" not in text
    assert events.files == (SIGNED,)


def test_reports_show_no_credentials_and_have_the_whole_addresses():
    missing = MissingEntries(SIGNED, 5, None, "gone")
    report = Report(5, {SIGNED: [(0, 5)]}, [missing], 1.0, 0, 0, 1)
    for text in (repr(report), str(report), repr(missing), str(missing)):
        assert "secret" not in text
        assert "https://host/a.root" in text
    assert "processed={'https://host/a.root': [(0, 5)]}, missing=[Missing" in repr(report)
    assert "trace" not in repr(report)
    assert list(report.processed) == [SIGNED]


def raised():
    """Another library's error about a file, which has a cause."""
    try:
        try:
            raise FileNotFoundError(SIGNED)
        except FileNotFoundError as cause:
            raise OSError(f"cannot open {SIGNED}: gone") from cause
    except OSError as error:
        return error


def test_tracebacks_have_no_credentials():
    text = traceback_of(raised())
    assert text.count("https://host/a.root") == 2
    assert "secret" not in text
    assert "secret" not in WorkerError("failed", traceback=f"OSError: {SIGNED}").traceback


def test_warnings_have_no_credentials():
    with pytest.warns(UserWarning, match="friend") as told:
        warn(f"{SIGNED}: its friend is left out")
    assert str(told[0].message) == "https://host/a.root: its friend is left out"
    assert told[0].filename == __file__


def test_a_trace_that_cannot_be_written_tells_no_credentials(paths, tmp_path, monkeypatch):
    def fail(path, recorded):
        raise raised()

    monkeypatch.setattr("treemill.session.recording.write", fail)
    with pytest.warns(RuntimeWarning) as told:
        tm.run(tm.dataset(paths[0], tree="Events").count(), trace=tmp_path / "trace.json")
    said = str(told[0].message)
    assert "cannot open https://host/a.root: gone" in said
    assert "secret" not in said


def test_workers_that_take_no_part_tell_no_credentials(monkeypatch):
    pytest.importorskip("distributed", reason="needs Dask: pip install 'treemill[cluster]'")
    from treemill.backends.dask.scheduler_client import SchedulerClient

    line = object.__new__(SchedulerClient)
    line.address = "tcp://me:secret@there:8786"
    with pytest.warns(RuntimeWarning) as told:
        line._warn_of_missing_workers(
            {"refused": {"tcp://w:1": f"OSError: {SIGNED}"}, "silent": [], "workers": 1}
        )
    said = str(told[0].message)
    assert "tcp://there:8786 take no part" in said
    assert "OSError: https://host/a.root" in said
    assert "secret" not in said


def test_the_logs_of_a_cluster_have_no_credentials(caplog):
    pytest.importorskip("distributed", reason="needs Dask: pip install 'treemill[cluster]'")
    from treemill.backends.dask import scheduler_plugin, worker_plugin

    async def exchange():
        plugin = worker_plugin.TreemillWorkerPlugin()
        plugin._something = asyncio.Event()

        async def fail(wait):
            raise raised()

        plugin._exchanged = fail
        await plugin._exchange(wait=True)

    async def look():
        plugin = object.__new__(scheduler_plugin.TreemillSchedulerPlugin)
        looked = asyncio.Event()

        class Failing:
            def tick(self):
                raise raised()

            def look(self):
                looked.set()

        plugin._scheduler_state = plugin._ownership = plugin.screen = Failing()
        plugin._wake = lambda: None
        ticking = asyncio.create_task(plugin._tick())
        await asyncio.wait_for(looked.wait(), 60)
        ticking.cancel()

    for fails in (exchange, look):
        caplog.clear()
        asyncio.run(fails())
        assert "cannot open https://host/a.root: gone" in caplog.text
        assert "secret" not in caplog.text
