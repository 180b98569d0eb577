"""Which module may import which. Read from the sources, so that a lazy import counts too."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
import treemill

PACKAGE = Path(treemill.__file__).parent
MODULES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))


def imports(path):
    """Full names of the modules and names that a module of treemill imports."""
    here = ["treemill", *path.with_suffix("").parts]
    tree = ast.parse((PACKAGE / path).read_text())
    typing_only = {
        node
        for test in ast.walk(tree)
        if isinstance(test, ast.If) and ast.unparse(test.test) == "TYPE_CHECKING"
        for node in ast.walk(test)
    }
    found = set()
    for node in ast.walk(tree):
        if node in typing_only:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level] if node.level else []
            base += (node.module or "").split(".") if node.module else []
            found |= {".".join([*base, alias.name]) for alias in node.names}
    return found


def inside(names, *packages):
    return {n for n in names if any(n == p or n.startswith(p + ".") for p in packages)}


def own(names):
    return inside(names, "treemill")


def standard(names):
    return {n for n in names if n.split(".")[0] in sys.stdlib_module_names}


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_module(path):
    names = imports(path)
    part = path.parts[0].removesuffix(".py")
    text = (PACKAGE / path).read_text()
    assert text.count("\n") < 400, "files stay below 400 lines"
    assert ast.get_docstring(ast.parse(text)), "a module says what it is for"
    if part == "quoting":
        assert names == standard(names)
    if part == "errors":
        assert own(names) <= inside(names, "treemill.quoting")
    if part == "packetizer":
        assert own(names) <= inside(names, "treemill.packetizer", "treemill.errors")
    pure = [
        "expression",
        "syntax",
        "grammar",
        "registry",
        "functions",
        "clike",
        "treeformula",
        "axes",
        "axis_ranges",
    ]
    pure += ["treeformula_names", "draw_operators", "pieces", "casts"]
    pure += ["fresh", "query", "booking", "selector", "looks", "storages", "saving", "faces"]
    pure += ["steps", "wanted", "planning", "snapshot_format", "draw_request", "mentions"]
    pure += ["specification", "fills", "statistics", "collecting"]
    if part in pure:
        allowed = ["treemill.errors", "treemill.quoting"]
        allowed += [f"treemill.{module}" for module in pure]
        assert own(names) <= inside(names, *allowed)
    if part == "simulate":
        assert own(names) <= inside(
            names, "treemill.simulate", "treemill.packetizer", "treemill.errors"
        )
        assert names == own(names) | standard(names)
        assert not inside(names, "threading", "time", "os", "socket")
    if part in ["packetizer", *pure]:
        assert names == own(names) | standard(names)
        assert not inside(names, "threading", "time", "os", "socket") or part in (
            "booking",
            "snapshot_format",
        )
    if part == "monitor":
        assert not inside(
            names,
            *("treemill.backend", "treemill.worker", "treemill.session", "treemill.running"),
            *("treemill.partial", "treemill.dataset", "treemill.packetizer", "treemill._core"),
        )
    if path.name in ("master.py", "channel.py"):
        assert not inside(names, "treemill.packetizer", "treemill.worker", "treemill.task")
    if part == "backend":
        assert not inside(names, "treemill.session", "treemill.monitor", "treemill.dataset")
    if part in ("caching", "memory"):
        assert own(names) <= inside(
            names, "treemill.errors", "treemill.memory", "treemill._core"
        ), "what others import knows nobody"
    if part in ("merge", "additive", "packages"):
        assert own(names) <= inside(names, "treemill.errors")
    if part == "files":
        allowed = ["errors", "filetree", "parts", "schemas", "snapshot_format", "stored", "writing"]
        allowed += ["columns", "kinds"]
        assert own(names) <= inside(names, *(f"treemill.{module}" for module in allowed))
    if part == "stored":
        assert own(names) <= inside(names, "treemill.columns", "treemill.errors")
    if part in ("bits", "kinds", "matching", "pace", "shapes", "typed_run"):
        assert not own(names)
    if part == "foreign":
        assert own(names) <= inside(names, "treemill.kinds", "treemill.columns")
    if part == "array_columns":
        allowed = ["columns", "errors", "foreign", "kinds", "user_arrays"]
        assert own(names) <= inside(names, *(f"treemill.{module}" for module in allowed))
    if part == "user_arrays":
        assert own(names) <= inside(names, "treemill.errors")
    if path.name != "__init__.py" and part not in ("cli", "demo"):
        assert not inside(names, "treemill.dataset.Dataset", "treemill.dataset.dataset"), (
            "what others need of the files is the chain"
        )
    if part == "chain":
        assert not inside(names, "treemill.session", "treemill.query", "treemill.backend")
    if part in ("friends", "friend_columns", "selection"):
        assert not inside(names, "treemill.session", "treemill.query", "treemill.backend")
    if part in ("chunk", "forms", "window", "coffea_events", "coffea_files"):
        allowed = ["columns", "core_awkward", "kinds"]
        allowed += ["errors", "forms", "groups", "window", "chunk"]
        allowed += ["coffea_files"] if part == "coffea_events" else []
        assert own(names) <= inside(names, *(f"treemill.{module}" for module in allowed))
    if part == "core_awkward":
        assert own(names) <= inside(names, "treemill.bits")
    if part == "columns":
        allowed = ["_core", "arrow", "bits", "core_awkward", "kinds"]
        assert own(names) <= inside(names, *(f"treemill.{module}" for module in allowed))
    if part in ("schemas", "missing", "groups"):
        assert own(names) <= inside(names, "treemill.errors", "treemill.columns", "treemill.kinds")
    if part not in ("arrow", "snapshot_files"):
        assert not inside(names, "pyarrow"), "it is an extra"
    if part in ("aliases", "formula"):
        assert own(names) <= inside(
            names,
            "treemill.errors",
            "treemill.expression",
            "treemill.steps",
            "treemill.formula",
            "treemill.mentions",
        )
    if part == "fallback":
        allowed = ["columns", "errors", "schemas"]
        assert own(names) <= inside(names, *(f"treemill.{module}" for module in allowed))
    elif part not in (
        "files",
        "output",
        "bench",
        "snapshot_files",
        "writing",
        "selection",
    ):  # they write
        assert not inside(names, "uproot"), "whoever reads with uproot does so through fallback"
    if part in ("filetree", "supplied", "perfile"):
        assert not inside(names, "treemill.opened", "treemill.dataset", "treemill.query")
        assert not inside(names, "treemill.backend", "treemill.session", "treemill.monitor")
    if part == "explaining":
        assert own(names) <= inside(
            names,
            *("treemill.axes", "treemill.perfile", "treemill.planning", "treemill.wanted"),
        )
    if part in ("selecting", "task", "output_partial", "derived", "beside"):
        assert not inside(names, "treemill.session", "treemill.monitor", "treemill.backend")
    if part in ("rows", "row_types", "cutflow"):
        allowed = ["errors", "row_types", "rows", "schemas", "columns", "kinds", "monitor.html"]
        allowed += ["worker.workload"]
        allowed += ["stored", "writing"]
        assert own(names) <= inside(names, *(f"treemill.{module}" for module in allowed))
    if part == "parts":
        assert names == standard(names)
    if part in ("snapshots", "snapshot_files", "snapshot_values"):
        allowed = ["errors", "rows", "row_types", "core_awkward", "parts", "writing"]
        allowed += ["arrow", "columns", "kinds", "missing", "schemas"]
        allowed += ["snapshot_files", "snapshot_format", "snapshot_values"]
        assert own(names) <= inside(names, *(f"treemill.{module}" for module in allowed))
    if part == "writing":
        allowed = ["columns", "errors", "kinds", "schemas", "user_arrays", "writing"]
        assert own(names) <= inside(names, *(f"treemill.{module}" for module in allowed))
    if part == "variations":
        assert own(names) <= inside(names, "treemill.showing", "treemill.monitor")
    if part == "worker":
        allowed = ["worker", "packetizer", "errors", "_core"]
        assert own(names) <= inside(names, *(f"treemill.{module}" for module in allowed))
        assert names == own(names) | standard(names)
    if part == "partial":
        assert not own(names)
    if part not in ("coffea_events", "coffea_files"):
        assert not inside(names, "coffea")
    if path != Path("backend/dask.py"):
        assert not inside(names, "distributed", "dask")


def loaded(code):
    """Names of the modules loaded after `code` in a fresh interpreter."""
    script = f"import sys\n{code}\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


HEAVY = {"awkward", "pyarrow", "matplotlib", "uproot", "mplhep", "rich", "hist", "pandas"}


def test_import_treemill_loads_nothing_heavy():
    assert not loaded("import treemill") & (HEAVY | {"numpy", "click", "treemill.session"})


def test_help_loads_nothing_heavy():
    code = "from treemill.cli import cli\ncli.main(['--help'], standalone_mode=False)"
    assert not loaded(code) & (HEAVY | {"numpy"})


def test_draw_in_the_terminal_loads_no_other_reader_and_no_plotting(paths):
    arguments = ["draw", f"{paths[0]}:Events", "MET_pt", "--bins", "10,0,100"]
    code = f"from treemill.cli import cli\ncli.main({arguments!r}, standalone_mode=False)"
    assert not loaded(code) & (HEAVY - {"hist"})
