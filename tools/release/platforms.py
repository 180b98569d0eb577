"""The platforms that have wheels, and how the core is compiled for each. Pure: builds nothing."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CONDA", "PLATFORMS", "Platform", "buildable", "flags"]


@dataclass(frozen=True)
class Platform:
    """One wheel. `levels`: those of treemill.processor that it has a core for, best first; none:
    one core, for every processor of this architecture."""

    name: str
    target: str
    levels: tuple[str, ...] = ()
    compatibility: str | None = None

    @property
    def system(self) -> str:
        """As `sys.platform` has it."""
        return "darwin" if "apple" in self.target else "linux"


PLATFORMS = {
    each.name: each
    for each in (
        # manylinux2014 (glibc 2.17) is the least that Rust's standard library runs on.
        Platform(
            "linux-x86_64", "x86_64-unknown-linux-gnu", ("x86-64-v3", "x86-64"), "manylinux2014"
        ),
        Platform("linux-aarch64", "aarch64-unknown-linux-gnu", (), "manylinux2014"),
        Platform("macos-arm64", "aarch64-apple-darwin"),
        Platform("macos-x86_64", "x86_64-apple-darwin"),
    )
}


CONDA = {
    "linux-64": "linux-x86_64",
    "linux-aarch64": "linux-aarch64",
    "osx-64": "macos-x86_64",
    "osx-arm64": "macos-arm64",
}
"""What conda calls the platforms."""


def buildable(system: str, targets: set[str]) -> dict[str, str | None]:
    """By platform None if it can be built on `system`, with Rust's standard libraries for
    `targets`, or why it cannot."""

    def reason(platform: Platform) -> str | None:
        if platform.system != system:
            needs = "Apple's SDK: run this on a Mac" if platform.system == "darwin" else "Linux"
            return f"needs {needs}"
        if platform.target not in targets:
            return f"needs `rustup target add {platform.target}`"
        return None

    return {name: reason(platform) for name, platform in PLATFORMS.items()}


def flags(level: str | None, cargo_home: str) -> str:
    """RUSTFLAGS for a level, in place of those of .cargo/config.toml, which are for checkouts. The
    folder of cargo's downloads, which the messages of crates name, is not told to users."""
    cpu = [] if level is None else [f"-Ctarget-cpu={level}"]
    return " ".join([*cpu, f"--remap-path-prefix={cargo_home}=/cargo"])
