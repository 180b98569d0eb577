"""Trained models from files: a table tells what a file is by its first bytes; `treemill.model`
reads it, whatever its kind.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ..errors import FormatError, UnsupportedError
from .evaluation import Given, read_document

if TYPE_CHECKING:
    from .onnx import OnnxModel
    from .trees import TreeModel

__all__ = ["model"]

# What a file of a model is, by its first bytes: a table, which a new kind is added to. Reads no
# file. A kind's reader is a function of a content and its name that gives an `ExternalFunction`.
# It is in a module of its own, which is loaded for a file of that kind only.

if TYPE_CHECKING:
    from .onnx import OnnxModel
    from .trees import TreeModel

    ModelReader: TypeAlias = Callable[[bytes, str], TreeModel | OnnxModel]


_LOOKED_AT = 4096
"""First bytes of a file, which tell its kind."""


@dataclass(frozen=True)
class ModelKind:
    """A kind of files of models."""

    words: str
    """The name of the kind in messages."""
    begins: re.Pattern[bytes]
    """How such a file begins."""
    module: str
    """Where the reader is, in this folder."""
    function: str
    """`function(content, name)` reads it."""


@dataclass(frozen=True)
class RefusedModels:
    """Files of models that are known, and not read."""

    words: str
    begins: re.Pattern[bytes]
    instead: str
    """What to do."""


KINDS = (
    ModelKind("XGBoost's JSON", re.compile(rb'\s*\{\s*"'), "trees", "xgboost"),
    ModelKind("LightGBM's text", re.compile(rb"tree\r?\n"), "trees", "lightgbm"),
    # A message of protobuf: the format's version, then who made it, or what follows.
    ModelKind(
        "ONNX", re.compile(rb"\x08[\x01-\x1f][\x12\x1a\x22\x28\x32\x3a\x42]"), "onnx", "onnx"
    ),
)
"""The first one that matches counts."""

REFUSED = (
    RefusedModels(
        "a model in XGBoost's binary form UBJSON",
        re.compile(rb"\{[iIlLU\$#]"),
        'save it with a name that ends with .json: booster.save_model("model.json")',
    ),
    RefusedModels(
        "a Python pickle",
        re.compile(rb"\x80[\x02-\x05]"),
        "save the model in its library's own form",
    ),
    RefusedModels(
        "a file of HDF5",
        re.compile(rb"\x89HDF"),
        "convert the model to ONNX",
    ),
)


def reader(content: bytes, name: str) -> ModelReader:
    """The function that reads this file.

    Raises FormatError for a file that is of no kind, UnsupportedError for what is not read.
    """
    first = content[:_LOOKED_AT]
    for kind in KINDS:
        if kind.begins.match(first):
            module = importlib.import_module(f".{kind.module}", __package__)
            function: ModelReader = getattr(module, kind.function)
            return function
    for refused in REFUSED:
        if refused.begins.match(first):
            raise UnsupportedError(f"{name} is {refused.words}: {refused.instead}")
    known = ", ".join(kind.words for kind in KINDS)
    raise FormatError(f"{name} is no model of a kind that treemill reads: {known}")


# `treemill.model`: a trained model from a file, of whatever kind.

MAX_BYTES = 1 << 30
"""Bytes of a model's file, unzipped."""


def model(document: Given) -> TreeModel | OnnxModel:
    """Read a trained model: boosted trees in XGBoost's JSON or in LightGBM's text, or ONNX.

    Expressions call the model by the name that `params=` or `with_params` gives it. In Python you
    can call it with arrays or numbers. Results are equal to those of the library's own `predict`.
    Workers get the model with the query.

    Parameters
    ----------
    document
        A file's path or URL, or the content itself. It may be compressed with gzip. The content
        tells the kind of model.

    Returns
    -------
    TreeModel or OnnxModel
        The model. It takes as many numbers as it has features, in their order.

    Raises
    ------
    FormatError
        If the file is not a model of one of these kinds, or is damaged.
    UnsupportedError
        For features of these models that treemill does not support: objectives that you have
        written, linear boosters, categories of data frames, and in ONNX tensors of shapes other
        than rows of numbers. For ONNX without onnxruntime: `pip install 'treemill[onnx]'`; the
        error is an ImportError, too.
    SourceError
        For a file that cannot be read.
    QueryError
        If `document` is neither a path nor the content of a model, but for example an object of
        another library.

    Examples
    --------
    >>> bdt = tm.model(b'''tree
    ... version=v4
    ... num_class=1
    ... num_tree_per_iteration=1
    ... max_feature_idx=1
    ... objective=binary sigmoid:1
    ... feature_names=met njet
    ...
    ... Tree=0
    ... num_leaves=2
    ... num_cat=0
    ... split_feature=0
    ... threshold=30
    ... decision_type=2
    ... left_child=-1
    ... right_child=-2
    ... leaf_value=-1.5 0.5
    ...
    ... end of trees
    ... ''')
    >>> bdt.inputs
    ['met', 'njet']
    >>> bdt.raw(45.0, 3)
    0.5
    >>> scored = events.define("score", "bdt(MET_pt, nJet)", {"bdt": bdt})
    >>> 0 < scored.mean("score").value < 1
    True
    """
    file = read_document(document, MAX_BYTES)
    read = reader(file.content, file.name)
    return read(file.content, file.name)
