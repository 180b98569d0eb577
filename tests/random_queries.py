"""Asks treemill and the slow evaluator of `tests.reference` the same, of many random expressions at
once, and compares what fills histograms.
"""

import boost_histogram as bh
import numpy as np
import treemill as tm
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from tests.random_search import examples
from tests.reference import MISSING, evaluate, flat

ENTRIES = 40
# Edges where no value is that is not random.
VALUES = (8, -9.871, 31.337)
EXPRESSIONS = 10

thorough = settings(
    examples(150),
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


class Sample:
    """A dataset and its events, and constants that its expressions may name."""

    def __init__(self, path, events, params):
        self.dataset, self.events, self.params = tm.dataset(path), events(path), params

    def __repr__(self):
        return self.dataset.files[0]


def booked(node, text):
    """Per event: the values' sum and sum of squares, and which bins they fall into."""
    by_event = bh.axis.Integer(0, ENTRIES)
    sums = node.hist("entry", bins=by_event, weight=text)
    return sums, node.hist("entry", text, bins=[by_event, VALUES])


def expected(events, passed, text, params):
    by_event = bh.axis.Integer(0, ENTRIES)
    sums = bh.Histogram(by_event, storage=bh.storage.Weight())
    bins = bh.Histogram(by_event, bh.axis.Regular(*VALUES))
    for entry, event in enumerate(events):
        if not passed[entry]:
            continue
        values = np.array(flat(evaluate(text, event, **params)), dtype=float)
        if len(values):
            with np.errstate(all="ignore"):
                sums.fill(np.full(len(values), entry), weight=values)
            bins.fill(np.full(len(values), entry), values)
    return sums, bins


def check(session, sample, texts, where):
    """All `texts` in one pass, of the events for which `where` holds (None: of all)."""
    events = sample.events
    node = sample.dataset.with_params(sample.params)
    node = node if where is None else node.filter(where)
    passed = [True] * len(events)
    if where is not None:
        found = [evaluate(where, event, **sample.params) for event in events]
        passed = [v is not MISSING and bool(v) for v in found]
    bookings = [booking for text in texts for booking in booked(node, text)]
    filled = session.run(node.count(), *bookings, progress=False)
    assert filled[0] == sum(passed), where
    for number, text in enumerate(texts):
        sums, bins = filled[1 + 2 * number : 3 + 2 * number]
        wanted_sums, wanted_bins = expected(events, passed, text, sample.params)
        words = f"{text}\n  if {where}"
        np.testing.assert_array_equal(bins.values(flow=True), wanted_bins.values(flow=True), words)
        for got, wanted in (
            (sums.values(flow=True), wanted_sums.values(flow=True)),
            (sums.variances(flow=True), wanted_sums.variances(flow=True)),
        ):
            np.testing.assert_allclose(got, wanted, 1e-6, 1e-6, equal_nan=True, err_msg=words)


def several(strategy):
    """As many expressions as one pass is asked."""
    return st.lists(strategy, min_size=EXPRESSIONS // 2, max_size=EXPRESSIONS)
