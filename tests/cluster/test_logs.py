"""What a cluster logs: a line for each query, and for what goes wrong; no secrets."""

import json
import os
import shutil
import signal
import socket
from pathlib import Path

import pytest
import treemill as tm
from treemill._system.files import user_key

from tests.waiting import until

from .processes import Processes
from .queries import at_work, hurried, started
from .range_server import serving


@pytest.fixture(params=["text", "json"])
def processes(tmp_path, request):
    settings = {"DASK_TREEMILL__LOG_FORMAT": request.param}
    with Processes(tmp_path, settings=settings) as made:
        made.form = request.param
        made.add(2)
        yield made


def test_queries_and_losses_are_logged(processes, events, tmp_path):
    with tm.connect(processes.address) as session:
        client = session._pool._client
        client.wait_for_workers(2, timeout=60)
        query = started(session, events, tmp_path, workers=2)
        os.kill(at_work(tmp_path / "seen").pop(), signal.SIGKILL)
        until(lambda: "worker lost" in processes.text(), "the loss is logged")
        assert hurried(query, tmp_path)["n"] == events.num_entries
        until(lambda: "query ended" in processes.text(), "the end is logged")
        stopped = session.submit(lambda chunk: {"n": len(chunk)}, events)
        stopped.stop("enough")
        until(lambda: "query stopped" in processes.text() and stopped.done, "the stop is logged")
        text = processes.text()
        of_dask = "\n".join(line for _, line in client.get_scheduler_logs())
        for secret in (user_key(), query.key, query.key.partition(".")[2], stopped.key):
            assert secret not in text
            assert secret not in of_dask
    lines = [line for line in text.splitlines() if "query began" in line and query.id in line]
    assert len(lines) == 1
    assert "query began" in of_dask
    if processes.form == "json":
        began = json.loads(lines[0])
        assert began["event"] == "query began"
        assert (began["query"], began["files"]) == (query.id, 4)
        assert "@" in began["owner"]
    else:
        assert f"query {query.id}, owner " in lines[0]


def test_what_happens_in_a_query_is_told_with_its_name_and_ill_servers(events, tmp_path):
    """Of a lost worker the line has the address and the host; the server does not give ranges."""
    (tmp_path / "data").mkdir()
    paths = [shutil.copy(path, tmp_path / "data") for path in events.files]
    with Processes(tmp_path, settings={"DASK_LOGGING__TREEMILL": "debug"}) as processes:
        processes.add(2)
        with serving(tmp_path / "data") as server, tm.connect(processes.address) as session:
            session._pool._client.wait_for_workers(2, timeout=60)
            query = started(session, events, tmp_path, workers=2)
            os.kill(at_work(tmp_path / "seen").pop(), signal.SIGKILL)
            host = socket.gethostname()
            until(lambda: f"({host}) was lost" in processes.text(), "its host is named")
            assert hurried(query, tmp_path)["n"] == events.num_entries
            lost = [line for line in processes.text().splitlines() if f"({host}) was lost" in line]
            assert any(f"query {query.id}" in line for line in lost)
            far = tm.dataset([f"{server.url}/{Path(path).name}" for path in paths], tree="Events")
            assert far.num_entries == events.num_entries
            server.fails = True
            with pytest.raises(tm.TreemillError):
                session.run(far.sum("MET_pt"))
        text = processes.text()
    (ill,) = [line for line in text.splitlines() if "server ill" in line]
    assert f"server {server.url}" in ill
