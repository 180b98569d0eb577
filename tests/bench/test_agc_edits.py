"""The benchmark of an analysis that is edited: edits fit the programs, and the table is right."""

import ast
import json

import pytest

from bench import publish
from bench.agc import edits
from bench.agc.edited import EDITS, Edit, Sources
from bench.agc.programs import data


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return data(tmp_path_factory.mktemp("data"), 20, False)


def test_all_edits_fit_the_programs_as_they_are(folder, tmp_path):
    sources = Sources(tmp_path, folder, 20)
    seen = set()
    for edit in EDITS:
        sources.change(edit)
        texts = [path.read_text() for path in sorted(sources.programs.glob("*.*"))]
        for path in sources.programs.glob("*.py"):
            ast.parse(path.read_text())
        beside = [path.read_text() for path in sorted(sources.data.iterdir())]
        seen.add(hash((*texts, *beside)))
    assert len(seen) == len(EDITS)
    sample = json.loads((sources.data / "fileset.json").read_text())["ttbar__nominal"]
    assert len(sample["files"]) == 2
    assert sample["metadata"]["nevts"] == 40
    untouched = json.loads((folder / "fileset.json").read_text())["ttbar__nominal"]
    assert len(untouched["files"]) == 1


def test_an_edit_of_what_is_not_there_is_an_error(folder, tmp_path):
    sources = Sources(tmp_path, folder, 20)
    with pytest.raises(ValueError, match="what was there"):
        sources.change(Edit("one", {"treemill_ttbar.py": (("what was there", "else"),)}))


def test_the_table_has_medians_and_sums(tmp_path):
    timed = [edits.Timed(name) for name in (edits.REMEMBERING, "RDataFrame, c++ -O3")]
    for step in (edits.FIRST, *(edit.title for edit in EDITS)):
        for seconds in (1.0, 3.0, 2.0):
            timed[0].note(step, seconds, 0.0)
            timed[1].note(step, 10 * seconds, 5 * seconds)
    lines = edits.table(timed).splitlines()
    assert len(lines) == 2 + 1 + len(EDITS) + 1
    assert "| the first run | 2.00 | 20.00 | 10.00 |" in lines
    assert "| all ten edits | 20.0 | 200.0 | 100.0 |" in lines
    page = tmp_path / "page.md"
    page.write_text(edits.PAGE.read_text())
    assert edits.table(timed) in publish.between(page, "edits", "edits", edits.table(timed))


def test_histograms_that_differ_are_named():
    one = {"a": [1.0, 2.0], "b": [3.0]}
    assert edits.differing({"x": one, "y": one}) == []
    assert edits.differing({"x": one, "y": {"a": [1.0, 3.0]}}) == ["y: b", "y: a"]


@pytest.mark.slow
def test_coffea_workflow_fills_again_what_an_edit_concerns(tmp_path):
    pytest.importorskip(
        "coffea_workflow", reason="coffea-workflow is not installed (dependency group `dev`)"
    )
    events = 2_000  # of fewer, some samples fill nothing
    sources = Sources(tmp_path, data(tmp_path / "made", events, False), events)
    picture, bins, *_, file_more = EDITS

    def samples_filled():
        _, found = edits.run_once("coffea-workflow", sources, tmp_path)
        kept = [*(sources.data / ".cache" / "ChunkAnalysis").iterdir()]
        return len(kept), len(found["bins"]["4j1b_ttbar"])

    assert samples_filled() == (9, 27)
    sources.change(picture)
    assert samples_filled() == (9, 27)
    sources.change(bins)
    assert samples_filled() == (18, 52), "code has changed"
    sources.change(file_more)
    assert samples_filled() == (19, 52), "the others are those of before"
