"""Which modules of a crate use which, read from its sources. For tests/test_crates.py."""

import re

_USE = re.compile(r"\buse\s+([^;]+);")
_NAMED = re.compile(r"\b(?:crate|super)(?:::\w+)+")
_TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:pub(?:\(\w+\))? )?mod \w+ \{")


def folders(source):
    """The paths of the modules that have modules of their own, the crate's root `()` first."""
    yield ()
    for folder in sorted(path for path in source.rglob("*") if path.is_dir()):
        parts = folder.relative_to(source).parts
        if not _is_of_tests(parts) and _root(source, parts) is not None:
            yield parts


def graph(source, within=()):
    """The modules right below the module `within` of the crate whose `src` this is, and the others
    among them that each uses."""
    root = _code(_root(source, within))
    modules = set(re.findall(r"\bmod (\w+);", root))
    # What their parent hands on stands for the module that it comes from.
    own = [_absolute(path, within) for path in _paths(root)]
    depth = len(within)
    module_of = {
        path[-1]: path[depth] for path in own if path[:depth] == within and len(path) > depth + 1
    }
    module_of = {name: module for name, module in module_of.items() if module in modules}
    module_of |= {name: name for name in modules}
    uses = {name: set() for name in modules if not name.endswith("tests")}
    for file in source.joinpath(*within).rglob("*.rs"):
        place = file.relative_to(source).with_suffix("").parts
        place = place[:-1] if place[-1] == "mod" else place
        if len(place) <= depth or place[depth] not in uses or _is_of_tests(place):
            continue
        code = _code(file)
        named = [_absolute(path, place) for path in _paths(code)]
        named += [_absolute(tuple(text.split("::")), place) for text in _NAMED.findall(code)]
        found = {
            module_of[path[depth]]
            for path in named
            if len(path) > depth and path[:depth] == within and path[depth] in module_of
        }
        uses[place[depth]] |= found - {place[depth]}
    return uses


def circle(uses):
    """Modules that use one another, in a circle; none if there is no circle."""
    left = dict(uses)
    while True:
        used = set().union(*left.values())
        free = [name for name in left if name not in used or not left[name] & left.keys()]
        if not free:
            return sorted(left)
        for name in free:
            del left[name]


def _root(source, module):
    """The file of a module that has others below it; none if it is a folder of no module."""
    if not module:
        return source / "lib.rs"
    folder = source.joinpath(*module)
    return next((f for f in (folder.with_suffix(".rs"), folder / "mod.rs") if f.exists()), None)


def _is_of_tests(parts):
    return any(part.endswith("tests") for part in parts)


def _absolute(path, place):
    """A path that is written in the module at `place`, from the crate's root on. A path that begins
    with neither `crate` nor `super` begins with a module below, or with another crate."""
    if path[:1] == ("crate",):
        return path[1:]
    steps = next((i for i, name in enumerate(path) if name != "super"), len(path))
    if path[:1] == ("self",):
        return place + path[1:]
    return place[: len(place) - steps] + path[steps:]


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
