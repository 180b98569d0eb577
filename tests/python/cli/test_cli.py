import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import uproot
from click.testing import CliRunner
from treemill.cli.main import cli, main
from treemill.language.clike import dimensions


def run(*arguments):
    return CliRunner().invoke(cli, list(map(str, arguments)), catch_exceptions=True)


def shell(*arguments, cwd=None):
    command = [sys.executable, "-m", "treemill", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=120)


@pytest.mark.parametrize(
    "arguments", [[], ["show"], ["draw"], ["demo"], ["bench"], ["bench", "generate"]]
)
def test_help(arguments):
    done = run(*arguments, "--help")
    assert done.exit_code == 0
    assert "Usage" in done.output
    assert len(done.output.splitlines()) > 5


def test_show(paths):
    done = run("show", f"{paths[0]}:Events")
    assert done.exit_code == 0
    assert "Jet_pt" in done.output
    assert "list[float32]" in done.output
    assert "5,000 entries" in done.output


def test_show_lists_trees_where_there_are_several(core):
    from tests.corpus_files import corpus

    done = run("show", corpus("uproot-nesteddirs.root"))
    assert done.exit_code == 0
    assert ":one/two/tree" in done.output


def test_draw_in_the_terminal(paths):
    done = run("draw", f"{paths[0]}:Events", "MET_pt", "--where", "nJet > 1 && !(nMuon > 3)")
    assert done.exit_code == 0
    assert "█" in done.output
    assert "where nJet > 1" in done.output


def test_draw_several_files_and_globs(paths):
    done = run("draw", *(f"{path}:Events" for path in paths), "nJet")
    assert done.exit_code == 0
    assert "sum 12,322" in done.output
    glob = paths[0].replace("events_0", "events_*")
    assert "sum 12,322" in run("draw", f"{glob}:Events", "nJet").output


def test_draw_to_json(paths, tmp_path, truth):
    out = tmp_path / "h.json"
    done = run("draw", f"{paths[0]}:Events", "MET_pt", "--bins", "4,0,80", "-o", out)
    assert done.exit_code == 0
    assert done.output == f"{out}\n"
    made = json.loads(out.read_text())
    counts, _ = np.histogram(truth.MET_pt[:5000], bins=4, range=(0, 80))
    assert made["storage"]["values"][1:-1] == counts.tolist()
    assert made["axes"][0]["metadata"]["label"] == "MET_pt"


def test_draw_to_root(paths, tmp_path, truth):
    out = tmp_path / "h.root"
    weighted = ["--weight", "genWeight", "--bins", "4,0,80", "-o", out]
    assert run("draw", f"{paths[0]}:Events", "MET_pt + 0", *weighted).exit_code == 0
    with uproot.open(out) as file:
        made = file["MET_pt___0"]
        first = truth[:5000]
        counts, _ = np.histogram(first.MET_pt, bins=4, range=(0, 80), weights=first.genWeight)
        np.testing.assert_allclose(made.values(), counts, rtol=1e-6)


def test_draw_names_the_object_in_a_root_file(paths, tmp_path):
    for expr, name in (("MET_pt>>met(100,0,200)", "met"), ("MET_pt:nJet", "MET_pt_nJet")):
        out = tmp_path / f"{name}.root"
        assert run("draw", f"{paths[0]}:Events", expr, "-o", out).exit_code == 0
        with uproot.open(out) as file:
            assert file.keys(cycle=False) == [name]


def test_draw_three_dimensions_and_profiles_to_pictures(paths, tmp_path):
    for number, more in enumerate((["MET_phi:MET_pt:nJet"], ["Jet_pt:Jet_eta", "--profile"])):
        out = tmp_path / f"{number}.png"
        done = run("draw", f"{paths[0]}:Events", *more, "-o", out, "--log")
        assert done.exit_code == 0, done.output
        assert out.stat().st_size > 1000


def test_draw_on_a_logarithmic_scale(paths):
    drawn = ["draw", f"{paths[0]}:Events", "MET_pt", "--bins", "20,0,100"]
    assert run(*drawn).output != run(*drawn, "--log").output


@pytest.mark.parametrize(
    "suffix", ["png", *(pytest.param(s, marks=pytest.mark.slow) for s in ("pdf", "svg"))]
)
def test_draw_to_a_picture(paths, tmp_path, suffix):
    out = tmp_path / f"h.{suffix}"
    assert run("draw", f"{paths[1]}:Events", "nJet:MET_pt", "-o", out).exit_code == 0
    assert out.stat().st_size > 1000


def test_two_dimensions():
    assert dimensions("y : x") == ["x", "y"]
    assert dimensions("a[1:2]") == ["a[1:2]"]
    assert dimensions("f(lambda t: t)") == ["f(lambda t: t)"]
    assert dimensions("x == ':'") == ["x == ':'"]
    bins = ["--bins", "3,0,3", "--bins", "5,0,50"]
    from treemill.cli.main import _all_bins

    assert _all_bins(((3, 0.0, 3.0), 5), 2) == [(3, 0.0, 3.0), 5]
    assert dimensions("z:y:x") == ["x", "y", "z"]
    assert dimensions("a ? b : c ? d : e : x") == ["x", "a ? b : c ? d : e"]
    assert dimensions("TMath::Abs(y):x") == ["x", "TMath::Abs(y)"]
    assert run("draw", "none.root", "a", *bins).exit_code == 2


