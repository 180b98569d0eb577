"""What the values of users' functions depend on: equal digests only for what is equal now, in
modules of the user's too, and none for functions that may look at anything else."""

import importlib
import itertools
import math
import subprocess
import sys

import numpy as np
import pytest
from treemill import UnsupportedError
from treemill.checkpoint import digest
from treemill.checkpoint.digest import _Certain

SCALE = 2.0
LOOKED_AT = {"a": [1, 2, (3, "x")], "b": np.arange(3)}


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Makes a module of the user's from its text, anew each time."""
    monkeypatch.syspath_prepend(tmp_path)
    numbers = itertools.count()

    def make(text, name="helper_of_mine", **others):
        for each, its in {**others, name: text}.items():
            (tmp_path / f"{each}.py").write_text(its)
            sys.modules.pop(each, None)
        next(numbers)
        importlib.invalidate_caches()
        sys.dont_write_bytecode = True
        return importlib.import_module(name)

    before = sys.dont_write_bytecode
    yield make
    sys.dont_write_bytecode = before
    for name in ("helper_of_mine", "inner_of_mine"):
        sys.modules.pop(name, None)


def test_what_is_the_same_has_the_same_digest(module):
    def one(x):
        return SCALE * math.sqrt(x) + np.sin(x) + LOOKED_AT["b"][0]

    def again(x):
        return SCALE * math.sqrt(x) + np.sin(x) + LOOKED_AT["b"][0]

    assert digest(one, certain=True) == digest(again, certain=True)
    text = "def f(x):\n    return x * 2\n"
    assert digest(module(text).f, certain=True) == digest(module(text).f, certain=True)


