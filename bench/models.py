"""`python -m bench models`: boosted trees for arrays, beside the predictions of their libraries.
A table on standard output and in `bench/results/<date>-<machine>-models.md`, raw numbers beside it
in JSON.

Times are nanoseconds a row, medians of `--rounds`, on one thread, in turn, by the CPU clock.
Results are compared first, to the last bit.
"""

import os
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import treemill as tm
from numpy.typing import NDArray

from . import machine, publish
from .measured import Row, in_turn, ratios
from .options import Options

Rows = NDArray[np.float32]
FEATURES = 15
TRAINED = 20_000
"""Rows that models are trained with."""
_LEGEND = """\
The libraries predict for a matrix of 32-bit numbers, row after row, as they take it best (XGBoost
by `inplace_predict`, which makes no matrix of its own); treemill takes a column for each feature.
Each library's ratio is its time over treemill's, round by round. ✓ the goal is reached, ✗ it is
not.
"""


@dataclass(frozen=True)
class Kind:
    """A model that is measured."""

    words: str
    library: str
    options: dict[str, Any]
    trees: int


KINDS = [
    Kind("100 trees of depth 3", "xgboost", {"max_depth": 3}, 100),
    Kind("500 trees of depth 6", "xgboost", {"max_depth": 6}, 500),
    Kind("100 trees of depth 10", "xgboost", {"max_depth": 10, "min_child_weight": 0}, 100),
    Kind("100 trees of depth 6, exact splits", "xgboost", {"tree_method": "exact"}, 100),
    Kind("100 trees of 31 leaves", "lightgbm", {"num_leaves": 31}, 100),
    Kind("500 trees of 63 leaves", "lightgbm", {"num_leaves": 63}, 500),
    Kind("100 trees of 500 leaves", "lightgbm", {"num_leaves": 500, "min_data_in_leaf": 5}, 100),
]


def table(rows: int, seed: int, missing: float) -> tuple[Rows, NDArray[np.int64]]:
    """Features and labels."""
    rng = np.random.default_rng(seed)
    found = rng.normal(size=(rows, FEATURES)).astype(np.float32)
    hidden = found[:, 0] * found[:, 1] + np.sin(3 * found[:, 2]) + found[:, 3:].sum(axis=1) / 4
    found[rng.random(found.shape) < missing] = np.nan
    return found, (hidden + rng.normal(size=rows) > 0).astype(np.int64)


Predict = Callable[[Rows], Any]


def trained(kind: Kind, missing: float) -> tuple[Predict, bytes]:
    """The library's prediction, and its file."""
    rows, labels = table(TRAINED, 1, missing)
    if kind.library == "xgboost":
        import xgboost

        options = {"objective": "binary:logistic", "nthread": 1, **kind.options}
        booster = xgboost.train(options, xgboost.DMatrix(rows, labels, nthread=1), kind.trees)
        return booster.inplace_predict, bytes(booster.save_raw("json"))
    import lightgbm

    options = {"objective": "binary", "num_threads": 1, "verbose": -1, **kind.options}
    other = lightgbm.train(options, lightgbm.Dataset(rows, labels), kind.trees)
    return partial(other.predict, num_threads=1), other.model_to_string().encode()


def measured(rounds: int, number: int, missing: float) -> Iterable[Row]:
    """Each kind, and the ratio of the two."""
    rows, _ = table(number, 2, missing)
    columns = [np.ascontiguousarray(column, np.float64) for column in rows.T]
    for kind in KINDS:
        publish.say(f"{kind.library}, {kind.words}")
        predict, content = trained(kind, missing)
        model = tm.model(content)
        if not np.array_equal(predict(rows), np.asarray(model(*columns))):
            raise SystemExit(f"{kind.library}, {kind.words}: results differ")
        tasks: dict[str, Callable[[], object]] = {
            "theirs": partial(predict, rows),
            "ours": partial(model, *columns),
        }
        taken = in_turn(rounds, tasks, time.process_time)
        theirs, ours = (
            Row(f"{who}: {kind.words}", tuple(1e9 * s / number for s in taken[key]), "ns a row")
            for who, key in ((kind.library, "theirs"), ("treemill", "ours"))
        )
        yield theirs
        yield ours
        yield ratios(f"{kind.library} over treemill", theirs, ours, above=1.0)


def main(arguments: list[str]) -> int:
    """Measure and write."""
    os.environ["OMP_NUM_THREADS"] = "1"
    options = Options("models", __doc__, clock=False)
    options.size("rounds", 7, 2, "counted rounds of each measurement")
    options.size("rows", 200_000, 10_000, "that are predicted")
    options.size("missing", 0.02, 0.02, "part of the numbers that is missing")
    chosen = options.parse(arguments)
    facts = machine.describe("xgboost-cpu", "xgboost", "lightgbm")
    rows = [*measured(chosen.rounds, chosen.rows, chosen.missing)]
    what = f"{chosen.rows:,} rows of {FEATURES} features, {chosen.missing:.0%} missing"
    about = machine.about(facts, what, chosen.rounds, "cpu, one thread")
    publish.rows(chosen, "models", "Models of boosted trees", _LEGEND, about, facts, rows)
    return int(not all(row.reached for row in rows if row.reached is not None))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
