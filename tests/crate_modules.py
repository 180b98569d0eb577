"""Which top-level modules of a crate use which, read from its sources. For tests/test_crates.py."""

import re

_USE = re.compile(r"\buse\s+([^;]+);")
_TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:pub(?:\(\w+\))? )?mod \w+ \{")


def graph(source):
    """The modules of the crate whose `src` this is, and the others that each names."""
    library = _code(source / "lib.rs")
    modules = set(re.findall(r"\bmod (\w+);", library))
    # What the crate's root hands on stands for the module that it comes from.
    module_of = {path[-1]: path[0] for path in _paths(library) if path[0] in modules}
    module_of |= {name: name for name in modules}
    uses = {name: set() for name in modules}
    for file in source.rglob("*.rs"):
        parts = file.relative_to(source).with_suffix("").parts
        if parts[0] == "lib" or any(part.endswith("tests") for part in parts):
            continue
        code = _code(file)
        named = [path[1] for path in _paths(code) if path[0] == "crate" and len(path) > 1]
        named += re.findall(r"\bcrate::(\w+)", code)
        uses[parts[0]] |= {module_of[name] for name in named if name in module_of} - {parts[0]}
    return uses


def circle(uses):
    """Modules that use one another, in a circle; none if there is no circle."""
    left = dict(uses)
    while True:
        free = [name for name, used in left.items() if not used & left.keys()]
        if not free:
            return sorted(left)
        for name in free:
            del left[name]


def _code(file):
    """Without comments, and without the tests at the end."""
    return _TESTS.split(re.sub(r"//[^\n]*", "", file.read_text()))[0]


def _paths(code):
    return [path for tree in _USE.findall(code) for path in _leaves(tree)]


def _leaves(tree, base=()):
    """`a::{b, c::d}` as (a, b) and (a, c, d)."""
    for part in _split(tree):
        head, brace, inner = part.partition("{")
        names = tuple(name for name in head.split(" as ")[0].strip().split("::") if name)
        if brace:
            yield from _leaves(inner.rstrip().removesuffix("}"), base + names)
        elif names:
            yield base + names


def _split(tree):
    """At the commas that are in no braces."""
    depth, start = 0, 0
    for place, letter in enumerate(tree):
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            yield tree[start:place]
            start = place + 1
    yield tree[start:]
