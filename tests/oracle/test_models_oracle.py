"""Boosted trees beside XGBoost and LightGBM themselves: small random models of each kind, random
rows. Predictions are equal to the last bit."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import treemill as tm
from hypothesis import given, settings
from hypothesis import strategies as st

os.environ.setdefault("OMP_NUM_THREADS", "1")
xgb = pytest.importorskip("xgboost")
lgb = pytest.importorskip("lightgbm")

ROWS = 600
"""More than go through the trees together, and no multiple of that."""
CATEGORIES = 40


def table(seed, *, missing=0.0, category=False):
    """Columns of several kinds: continuous, with few values, with many zeros, a category."""
    rng = np.random.default_rng(seed)
    columns = [
        rng.normal(size=ROWS) * 50,
        rng.exponential(size=ROWS) * 40,
        rng.integers(0, 8, ROWS).astype(float),
        np.where(rng.random(ROWS) < 0.6, 0.0, rng.normal(size=ROWS)),
    ]
    if missing:
        for column in columns:
            column[rng.random(ROWS) < missing] = np.nan
    if category:
        columns.append(rng.integers(0, CATEGORIES, ROWS).astype(float))
    rows = np.stack(columns, axis=1)
    hidden = np.nan_to_num(rows[:, 0] / 50 + rows[:, 2] - 3 * (rows[:, 3] > 0.5))
    if category:
        hidden += np.where(np.isin(rows[:, 4].astype(int) % 7, (1, 3)), 2.0, -1.0)
    return rows, hidden + rng.normal(size=ROWS) * 0.3


def labels(hidden, classes):
    if classes == 0:
        return np.abs(hidden) + 0.1
    borders = np.quantile(hidden, np.linspace(0, 1, classes + 1)[1:-1])
    return np.digitize(hidden, borders).astype(float)


def strange(rows, thresholds, seed):
    """The rows, and rows of thresholds themselves, their neighbours and missing values."""
    rng = np.random.default_rng(seed)
    near = np.array(thresholds or [0.0])
    values = np.concatenate(
        [
            near,
            np.nextafter(near, -np.inf),
            np.nextafter(near, np.inf),
            near.astype(np.float32).astype(float),
            [
                np.nan,
                0.0,
                -0.0,
                1e-36,
                -1e-36,
                1e-34,
                -1.0,
                -0.5,
                0.5,
                39.0,
                40.5,
                3e9,
                1e300,
                -1e300,
            ],
        ]
    )
    return np.concatenate([rows, rng.choice(values, (len(rows), rows.shape[1]))])


def xgboost_file(booster):
    return bytes(booster.save_raw("json"))


def conditions(content):
    booster = json.loads(content)["learner"]["gradient_booster"]
    trees = (booster.get("model") or booster["gbtree"]["model"])["trees"]
    return [float(np.float32(x)) for tree in trees for x in tree["split_conditions"]]


def predicted(booster, rows, **options):
    """XGBoost's own, as columns."""
    types = booster.feature_types
    with np.errstate(over="ignore"):
        rows = rows.astype(np.float32)
    rows[np.isinf(rows)] = np.finfo(np.float32).max
    matrix = xgb.DMatrix(rows, feature_types=types, feature_names=booster.feature_names, nthread=1)
    found = booster.predict(matrix, **options)
    return rows.astype(float), found.reshape(len(rows), -1)


def assert_equal(model, rows, wanted):
    columns = list(rows.T)
    assert model.outputs == wanted.shape[1]
    for i in range(model.outputs):
        found = model[i](*columns)
        different = ~((found == wanted[:, i]) | (np.isnan(found) & np.isnan(wanted[:, i])))
        assert not different.any(), (i, rows[different][:3], found[different], wanted[different, i])


