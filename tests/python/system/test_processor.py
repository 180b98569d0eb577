"""Which level of the core is chosen, and that the extension of that level is what is loaded."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import treemill
from click.testing import CliRunner
from treemill._core import CPU_LEVEL
from treemill._system import processor
from treemill._system.processor import LEVELS, best, features, levels_of
from treemill.cli.machine import kernels
from treemill.cli.main import cli

V3 = LEVELS["x86-64-v3"]
BOTH = ["x86-64-v3", "x86-64"]


def test_features():
    assert features("processor\t: 0\nflags\t\t: fpu avx2 fma\n") == {"fpu", "avx2", "fma"}
    assert features("Features\t: fp asimd\n") is None


def test_levels_of_processors():
    assert levels_of(V3 | {"avx512f"}) == BOTH
    assert levels_of(V3 - {"movbe"}) == ["x86-64"]
    assert levels_of(None) == ["x86-64"], "a system that does not tell"


def test_the_best_level_is_taken_unless_another_is_chosen():
    assert best(BOTH, V3) == "x86-64-v3"
    assert best(BOTH, V3, "") == "x86-64-v3"
    assert best(BOTH, V3 - {"bmi2"}) == best(BOTH, None) == best(BOTH, V3, "x86-64") == "x86-64"


def test_a_level_that_cannot_run_is_refused():
    with pytest.raises(
        ImportError, match="TREEMILL_CPU_LEVEL=x86-64-v3: this processor lacks avx2, fma"
    ):
        best(BOTH, V3 - {"avx2", "fma"}, "x86-64-v3")
    with pytest.raises(ImportError, match="does not exist here; the levels are x86-64-v3, x86-64"):
        best(BOTH, V3, "v3")
    with pytest.raises(ImportError, match="none of treemill's levels: x86-64-v3"):
        best(["x86-64-v3"], frozenset())


def test_a_processor_that_lacks_the_instructions_of_a_checkout_is_told(monkeypatch):
    monkeypatch.setattr(processor, "this_processor", lambda: V3 - {"avx2"})
    monkeypatch.setattr(processor, "installed", dict)
    with pytest.warns(RuntimeWarning, match="lacks avx2"):
        processor.warn_if_lacking()


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    """A package with levels, as in a wheel: this one's extension stands for each of them."""
    here = Path(treemill.__file__).parent
    package = tmp_path_factory.mktemp("site") / "treemill"
    extension = Path(sys.modules["treemill._core"].__file__)
    shutil.copytree(here, package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    (package / "_levels").mkdir(exist_ok=True)
    for level in BOTH:
        (package / "_levels" / f"{level}.abi3.so").symlink_to(extension)
    return package


def loaded(installation, code, **environment):
    """What a fresh interpreter prints that has the installation."""
    known = {name: value for name, value in os.environ.items() if name != processor.VARIABLE}
    known |= {"PYTHONPATH": str(installation.parent), **environment}
    return subprocess.run([sys.executable, "-c", code], env=known, capture_output=True, text=True)


@pytest.mark.skipif(CPU_LEVEL not in LEVELS, reason="levels are of x86-64")
def test_the_extension_of_the_level_is_loaded(installation):
    code = (
        "import treemill as tm; from treemill import _core; import pickle;"
        "from treemill._core import Control;"
        "print(_core.__name__, _core.__file__, _core.Control is Control, _core is tm._core)"
    )
    for chosen in ("", *levels_of(processor.this_processor())):
        done = loaded(installation, code, **{processor.VARIABLE: chosen})
        level = chosen or levels_of(processor.this_processor())[0]
        file = installation / "_levels" / f"{level}.abi3.so"
        assert done.stdout.split() == ["treemill._core", str(file), "True", "True"], done.stderr


def test_a_checkout_without_a_core_says_what_to_do(installation, tmp_path):
    shutil.copytree(installation, tmp_path / "treemill", ignore=lambda *_: ["_levels"])
    done = loaded(tmp_path / "treemill", "import treemill._core")
    assert "build it with `make build`" in done.stderr


def test_the_command_tells_which_kernels_are_used():
    assert (
        kernels("x86-64", BOTH, BOTH) == "x86-64 (of x86-64-v3, x86-64; TREEMILL_CPU_LEVEL chooses)"
    )
    assert "target-cpu=x86-64-v3" in kernels("x86-64", [], BOTH)
    assert kernels("x86-64-v3", [], BOTH) == "x86-64-v3 (compiled for this level alone)"
    assert kernels("aarch64", [], ["x86-64"]) == "aarch64 (compiled for this level alone)"
    said = CliRunner().invoke(cli, ["machine"])
    assert said.exit_code == 0
    assert f"kernels     {CPU_LEVEL} (" in said.output
