"""What a file of a model is, by its first bytes: a table, which a new kind is added to. Reads no
file.

A kind's reader is a function of a content and its name that gives an `ExternalFunction`. It is in a
module of its own, which is loaded for a file of that kind only.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ..errors import FormatError, UnsupportedError

if TYPE_CHECKING:
    from .onnx import OnnxModel
    from .trees import TreeModel

    ModelReader: TypeAlias = Callable[[bytes, str], TreeModel | OnnxModel]

__all__ = ["KINDS", "REFUSED", "ModelKind", "RefusedModels", "reader"]

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