XGBOOST = {
    "squared error": {"objective": "reg:squarederror"},
    "deep": {"objective": "reg:squarederror", "max_depth": 12, "min_child_weight": 0},
    "stump": {"objective": "reg:squarederror", "max_depth": 1},
    "exact": {"objective": "binary:logistic", "tree_method": "exact"},
    "leaf-wise": {"objective": "binary:logistic", "grow_policy": "lossguide", "max_leaves": 300},
    "logistic": {"objective": "binary:logistic"},
    "logitraw": {"objective": "binary:logitraw"},
    "base score": {"objective": "binary:logistic", "base_score": 0.123},
    "regression of a probability": {"objective": "reg:logistic"},
    "hinge": {"objective": "binary:hinge"},
    "softprob": {"objective": "multi:softprob", "num_class": 4},
    "softmax": {"objective": "multi:softmax", "num_class": 4},
    "forest": {"objective": "multi:softprob", "num_class": 3, "num_parallel_tree": 3},
    "poisson": {"objective": "count:poisson"},
    "gamma": {"objective": "reg:gamma"},
    "tweedie": {"objective": "reg:tweedie"},
    "cox": {"objective": "survival:cox"},
    "accelerated failure times": {"objective": "survival:aft"},
    "absolute error": {"objective": "reg:absoluteerror"},
    "pseudo-Huber": {"objective": "reg:pseudohubererror"},
    "squared logarithm": {"objective": "reg:squaredlogerror"},
    "quantiles": {"objective": "reg:quantileerror", "quantile_alpha": [0.1, 0.5, 0.9]},
    "ranks": {"objective": "rank:pairwise"},
    "dart": {"objective": "binary:logistic", "booster": "dart", "rate_drop": 0.5},
    "dart of classes": {
        "objective": "multi:softprob",
        "num_class": 3,
        "booster": "dart",
        "rate_drop": 0.5,
    },
    "one-hot categories": {"objective": "binary:logistic", "max_cat_to_onehot": 100},
    "sets of categories": {"objective": "reg:squarederror", "max_cat_to_onehot": 1},
}


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("name", XGBOOST)
def test_xgboost(name, missing):
    options = {"nthread": 1, "max_depth": 5, "eta": 0.4, **XGBOOST[name]}
    category = "categories" in name
    rows, hidden = table(len(name), missing=missing, category=category)
    objective = options["objective"]
    kind = objective.split(":")[0]
    classes = options.get("num_class", 2 if kind == "binary" or objective == "reg:logistic" else 0)
    wanted = labels(hidden, 5 if kind == "rank" else classes)
    times = {"label_lower_bound": wanted, "label_upper_bound": wanted}
    data = xgb.DMatrix(
        rows.astype(np.float32),
        wanted,
        nthread=1,
        feature_names=["a", "b", "c", "d", "e"][: rows.shape[1]],
        feature_types=["float"] * 4 + ["c"] * category,
        enable_categorical=category,
        **({"qid": np.arange(ROWS) // 20} if kind == "rank" else {}),
        **(times if objective == "survival:aft" else {}),
    )
    booster = xgb.train(options, data, 12)
    content = xgboost_file(booster)
    model = tm.model(content)
    assert model.inputs == ["a", "b", "c", "d", "e"][: rows.shape[1]]
    assert model.objective == objective
    rows = strange(rows, conditions(content), 1)
    if category:
        # XGBoost refuses a category that is negative.
        rows[:, 4] = np.abs(rows[:, 4])
        rows[rows[:, 4] > 1e6, 4] = 7
    given, wanted = predicted(booster, rows)
    assert_equal(model, given, wanted)
    _, margins = predicted(booster, rows, output_margin=True)
    assert_equal(model.raw, given, margins)


LIGHTGBM = {
    "binary": {"objective": "binary"},
    "sigmoid": {"objective": "binary", "sigmoid": 0.7},
    "regression": {"objective": "regression"},
    "root": {"objective": "regression", "reg_sqrt": True},
    "many leaves": {"objective": "regression", "num_leaves": 290, "min_data_in_leaf": 1},
    "classes": {"objective": "multiclass", "num_class": 4},
    "one class against all": {"objective": "multiclassova", "num_class": 3, "sigmoid": 1.3},
    "poisson": {"objective": "poisson"},
    "gamma": {"objective": "gamma"},
    "tweedie": {"objective": "tweedie"},
    "quantile": {"objective": "quantile", "alpha": 0.7},
    "cross entropy": {"objective": "cross_entropy"},
    "cross entropy with lambda": {"objective": "cross_entropy_lambda"},
    "zero is missing": {"objective": "binary", "zero_as_missing": True},
    "nothing is missing": {"objective": "binary", "use_missing": False},
    "dart": {"objective": "binary", "boosting": "dart"},
    "forest": {"objective": "binary", "boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6},
    "linear": {"objective": "regression", "linear_tree": True},
    "categories": {"objective": "binary", "min_data_per_group": 5, "cat_smooth": 1},
    "ranks": {"objective": "lambdarank"},
    "large bins": {
        "objective": "regression",
        "max_bin": 4000,
        "min_data_in_bin": 1,
        "num_leaves": 9,
    },
}


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("name", LIGHTGBM)
def test_lightgbm(name, missing):
    options = {"num_threads": 1, "verbose": -1, "min_data_in_leaf": 5, "num_leaves": 20}
    options |= LIGHTGBM[name]
    category = "categories" in name
    rows, hidden = table(len(name), missing=missing, category=category)
    objective = options["objective"]
    two = objective == "binary" or objective.startswith("cross")
    classes = options.get("num_class", 2 if two else 0)
    classes = 5 if objective == "lambdarank" else classes
    data = lgb.Dataset(
        rows,
        labels(hidden, classes),
        feature_name=["a", "b", "c", "d", "e"][: rows.shape[1]],
        categorical_feature=[4] if category else [],
        group=[20] * (ROWS // 20) if objective == "lambdarank" else None,
    )
    booster = lgb.train(options, data, 12)
    content = booster.model_to_string().encode()
    model = tm.model(content)
    assert model.inputs == ["a", "b", "c", "d", "e"][: rows.shape[1]]
    assert model.objective == objective
    lines = [line for line in content.decode().splitlines() if line.startswith("threshold=")]
    thresholds = [float(x) for line in lines for x in line.removeprefix("threshold=").split()]
    rows = strange(rows, thresholds, 1)
    rows = np.concatenate(
        [rows, np.full((1, rows.shape[1]), np.inf), -np.full((1, rows.shape[1]), np.inf)]
    )
    wanted = booster.predict(rows, num_threads=1).reshape(len(rows), -1)
    assert_equal(model, rows, wanted)
    margins = booster.predict(rows, raw_score=True, num_threads=1).reshape(len(rows), -1)
    assert_equal(model.raw, rows, margins)


@pytest.fixture(scope="module")
def models():
    """One of each library, and all thresholds."""
    rows, hidden = table(5, missing=0.1)
    data = xgb.DMatrix(rows.astype(np.float32), labels(hidden, 2), nthread=1)
    booster = xgb.train({"objective": "binary:logistic", "nthread": 1, "max_depth": 4}, data, 20)
    options = {"objective": "binary", "num_threads": 1, "verbose": -1, "num_leaves": 15}
    other = lgb.train(options, lgb.Dataset(rows, labels(hidden, 2)), 20)
    content = xgboost_file(booster)
    return (
        booster,
        tm.model(content),
        other,
        tm.model(other.model_to_string().encode()),
        conditions(content),
    )


@settings(max_examples=60, derandomize=True, deadline=None)
@given(data=st.data())
def test_any_row(models, data):
    booster, ours, other, others, thresholds = models
    number = st.one_of(
        st.floats(width=64),
        st.sampled_from(thresholds),
        st.sampled_from(thresholds).map(lambda x: float(np.nextafter(x, 1e9))),
        st.just(np.nan),
    )
    rows = np.array(data.draw(st.lists(st.tuples(*[number] * 4), min_size=1, max_size=5)))
    assert_equal(others, rows, other.predict(rows, num_threads=1).reshape(len(rows), 1))
    finite, wanted = predicted(booster, rows)
    assert_equal(ours, finite, wanted)
    # What 64 bits tell apart and 32 do not is one number for XGBoost.
    inside = np.where(np.abs(rows) < 3e38, rows, 0.0)
    _, wanted = predicted(booster, inside)
    assert_equal(ours, inside, wanted)


def test_early_stopping(tmp_path):
    rows, hidden = table(8)
    data = xgb.DMatrix(rows.astype(np.float32), labels(hidden, 2), nthread=1)
    noise = xgb.DMatrix(rows.astype(np.float32), np.arange(ROWS) % 2, nthread=1)
    options = {"objective": "binary:logistic", "nthread": 1, "eta": 1}
    stopped = {"early_stopping_rounds": 2, "evals": [(noise, "noise")], "verbose_eval": False}
    booster = xgb.train(options, data, 20, **stopped)
    whole = tm.model(xgboost_file(booster))
    assert whole.best_round == booster.best_iteration < whole.trees - 1
    best = booster[: booster.best_iteration + 1]
    best.save_model(tmp_path / "best.json")
    given, wanted = predicted(best, rows)
    assert_equal(tm.model(tmp_path / "best.json"), given, wanted)
    given, wanted = predicted(booster, rows)
    assert_equal(whole, given, wanted)


def test_files_of_other_versions_are_read(tmp_path):
    """As XGBoost 1.x and 2.x wrote them: one base score, flags as words."""
    rows, hidden = table(6)
    data = xgb.DMatrix(rows.astype(np.float32), labels(hidden, 3), nthread=1)
    options = {"objective": "multi:softprob", "num_class": 3, "base_score": 0.5, "nthread": 1}
    booster = xgb.train(options, data, 3)
    given, wanted = predicted(booster, rows)
    document = json.loads(xgboost_file(booster))
    learner = document["learner"]
    learner["learner_model_param"]["base_score"] = "5E-1"
    for key in ("num_target", "boost_from_average"):
        del learner["learner_model_param"][key]
    for key in ("feature_names", "feature_types"):
        del learner[key]
    for tree in learner["gradient_booster"]["model"]["trees"]:
        tree["default_left"] = [bool(flag) for flag in tree["default_left"]]
        for key in [key for key in tree if key.startswith("categories") or key == "split_type"]:
            del tree[key]
    path = Path(tmp_path) / "old.json"
    path.write_text(json.dumps(document))
    model = tm.model(path)
    assert model.inputs == ["f0", "f1", "f2", "f3"]
    assert_equal(model, given, wanted)
