"""Datasets of files that lie at several addresses: what a user writes for them, and which of the
addresses is heard. Reads no file."""

import json
import threading

import pytest
from treemill.data.filesets import fileset
from treemill.data.location import Location, located
from treemill.data.remote import first_answer
from treemill.errors import QueryError, SourceError

from tests.raising import raises

LOGICAL = "/store/a.root"
PLACES = ["root://one//store/a.root", "https://two/store/a.root"]
FOUND = Location(PLACES[0], "Events", replicas=tuple(PLACES), logical=LOGICAL)


@pytest.mark.parametrize(
    "files",
    [
        {f"{LOGICAL}:Events": PLACES},
        {LOGICAL: PLACES, "/store/b.root": None},
        {"files": {LOGICAL: PLACES}, "treename": "Events"},
        {"ttbar": {"files": {LOGICAL: {"object_path": "Events", "replicas": PLACES}}}},
        {LOGICAL: {"object_path": "Events", "replicas": PLACES, "steps": [[0, 5]]}},
    ],
)
def test_a_mapping_of_a_file_to_a_list_gives_its_replicas(files):
    assert fileset(files, "Events").locations[0] == FOUND


def test_a_json_file_may_have_them(tmp_path):
    path = tmp_path / "files.json"
    path.write_text(json.dumps({LOGICAL: PLACES}))
    assert fileset(str(path), "Events").locations == [FOUND]


def test_a_list_of_datasets_may_have_them():
    assert located([{LOGICAL: PLACES}], "Events") == (FOUND,)


def test_a_name_that_is_no_file_is_a_dataset_with_its_files():
    (one, two) = fileset({"ttbar": PLACES}, "Events").locations
    assert (one.path, two.path) == tuple(PLACES)
    assert one.replicas == ()
    assert one.metadata == {"dataset": "ttbar"}


@pytest.mark.parametrize(
    ("replicas", "words"),
    [
        ([], "has no replica"),
        (["root://one//store/*.root"], "not a pattern"),
        ([5], "made of paths, not int"),
    ],
)
def test_replicas_that_make_no_sense_are_errors(replicas, words):
    with pytest.raises(QueryError, match=words):
        fileset({LOGICAL: replicas})


def test_replicas_of_a_file_are_a_list():
    with raises(QueryError, said="a list of addresses"):
        fileset({LOGICAL: {"replicas": "root://one//store/a.root"}})


def test_the_first_place_that_answers_is_heard():
    def ask(place):
        if place == "gone":
            raise SourceError("gone")
        return place

    assert first_answer(["gone", "here", "there"], ask) == "here"


def test_a_silent_place_is_not_waited_for():
    is_over = threading.Event()

    def ask(place):
        if place == "silent":
            is_over.wait()
        return place

    assert first_answer(["silent", "here"], ask, patience=0.01) == "here"
    is_over.set()


def test_if_all_fail_the_error_names_each_with_its_reason():
    def ask(place):
        raise SourceError(f"gone to {place}", file=place)

    with pytest.raises(SourceError) as raised:
        first_answer(["one", "two"], ask, name=LOGICAL)
    reasons = "one: gone to one; two: gone to two"
    assert str(raised.value) == f"no replica can be opened: {reasons} (file {LOGICAL})"


def test_an_error_that_is_no_places_is_raised_at_once():
    def ask(place):
        raise QueryError("nonsense")

    with raises(QueryError, about="nonsense"):
        first_answer(["one", "two"], ask)
