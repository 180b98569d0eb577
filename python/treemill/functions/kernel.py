"""`treemill.kernel`: a function that numba compiles, for expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property, update_wrapper
from typing import TYPE_CHECKING, Any, NoReturn, overload

import numpy as np

from ..checkpoint.digest import digest
from ..errors import QueryError, UnsupportedError
from .numba_code import Compiled, check_signature, compiled
from .own_functions import Given, UserFunction, identity_of, parameter_names, title_of, words

if TYPE_CHECKING:
    from treemill import _core

    from .own_functions import Handed

__all__ = ["Kernel", "kernel"]


@overload
def kernel(function: UserFunction, /) -> Kernel: ...
@overload
def kernel(signature: str | None = None, /) -> Callable[[UserFunction], Kernel]: ...
def kernel(given: UserFunction | str | None = None, /) -> object:
    """Let expressions call a function of numbers. numba compiles it, and the core calls the
    compiled function without Python, on all threads at once.

    Parameters
    ----------
    given
        The function, or numba's signature of it: `"float64(float64, int64)"`. Without a signature,
        numba compiles it for the types of the arguments: bools, int64, uint64 or float64. An
        argument `float64[:]` or `int64[:]` of a signature takes a whole list. All others take
        single numbers of events or of the items of lists, as the functions of the language do.

    Returns
    -------
    Kernel
        `params=` or `with_params` gives it to expressions by a name. In Python you can call it like
        the function itself.

    Raises
    ------
    UnsupportedError
        If numba is not installed: `pip install 'treemill[kernels]'`. It is an ImportError, too.
    QueryError
        If the signature is not valid. When the query runs: if numba cannot compile the function, or
        if the function raises an exception.

    Notes
    -----
    The function returns one number or bool, or a namedtuple of these, whose fields become the
    members of the result. A division by zero gives an infinity or NaN, as in NumPy. The function
    must depend only on its arguments, because the core may call it for any events, in any order,
    and more than once.

    Examples
    --------
    >>> import math
    >>> @tm.kernel
    ... def transverse_mass(pt, phi, met, met_phi):
    ...     return math.sqrt(2 * pt * met * (1 - math.cos(phi - met_phi)))
    >>> muons = events.with_params({"m_t": transverse_mass})
    >>> muons.define("Muon_mt", "m_t(Muon.pt, Muon.phi, MET_pt, MET_phi)").mean("Muon_mt").value > 0
    True
    """
    if given is None or isinstance(given, str):
        if given is not None:
            check_signature(given)
        return lambda function: Kernel(function, given)
    wrapper = Kernel(given)
    wrapper.check()
    return wrapper


class Kernel:
    """A function that numba compiles and that expressions can call. If you call the object, it
    calls the function."""

    def __init__(self, function: UserFunction, signature: str | None = None) -> None:
        """`signature` as numba's; None: the types of what it is called with."""
        if not callable(function):
            raise QueryError(f"a kernel is a function, not {type(function).__name__}")
        self._signature = signature
        self._known: dict[tuple[Given, ...], None] = {}
        # A kernel of a kernel is one with another signature.
        self._function: UserFunction = (
            function._function if isinstance(function, Kernel) else function
        )
        update_wrapper(self, self._plain)

    @property
    def _plain(self) -> UserFunction:
        """Without numba."""
        plain: UserFunction = getattr(self._function, "py_func", self._function)
        return plain

    def check(self) -> None:
        """Raises MissingPackageError if there is no numba."""
        check_signature("float64(float64)")

    @cached_property
    def identity(self) -> str:
        """A digest that identifies it."""
        return identity_of("kernel", self._plain, self._signature)

    def depends_on(self) -> str:
        """See function_registry.Dependent."""
        now = self._depends_now()
        if _compiled_as.get(self.identity, now) != now:
            raise UnsupportedError(f"what {self!r} uses has changed since numba compiled it")
        return now

    def _depends_now(self) -> str:
        return digest((self._function, self._signature), certain=True)

    def core(self) -> _core.Functions:
        """Returns what the core's queries take."""
        from treemill import _core  # heavy: core

        return _core.Functions.own(self)

    def preload(self) -> None:
        """Imports numba, and compiles what it is known to be called with. The pass meets what is
        wrong with it again."""
        with suppress(Exception):
            self.check()
            for kinds in list(self._known):
                self.fitted(kinds)

    def fitted(self, kinds: Sequence[Given]) -> _FittedKernel:
        """The function compiled for arguments of these types (function_protocols.OwnFunction)."""
        if self.identity not in _compiled_as:
            with suppress(UnsupportedError):  # nothing is remembered of it
                _compiled_as[self.identity] = self._depends_now()
        code = compiled(self.identity, self._function, self._signature, kinds)
        self._known[tuple(kinds)] = None
        return _FittedKernel(code, self._plain, [name for name, _ in kinds])

    def __call__(self, *arguments: object) -> object:
        """Calls the function, without numba."""
        return self._plain(*arguments)

    def __reduce__(self) -> tuple[object, ...]:
        return _copied, (self._function, self._signature, list(self._known))

    def __repr__(self) -> str:
        return f"<kernel {title_of(self._plain)}{self._signature or ''}>"


_compiled_as: dict[str, str] = {}
"""What kernels depended on when they were compiled, by their identities: values of names are in
their code."""


def _copied(
    function: UserFunction, signature: str | None, known: Sequence[tuple[Given, ...]]
) -> Kernel:
    copied = Kernel(function, signature)
    copied._known.update(dict.fromkeys(known))
    return copied


class _FittedKernel:
    """A kernel for arguments of certain types (function_protocols.FittedFunction)."""

    def __init__(self, code: Compiled, plain: UserFunction, given: Sequence[str]) -> None:
        self._code = code  # the address is its code's
        self._plain = plain
        self._given = given
        self.parameters = code.parameters
        self.outputs = code.outputs
        self.address: int | None = code.address

    def call(self, rows: int, arguments: Sequence[Handed]) -> NoReturn:
        """Not called: there is an address."""
        raise QueryError("a kernel is called by its address")

    def why(self, rows: int, arguments: Sequence[Handed]) -> str:
        """Does the rows one by one until one fails."""
        rows_of = [
            _rows(argument, wanted)
            for argument, wanted in zip(arguments, self._code.types, strict=True)
        ]
        names = parameter_names(self._plain, len(rows_of))
        for row in range(rows):
            values = [each(row) for each in rows_of]
            try:
                self._code.one(*values)
            except Exception as error:
                shown = ", ".join(
                    f"{name} = {np.array2string(np.asarray(value), threshold=8)}"
                    for name, value in zip(names, values, strict=True)
                )
                return f"{words(error, self._plain)}, for {shown}"
        return "it has raised an exception, and none when it was called again"


def _rows(argument: Handed, wanted: Any) -> Callable[[int], object]:
    """The argument's value in a row, of the type that the function was compiled for."""
    if isinstance(argument, tuple):
        items, ends = (np.asarray(each) for each in argument)
        items = items.astype(str(wanted.dtype), copy=False)
        items.flags.writeable = False
        return lambda row: items[ends[row] : ends[row + 1]]
    values = np.asarray(argument)
    return lambda row: wanted(values[row if len(values) > 1 else 0].item())
