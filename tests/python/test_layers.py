"""The house: which folder may use which, that no circle is left, and what is loaded when. Read from
the sources, so that imports inside functions and those for type checkers count too.
"""

import ast
import re
import subprocess
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
import treemill

PACKAGE = Path(treemill.__file__).parent
MODULES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))

# A folder, or a module beside the folders, and what of ours it may use.
MAY_USE = {
    "frozen": "",
    "errors": "",
    "root_words": "",
    "uproot_words": "",
    "processor": "",
    "_core": "processor",
    "io_report": "",
    "faces": "errors uproot_words",
    "packetizer": "",
    "monitor": "errors io_report packetizer",
    "machine": "errors",
    "language": "errors",
    "luminosity": "errors language",
    "arrays": "errors",
    "writing": "arrays errors",
    "worker": "errors packetizer",
    "kernels": "checkpoint errors",
    "query": "errors faces kernels language luminosity monitor root_words uproot_words",
    "tree": "arrays errors faces machine monitor uproot_words",
    "trace": "errors machine monitor packetizer writing",
    "submasters": "packetizer",
    "dashboard": "monitor packetizer",
    "bench": "backend errors machine monitor packetizer submasters trace",
    "calibration": "errors tree",
    "models": "calibration errors kernels",
    "chain": "arrays errors faces language luminosity machine tree",
    "inventory": "chain errors tree",
    "checkpoint": "errors packetizer",
    "backend": "checkpoint dashboard errors io_report machine monitor packetizer submasters worker",
    "results": "arrays errors faces luminosity monitor query tree writing",
    "output": "errors faces machine query results",
    "evaluation": "arrays chain errors language query tree worker writing",
    "selector": "arrays chain errors evaluation language machine query results tree worker",
    "session": "arrays backend chain checkpoint dashboard errors evaluation faces io_report "
    "language machine monitor packetizer query results selector trace tree worker",
    "dataset": "chain errors faces io_report monitor query session tree",
    "fileset": "chain dataset errors faces monitor query session tree",
    "facility": "backend errors",
    "cli": "bench chain dashboard dataset errors facility inventory language machine monitor "
    "processor query selector session trace",
}
FLOORS = 9
"""At most."""
WORD_OF_PYTHON = "frozen"
"""The module that says what `dataclass` would: it knows nothing, all may use it, and it is no floor
below them."""

# Libraries that only some modules may import.
ONLY = {
    "coffea": ["selector/coffea.py", "selector/coffea_files.py"],
    "uproot": [
        "tree/uproot_fallback.py",
        "chain/entry_list.py",
        "results",
        "output",
        "writing",
        "bench",
        "cli",
    ],
    "fsspec": ["tree/over_fsspec.py"],
    "XRootD": ["tree/official_xrootd.py"],
    "distributed": ["backend/dask", "facility/cluster_facts", "cli/benchmark/systems"],
    "dask": ["backend/dask"],
    "numba": ["kernels/numba_code.py"],
    "onnxruntime": ["models/onnx.py"],
}
# What runs without anything but Python.
PURE = ["errors", "faces", "language", "packetizer", "submasters", "bench/simulation"]
NO_CLOCK = ["packetizer", "submasters", "language", "bench/simulation"]

# Who may ask the operating system about files. What a dataset reads may lie on a server, so that
# tree/source.py alone asks about it; the others ask about files that they write, or that belong to
# this machine.
ASKS_ABOUT_FILES = {
    "tree/source.py",
    "processor.py",  # which levels of the core were installed
    *("tree/bridge.py", "tree/official_xrootd.py"),  # servers, for the core
    "results/parts.py",
    "results/file_output.py",
    "checkpoint/folder.py",
    "facility/facts.py",
    "session/packages.py",
    "backend/dask/blobs.py",
    "machine",
    "bench",
    "cli",
}
QUESTIONS = {
    *("stat", "lstat", "scandir", "listdir", "walk", "readlink"),
    *("exists", "lexists", "isfile", "isdir", "islink", "realpath", "samefile"),
    *("getsize", "getmtime", "expanduser", "is_file", "is_dir", "glob", "rglob", "iglob"),
}

REASON = re.compile(r"# (start-up|heavy: \w+)")


