"""Every tutorial of the documentation is run: the cells of docs/tutorials/*.md, one after the
other, in one namespace each, over small samples. Their own assertions are checked.

The site's build runs them in a kernel; here they are plain Python, and `!treemill …` is the
command.
"""

import ast
import json
import re
import shlex
from pathlib import Path

import pytest
import treemill as tm
from treemill.cli.main import cli
from treemill.facility.samples import write_samples

from tests.raising import raises
from tests.tutorials import DOCS, PAGES, cells

SAMPLES = ["samples", "--scale", "0.05"]
"""What `!treemill samples` is here: fewer events."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tutorials")


def command(line):
    arguments = shlex.split(line.removeprefix("!treemill"))
    if arguments == ["samples"]:
        arguments = [*SAMPLES]
    cli.main(arguments, standalone_mode=False)


def run(code, names):
    """A cell; what its last line gives is shown as a notebook shows it."""
    if code.startswith("!"):
        command(code.strip())
        return
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "a cell", "exec"), names)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), "a cell", "eval"), names)
        getattr(value, "_repr_html_", value.__repr__)()


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.filterwarnings("ignore:template")
@pytest.mark.slow
def test_the_tutorial_runs(page, folder, monkeypatch):
    if page == "from-coffea":
        pytest.importorskip("coffea", reason="coffea is not installed (dependency group `dev`)")
    monkeypatch.chdir(folder)
    names = {"__name__": "__main__"}
    found = cells(page)
    assert found[0].strip() == "!treemill samples"
    for number, code in enumerate(found, 1):
        try:
            run(code, names)
        except Exception as error:
            error.add_note(f"in cell {number} of {page}:\n{code}")
            raise


def test_a_selector_has_twenty_lines():
    (code,) = (cell for cell in cells("from-tselector") if "class ZSelector" in cell)
    (selector,) = (node for node in ast.parse(code).body if isinstance(node, ast.ClassDef))
    assert selector.end_lineno - selector.lineno < 20


def test_the_contents_have_every_tutorial():
    contents = (DOCS / "index.md").read_text()
    assert PAGES
    for page in PAGES:
        assert f"tutorials/{page}\n" in contents, page


def test_the_api_has_every_public_name():
    pages = "".join(path.read_text() for path in (DOCS / "api").glob("*.md"))
    told = set(re.findall(r":: treemill\.(\w+)", pages))
    assert told <= {*tm.__all__, "_system", "io_report", "monitoring"}
    # Names that no page has are put by conf.py where one of them says so.
    assert set(tm.__all__) - {"__version__"} <= told or "(other names)" in pages


def test_samples_are_what_their_recipe_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        cli.main(["samples", "here", "--scale", "0.01"], standalone_mode=False)
    printed = capsys.readouterr().out.splitlines()
    assert printed[-1] == "here: the samples are there already"
    first = Path("here/ttbar_0.root").read_bytes()
    cli.main(["samples", "here", "--scale", "0.01", "--seed", "2"], standalone_mode=False)
    assert Path("here/ttbar_0.root").read_bytes() != first
    cli.main(["samples", "here", "--scale", "1e-5"], standalone_mode=False)
    assert len([*Path("here").glob("*.root")]) == 5, "files of other samples are gone"
    fileset = json.loads(Path("here/fileset.json").read_text())
    assert set(fileset["ttbar"]["metadata"]) == {"is_mc", "process", "xsec", "lumi"}
    with raises(tm.QueryError, about="scale"):
        list(write_samples("x", scale=-1))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Missing cross-reference")
def test_the_processor_gives_the_same_with_coffea(tmp_path, monkeypatch):
    processor = pytest.importorskip("coffea.processor", reason="coffea is not installed")
    from coffea.nanoevents import NanoAODSchema

    monkeypatch.chdir(tmp_path)
    command("!treemill samples")
    names = {"__name__": "__main__"}
    for code in cells("from-coffea"):
        if code.startswith("!"):
            continue
        run(code, names)
        if "output" in names:
            break
    runner = processor.Runner(processor.IterativeExecutor(status=False), schema=NanoAODSchema)
    files = {name: {"files": each["files"]} for name, each in names["fileset"].items()}
    theirs = runner(files, names["TopPairs"]())
    assert theirs["events"] == names["output"]["events"]
    ours = names["output"]["ht"]
    for name in theirs["ht"].axes[0]:
        assert list(theirs["ht"][name, :].values()) == list(ours[name, :].values()), name
