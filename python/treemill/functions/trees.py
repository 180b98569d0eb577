"""Boosted trees of XGBoost and LightGBM. Hands over; the core parses and evaluates."""

from __future__ import annotations

import hashlib
import zlib
from functools import cached_property
from typing import TYPE_CHECKING

from ..errors import FormatError, QueryError, UnsupportedError
from .own_functions import NoList

if TYPE_CHECKING:
    from treemill import _core

    from .evaluation import Argument, Result

__all__ = ["TreeModel", "lightgbm", "xgboost"]


def xgboost(content: bytes, name: str) -> TreeModel:
    """A model in XGBoost's JSON."""
    return TreeModel(_TreesFile(content, name, "xgboost"))


def lightgbm(content: bytes, name: str) -> TreeModel:
    """A model in LightGBM's text."""
    return TreeModel(_TreesFile(content, name, "lightgbm"))


class _TreesFile:
    """The content of a model's file, and the trees in it."""

    def __init__(self, content: bytes, name: str, library: str) -> None:
        self.content = content
        self.name = name
        self.library = library
        self.trees  # noqa: B018  (errors of the file are raised here)

    @cached_property
    def trees(self) -> _core.BoostedTrees:
        from treemill import _core  # heavy: core

        try:
            return _core.BoostedTrees(self.content, self.library)
        except (FormatError, UnsupportedError) as error:
            raise type(error)(f"{self.name}: {error}") from None

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    def __reduce__(self) -> tuple[object, ...]:
        return _unpacked, (zlib.compress(self.content, 1), self.name, self.library)


def _unpacked(content: bytes, name: str, library: str) -> _TreesFile:
    return _TreesFile(zlib.decompress(content), name, library)


class TreeModel(NoList):
    """A model of boosted trees that you can call in expressions or with arrays.

    `model(…)` is the library's prediction, and `model.raw(…)` is the sum of the trees before the
    objective's transformation. If a model has several outputs, for example for classes,
    `model[2](…)` and `model.raw[2](…)` give one of them.
    """

    def __init__(self, file: _TreesFile, raw: bool = False, number: int | None = None) -> None:
        self._file = file
        self._is_raw = raw
        self._number = number

    @property
    def library(self) -> str:
        """The library that made it: `XGBoost` or `LightGBM`."""
        return self._file.trees.library

    @property
    def inputs(self) -> list[str]:
        """Names of the inputs, in order. Without names in the file they are numbered."""
        return self._file.trees.features

    @property
    def outputs(self) -> int:
        """The number of outputs: a model for classes has one for each class."""
        return 1 if self._number is not None else self._file.trees.outputs(self._is_raw)

    @property
    def objective(self) -> str:
        """The objective of the training, by the library's name."""
        return self._file.trees.objective

    @property
    def trees(self) -> int:
        """The number of trees. All of them count."""
        return self._file.trees.trees

    @property
    def best_round(self) -> int | None:
        """The best round of a training that was stopped early, if an XGBoost file has it."""
        return self._file.trees.best_round

    @property
    def raw(self) -> TreeModel:
        """The sum of the trees without the objective's transformation (margins), as a model of its
        own."""
        return TreeModel(self._file, True, self._number)

    def __getitem__(self, number: int) -> TreeModel:
        """One of several outputs."""
        if self._number is not None:
            raise QueryError(f"{self!r} is one output already")
        if not 0 <= number < self.outputs:
            raise IndexError(f"the model has {self.outputs} outputs, numbered from 0")
        return TreeModel(self._file, self._is_raw, number)

    @property
    def source(self) -> str:
        """The file that it is of."""
        return self._file.name

    @property
    def identity(self) -> str:
        """A digest that identifies it, of the file and the output."""
        kind = "margin" if self._is_raw else "prediction"
        number = "all" if self._number is None else self._number
        return f"model {self._file.library} {self._file.digest} {kind} {number}"

    @cached_property
    def _functions(self) -> _core.Functions:
        return self._file.trees.functions(self._is_raw, self._number)

    def core(self) -> _core.Functions:
        """Returns what the core's queries take."""
        return self._functions

    def __reduce__(self) -> tuple[object, ...]:
        return TreeModel, (self._file, self._is_raw, self._number)

    def evaluate(self, *arguments: Argument) -> Result:
        """Evaluate it outside of expressions.

        Parameters
        ----------
        *arguments
            One argument for each input: numbers, NumPy arrays or awkward arrays. Their library
            broadcasts arrays. NaN is a missing value.

        Returns
        -------
        float or array
            The output, as an array of the arguments' kind if one of them is an array.

        Raises
        ------
        QueryError
            If the model has several outputs (pick one: `model[0]`), or takes other inputs.
        """
        from .evaluation import evaluated  # heavy: numpy

        if self.outputs != 1:
            raise QueryError(f"the model has {self.outputs} outputs: write model[0](…)")
        wanted = self.inputs
        if len(arguments) != len(wanted):
            names = ", ".join(wanted)
            raise QueryError(f"the model takes {len(wanted)} ({names}), and gets {len(arguments)}")
        trees, raw, number = self._file.trees, self._is_raw, self._number or 0
        return evaluated(
            lambda given, out: trees.evaluate(raw, number, given, out),
            ["real"] * len(wanted),
            arguments,
        )

    __call__ = evaluate

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TreeModel) and self.identity == other.identity

    def __hash__(self) -> int:
        return hash(self.identity)

    def __repr__(self) -> str:
        what = f"{self.library} {self.objective}, {self.trees} trees, {len(self.inputs)} inputs"
        which = f", output {self._number}" if self._number is not None else ""
        return f"<model of {self._file.name}: {what}{which}{', margin' * self._is_raw}>"
