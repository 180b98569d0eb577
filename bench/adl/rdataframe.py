"""RDataFrame on the eight tasks of `tasks.hxx`, compiled in two ways: `native`, a library made by
the machine's own C++ compiler at -O3 for its own processor, and `cling`, by ROOT's just-in-time
compiler at its highest level.
"""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ROOT

from ..protocol import REPOSITORY

HEADER = Path(__file__).with_name("tasks.hxx")
_BUILT = REPOSITORY / "target" / "bench"
_TASKS = tuple(f"adl{n}" for n in range(1, 9))


def declare_cling() -> None:
    """Compile by ROOT itself, at -O3; what is not called yet when it is called."""
    if not ROOT.gInterpreter.Declare(f'#pragma cling optimize(3)\n#include "{HEADER}"\n'):
        raise RuntimeError("ROOT could not compile the tasks")


def load_native() -> None:
    """Compile by `c++` (or $CXX) and load; a library of the same sources is kept."""
    library = _library()
    if ROOT.gSystem.Load(str(library)) < 0:
        raise RuntimeError(f"ROOT cannot load {library}")
    lines = (f"std::vector<double> {task}(const std::string &path);" for task in _TASKS)
    text = "\n".join(["#include <string>", "#include <vector>", "namespace adl_native {", *lines])
    if not ROOT.gInterpreter.Declare(f"{text}\n}}\n"):
        raise RuntimeError("ROOT could not compile the tasks' declarations")


def _library() -> Path:
    compiler = os.environ.get("CXX") or shutil.which("c++")
    if compiler is None:
        raise RuntimeError("no C++ compiler: set CXX")
    source = "\n".join(
        [f'#include "{HEADER}"', "namespace adl_native {"]
        + [f"adl::Bins {t}(const std::string &path) {{ return adl::{t}(path); }}" for t in _TASKS]
        + ["}", ""]
    )
    command = [compiler, *_flags()]
    made_from = "\n".join([HEADER.read_text(), source, *command, ROOT.gROOT.GetVersion()])
    library = _BUILT / f"adl-{hashlib.sha256(made_from.encode()).hexdigest()[:16]}.so"
    if not library.exists():
        _BUILT.mkdir(parents=True, exist_ok=True)
        part = library.with_suffix(f".{os.getpid()}.cpp")
        part.write_text(source)
        made = part.with_suffix(".so")
        try:
            subprocess.run([*command, str(part), "-o", str(made)], check=True, capture_output=True)
            os.replace(made, library)
        except subprocess.CalledProcessError as error:
            raise RuntimeError(f"{compiler} failed: {error.stderr.decode()[-2000:]}") from None
        finally:
            part.unlink(missing_ok=True)
    return library


def _flags() -> list[str]:
    include = str(ROOT.gROOT.GetIncludeDir())
    # What ROOT was configured with, but for the level of optimisation and the processor.
    standard = str(ROOT.gInterpreter.ProcessLine("__cplusplus;"))[2:4]
    fast = ["-O3", "-march=native"]
    return [*fast, "-fPIC", "-shared", "-pthread", f"-std=c++{standard}", f"-I{include}"]


_NAMESPACES: dict[str, tuple[Callable[[], None], str]] = {
    "native": (load_native, "adl_native"),
    "cling": (declare_cling, "adl"),
}


class _RDataFrame:
    def __init__(self, threads: int, variant: str) -> None:
        if threads > 1:
            ROOT.EnableImplicitMT(threads)
        prepare, namespace = _NAMESPACES[variant]
        prepare()
        self._tasks: Any = getattr(ROOT, namespace)

    def run(self, query: str, path: str) -> list[float]:
        return [float(x) for x in getattr(self._tasks, query)(path)]

    def sweep(self, paths: list[str], branches: list[str]) -> float:
        raise NotImplementedError("the eight tasks only")

    def versions(self) -> dict[str, str]:
        return {"ROOT": ROOT.gROOT.GetVersion()}


def make(threads: int, variant: str) -> _RDataFrame:
    """RDataFrame; `variant` is `native` or `cling`."""
    return _RDataFrame(threads, variant)
