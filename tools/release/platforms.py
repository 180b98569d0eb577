"""The platforms that have wheels, and how the core is compiled for each. Pure: builds nothing."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CONDA", "PLATFORMS", "Platform", "buildable", "flags"]


@dataclass(frozen=True)
class Platform:
    """One wheel. `least`: the oldest system that it runs on, as maturin's name of a policy on Linux
    and as a version of macOS. `levels`: those of treemill._system.processor that it has a core for,
    best
    first; none: one core, for every processor of this architecture."""

    name: str
    target: str
    least: str
    levels: tuple[str, ...] = ()

    @property
    def system(self) -> str:
        """As `sys.platform` has it."""
        return "darwin" if "apple" in self.target else "linux"

    @property
    def processor(self) -> str:
        """As the system calls it."""
        return self.name.partition("-")[2]


PLATFORMS = {
    each.name: each
    for each in (
        # These are the oldest that Rust's standard library runs on; manylinux2014 is glibc 2.17. On
        # Intel's Macs it would run on 10.12, but rustls asks for SecTrustEvaluateWithError (10.14).
        Platform(
            "linux-x86_64", "x86_64-unknown-linux-gnu", "manylinux2014", ("x86-64-v3", "x86-64")
        ),
        Platform("linux-aarch64", "aarch64-unknown-linux-gnu", "manylinux2014"),
        Platform("macos-arm64", "aarch64-apple-darwin", "11.0"),
        Platform("macos-x86_64", "x86_64-apple-darwin", "10.14"),
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
        if system not in ("linux", platform.system):
            return "needs Linux"
        if platform.target not in targets:
            return f"needs `rustup target add {platform.target}`"
        return None

    return {name: reason(platform) for name, platform in PLATFORMS.items()}


def flags(level: str | None, cargo_home: str) -> str:
    """RUSTFLAGS for a level, in place of those of .cargo/config.toml, which are for checkouts. The
    folder of cargo's downloads, which the messages of crates name, is not told to users."""
    cpu = [] if level is None else [f"-Ctarget-cpu={level}"]
    return " ".join([*cpu, f"--remap-path-prefix={cargo_home}=/cargo"])
