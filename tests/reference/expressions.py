"""Random expressions of the language, as text, by what they stand for: a number or a condition
where there is one value, elements, lists. Each kind has a table of ways to write one; variables of
loops are known below them.

Keys and thresholds are such that no answer hangs on the last bit.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[str]], str]

_COLLECTIONS = ("A", "B")
_FLOATS = ("pt", "eta", "phi", "mass")
_DERIVED = ("px", "py", "pz", "energy", "rapidity", "p")
_SUMS = ("pt", "eta", "phi", "mass", "energy", "px", "pz", "rapidity")


@dataclass(frozen=True)
class Scope:
    """Names of elements and of numbers that are bound here, and how deep it still may go."""

    depth: int
    elements: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    taken: int = field(default=0)

    def deeper(self) -> "Scope":
        return replace(self, depth=self.depth - 1)

    def bind(self, elements: int = 0, numbers: int = 0) -> tuple["Scope", list[str]]:
        names = [f"{'abcdefgh'[self.taken + i]}" for i in range(elements + numbers)]
        inner = replace(
            self.deeper(),
            elements=self.elements + tuple(names[:elements]),
            numbers=self.numbers + tuple(names[elements:]),
            taken=self.taken + elements + numbers,
        )
        return inner, names


class Writer:
    """Writes expressions with the choices that `draw` makes."""

    def __init__(self, draw: Callable[..., object]) -> None:
        self._draw = draw

    def pick(self, *options: str) -> str:
        return str(self._draw(st.sampled_from(options)))

    def one_of(self, scope: Scope, *ways: Callable[[Scope], str]) -> str:
        way = self._draw(st.sampled_from(ways))
        assert callable(way)
        return str(way(scope))

    def constant(self) -> str:
        return self.pick("0", "1", "2", "3", "0.3", "1.7", "12.9", "31.1", "-1.3")

    # Where there is one value.

    def number(self, scope: Scope) -> str:
        leaves = [self.column]
        if scope.elements:
            leaves += [self.member] * 3
        if scope.numbers:
            leaves += [lambda s: self.pick(*s.numbers)] * 2
        if scope.depth <= 0:
            return self.one_of(scope, *leaves, lambda s: self.constant())
        ways = [self.arithmetic, self.function, self.choice, self.filled]
        ways += [self.reduced] * 4 + [self.best] * 2 + [self.picked, self.length, self.pair]
        return self.one_of(scope, *leaves, *ways)

    def column(self, scope: Scope) -> str:
        return self.pick("x", "y", "i", "k", "nA", "nB")

    def member(self, scope: Scope) -> str:
        element = self.pick(*scope.elements)
        return f"{element}.{self.pick(*_FLOATS, *_FLOATS, *_DERIVED, 'charge')}"

    def arithmetic(self, scope: Scope) -> str:
        inner = scope.deeper()
        op = self.pick("+", "-", "*", "+", "-", "/")
        return f"({self.number(inner)} {op} {self.number(inner)})"

    def function(self, scope: Scope) -> str:
        inner = scope.deeper()
        name = self.pick("abs", "sqrt", "min", "max", "hypot", "floor", "-", "**", "erf", "table")
        if name == "table":
            return self.table(inner)
        if name == "-":
            return f"(-{self.number(inner)})"
        if name == "**":
            return f"({self.number(inner)} ** 2)"
        if name in ("min", "max", "hypot"):
            return f"{name}({self.number(inner)}, {self.number(inner)})"
        return f"{name}({self.number(inner)})"

    def table(self, scope: Scope) -> str:
        """Of constants; or a random number, which is one of counters."""
        value = self.number(scope)
        edges = self.pick("[-1.31, 0.37, 12.9]", "[0.37, 1.91, 29.3, 61.7]")
        places = self.pick("k", "i", "nA", *(f"{e}.charge" for e in scope.elements))
        return self.pick(
            f"interp({value}, [-5.1, 0.3, 17.9], [1.7, -2, 31.1])",
            f"digitize({value}, {edges})",
            f"digitize({value}, {edges}, right=True)",
            f"take([0.5, -7.1, 3], {places})",
            f"[3, 5.3, 8, -2.2][{places}]",
            f"(in_ranges({places}, [-1, 0, 2, 2, 5, 900]) * 1.5)",
            f"random(seed={self.pick('1', '2')})",
            f"normal(seed={self.pick('3', '-4')})",
        )

    def choice(self, scope: Scope) -> str:
        inner = scope.deeper()
        # Both sides of one type, for a missing one's is not known.
        sides = [f"{self.number(inner)} * 1.0" for _ in range(2)]
        return f"({sides[0]} if {self.condition(inner)} else {sides[1]})"

    def filled(self, scope: Scope) -> str:
        return f"fill_missing({self.number(scope.deeper())} * 1.0, 0.5)"

    def reduced(self, scope: Scope) -> str:
        name = self.pick("sum", "sum", "prod", "max", "min", "mean", "count", "median", "listed")
        if name == "listed":
            return self.listed(scope.deeper())
        return f"{name}({self.generator(scope, self.number)} )"

    def listed(self, scope: Scope) -> str:
        """A reduction of values that are written as a list."""
        items = ", ".join(self.number(scope) for _ in range(int(self.pick("1", "2", "3"))))
        name = self.pick("sum", "max", "min", "mean", "len", "count", "first")
        way = self.pick("", "sorted", "loop")
        if way == "loop":
            _, (item,) = scope.bind(0, 1)
            return f"{name}({item} * 1.5 for {item} in [{items}, 0.3])"
        return f"{name}({way}([{items}]))"

    def length(self, scope: Scope) -> str:
        return f"len({self.elements(scope)})"

    def picked(self, scope: Scope) -> str:
        field = self.pick(*_FLOATS, "px")
        index = self.pick("0", "1", "-1", "k", "2")
        collection = self.elements(scope.deeper())
        if "[[" in collection and index not in ("0", "-1"):
            index = "k"  # a list of so many items: a constant beyond them is refused
        way = self.pick("index", "first", "last")
        if way != "index":
            return f"{way}({collection}).{field}"
        return f"({collection})[{index}].{field}"

    def best(self, scope: Scope) -> str:
        name = self.pick("min", "max")
        _, (element,) = scope.bind(1)
        key = self.key(element)
        found = f"{name}({self.elements(scope.deeper())}, key=lambda {element}: {key})"
        return f"{found}.{self.pick(*_FLOATS, 'charge')}"

    def pair(self, scope: Scope) -> str:
        """The best pair, and something of it."""
        collection = self.elements(replace(scope.deeper(), depth=0))
        _, (t,) = scope.bind(0, 1)
        key = self.pick(f"abs(({t}[0] + {t}[1]).mass - 31.7)", f"{t}[0].deltaR({t}[1])")
        best = f"min(combinations({collection}, 2), key=lambda {t}: {key})"
        return f"{best}[{self.pick('0', '1')}].{self.pick(*_FLOATS)}"

    def key(self, element: str) -> str:
        field = self.pick(*_FLOATS)
        return self.pick(
            f"{element}.{field}", f"-{element}.{field}", f"abs({element}.{field} - 1.3)"
        )

    # Conditions.

    def condition(self, scope: Scope) -> str:
        leaves = [self.comparison] * 2 + [lambda s: "flag"]
        if scope.elements:
            leaves += [lambda s: f"{self.pick(*s.elements)}.tag", self.comparison]
        if len(scope.elements) > 1:
            leaves += [self.near] * 2
        leaves += [lambda s: f"(random(seed={self.pick('1', '5')}) < 0.5)"]
        if scope.depth <= 0:
            return self.one_of(scope, *leaves)
        ways = [self.logic] * 2 + [self.negation, self.quantified, self.quantified, self.absence]
        return self.one_of(scope, *leaves, *ways)

    def comparison(self, scope: Scope) -> str:
        inner = scope.deeper()
        if self.pick("simple", "simple", "chained") == "chained":
            low, high = self.pick("-1.3", "0.3"), self.pick("12.9", "47.3")
            return f"({low} < {self.number(inner)} < {high})"
        op = self.pick("<", ">", "<", ">", "<=", ">=", "!=", "==")
        whole = ["i", "k", "nA"] + [f"{e}.charge" for e in scope.elements]
        if op in ("==", "!="):
            return f"({self.pick(*whole)} {op} {self.pick('-1', '0', '1', '2', *whole)})"
        return f"({self.number(inner)} {op} {self.pick('0.37', '1.91', '13.7', '29.3', '-0.71')})"

    def near(self, scope: Scope) -> str:
        a, b = scope.elements[-2:]
        return self.pick(
            f"({a}.deltaR({b}) < 1.1)",
            f"(abs({a}.deltaphi({b})) > 0.9)",
            f"({a}.charge != {b}.charge)",
            f"(10.3 < ({a} + {b}).mass < 61.7)",
        )

    def logic(self, scope: Scope) -> str:
        inner = scope.deeper()
        op = self.pick("and", "or")
        return f"({self.condition(inner)} {op} {self.condition(inner)})"

    def negation(self, scope: Scope) -> str:
        return f"(not {self.condition(scope.deeper())})"

    def quantified(self, scope: Scope) -> str:
        return f"{self.pick('any', 'all')}({self.generator(scope, self.condition)})"

    def absence(self, scope: Scope) -> str:
        return f"is_missing({self.number(scope.deeper())})"

    # Elements and lists.

    def elements(self, scope: Scope) -> str:
        if scope.depth <= 0:
            return self.pick(*_COLLECTIONS, "A[:2]", "concat(A, B)")
        name = self.pick(*_COLLECTIONS)
        inner, (element,) = scope.bind(1)
        way = self.pick("plain", "slice", "mask", "loop", "concat", "sorted", "places")
        if way == "slice":
            return f"{name}[{self.pick('1:', ':2', '::-1', '::2', '-2:', '1:3')}]"
        if way == "places":
            return f"{name}[[{self.pick('0', '0, 1', '2, 0', '-1, 0, 0', '-2, 3')}]]"
        if way == "mask":
            return f"{name}[{name}.{self.pick(*_FLOATS)} > {self.pick('0.37', '1.91', '17.3')}]"
        if way == "loop":
            return f"[{element} for {element} in {name} if {self.condition(inner)}]"
        if way == "concat":
            return f"concat({self.elements(replace(scope, depth=0))}, {name})"
        if way == "sorted":
            reverse = self.pick("", ", reverse=True")
            return f"sorted({name}, key=lambda {element}: {self.key(element)}{reverse})"
        return name

    def generator(self, scope: Scope, of: Callable[[Scope], str]) -> str:
        """`… for … in … if …`, of one loop or two, over elements, pairs or what is numbered."""
        way = self.pick("one", "one", "one", "two", "pairs", "zip", "enumerate")
        if scope.taken > 4:
            way = "one"
        shallow = replace(scope, depth=min(scope.depth - 1, 1))
        if way in ("one", "enumerate"):
            inner, names = scope.bind(1, 1) if way == "enumerate" else scope.bind(1)
            items = self.elements(shallow)
            loops = f"for {names[0]} in {items}"
            if way == "enumerate":
                loops = f"for {names[1]}, {names[0]} in enumerate({items})"
        else:
            inner, (a, b) = scope.bind(2)
            if way == "two":
                first = (
                    f" if {self.condition(replace(inner, elements=(*scope.elements, a), depth=0))}"
                )
                first = self.pick("", first)
                outer = f"for {a} in {self.elements(shallow)}{first}"
                loops = f"{outer} for {b} in {self.elements(shallow)}"
            elif way == "pairs":
                loops = f"for {a}, {b} in combinations({self.elements(shallow)}, 2)"
            else:
                loops = f"for {a}, {b} in zip({self.elements(shallow)}, {self.elements(shallow)})"
        inner = replace(inner, depth=min(inner.depth, 1))
        condition = self.pick("", "if")
        if condition:
            condition = f" if {self.condition(inner)}"
        return f"{self.made(inner, of, way)} {loops}{condition}"

    def made(self, scope: Scope, of: Callable[[Scope], str], way: str) -> str:
        if (
            way in ("pairs", "two", "zip")
            and of == self.number
            and self.pick("sum", "any") == "sum"
        ):
            a, b = scope.elements[-2:]
            return self.pick(f"({a} + {b}).{self.pick(*_SUMS)}", f"{a}.deltaR({b})")
        return of(scope)

    def list_of_numbers(self, scope: Scope) -> str:
        way = self.pick("loop", "loop", "loop", "columns", "free", "made", "values")
        if way == "values":
            return f"[{self.number(scope.deeper())}, {self.number(scope.deeper())}]"
        if way == "made":
            return self.made_list(scope)
        if way == "loop":
            return f"[{self.generator(scope, self.number)}]"
        if way == "free":
            places = self.pick("0", "1, 0", "-1, 2, 1", "0, 0, -3")
            ways = ("free", "free[free > 1.91]", "free * x", "free[::-1][:2]", f"free[[{places}]]")
            return self.pick(*ways)
        name = self.pick(*_COLLECTIONS)
        column = f"{name}.{self.pick(*_FLOATS, *_DERIVED)}"
        return self.pick(
            column,
            f"{column} * {name}.charge",
            f"{column}[{name}_tag]",
            f"{column} - y",
            f"{column}[[1, 0, -1]]",
        )

    def made_list(self, scope: Scope) -> str:
        """A list that a function makes of another one."""
        name = self.pick(*_COLLECTIONS)
        column = f"{name}.{self.pick(*_FLOATS, 'charge')}"
        inner = replace(scope, depth=1)
        _, (element,) = scope.bind(1)
        return self.pick(
            f"unique({name}.charge)",
            f"unique([{self.generator(inner, self.number)}])",
            f"cumsum({column})",
            f"cumsum([{self.generator(inner, self.number)}])",
            f"cumsum({column}) * {name}.charge",
            f"argsort({name}.pt)",
            f"{column}[argsort({name}.pt, reverse=True)]",
            f"{name}[argsort({name}, key=lambda {element}: {self.key(element)})].eta",
            f"{name}.nearest({self.elements(inner)}).{self.pick(*_FLOATS)}",
            f"deltaphi({name}.phi, y)",
            f"[(a_ + b_).mass for a_, b_ in permutations({name}, 2)]",
            f"[a_.pt - c_.pt for a_, b_, c_ in permutations({name}[:4], 3)]",
            f"[a_.pt for a_, b_, c_, d_, e_ in combinations({name}, 5)]",
        )


@st.composite
def numbers(draw: Callable[..., object], depth: int = 3) -> str:
    """One number per event."""
    return Writer(draw).number(Scope(depth))


@st.composite
def conditions(draw: Callable[..., object], depth: int = 3) -> str:
    """One condition per event."""
    return Writer(draw).condition(Scope(depth))


@st.composite
def lists(draw: Callable[..., object], depth: int = 3) -> str:
    """A list of numbers per event."""
    return Writer(draw).list_of_numbers(Scope(depth))
