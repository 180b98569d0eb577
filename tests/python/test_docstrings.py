"""What users call says what it takes, gives and raises, with examples that run; so do the examples
of what is ours alone."""

import ast
import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest
import treemill as tm
from treemill.facility.generate import Recipe, write_dataset
from treemill.io_report import IOReport
from treemill.monitoring.progress import Progress
from treemill.monitoring.report import MissingEntries

# By class the methods that need no words of their own: they are another's, or take nothing.
NOT = {"__init__"}
FUNCTIONS = [
    *(tm.dataset, tm.fileset, tm.run, tm.connect, tm.function, tm.plot, tm.show),
    *(tm.plot.stack, tm.cut_table, tm.save, tm.load, tm.templates, tm.lumi_mask),
    *(tm.corrections, tm.model, tm.kernel, tm.batched),
]
CLASSES = [tm.Dataset, tm.Fileset, tm.Node, tm.Session]
WITH_EXAMPLES = [tm.ByDataset, tm.FileOutput, tm.LumiSections, tm.Variations, tm.Selector]
# What users hold besides, and the methods that they call; the others are treemill's own.
METHODS = {
    tm.Query: ["result", "snapshot"],
    tm.Booking: ["explain"],
    tm.ByDataset: ["as_variations", "map", "stack"],
    tm.Variations: ["band", "map", "plot", "to_hist"],
    tm.CutFlow: ["cumulative", "to_latex"],
    tm.LumiSections: ["save", "to_json", "to_numpy"],
    tm.FileOutput: ["write"],
    tm.Selector: ["book"],
}
# Methods without an example of their own: users define them, or the other methods show them.
OF_CLASSES = {
    tm.Selector: ["begin", "begin_worker", "begin_file", "process", "end"],
    tm.Query: ["abort", "stop"],
    tm.Correction: ["evaluate"],
    tm.TreeModel: ["evaluate"],
    tm.OnnxModel: ["evaluate"],
}
# What raises nothing of its own.
SAFE = {
    *("Query.abort", "Query.snapshot", "Query.stop", "ByDataset.map", "Variations.map"),
    *("CutFlow.cumulative", "CutFlow.to_latex", "LumiSections.to_json", "LumiSections.to_numpy"),
    *(f"Selector.{name}" for name in OF_CLASSES[tm.Selector]),
    *(f"{place}.count" for place in ("Dataset", "Fileset", "Node")),
    *("Dataset.io_report", "Session.close"),
}


def members():
    found = {function.__name__: function for function in FUNCTIONS}
    for cls in CLASSES:
        for name in dir(cls):
            member = inspect.getattr_static(cls, name)
            if not name.startswith("_") and inspect.isfunction(member):
                found[f"{cls.__name__}.{name}"] = member
    internal = {"Node.below", "Session.compute"}
    internal |= {f"Fileset.{name}" for name in ("get", "items", "keys", "values")}  # a mapping's
    return {name: member for name, member in found.items() if name not in internal}


def methods(names):
    return {
        f"{cls.__name__}.{name}": inspect.getattr_static(cls, name)
        for cls, of in names.items()
        for name in of
    }


MEMBERS = members() | methods(METHODS)
DESCRIBED = MEMBERS | methods(OF_CLASSES)
CALLED = [tm.FileOutput, tm.LumiSections]
"""Classes that users call."""
RECORDS = [tm.Cut, tm.DataFile, tm.Report, tm.SnapshotFile, Progress, MissingEntries, IOReport]
"""What users read the fields of."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docstrings")
    list(write_dataset(folder / "data", Recipe(files=2, events_per_file=500)))
    return folder


@pytest.mark.parametrize("name", [*MEMBERS, *(cls.__name__ for cls in WITH_EXAMPLES)])
def test_the_example_runs(name, folder, monkeypatch):
    monkeypatch.chdir(folder)
    text = inspect.getdoc(MEMBERS.get(name) or getattr(tm, name))
    globs = {"tm": tm, "events": tm.dataset("data/*.root", tree="Events")}
    flags = doctest.NORMALIZE_WHITESPACE
    example = doctest.DocTestParser().get_doctest(text, globs, name, None, None)
    assert example.examples, "an example"
    ran = doctest.DocTestRunner(optionflags=flags).run(example)
    assert not ran.failed


PACKAGE = Path(tm.__file__).parent
FOR_USERS = {inspect.getdoc(member) for member in MEMBERS.values()}
"""The words that `test_the_example_runs` has tried."""


def own_examples():
    """Places of the other words with examples, as the sources have them: of modules, classes,
    functions and fields, whatever decorates them."""
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text())):
            value = node.value if isinstance(node, ast.Expr) else None
            text = value.value if isinstance(value, ast.Constant) else None
            if isinstance(text, str) and ">>> " in text:
                text = inspect.cleandoc(text)
                if text not in FOR_USERS:
                    yield pytest.param(name, text, id=f"{name}:{value.lineno}")


@pytest.mark.parametrize(("module", "text"), [*own_examples()])
def test_the_example_of_what_is_ours_runs(module, text, folder, monkeypatch):
    monkeypatch.chdir(folder)
    try:
        there = vars(importlib.import_module(module.removesuffix(".__init__")))
    except ImportError as error:
        if (error.name or "treemill").startswith("treemill"):
            raise
        pytest.skip(f"needs {error.name}")
    globs = {**there, "tm": tm, "events": tm.dataset("data/*.root", tree="Events")}
    example = doctest.DocTestParser().get_doctest(text, globs, module, None, None)
    ran = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example)
    assert not ran.failed


@pytest.mark.parametrize("name", DESCRIBED)
def test_it_says_what_it_takes_gives_and_raises(name):
    member = DESCRIBED[name]
    text = inspect.getdoc(member)
    signature = inspect.signature(member)
    taken = [p for p in signature.parameters if p != "self"]
    if taken and name != "run":
        section = text.partition("Parameters\n")[2].partition("\n\n")[0]
        headings = [line for line in section.split("\n") if not line.startswith(" ")]
        assert set(taken) <= set(re.findall(r"\w+", " ".join(headings)))
    if signature.return_annotation not in (None, "None"):
        assert "Returns\n" in text
    assert ("Raises\n" in text) != (name in SAFE)


@pytest.mark.parametrize("cls", CALLED)
def test_a_class_says_what_it_takes(cls):
    section = inspect.getdoc(cls).partition("Parameters\n")[2].partition("\n\n")[0]
    assert set(inspect.signature(cls).parameters) <= set(re.findall(r"^\w+", section, re.MULTILINE))
    assert "Raises\n" in inspect.getdoc(cls)


@pytest.mark.parametrize("record", RECORDS)
def test_each_field_says_what_it_is(record):
    (definition,) = ast.parse(inspect.getsource(record)).body
    body = definition.body
    fields = [at for at, node in enumerate(body) if isinstance(node, ast.AnnAssign)]
    assert fields
    for at in fields:
        text = body[at + 1]
        said = isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
        assert said, body[at].target.id
