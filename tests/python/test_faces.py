"""What users see of the classes that they hold: names, tracebacks, notebooks."""

import os
import subprocess
import sys

import hist
import pytest
import treemill as tm

WRONG = [
    'events.filter("MET_ptt > 3").count().value',
    'events.hist("MET_pt +")',
    'events.draw("MET_ptt")',
    'events.arrays("MET_ptt")',
    'tm.run(events.sum("MET_ptt"))',
    'tm.connect(workers=1).run(events.sum("MET_ptt"))',
    'events.scan("MET_ptt")',
    'tm.dataset("no-such-file.root")',
    'tm.dataset("no*.root").num_entries',
]


@pytest.mark.parametrize("code", WRONG)
def test_tracebacks_are_short(paths, code):
    script = f"import treemill as tm\nevents = tm.dataset({paths[0]!r}, 'Events')\n{code}\n"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 1
    lines = done.stderr.rstrip().splitlines()
    assert len(lines) <= 10, done.stderr
    assert "During handling" not in done.stderr
    assert sum("File" in line for line in lines) == 2


def test_the_whole_traceback_is_shown_on_request(paths):
    script = f"import treemill as tm\ntm.dataset({paths[0]!r}, 'Events').draw('MET_ptt')\n"
    command = [sys.executable, "-c", script]

    def shown(**environment):
        merged = {**os.environ, **environment}
        return subprocess.run(command, capture_output=True, text=True, env=merged).stderr

    short, full = shown(), shown(TREEMILL_TRACEBACK="full")
    assert short.count("TREEMILL_TRACEBACK") == 1
    assert "TREEMILL_TRACEBACK" not in full
    assert full.count("File") > 5
    last = [line for line in short.splitlines() if "QueryError" in line]
    assert last[0] in full


def test_what_should_not_happen_keeps_its_traceback(events, monkeypatch):
    def broken(*_):
        raise RuntimeError("a fault")

    monkeypatch.setattr("treemill.session.booking_run.plan", broken)
    with pytest.raises(RuntimeError) as caught:
        events.count().value  # noqa: B018
    assert len(caught.traceback) > 3


def test_causes_stay(events):
    from treemill.public_api import short_errors

    @short_errors
    def fails():
        try:
            raise OSError("gone")
        except OSError as error:
            raise tm.SourceError("no file") from error

    with pytest.raises(tm.SourceError) as caught:
        fails()
    assert isinstance(caught.value.__cause__, OSError)
    assert fails.__name__ == "fails"


def test_dir_has_what_users_need(events):
    seen = {name for name in dir(events) if not name.startswith("_")}
    assert {"filter", "define", "hist", "draw", "scan", "branches", "arrays", "show"} <= seen
    assert not seen & {"chain", "node"}
    assert not {name for name in dir(events) if name.startswith("_") and name[1] != "_"}
    good = events.filter("nJet > 1")
    assert {"filter", "draw", "head"} <= set(dir(good))
    assert not {"below", "node", "origin", "parent", "step"} & set(dir(good))
    booked = good.count()
    assert {"value", "done", "title", "explain"} <= set(dir(booked))
    assert not {"wanted", "set_value", "node"} & set(dir(booked))
    for each in (good, booked):
        for name in dir(each):
            if not name.startswith("_"):
                assert getattr(type(each), name).__doc__, (each, name)


def test_branches_complete_and_say_what_was_meant(events):
    assert "Muon_pt" in events.branches._ipython_key_completions_()
    with pytest.raises(KeyError, match="did you mean Muon_pt"):
        events.branches["Muon_ptt"]
    assert "Muon_ptt" not in events.branches
    assert events.branches.get("Muon_ptt") is None


def test_representations(events):
    assert "<table>" in events._repr_html_()
    assert "12,322 entries" in events._repr_html_()
    assert "Muon_pt" in events.branches._repr_html_()
    booked = events.hist("MET_pt", bins=(10, 0, 100))
    assert booked._repr_html_() is None
    assert isinstance(booked.value, hist.Hist)
    assert "data:image/png" in booked._repr_html_()
    count = events.count()
    assert count.value
    assert "12,322" in count._repr_html_()
    flow = events.filter("nJet > 1", name="<jets>").report()
    assert "&lt;jets&gt;" in flow.value._repr_html_()
    assert "&lt;jets&gt;" in flow._repr_html_()
    varied = events.vary("MET_pt", {"up": "MET_pt * 2"}).hist("MET_pt", bins=(10, 0, 100))
    assert varied.value
    assert "data:image/png" in varied._repr_html_()
    cube = events.hist("MET_pt", "nJet", "nMuon", bins=[(2, 0, 4)] * 3)
    assert cube.value.ndim == 3
    assert "data:image/png" in cube._repr_html_()


def test_columns_complete_in_expressions(events):
    from treemill.cli.ipython_completion import _found

    good = events.filter("nJet > 1").define("ht", "sum(Jet_pt)")
    names = {"events": events, "good": good, "x": 3}
    for line, text, expected in (
        ('events.filter("nMuon > 1 and Muon_p', "Muon_p", ["Muon_pt", "Muon_phi"]),
        ("h = events.filter('nJet > 1').hist('MET_', bins=3", "MET_", None),
        ("h = events.filter('nJet > 1').hist('MET_", "MET_", ["MET_pt", "MET_phi"]),
        ('good.hist("h', "h", ["ht"]),
        ('x.filter("Mu', "Mu", []),
        ('print("Mu', "Mu", []),
        ("events.fil", "fil", []),
        ("", "", []),
    ):
        assert _found(names, line, text) == (expected or [])


def test_in_a_notebook(paths):
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    from nbformat import v4

    cells = [
        f"import treemill as tm\nevents = tm.dataset({paths!r}, 'Events')\nevents",
        "booked = events.hist('MET_pt', bins=(10, 0, 100))\nbooked.value\nbooked",
        "tm.plot({'a': booked, 'b': events.hist('MET_pt', bins=(10, 0, 100))}, ratio=True)",
        "events.describe('MET_pt')",
        "get_ipython().complete('events.branches[\"Muon_p')[1]",
        "%load_ext treemill\n"
        "from IPython.core.completer import provisionalcompleter\n"
        "line = 'events.filter(\"nJet > 1 and Muon_p'\n"
        "with provisionalcompleter():\n"
        "    found = list(get_ipython().Completer.completions(line, len(line)))\n"
        "[each.text for each in found]",
        "events.filter('MET_ptt > 3').count().value",
    ]
    book = v4.new_notebook(cells=[v4.new_code_cell(cell) for cell in cells])
    client = nbclient.NotebookClient(book, timeout=300, kernel_name="python3", allow_errors=True)
    client.execute()
    shown = [cell.outputs[-1] for cell in book.cells]
    assert "<table>" in shown[0].data["text/html"]
    assert "data:image/png" in shown[1].data["text/html"]
    assert "image/png" in shown[2].data
    assert "<table>" in shown[3].data["text/html"]
    assert "Muon_pt" in shown[4].data["text/plain"]
    assert "Muon_pt" in shown[5].data["text/plain"]
    error = shown[6]
    assert error.ename == "QueryError"
    assert len("\n".join(error.traceback).splitlines()) <= 11, error.traceback
