"""Pauses of Python's collector of circles: they end, nest, and many files of a list and many
histograms are made in one."""

import gc
import json
import os
from contextlib import ExitStack, contextmanager

import numpy as np
import pytest
import treemill as tm
from treemill._system.memory import without_collector

from tests.python.written import write


@contextmanager
def counted():
    """The generations of the collections within."""
    found = []

    def note(phase, about):
        if phase == "start":
            found.append(about["generation"])

    gc.callbacks.append(note)
    try:
        yield found
    finally:
        gc.callbacks.remove(note)


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_what_it_was_after_pauses_that_overlap(enabled):
    was = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        first, second = ExitStack(), ExitStack()
        first.enter_context(without_collector())
        second.enter_context(without_collector())  # as another thread's
        first.close()
        assert not gc.isenabled(), "the second one still goes on"
        second.close()
        assert gc.isenabled() == enabled
        with pytest.raises(KeyError), without_collector():
            raise KeyError
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if was else gc.disable)()


def test_a_forked_process_has_no_pause():
    with without_collector():
        child = os.fork()
        if child == 0:
            found = [gc.isenabled()]
            with without_collector():
                found.append(not gc.isenabled())
            found.append(gc.isenabled())
            os._exit(0 if all(found) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert gc.isenabled()


def test_many_files_of_a_list_are_made_without_collections(tmp_path):
    several = 20 * gc.get_threshold()[0]
    path, document = str(tmp_path / "f.root"), tmp_path / "all.json"
    (tmp_path / "f.root").touch()
    about = {"object_path": "t", "size": 5, "num_entries": 1, "clusters": [0]}
    document.write_text(json.dumps({"d": {"files": [{path: about} for _ in range(several)]}}))
    with counted() as found:
        events = tm.dataset(str(document))
    assert events.num_entries == several
    assert len(found) <= 10, f"{several:,} files took {len(found)} collections"


def test_many_histograms_are_planned_and_made_with_few_collections(tmp_path):
    several = 3 * gc.get_threshold()[0]
    events = tm.dataset(str(write(tmp_path / "f.root", x=np.arange(3.0))), tree="t")
    booked = [events.hist("x", bins=(2, 0, 2)) for _ in range(several)]
    with tm.connect(workers=1) as session, counted() as found:
        made = session.run(*booked)
    assert [h.sum(flow=True) for h in made] == [3] * several
    assert len(found) < several / 70, f"{several:,} histograms took {len(found)} collections"