def dotted(path):
    parts = ["treemill", *path.with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {dotted(path): path for path in MODULES}


@cache
def parsed(path):
    return ast.parse((PACKAGE / path).read_text())


@cache
def nodes(path):
    return tuple(ast.walk(parsed(path)))


@cache
def imports(path):
    """Pairs of a module's full name, or of the module that a name is in, and the node."""
    here = ["treemill", *path.with_suffix("").parts]
    found = []
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found += [(alias.name, node) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level] if node.level else []
            base += (node.module or "").split(".") if node.module else []
            module = ".".join(base)
            for alias in node.names:
                inner = f"{module}.{alias.name}"
                is_module = inner in NAMES or inner == "treemill._core"
                found.append((inner if is_module else module, node))
    return found


def room(name):
    """The folder, or the module beside the folders."""
    return name.split(".")[1] if "." in name else "treemill"


def own(path):
    """Other modules of ours that a module imports. The core is none, although a module loads it."""
    names = {name for name, _ in imports(path) if name in NAMES and name != "treemill._core"}
    return names - {dotted(path), f"treemill.{WORD_OF_PYTHON}"}


def within(path, places):
    text = path.as_posix()
    return any(text.startswith((f"{place}/", f"{place}.py")) or text == place for place in places)


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_a_module_keeps_to_its_folder(path):
    text = (PACKAGE / path).read_text()
    assert text.count("\n") < 400, "files stay below 400 lines"
    assert ast.get_docstring(parsed(path)), "a module says what it is for"
    if len(path.parts) == 1 and path.stem in ("__init__", "__main__"):
        return
    mine = path.parts[0].removesuffix(".py")
    used = {room(name) for name in own(path)} - {mine}
    assert used <= set(MAY_USE[mine].split()), "see MAY_USE"
    libraries = {name.split(".")[0] for name, _ in imports(path)} - {"treemill"}
    for library, places in ONLY.items():
        assert library not in libraries or within(path, places), library
    if within(path, PURE):
        assert libraries <= set(sys.stdlib_module_names)
        assert not any(name == "treemill._core" for name, _ in imports(path))
    if within(path, NO_CLOCK):
        assert not libraries & {"threading", "time", "os", "socket"}


def asked(path):
    """Lines that ask the operating system about files."""
    calls = [node.func for node in nodes(path) if isinstance(node, ast.Call)]
    found = [
        call.lineno
        for call in calls
        if isinstance(call, ast.Attribute)
        and call.attr in QUESTIONS
        and getattr(call.value, "id", "") not in ("source", "ast")
    ]
    imported = [node for name, node in imports(path) if name in ("os.path", "glob")]
    return found + [node.lineno for node in imported]


def test_one_module_asks_about_the_files_that_are_read():
    assert asked(Path("tree/source.py")), "the test finds what it looks for"
    wrong = {path.as_posix(): asked(path) for path in MODULES if not within(path, ASKS_ABOUT_FILES)}
    assert not {path: lines for path, lines in wrong.items() if lines}


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_an_import_inside_a_function_says_why(path):
    lines = (PACKAGE / path).read_text().splitlines()
    inside = {
        node
        for function in nodes(path)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.ImportFrom) and (node.level or node.module.startswith("treemill"))
    }
    for node in inside:
        said = "\n".join(lines[node.lineno - 1 : node.end_lineno])
        assert REASON.search(said), f"line {node.lineno}: {said}"


def order(graph):
    return [*TopologicalSorter(graph).static_order()]


def test_folders_have_floors():
    graph = {name: used.split() for name, used in MAY_USE.items()}
    floors = {}
    for name in order(graph):
        below = [floors[each] for each in graph[name]]
        floors[name] = 1 + max(below, default=0)
    assert max(floors.values()) <= FLOORS, floors


@pytest.mark.parametrize("mine", MAY_USE)
def test_no_circle_within_a_folder_and_nothing_allowed_that_is_not_used(mine):
    paths = [p for p in MODULES if p.parts[0].removesuffix(".py") == mine]
    assert paths, "a folder that there is"
    graph = {dotted(p): {n for n in own(p) if room(n) == mine} for p in paths}
    # A folder's front gathers its modules' names.
    graph = {name: used - {f"treemill.{mine}"} for name, used in graph.items()}
    try:
        order(graph)
    except CycleError as error:
        pytest.fail(str(error))
    used = {room(name) for path in paths for name in own(path)} - {mine}
    assert set(MAY_USE[mine].split()) == used, "MAY_USE says no more than there is"