BAD = [
    (["show", "none.root"], ["no such file: none.root"]),
    (["show", "text.root"], ["text.root"]),
    (["show", "cut.root"], ["cut.root"]),
    (["show", "."], ["directory"]),
    (["draw", "good.root:Event", "MET_pt"], ["Events"]),
    (["draw", "good.root:Events", "MET_px"], ["MET_pt"]),
    (["draw", "good.root:Events", "MET_pt +"], ["invalid syntax"]),
    (["draw", "good.root:Events", "MET_pt + sqqrt(nJet)"], ["sqqrt"]),
    (["draw", "good.root:Events", "MET_pt", "-o", "x.xyz"], [".png", "x.xyz"]),
    (["draw", "good.root:Events", "MET_pt", "-o", "no/such/dir.json"], ["no/such/dir.json"]),
    (["draw", "good.root:Events", "MET_pt", "--bins", "3,5,5"], ["lo < hi"]),
    (["draw", "gopher://host//f.root:T", "x"], ["not supported"]),
    (["draw", "z*.root:T", "x"], ["no file matches"]),
    (["bench", "report", "none.json"], ["cannot read: No such file", "none.json"]),
    (["bench", "report", "good.root"], ["not written by `treemill bench`"]),
    (["bench", "run", "--quick", "--on", "tcp://nohost.invalid:1"], ["nohost.invalid"]),
    (["trace", "report", "good.root"], ["no trace of a query", "trace="]),
    (["dataset", "verify", "none.json"], ["no such file: none.json"]),
    (["samples", "good.root/samples"], ["cannot write", "good.root/samples"]),
]


@pytest.fixture(scope="module")
def folder(paths, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bad")
    good = Path(paths[0]).read_bytes()
    (folder / "good.root").write_bytes(good)
    (folder / "cut.root").write_bytes(good[:3000])
    (folder / "text.root").write_text("this is not a ROOT file\n")
    return folder


@pytest.mark.parametrize(("arguments", "words"), BAD, ids=lambda value: " ".join(value)[-40:])
def test_errors_are_one_line_and_status_1(folder, arguments, words, monkeypatch, capfd):
    """In this process: a process of its own takes half a second to start, for each of these."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["treemill", *arguments])
    monkeypatch.setattr("treemill.backends.dask.pool._CONNECT", 0.05)
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    done = capfd.readouterr()
    assert done.out == ""
    lines = done.err.rstrip("\n").split("\n")
    assert lines[0].startswith("treemill: ")
    assert all(word in done.err for word in words)
    assert "Traceback" not in done.err
    # An expression and the place in it come below, nothing else.
    assert len(lines) == 1 or (len(lines) == 3 and set(lines[2].strip()) == {"^"})


def test_carets_are_under_the_place(folder):
    done = shell(
        "draw", "good.root:Events", "MET_pt", "--where", "nJet > 1 && nMuons < 2", cwd=folder
    )
    _, text, carets = done.stderr.rstrip("\n").split("\n")
    assert text[carets.index("^") : carets.rindex("^") + 1] == "nMuons"


def test_usage_errors_are_status_2():
    for arguments in (["draw"], ["nonsense"], ["draw", "f", "x", "--bins", "a,b"]):
        done = shell(*arguments)
        assert done.returncode == 2
        assert "Usage" in done.stderr


def test_usage_errors_say_what_is_missing(tmp_path):
    assert "two are needed" in run("draw", "file.root:Events").output
    twice = run("draw", "file.root:Events", "x", "--bins", "3,0,1", "--bins", "3,0,1")
    assert "EXPR has 1 axis" in twice.output
    done = run("remembered", tmp_path / "typo")
    assert done.exit_code == 2
    assert not (tmp_path / "typo").exists(), "a look makes no folder"


@pytest.mark.parametrize("group", ["bench", "cluster", "dataset", "trace"])
def test_the_help_of_a_group_has_whole_sentences(group):
    text = run(group, "--help").output.split("Commands:")[1]
    assert "..." not in text
    assert text.count(".") >= 1


def test_a_closed_pipe_is_no_error(paths):
    command = f"{sys.executable} -m treemill show {paths[0]} | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=120)
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


@pytest.mark.slow
def test_demo(core, tmp_path):
    small = ["demo", "--files", "2", "--events", "3000", "--workers", "2"]
    done = shell(*small, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "6,000  events" in done.stdout
    assert "events/s" in done.stdout
    assert "MB/s" in done.stdout
    picture = done.stdout.splitlines()[-1].removeprefix("picture: ")
    assert Path(picture).read_bytes().startswith(b"\x89PNG")
    again = shell(*small, cwd=tmp_path)
    assert "there already" in again.stdout


def test_remembered_lists_and_removes(tmp_path, monkeypatch):
    from treemill.checkpoint.results import Results

    results = Results(tmp_path / "results")
    results.add([(b"d" * 16, [1], {b"a" * 16: bytes(3_000_000)})])
    results.settle()
    done = run("remembered", tmp_path / "results")
    assert done.exit_code == 0, done.output
    assert "3.0 MB in 1 segments" in done.output
    monkeypatch.setenv("TREEMILL_REMEMBER", str(tmp_path / "results"))
    assert "3.0 MB in 1 segments" in run("remembered", "--unused", "1").output
    assert "removed 3.0 MB" in run("remembered", "--limit", "1 MB").output
    assert results.segments() == []
    monkeypatch.delenv("TREEMILL_REMEMBER")
    assert "TREEMILL_REMEMBER" in str(run("remembered").exception)