WRAPPING = """
import functools
def g(x): return x
class Scale:
    def __init__(self, k): functools.update_wrapper(self, g).k = k
    def __call__(self, x): return self.k * x
scale = Scale({})
def f(x): return scale(x)
"""
CHANGES = {
    "what looks like a function": (WRAPPING.format(1), WRAPPING.format(2)),
    "the code": ("def f(x): return x + 1", "def f(x): return x + 2"),
    "a default": ("def f(x, y=1): return x + y", "def f(x, y=2): return x + y"),
    "a global": ("C = 1\ndef f(x): return x + C", "C = 2\ndef f(x): return x + C"),
    "a list in a global": ("C = [1]\ndef f(x): return C[0]", "C = [2]\ndef f(x): return C[0]"),
    "what it calls": (
        "def g(x): return x\ndef f(x): return g(x)",
        "def g(x): return -x\ndef f(x): return g(x)",
    ),
    "what that calls": (
        "def h(x): return x\ndef g(x): return h(x)\ndef f(x): return g(x)",
        "def h(x): return -x\ndef g(x): return h(x)\ndef f(x): return g(x)",
    ),
    "a class": (
        "class A:\n  def at(self, x): return x\ndef f(x): return A().at(x)",
        "class A:\n  def at(self, x): return -x\ndef f(x): return A().at(x)",
    ),
    "what an object holds": (
        "class A:\n  def __init__(self): self.c = 1\na = A()\ndef f(x): return a.c",
        "class A:\n  def __init__(self): self.c = 1\na = A()\na.c = 2\ndef f(x): return a.c",
    ),
    "a closure": (
        "def make(c):\n  def f(x): return x + c\n  return f\nf = make(1)",
        "def make(c):\n  def f(x): return x + c\n  return f\nf = make(2)",
    ),
    "what is caught": (
        "def f(x):\n  try: return 1 / x\n  except ZeroDivisionError: return 0",
        "def f(x):\n  try: return 1 / x\n  except TypeError: return 0",
    ),
    "an inner function": (
        "def g(x): return x\ndef f(x): return (lambda y: g(y))(x)",
        "def g(x): return -x\ndef f(x): return (lambda y: g(y))(x)",
    ),
    "what is behind functools.cache": (
        "import functools\n@functools.cache\ndef g(x): return x\ndef f(x): return g(x)",
        "import functools\n@functools.cache\ndef g(x): return -x\ndef f(x): return g(x)",
    ),
    "the order of a dictionary": (
        "c = {'a': 1, 'b': 2}\ndef f(x): return [*c.values()][0] * x",
        "c = {'b': 2, 'a': 1}\ndef f(x): return [*c.values()][0] * x",
    ),
    "what an object is not pickled with": (
        "class A:\n  c = 1\n  def __getstate__(self): return {}\n"
        "a = A()\na.c = 2\ndef f(x): return a.c * x",
        "class A:\n  c = 1\n  def __getstate__(self): return {}\n"
        "a = A()\na.c = 3\ndef f(x): return a.c * x",
    ),
    "the class of a class": (
        "def make(c):\n  class M(type):\n    def __getattr__(of, name): return c\n"
        "  class A(metaclass=M): pass\n  return lambda x: A.b * x\nf = make(1)",
        "def make(c):\n  class M(type):\n    def __getattr__(of, name): return c\n"
        "  class A(metaclass=M): pass\n  return lambda x: A.b * x\nf = make(2)",
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_seen(module, what):
    before, after = CHANGES[what]
    assert digest(module(before).f, certain=True) == digest(module(before).f, certain=True)
    assert digest(module(before).f, certain=True) != digest(module(after).f, certain=True)


@pytest.mark.parametrize(
    "text",
    [
        "import inner_of_mine\ndef f(x): return inner_of_mine.g(x)",
        "from inner_of_mine import g\ndef f(x): return g(x)",
        "def f(x):\n  from inner_of_mine import g\n  return g(x)",
        "import inner_of_mine\ndef h(x): return inner_of_mine.g(x)\ndef f(x): return h(x)",
        "def f(x):\n  import inner_of_mine as i\n  return i.g(x)",
        "import inner_of_mine\ndef f(x): return inner_of_mine.i.g(x)",
        "import inner_of_mine as i\nclass A:\n  at = staticmethod(lambda x: i.g(x))\n"
        "def f(x): return A.at(x)",
    ],
)
def test_other_modules_count_as_they_are_now(module, text):
    inner = "import inner_of_mine as i\nC = 1\ndef g(x): return x + C"
    changed = "import inner_of_mine as i\nC = 1\ndef g(x): return x - C"

    def of_inner(of):
        sys.modules.pop("inner_of_mine", None)
        made = module(text, inner_of_mine=of)
        importlib.import_module("inner_of_mine")
        return digest(made.f, certain=True)

    first = of_inner(inner)
    assert of_inner(inner) == first
    assert of_inner(changed) != first
    assert of_inner(inner) == first
    # Not only as its source says.
    sys.modules["inner_of_mine"].C = 5
    assert digest(sys.modules["helper_of_mine"].f, certain=True) != first


PACKAGE = {
    "an option of a package": "import package_of_mine as p\ndef f(x): return p.CUT * x",
    "an option in a module of a package": (
        "import package_of_mine\ndef f(x): return package_of_mine.inner.CUT * x"
    ),
    "a function in a package": "import package_of_mine as p\ndef f(x): return p.times(x)",
}


@pytest.mark.parametrize("what", PACKAGE)
def test_what_programs_set_in_packages_counts(module, tmp_path, monkeypatch, what):
    site = tmp_path / "site-packages"
    about = site / "package_of_mine-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: package_of_mine\nVersion: 1.0\n")
    (about / "top_level.txt").write_text("package_of_mine")
    for each in ("package_of_mine", "package_of_mine/inner"):
        (site / each).mkdir()
        (site / each / "__init__.py").write_text("CUT = 1\ndef times(x): return x\n")
    monkeypatch.syspath_prepend(site)
    package = importlib.import_module("package_of_mine")
    importlib.import_module("package_of_mine.inner")
    f = module(PACKAGE[what]).f
    before = digest(f, certain=True)
    assert digest(f, certain=True) == before
    monkeypatch.setattr(package, "CUT", 2)
    monkeypatch.setattr(package.inner, "CUT", 2)
    monkeypatch.setattr(package, "times", lambda x: 2 * x)
    assert digest(f, certain=True) != before


def test_names_count_in_code_of_many_names(module, monkeypatch):
    many = "\n".join(f"  x.name{number}" for number in range(300))
    made = module(f"import helper_of_mine as me\nC = 1\ndef f(x):\n{many}\n  return me.C * x")
    first = digest(made.f, certain=True)
    monkeypatch.setattr(made, "C", 2)
    assert digest(made.f, certain=True) != first


def test_compiled_functions_that_use_each_other_are_gone_through_once_each(module, monkeypatch):
    pytest.importorskip("numba")
    each = (f"@numba.njit\ndef f{n}(x): return f{n - 1}(x) + {n}" for n in range(1, 9))
    made = module("import numba\n@numba.njit\ndef f0(x): return x\n" + "\n".join(each))
    walks, compiled = [], _Certain._compiled

    def counted(walk, value):
        walks.append(value)
        return compiled(walk, value)

    monkeypatch.setattr(_Certain, "_compiled", counted)
    digest(made.f8, certain=True)
    assert len(walks) <= 9 * 10, "each by itself, with those that it uses"


def test_names_that_programs_add_to_python_count(module, monkeypatch):
    import builtins

    f = module("def f(x): return factor_of_mine * x").f
    digests = set()
    for factor in (1, 2):
        monkeypatch.setattr(builtins, "factor_of_mine", factor, raising=False)
        digests.add(digest(f, certain=True))
    assert len(digests) == 2


@pytest.mark.parametrize(
    "text",
    [
        "import numpy\nPATH = {0!r}\ndef f(x): return numpy.reads(PATH)",
        "import numpy\ndef f(x): return numpy.reads({0!r})",
        "import numpy\nconfig = {{'paths': [{0!r}]}}\ndef f(x): return numpy.reads(config)",
        "import numpy\nfolder = {1!r}\ndef f(x): return numpy.reads(folder + '/table.h5')",
    ],
)
def test_files_that_texts_name_count(module, tmp_path, text):
    table = tmp_path / "tables" / "table.h5"
    table.parent.mkdir()
    table.write_text("1")
    f = module(text.format(str(table), str(table.parent))).f
    before = digest(f, certain=True)
    assert digest(f, certain=True) == before
    table.write_text("22")
    assert digest(f, certain=True) != before


def test_functions_that_were_compiled_before_what_they_use_changed_have_none(module):
    pytest.importorskip("numba")
    made = module("import numba\nC = 2\n@numba.njit\ndef f(x): return C * x\n")
    first = digest(made.f, certain=True)
    made.C = 3
    assert digest(made.f, certain=True) != first, "it is not compiled yet"
    made.C = 2
    assert (digest(made.f, certain=True), made.f(1)) == (first, 2)
    assert digest(made.f, certain=True) == first
    made.C = 3
    with pytest.raises(UnsupportedError):
        digest(made.f, certain=True)


UNCERTAIN = [
    "import helper_of_mine as me\nC = 1\ndef g(m): return m.C\ndef f(x): return g(me)",
    "import helper_of_mine as me, operator\ndef f(x): return operator.attrgetter('C')(me)",
    "import helper_of_mine as me\ndef __getattr__(name): return 1\ndef f(x): return me.late * x",
    "import helper_of_mine as me\nC = 1\ndef f(x):\n  me.C += 1\n  return me.C",
    "import correctionlib\ndef f(x): return correctionlib.CorrectionSet.from_file('a')",
    "import uproot\ndef f(x): return uproot.concatenate('a')",
    "def f(x): return open('a').read()",
    "import os\ndef f(x): return os.getpid()",
    "import time\ndef f(x): return time.time()",
    "import numpy as np\ndef f(x): return np.random.uniform()",
    "import numpy as np\nrng = np.random.default_rng(1)\ndef f(x): return rng.uniform()",
    "import numpy as np\ndef f(x): return np.load('a.npy')",
    "import random\ndef f(x): return random.random()",
    "from random import random\ndef f(x): return random()",
    "from os import getpid as p\ndef f(x): return p()",
    "from pathlib import Path\np = Path('a')\ndef f(x): return p.read_text()",
    "C = 0\ndef f(x):\n  global C\n  C += 1\n  return C",
    "def make():\n  c = 0\n  def f(x):\n    nonlocal c\n    c += 1\n  return f\nf = make()",
    "import helper_of_mine as me\nC = 1\ndef f(x): return getattr(me, 'C')",
    "def f(x): return globals()['C']",
    "def f(x): return eval('x')",
    "def f(x): return not_there(x)",
    "import helper_of_mine as me\nkept = [me]\ndef f(x): return kept[0]",
    "import threading\nlock = threading.Lock()\ndef f(x):\n  with lock: return x",
    "import numpy as np\nu = np.frompyfunc(lambda x: x + 1, 1, 1)\ndef f(x): return u(x)",
]


@pytest.mark.parametrize("text", UNCERTAIN)
def test_what_is_not_certain_has_none(module, text):
    made = module(text)
    with pytest.raises(UnsupportedError):
        digest(made.f, certain=True)


def test_other_processes_have_the_same_digest(tmp_path):
    (tmp_path / "helper_of_mine.py").write_text(
        "import numpy as np\nC = {'b', 'a', 'c'}\nclass A: c = 1\na = A()\n"
        "def g(x): return np.sqrt(x) if x in C else a.c\ndef f(x): return g(x) + len(C)\n"
    )
    program = (
        "from helper_of_mine import f\nfrom treemill.checkpoint import digest\n"
        "print(digest(f, certain=True))"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env={"PYTHONPATH": ".", "PYTHONHASHSEED": str(seed), "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(3)
    }
    assert len(said) == 1
