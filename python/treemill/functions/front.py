"""`treemill.model`: a trained model from a file, of whatever kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import document as documents
from .kinds import reader

if TYPE_CHECKING:
    from .onnx import OnnxModel
    from .trees import TreeModel

__all__ = ["MAX_BYTES", "model"]

MAX_BYTES = 1 << 30
"""Bytes of a model's file, unzipped."""


def model(document: documents.Given) -> TreeModel | OnnxModel:
    """Read a trained model: boosted trees in XGBoost's JSON or in LightGBM's text, or ONNX.

    It is called from expressions, by a name that `params=` or `with_params` gives it, and with
    arrays or numbers. Results are equal to those of the library's own `predict`. Workers get the
    model with the query.

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
        For a file that is no model of these kinds, or a broken one.
    UnsupportedError
        For what these kinds have and treemill does not: objectives of one's own, linear boosters,
        categories of data frames; of ONNX, tensors of other shapes than rows of numbers.
    MissingPackageError
        For ONNX without onnxruntime: `pip install 'treemill[onnx]'`.
    SourceError
        For a file that cannot be read.
    QueryError
        For what is neither a path nor a content, such as the object of another library.

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
    file = documents.read(document, MAX_BYTES)
    read = reader(file.content, file.name)
    return read(file.content, file.name)
