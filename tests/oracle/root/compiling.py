"""Compiles macros, whose classes and collections need dictionaries; which takes a C++ compiler."""

from pathlib import Path

import ROOT

HERE = Path(__file__).parent


def compile_macro(source: Path, folder: Path) -> None:
    """Loads what a macro defines. What the compiler makes goes to the folder."""
    ROOT.gSystem.SetBuildDir(str(folder), True)
    # The code runs for a moment: to optimize it takes twice as long as to compile it.
    ROOT.gSystem.SetFlagsOpt("-O0")
    if not ROOT.gSystem.CompileMacro(str(source), "kO"):
        raise SystemExit(f"{source.name} does not compile")
