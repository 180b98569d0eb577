"""Results of every kind that files hold, and whether two are the same."""

import awkward as ak
import hist
import numpy as np
import treemill as tm

STORAGES = ["Double", "Weight", "Int64", "AtomicInt64", "Unlimited", "Mean", "WeightedMean"]
WEIGHTED = ["Weight", "WeightedMean", "Unlimited"]


def axes():
    make = hist.axis
    return {
        "regular": [make.Regular(4, 0, 3, name="x", label="X [GeV]")],
        "two": [make.Variable([0, 1, 5.0]), make.StrCategory(["a", "b"], name="c")],
        "growing": [make.Integer(0, 4), make.StrCategory(["ab"], growth=True)],
        "no_flow": [make.Regular(4, 0, 3, flow=False)],
        "no_underflow": [make.Regular(4, 0, 3, underflow=False)],
        "circular": [make.Regular(4, 0, 3, circular=True)],
        "boolean": [make.Boolean()],
        "integers": [make.IntCategory([3, 7])],
        "logarithmic": [make.Regular(3, 1, 10, transform=make.transform.log)],
    }


def histogram(storage, axes):
    random = np.random.default_rng(7)
    made = hist.Hist(*axes, storage=getattr(hist.storage, storage)(), name="n", label="title")
    more = {}
    if "Mean" in storage:
        more["sample"] = random.normal(size=30)
    if storage in WEIGHTED:
        more["weight"] = random.random(30)
    words, numbers = random.choice(["a", "b", "ab"], 30), random.integers(-2, 8, 30)
    made.fill(*[words if "Str" in type(a).__name__ else numbers for a in axes], **more)
    return made


def histograms():
    return {
        storage: {name: histogram(storage, each) for name, each in axes().items()}
        for storage in STORAGES
    }


def results():
    weighted = histogram("Weight", axes()["regular"])
    values = {"nominal": weighted, "jes:up": weighted * 2}
    cuts = [tm.Cut("two muons", 10, 5, 10, 5), tm.Cut("charge", 5, 2, 5, 2)]
    sums = [tm.Cut("one", 10.5, 5.25, 12.125, 3.5)]
    return {
        "histograms": histograms(),
        "varied": tm.Variations(values, unchanged=["mu:up"]),
        "varied_number": tm.Variations({"nominal": 1, "jes:up": 2}),
        "numbers": {"n": 3, "x": 2.5, "nan": float("nan"), "inf": float("-inf"), "yes": True},
        "text": "tēxt",
        "none": None,
        "list": [1, {"a": 2.0}],
        "tuple": (1, 2),
        "array": np.arange(6.0).reshape(3, 2),
        "integers": np.arange(3, dtype="u8"),
        "no_numbers": np.array([], np.float32),
        "flags": np.array([True, False]),
        "cuts": tm.CutFlow(cuts),
        "sums": tm.CutFlow(sums),
        "/DYJets/Run2018/NANOAOD%": {"a:b": 1, ".": 2, "": 3},
        "nothing": {},
        "treemill_like": {"uhi_schema": 1, "treemill": "x"},
    }


def beyond_root():
    return {
        "lists": ak.Array([{"x": [1, 2]}, {"x": []}, {"x": [3]}]),
        "texts": np.array(["a", "bé"]),
        "four": hist.Hist(*[hist.axis.Regular(2, 0, 1)] * 4),
    }


def check_same(found, wanted, path=""):
    if isinstance(wanted, dict):
        assert type(found) is type(wanted), path
        assert list(found) == list(wanted), path
        assert getattr(found, "unchanged", 0) == getattr(wanted, "unchanged", 0), path
        for name, value in wanted.items():
            check_same(found[name], value, f"{path}/{name}")
    elif isinstance(wanted, list | tuple):
        assert (type(found), len(found)) == (type(wanted), len(wanted)), path
        for i, value in enumerate(wanted):
            check_same(found[i], value, f"{path}/{i}")
    elif isinstance(wanted, np.ndarray):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape), path
        assert np.array_equal(found, wanted), path
    elif isinstance(wanted, ak.Array):
        assert (found.type, found.to_list()) == (wanted.type, wanted.to_list()), path
    elif hasattr(wanted, "storage_type") and wanted.storage_type.__name__ == "WeightedMean":
        # UHI's form has variances, from which the sums come back up to rounding.
        assert (found.storage_type, found.axes) == (wanted.storage_type, wanted.axes), path
        for name in wanted.view().dtype.names:
            pair = found.view(flow=True)[name], wanted.view(flow=True)[name]
            np.testing.assert_allclose(*pair, rtol=1e-12, atol=1e-14, err_msg=path)
    elif wanted != wanted:
        assert found != found, path
    else:
        assert type(found) is type(wanted), path
        assert found == wanted, path
        assert getattr(found, "label", 0) == getattr(wanted, "label", 0), path