def test_no_two_classes_have_one_name():
    """Private ones neither: a reader who looks for a name finds one class."""
    places = {}
    for path in MODULES:
        for node in nodes(path):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(path.as_posix())
    assert not {name: found for name, found in places.items() if len(found) > 1}


# Words with which a phrase would go on the name before it.
FRAGMENTS = {"Of", "That", "As", "In", "On", "By", "From", "At", "Between", "For", "With", "Since"}


def test_what_names_mean_is_said_in_whole_phrases():
    wrong = [
        f"{path}:{node.lineno}: {text}"
        for path in MODULES
        if path.stem != "_core"
        for node in nodes(path)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(text := node.value.value, str) and text.split()[0].rstrip(":,.") in FRAGMENTS
    ]
    assert not wrong


def test_any_is_rare():
    """Of objects of other libraries their types say what they are; `object` says what is only
    handed on. Imports and texts count, as they do for `grep -rEo '\\bAny\\b'`."""
    found = {
        path.as_posix(): len(words)
        for path in MODULES
        if (words := re.findall(r"\bAny\b", (PACKAGE / path).read_text()))
    }
    assert sum(found.values()) < 150, found


# Where users' own types, or those of their data, are in signatures: only they know them.
USERS_TYPES = {
    *("query/booking.py", "chain/read_methods.py", "models/onnx.py", "output/saving.py"),
    *("session/typed_run.py", "selector/selector.py", "selector/additive.py"),
    "output/outline.py",  # what a kind of JSON's objects holds
}
# Answers of another process, to requests each of which has a type of its own.
ANSWERS = {"backend/dask/line.py", "backend/dask/requests.py", "cli/benchmark/crew.py"}


def contains_any(path):
    """Lines where a signature or a field that other modules may use contains Any."""
    owners = [parsed(path), *(each for each in nodes(path) if isinstance(each, ast.ClassDef))]
    own = [
        each
        for owner in owners
        if not getattr(owner, "name", "").startswith("_")
        for each in owner.body
    ]
    parts = []
    for node in own:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if not node.name.startswith("_") or node.name == "__init__":
                parts += [node.args, node.returns]
        elif isinstance(node, ast.AnnAssign) and not node.target.id.startswith("_"):
            parts.append(node.annotation)
    return sorted(
        {
            inner.lineno
            for part in parts
            if part is not None
            for inner in ast.walk(part)
            if isinstance(inner, ast.Name) and inner.id == "Any"
        }
    )


def test_no_any_is_at_a_border():
    wrong = {
        path.as_posix(): lines
        for path in MODULES
        if path.as_posix() not in USERS_TYPES | ANSWERS and (lines := contains_any(path))
    }
    assert not wrong
    assert contains_any(Path("output/saving.py")), "the test finds what it looks for"


def test_folders_say_what_they_are_for():
    for folder in {path.parts[0] for path in MODULES if len(path.parts) > 1}:
        text = ast.get_docstring(parsed(Path(folder) / "__init__.py"))
        assert text, folder


def loaded(code):
    """Names of the modules loaded after `code` in a fresh interpreter."""
    script = f"import sys\n{code}\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


HEAVY = {"awkward", "pyarrow", "matplotlib", "uproot", "mplhep", "rich", "hist", "pandas"}


# Modules of the standard library that take a millisecond and more, and that few queries need.
SLOW = {"concurrent.futures", "datetime", "glob", "json", "logging", "platform", "urllib.parse"}


def test_import_treemill_loads_nothing_heavy():
    mine = {"treemill.session.session", "treemill.tree.bridge", "treemill.chain.verification"}
    assert not loaded("import treemill") & (HEAVY | SLOW | mine | {"numpy", "click"})


def test_help_loads_nothing_heavy():
    code = "from treemill.cli.main import cli\ncli.main(['--help'], standalone_mode=False)"
    assert not loaded(code) & (HEAVY | {"numpy"})


def test_draw_in_the_terminal_loads_no_other_reader_and_no_plotting(paths):
    arguments = ["draw", f"{paths[0]}:Events", "MET_pt", "--bins", "10,0,100"]
    code = f"from treemill.cli.main import cli\ncli.main({arguments!r}, standalone_mode=False)"
    assert not loaded(code) & (HEAVY - {"hist"})
