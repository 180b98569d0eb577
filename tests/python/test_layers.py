"""The structure of the package: which folder may use which, no cycle, what pure folders do not
know, which library is met where, who asks the storage, what a start loads. Read from the sources,
so that imports inside functions and those for type checkers count too.
"""

import ast
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import treemill

PACKAGE = Path(treemill.__file__).parent
MODULES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))

# A folder, or a module beside the folders, and what of ours it may use.
MAY_USE = {
    "frozen": "",
    "errors": "",
    "migration_hints": "",
    "io_report": "",
    "scheduling": "errors",
    "_system": "errors",
    "_core": "_system",
    "public_api": "errors migration_hints",
    "language": "errors",
    "checkpoint": "_core _system errors scheduling",
    "pictures": "_system errors",
    "data": "_system errors public_api language pictures migration_hints",
    "functions": "_system checkpoint data errors language",
    "writing": "data errors",
    "monitoring": "_system errors io_report pictures scheduling writing",
    "query": "data errors public_api functions language migration_hints monitoring pictures",
    "results": "_system data errors public_api pictures query writing",
    "workers": "_system data errors language query results scheduling writing",
    "backends": "_system checkpoint errors io_report monitoring scheduling workers",
    "session": "_system backends checkpoint data errors public_api io_report language monitoring "
    "pictures query results scheduling workers",
    "dataset": "data errors public_api io_report pictures query session",
    "fileset": "data dataset errors public_api pictures query session",
    "facility": "_system backends dataset errors monitoring pictures query scheduling session "
    "workers",
    "cli": "_system data dataset errors facility language monitoring pictures query session",
}
WORD_OF_PYTHON = "frozen"
"""The module that says what `dataclass` would: it knows nothing, and all may use it."""

# Libraries that only some modules may import.
ONLY = {
    "coffea": ["workers/coffea.py"],
    "uproot": [
        "data/uproot_fallback.py",
        "results",
        "writing",
        "facility",
        "cli",
    ],
    "fsspec": ["data/over_fsspec.py"],
    "XRootD": ["data/official_xrootd.py"],
    "distributed": ["backends/dask", "facility/cluster_facts", "facility/systems"],
    "dask": ["backends/dask"],
    "numba": ["functions/numba_code.py"],
    "onnxruntime": ["functions/onnx.py"],
}
# What runs without anything but Python.
PURE = ["errors", "public_api", "language", "scheduling", "facility/simulation"]
NO_CLOCK = ["scheduling", "language", "facility/simulation"]

# Who may ask the operating system about files. What a dataset reads may lie on a server, so that
# data/source.py alone asks about it; the others ask about files that they write, or that belong to
# this machine.
ASKS_ABOUT_FILES = {
    "_system",
    "data/source.py",
    *("data/bridge.py", "data/official_xrootd.py"),  # servers, for the core
    "results/parts.py",
    "results/file_output.py",
    *("checkpoint/digest.py", "checkpoint/folder.py", "checkpoint/results.py"),
    "session/session.py",
    "backends/dask/resumption.py",
    "facility",
    "cli",
}
QUESTIONS = {
    *("stat", "lstat", "scandir", "listdir", "walk", "readlink"),
    *("exists", "lexists", "isfile", "isdir", "islink", "realpath", "samefile"),
    *("getsize", "getmtime", "expanduser", "is_file", "is_dir", "glob", "rglob", "iglob"),
}


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


def folder(path):
    """The folder that a module is in, or the module's own name beside the folders."""
    return path.parts[0].removesuffix(".py")


def libraries(path):
    return {name.split(".")[0] for name, _ in imports(path)} - {"treemill"}


def order(graph):
    return [*TopologicalSorter(graph).static_order()]


FRONTS = {Path("__init__.py"), Path("__main__.py")}
"""What users import, which gathers names from all folders."""


def test_folders_use_those_below_them():
    wrong = {}
    for path in MODULES:
        used = {room(name) for name in own(path)} - {folder(path)}
        if path not in FRONTS and (more := used - set(MAY_USE.get(folder(path), "").split())):
            wrong[path.as_posix()] = more
    assert not wrong, "see MAY_USE"


def test_no_cycle_between_folders_or_inside_them():
    order({name: used.split() for name, used in MAY_USE.items()})
    for mine in MAY_USE:
        paths = [path for path in MODULES if folder(path) == mine]
        # A folder's front gathers its modules' names.
        front = {f"treemill.{mine}"}
        order({dotted(p): {n for n in own(p) if room(n) == mine} - front for p in paths})


def test_pure_folders_know_no_library_no_clock_and_no_thread():
    outside = {"threading", "time", "os", "socket"}
    wrong = {}
    for path in MODULES:
        used = libraries(path) | {name for name, _ in imports(path) if name == "treemill._core"}
        strange = used - set(sys.stdlib_module_names) if within(path, PURE) else set()
        if within(path, NO_CLOCK):
            strange |= used & outside
        if strange:
            wrong[path.as_posix()] = strange
    assert not wrong


def test_libraries_are_met_where_they_belong():
    wrong = {
        (library, path.as_posix())
        for library, places in ONLY.items()
        for path in MODULES
        if library in libraries(path) and not within(path, places)
    }
    assert not wrong


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
    assert asked(Path("data/source.py")), "the test finds what it looks for"
    wrong = {path.as_posix(): asked(path) for path in MODULES if not within(path, ASKS_ABOUT_FILES)}
    assert not {path: lines for path, lines in wrong.items() if lines}


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
    mine = {"treemill.session.session", "treemill.data.bridge", "treemill.data.file_checks"}
    assert not loaded("import treemill") & (HEAVY | SLOW | mine | {"numpy", "click"})


def test_help_loads_nothing_heavy():
    code = "from treemill.cli.main import cli\ncli.main(['--help'], standalone_mode=False)"
    assert not loaded(code) & (HEAVY | {"numpy"})


def test_draw_in_the_terminal_loads_no_other_reader_and_no_plotting(paths):
    arguments = ["draw", f"{paths[0]}:Events", "MET_pt", "--bins", "10,0,100"]
    code = f"from treemill.cli.main import cli\ncli.main({arguments!r}, standalone_mode=False)"
    assert not loaded(code) & (HEAVY - {"hist"})
