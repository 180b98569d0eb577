"""A run that leaves something out of its result says so, and the result says what."""

import warnings

import numpy as np
import pytest
import treemill as tm
from treemill.errors import QueryError

from tests.python.written import write

SKIP = {"on_error": "skip", "progress": False}


@pytest.fixture
def files(core, tmp_path):
    """A sound file, one that lacks y, and one that is cut short."""
    sound = write(tmp_path / "sound.root", "t", x=np.ones(10), y=np.ones(10))
    lacks = write(tmp_path / "lacks.root", "t", x=np.ones(7))
    cut = tmp_path / "cut.root"
    cut.write_bytes((tmp_path / "sound.root").read_bytes()[:400])
    return {"sound": sound, "lacks": lacks, "cut": str(cut)}


def names(report):
    return {each.file for each in report.missing}


def test_a_warning_names_the_files_and_where_it_happened(files):
    events = tm.dataset([files["sound"], files["cut"]], "t")
    wanted = events.count()
    with pytest.warns(tm.IncompleteWarning) as caught:
        assert tm.run(wanted, **SKIP) == 10
    (warning,) = caught
    assert files["cut"] in str(warning.message)
    assert warning.filename == __file__
    assert names(warning.message.report) == names(wanted.report) == {files["cut"]}
    assert names(tm.report()) == {files["cut"]}
    assert wanted.report.entries == 10


def test_files_that_lack_a_branch_are_named_with_the_branch(files):
    events = tm.dataset([files["sound"], files["lacks"]], "t")
    with pytest.warns(tm.IncompleteWarning, match=r"lacks\.root.* y[:; ]"):
        assert tm.run(events.sum("y"), **SKIP) == 10
    with pytest.raises(QueryError):
        tm.run(events.sum("y"), progress=False)


def test_entries_are_named_if_only_some_are_left_out(files):
    def fails(chunk):
        if chunk.metadata["filename"] == files["lacks"]:
            raise ValueError("no")
        return {"n": len(chunk)}

    with pytest.warns(tm.IncompleteWarning, match=r"7 entries.*lacks\.root"):
        out = tm.run(fails, tm.dataset([files["sound"], files["lacks"]], "t"), **SKIP)
    assert out == {"n": 10}


def test_selectors_and_filesets_warn_too(files):
    fs = tm.fileset(
        {"a": {"files": {files["sound"]: "t"}}, "b": {"files": {files["cut"]: "t"}}},
        on_error="skip",
    )
    with pytest.warns(tm.IncompleteWarning, match=r"cut\.root"):
        tm.run(fs.count(), **SKIP)
    with pytest.warns(tm.IncompleteWarning, match=r"cut\.root"):
        tm.run(lambda chunk: {"n": len(chunk)}, tm.dataset([files["sound"], files["cut"]]), **SKIP)
    assert names(tm.report()) == {files["cut"]}


def test_a_query_warns_when_its_result_is_taken_and_once(files):
    events = tm.dataset([files["sound"], files["cut"]], "t")
    with tm.connect(workers=1) as session:
        query = session.submit(events.count(), on_error="skip")
        with pytest.warns(tm.IncompleteWarning):
            assert query.result() == (10,)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert query.result() == (10,)


def test_each_dataset_of_a_run_warns_of_its_own(files):
    one, other = (tm.dataset([files["sound"], files[name]], "t") for name in ("cut", "lacks"))
    with pytest.warns(tm.IncompleteWarning) as caught:
        tm.run(one.count(), other.sum("y"), **SKIP)
    assert [names(each.message.report) for each in caught] == [{files["cut"]}, {files["lacks"]}]


def test_what_is_complete_does_not_warn(files):
    events = tm.dataset(files["sound"])
    wanted = events.count()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert wanted.report is None
        assert tm.run(wanted, **SKIP) == 10
    assert wanted.report.complete
