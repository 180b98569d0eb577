"""`treemill.corrections`: scale factors and calibrations in correctionlib's JSON. Reads and hands
over; the core parses and evaluates.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ..errors import FormatError
from .evaluation import Given, read_document

if TYPE_CHECKING:
    from treemill import _core

    from .evaluation import Argument, Result

__all__ = ["Correction", "Corrections", "Variable", "corrections"]

MAX_BYTES = 1 << 28
"""Bytes of a document's text."""


def corrections(document: Given) -> Corrections:
    """Read corrections in correctionlib's JSON, schema version 2.

    Expressions call the corrections by the name that `params=` or `with_params` gives them. In
    Python you can call them with arrays or numbers. Results are equal to correctionlib's.

    Parameters
    ----------
    document
        A file's path or URL, or the content itself. It may be compressed with gzip.

    Returns
    -------
    Corrections
        A mapping of names to corrections.

    Raises
    ------
    FormatError
        If the document does not follow the schema.
    UnsupportedError
        For neural networks (`lwtnn`), and for formulas of parsers other than TFormula.
    SourceError
        For a file that cannot be read.
    QueryError
        If `document` is neither a path nor the content of a document, but for example an object of
        another library.

    Examples
    --------
    >>> sf = tm.corrections(b'''{"schema_version": 2, "corrections": [{
    ...     "name": "id", "version": 1, "output": {"name": "weight", "type": "real"},
    ...     "inputs": [{"name": "eta", "type": "real"}, {"name": "syst", "type": "string"}],
    ...     "data": {"nodetype": "category", "input": "syst", "content": [
    ...         {"key": "nominal", "value": {"nodetype": "binning", "input": "eta",
    ...          "edges": [0.0, 1.2, 2.4], "content": [0.98, 0.95], "flow": "clamp"}}]}}]}''')
    >>> sf["id"](0.5, "nominal")
    0.98
    >>> weighted = events.define("w", "prod(sf['id'](abs(Muon.eta), 'nominal'))", {"sf": sf})
    >>> 0 < weighted.mean("w").value <= 1
    True
    """
    file = read_document(document, MAX_BYTES)
    return Corrections(file.content, file.name)


@dataclass(frozen=True)
class Variable:
    """An input or output of a correction."""

    name: str
    type: str
    """`real`, `int` or `string`."""
    description: str


class Corrections(Mapping[str, "Correction"]):
    """The corrections of a document, by name. `compound` has the compound corrections.

    In expressions `sf["name"](eta, pt, "nominal")` and `sf.compound["name"](…)` call them.
    """

    def __init__(self, content: bytes, name: str) -> None:
        """`content`: the text, not compressed; `name`: what messages call it."""
        self._content = content
        self._name = name
        self._parsed  # noqa: B018  (errors of the document are raised here)

    @cached_property
    def _parsed(self) -> _core.Corrections:
        from treemill import _core  # heavy: core

        try:
            return _core.Corrections(self._content)
        except FormatError as error:
            raise FormatError(f"{self._name}: {error}") from None

    @cached_property
    def identity(self) -> str:
        """What tells these corrections from others: a digest of the text."""
        return f"corrections {hashlib.sha256(self._content).hexdigest()}"

    @property
    def source(self) -> str:
        """The file that they are of."""
        return self._name

    @cached_property
    def _functions(self) -> _core.Functions:
        return self._parsed.functions()

    def core(self) -> _core.Functions:
        """Returns what the core's queries take."""
        return self._functions

    def __reduce__(self) -> tuple[object, ...]:
        return _unpacked, (zlib.compress(self._content, 1), self._name)

    @property
    def description(self) -> str:
        """The description by the document's author."""
        return self._parsed.description

    @property
    def compound(self) -> Mapping[str, Correction]:
        """Corrections that are made of several."""
        return {name: Correction(self, name, True) for name in self._parsed.names(True)}

    def __getitem__(self, name: str) -> Correction:
        if name not in self._parsed.names(False):
            raise KeyError(name)
        return Correction(self, name, False)

    def __iter__(self) -> Iterator[str]:
        return iter(self._parsed.names(False))

    def __len__(self) -> int:
        return len(self._parsed.names(False))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Corrections) and self.identity == other.identity

    def __hash__(self) -> int:
        return hash(self.identity)

    def __repr__(self) -> str:
        return f"<corrections of {self._name}: {', '.join(self) or 'none'}>"


def _unpacked(content: bytes, name: str) -> Corrections:
    return Corrections(zlib.decompress(content), name)


class Correction:
    """A correction: a function of numbers and strings that you can call in expressions or with
    arrays."""

    def __init__(self, document: Corrections, name: str, compound: bool) -> None:
        self._document = document
        self._compound = compound
        self.name = name
        """Its name in the document."""

    @cached_property
    def _described(self) -> _core._DescribedCorrection:
        return self._document._parsed.describe(self.name, self._compound)

    @property
    def description(self) -> str:
        """The description by the correction's author."""
        return self._described[0]

    @property
    def version(self) -> int | None:
        """The correction's version; None for a compound."""
        return self._described[1]

    @property
    def inputs(self) -> list[Variable]:
        """The inputs, in order."""
        return [Variable(*each) for each in self._described[2]]

    @property
    def output(self) -> Variable:
        """The output."""
        return Variable(*self._described[3])

    @property
    def identity(self) -> str:
        """A digest that identifies it."""
        kind = "compound" if self._compound else "single"
        return f"{self._document.identity} {kind} {self.name}"

    @property
    def source(self) -> str:
        """The file that it is of."""
        return self._document.source

    @cached_property
    def _functions(self) -> _core.Functions:
        return self._document._parsed.function(self.name, self._compound)

    def core(self) -> _core.Functions:
        """Returns what the core's queries take."""
        return self._functions

    def __reduce__(self) -> tuple[object, ...]:
        return Correction, (self._document, self.name, self._compound)

    def evaluate(self, *arguments: Argument) -> Result:
        """Evaluate it outside of expressions.

        Parameters
        ----------
        *arguments
            One argument for each input: numbers, strings, NumPy arrays or awkward arrays. Their
            library broadcasts arrays.

        Returns
        -------
        float or array
            The correction, as an array of the arguments' kind if one of them is an array.

        Raises
        ------
        QueryError
            If the document does not cover a value, or takes other inputs.
        """
        from .evaluation import evaluated  # heavy: numpy

        types = [each[1] for each in self._described[2]]
        core, name, compound = self._document._parsed, self.name, self._compound
        return evaluated(
            lambda given, out: core.evaluate(name, compound, given, out), types, arguments
        )

    __call__ = evaluate

    def __repr__(self) -> str:
        inputs = ", ".join(f"{each.name}: {each.type}" for each in self.inputs)
        return f"<correction {self.name}({inputs})>"
