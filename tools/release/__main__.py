"""python -m tools.release: builds what a release consists of, looks it through, and tries it.

python -m tools.release                            all that this machine can build, into dist/
python -m tools.release linux-x86_64 --try python3.11 --try python3.14
python -m tools.release --check dist/treemill-*.whl  look through wheels that are there
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from . import building
from .joining import CORE, contents, join, write
from .looking import LARGEST, findings
from .notices import crates, notices
from .platforms import CONDA, PLATFORMS, Platform, buildable
from .trying import try_out

REPOSITORY = Path(__file__).parents[2]


def main() -> None:
    """Does what the command line says; ends with status 1 if something is wrong with a wheel."""
    parser = argparse.ArgumentParser(prog="python -m tools.release", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("platforms", nargs="*", metavar="PLATFORM", help=", ".join(PLATFORMS))
    parser.add_argument("--out", type=Path, default=REPOSITORY / "dist")
    parser.add_argument(
        "--work", type=Path, default=REPOSITORY / "target" / "release-wheels", help="kept builds"
    )
    parser.add_argument("--check", type=Path, nargs="+", metavar="WHEEL", default=[])
    parser.add_argument("--try", dest="pythons", action="append", metavar="PYTHON", default=[])
    parser.add_argument("--conda", choices=CONDA, help="only build, with conda's compilers")
    parser.add_argument("--no-sdist", dest="sdist", action="store_false")
    parser.add_argument("--only-sdist", action="store_true")
    parser.add_argument("--no-tests", dest="tests", action="store_false")
    given = parser.parse_args()
    if given.conda:
        print("built", _wheel(PLATFORMS[CONDA[given.conda]], given, for_conda=True))
        return
    if given.only_sdist:
        print("built", building.sdist(REPOSITORY, given.out))
        return
    unknown = set(given.platforms) - set(PLATFORMS)
    if unknown:
        parser.error(f"no such platform: {', '.join(unknown)}")
    wheels = given.check or _build(given)
    wrong = [f"{wheel.name}: {each}" for wheel in wheels for each in _look(wheel)]
    if wrong:
        sys.exit("\n".join(wrong))
    for wheel in wheels:
        platform = _platform(wheel)
        for python in given.pythons if _is_for_this_machine(platform) else []:
            try_out(wheel, python, REPOSITORY, platform.levels, given.tests)


def _build(given: argparse.Namespace) -> list[Path]:
    if given.sdist:
        print("built", building.sdist(REPOSITORY, given.out))
    why = buildable(sys.platform, building.targets())
    wheels = []
    for name in given.platforms or PLATFORMS:
        reason = why[name]
        if reason is not None:
            print(f"no wheel for {name}: it {reason}")
            if name in given.platforms:
                sys.exit(1)
            continue
        wheels.append(_wheel(PLATFORMS[name], given))
        print("built", wheels[-1])
    return wheels


def _wheel(platform: Platform, given: argparse.Namespace, for_conda: bool = False) -> Path:
    built = building.build(REPOSITORY, platform, given.work, for_conda)
    text = notices(crates(REPOSITORY, platform.target))
    made: Path = given.out / next(iter(built.values())).name
    write(join({level: contents(wheel) for level, wheel in built.items()}, text), made)
    return made


def _look(wheel: Path) -> list[str]:
    words = ["git", "ls-files", "treemill"]
    listed = subprocess.run(
        words, cwd=REPOSITORY / "python", check=True, capture_output=True, text=True
    )
    platform = _platform(wheel)
    files = contents(wheel)
    wrong = list(findings(files, listed.stdout.split("\n")[:-1], platform.levels))
    if platform.system == "darwin" and CORE in files:
        # lief is not there where conda builds, which looks at no wheel.
        from .machos import findings_of_library

        found = findings_of_library(files[CORE], platform.processor, platform.least)
        wrong += [f"{CORE} {each}" for each in found]
    if wheel.stat().st_size > LARGEST:
        wrong.append(f"larger than {LARGEST >> 20} MB")
    return [*wrong, *_audited(wheel, platform)]


def _audited(wheel: Path, platform: Platform) -> list[str]:
    """What other projects' tools find: whether it runs on old systems, and on all its Pythons."""
    tools = [["abi3audit", "--strict", "--assume-minimum-abi3", "3.11", str(wheel)]]
    if platform.system == "linux":
        tools.append(["auditwheel", "show", str(wheel)])
    wrong = []
    for words in tools:
        tool = shutil.which(words[0], path=str(Path(sys.executable).parent))
        if tool is None:
            wrong.append(f"{words[0]} is not here: pip install -r requirements/release.txt")
            continue
        done = subprocess.run([tool, *words[1:]], capture_output=True, text=True, check=False)
        print(" ".join(done.stdout.split()))
        if done.returncode != 0:
            wrong.append(f"{words[0]}: {done.stdout}{done.stderr}")
    return wrong


def _platform(wheel: Path) -> Platform:
    """By the tag at the end of the wheel's name."""
    tag = wheel.stem.split("-")[-1]
    system = "macos" if tag.startswith("macosx") else "linux"
    (found,) = (
        platform
        for name, platform in PLATFORMS.items()
        if name.startswith(system) and tag.endswith(platform.processor)
    )
    return found


def _is_for_this_machine(platform: Platform) -> bool:
    machine = subprocess.run(["uname", "-m"], check=True, capture_output=True, text=True)
    return platform.system == sys.platform and platform.name.endswith(machine.stdout.strip())


if __name__ == "__main__":
    main()
