"""Has maturin build the sdist, and a wheel for each level of a platform. Needs cargo, and what
requirements/release.txt brings in this Python's environment.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from .frameworks import declared, write_stubs
from .notices import crates
from .platforms import Platform, flags

__all__ = ["build", "sdist", "targets"]


def targets() -> set[str]:
    """The targets that this Rust has a standard library for."""
    command = ["rustc", "--print", "sysroot"]
    root = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    return {path.parent.name for path in Path(root, "lib", "rustlib").glob("*/lib")}


def sdist(repository: Path, out: Path) -> Path:
    """Builds the sdist, from the files that git knows."""
    _maturin(repository, {}, "sdist", "--out", str(out))
    (made,) = out.glob("treemill-*.tar.gz")
    return made


def build(
    repository: Path, platform: Platform, work: Path, for_conda: bool = False
) -> dict[str | None, Path]:
    """A wheel for each level. `work`: a folder to keep what is compiled, for the next time.

    zig links against the old C library that the wheel is to run on, and on Linux also for macOS.
    The C of crates is compiled by this machine's compiler where that makes code for the target, as
    for a checkout. Conda has compilers of its own, which link against an old C library.
    """
    made: dict[str | None, Path] = {}
    for level in platform.levels or (None,):
        folder = work / f"{platform.name}-{level or 'any'}"
        home = os.environ.get("CARGO_HOME", str(Path.home() / ".cargo"))
        environment = {
            "RUSTFLAGS": f"{_given(platform.target)} {flags(level, home)}".strip(),
            "CARGO_TARGET_DIR": str(folder),
        }
        words = ["build", "--release", "--locked", "--strip", "--target", platform.target]
        words += _ways(platform, for_conda)
        environment |= {} if for_conda else _surroundings(repository, platform, folder)
        out = folder / "wheels"
        for old in out.glob("*.whl"):
            old.unlink()
        _maturin(repository, environment, *words, "--out", str(out))
        (made[level],) = out.glob("*.whl")
    return made


def _ways(platform: Platform, for_conda: bool) -> list[str]:
    """The linker and the policy that maturin takes."""
    policy = "linux" if for_conda else platform.least
    compatible = ["--compatibility", policy] if platform.system == "linux" else []
    return compatible if for_conda or sys.platform == "darwin" else ["--zig", *compatible]


def _surroundings(repository: Path, platform: Platform, folder: Path) -> dict[str, str]:
    """Variables that say where compilers are, and what they are to compile for."""
    if platform.system == "darwin":
        said = {"MACOSX_DEPLOYMENT_TARGET": platform.least}
        if sys.platform != "darwin":
            write_stubs(declared(crates(repository, platform.target)), folder / "sdk")
            said["SDKROOT"] = str(folder / "sdk")
        return said
    if platform.target.startswith(os.uname().machine):
        name = platform.target.replace("-", "_")
        return {f"CC_{name}": "cc", f"AR_{name}": "ar"}
    return {}


def _given(target: str) -> str:
    """Flags that the environment has for all targets or for this one: RUSTFLAGS replaces both."""
    own = f"CARGO_TARGET_{target.upper().replace('-', '_')}_RUSTFLAGS"
    return f"{os.environ.get('RUSTFLAGS', '')} {os.environ.get(own, '')}".strip()


def _maturin(repository: Path, environment: dict[str, str], *words: str) -> None:
    # maturin looks for `python -m ziglang` of the environment that comes first.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = [sys.executable, "-m", "maturin", *words]
    subprocess.run(
        command, cwd=repository, env=os.environ | environment | {"PATH": path}, check=True
    )
