"""python packaging/conda/build.py: reads conda-forge's recipe, renders it for each platform, and
builds it for this one from dist/.

Requirements are left out of the build, because they come from conda's channels: the recipe's
script runs with this machine's compilers and this Python. conda-forge's machines are the first to
solve the requirements and to run the recipe's tests. Needs what requirements/release.txt brings.
"""

from __future__ import annotations

import argparse
import os
import sys
import tomllib
from pathlib import Path
from typing import Any

from rattler_build import (
    EnvironmentIsolation,
    PlatformConfig,
    RenderConfig,
    Stage0Recipe,
    ToolConfiguration,
    VariantConfig,
)

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
PLATFORMS = ("linux-64", "linux-aarch64", "osx-64", "osx-arm64")
PINS = """
c_compiler: [gcc]
c_compiler_version: ["14"]
c_stdlib: [sysroot]
c_stdlib_version: ["2.17"]
rust_compiler: [rust]
rust_compiler_version: ["1.95"]
python_min: ["3.11"]
"""
"""Stand for those of conda-forge."""


def main() -> None:
    """Does what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--only-render", action="store_true", help="a second, not many minutes")
    parser.add_argument("--wheel", type=Path, help="taken, instead of compiling the core anew")
    given = parser.parse_args()
    recipe = Stage0Recipe.from_yaml(
        (HERE / "recipe.yaml").read_text().replace("@VERSION@", _version())
    )
    for platform in PLATFORMS:
        for variant in recipe.render(VariantConfig.from_yaml(PINS), _render_config(platform)):
            print(f"{platform}: {variant.recipe.to_dict()['build']['string']}")
    if not given.only_render:
        _build(recipe, given.wheel)


def _version() -> str:
    text = (REPOSITORY / "Cargo.toml").read_text()
    version: str = tomllib.loads(text)["workspace"]["package"]["version"]
    return version


def _render_config(target: str) -> RenderConfig:
    platform = PlatformConfig(target_platform=target, build_platform="linux-64")
    return RenderConfig(platform=platform)


def _build(recipe: Stage0Recipe, wheel: Path | None) -> None:
    told: dict[str, Any] = recipe.to_dict()
    del told["requirements"], told["tests"]
    for source in told["source"]:
        source["path"] = source["path"].replace("../..", str(REPOSITORY))
    # What the package python does in conda-forge's environments.
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    make, *rest = told["build"]["script"]["content"]
    if wheel is not None:
        make = f"mkdir -p wheels && cp '{wheel.resolve()}' wheels/"
    told["build"]["script"]["content"] = [
        f'export PIP_PREFIX="$PREFIX" SP_DIR="$PREFIX/lib/{version}/site-packages"',
        make,
        *rest,
    ]
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for result in Stage0Recipe.from_dict(told).run_build(
        variant_config=VariantConfig.from_yaml(PINS),
        tool_config=ToolConfiguration(test_strategy="skip"),
        output_dir=REPOSITORY / "dist" / "conda",
        channels=[],
        env_isolation=EnvironmentIsolation.NONE,
        no_build_id=True,
    ):
        print("built", *result.packages)


if __name__ == "__main__":
    main()
