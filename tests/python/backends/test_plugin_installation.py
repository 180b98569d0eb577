"""How a scheduler puts treemill on workers of which some do not answer, or cannot have it."""

import asyncio
from types import SimpleNamespace

import pytest

pytest.importorskip("distributed", reason="needs Dask: pip install 'treemill[cluster]'")

from treemill.backends.dask import scheduler_plugin
from treemill.backends.dask.scheduler_plugin import PluginInstallation

WELL = {"status": "OK"}


def equipped(answers, look, monkeypatch, others=60.0):
    """What `look` gives of workers with these answers, each an object or an event to wait for."""
    monkeypatch.setattr(scheduler_plugin, "_AGAIN", 0.0)
    monkeypatch.setattr(scheduler_plugin, "_OTHERS", others)

    async def broadcast(msg, workers, on_error):
        (address,) = workers
        assert msg["op"] == "plugin-add"
        answer = answers[address]
        if isinstance(answer, list):
            answer = answer.pop(0)
        if answer is None:
            await asyncio.Event().wait()
        return {address: answer}

    async def equip():
        scheduler = SimpleNamespace(workers=answers, worker_plugins={}, broadcast=broadcast)
        made = PluginInstallation(scheduler)
        assert scheduler.worker_plugins.keys() == {"treemill"}, "for those that join"
        try:
            return await look(made)
        finally:
            made.close()
            assert not made.silent

    return asyncio.run(asyncio.wait_for(equip(), 60))


async def settled(made):
    await made.settled()
    return made.refused, made.silent


def test_all_take_it(monkeypatch):
    assert equipped({"a": WELL, "b": WELL}, settled, monkeypatch) == ({}, [])
    assert equipped({}, settled, monkeypatch) == ({}, [])


def test_those_that_cannot_load_it_are_told_with_the_reason(monkeypatch):
    failed = {"status": "error", "exception_text": "ImportError('no core')"}
    answers = {"a": ModuleNotFoundError("No module named 'treemill'"), "b": failed, "c": WELL}
    refused, silent = equipped(answers, settled, monkeypatch)
    assert refused == {"a": "No module named 'treemill'", "b": "ImportError('no core')"}
    assert not silent
    assert equipped({"a": failed}, settled, monkeypatch) == ({"a": "ImportError('no core')"}, [])


def test_a_silent_one_does_not_hold_up_the_others(monkeypatch):
    answers = {"a": WELL, "b": None}
    assert equipped(answers, settled, monkeypatch, others=0.0) == ({}, ["b"])


def test_one_that_was_not_reached_is_asked_again(monkeypatch):
    answers = {"a": [OSError("timed out"), TimeoutError(), WELL]}
    assert equipped(answers, settled, monkeypatch) == ({}, [])
    assert answers == {"a": []}


def test_workers_that_go_are_forgotten(monkeypatch):
    async def removed(made):
        waiting = asyncio.create_task(made.settled())
        while not made.refused:
            await asyncio.sleep(0)
        for address in ("a", "b", "unknown"):
            made.remove(address)
        await waiting
        return made.refused, made.silent

    answers = {"a": ImportError("no"), "b": None}
    assert equipped(answers, removed, monkeypatch) == ({}, [])
