"""Writes axis_golden.json: which cell boost-histogram puts values into, for axes of every kind.

    python axis_golden.py > axis_golden.json

One object a line: the axis in the form of spec.rs, the values (floats by the hexadecimal digits of
their bits), and for each value the number of its cell, flow cells included, or -1 where it is lost.
"""

import json
import math
import random
import struct

import boost_histogram as bh
import numpy as np

INF = math.inf


def flow(axis):
    """The axis's flow bins, as spec.rs writes them."""
    t = axis.traits
    return {"underflow": t.underflow, "overflow": t.overflow, "circular": t.circular}


def near(x):
    """A number and its neighbours."""
    return [x, math.nextafter(x, INF), math.nextafter(x, -INF)]


def cells(axis, values):
    """The cell of each value; -1 where it is lost."""
    found = []
    for value in values:
        h = bh.Histogram(axis, storage=bh.storage.Int64())
        h.fill(value if isinstance(value, list) else np.array([value]))
        filled = np.flatnonzero(h.view(flow=True))
        found.append(int(filled[0]) if len(filled) else -1)
    return found


def floats(axis):
    """Values at and near the edges, and between them."""
    random.seed(1)
    edges = [float(e) for e in axis.edges]
    low, high = min(edges), max(edges)
    span = high - low
    values = [math.nan, INF, -INF, 0.0, -0.0, 1e300, -1e300, 5e-324, -5e-324]
    for edge in [*random.sample(edges, min(12, len(edges))), low, high]:
        values += near(edge)
    for turns in (-3, -1, 1, 2):
        values += near(low + turns * span)
    values += [low + span * random.uniform(-0.2, 1.2) for _ in range(20)]
    # What a column of f32 holds.
    values += [float(np.float32(low + span * random.uniform(0, 1))) for _ in range(5)]
    return values


def write(spec, axis, values):
    """One line."""
    if values and isinstance(values[0], float):
        shown = [struct.pack(">d", v).hex() for v in values]
    else:
        shown = values
    print(json.dumps({"axis": spec, "values": shown, "cells": cells(axis, values)}))


FLOWS = [
    {},
    {"underflow": False},
    {"overflow": False},
    {"underflow": False, "overflow": False},
    {"circular": True},
]

for bins, start, stop in [
    (100, 0.0, 200.0),
    (7, 0.1, 0.8),
    (3, -1.0, 1.0),
    (1, -1e-3, 1e9),
    (50, 2.0, -3.0),
    (1000, 0.0, 1.0),
    # As wide as a power of two, which core and library divide by in different ways.
    (128, 0.0, 256.0),
    (10, -4.0, 4.0),
    (3, 0.7, 0.7 + 2.0**-20),
    (5, 0.0, 2.0**-1022),
    (5, 0.0, 2.0**-1030),
]:
    for kind in FLOWS if bins in (7, 100, 50, 10) else FLOWS[:1]:
        axis = bh.axis.Regular(bins, start, stop, **kind)
        spec = {"kind": "regular", "bins": bins, "start": start, "stop": stop} | flow(axis)
        write(spec, axis, floats(axis))

for edges in (
    [0.0, 1.0, 2.5, 4.0],
    [-3.3, -0.1, 0.0, 1e-9, 0.7, 1e6],
    [float(i) ** 1.5 for i in range(40)],
):
    for kind in FLOWS:
        axis = bh.axis.Variable(edges, **kind)
        write({"kind": "variable", "edges": edges} | flow(axis), axis, floats(axis))
for edges in ([-math.inf, 0.0, 1.0], [0.0, 1.0, math.inf], [-math.inf, math.inf]):
    for kind in FLOWS[:-1]:
        axis = bh.axis.Variable(edges, **kind)
        words = [e if math.isfinite(e) else str(e) for e in edges]
        write({"kind": "variable", "edges": words} | flow(axis), axis, floats(axis))

# Nearer to 2^31, differences to the first bin overflow boost-histogram's int; ours do not.
integers = [*range(-12, 13), 100, -100, 2**30, -(2**30), 15, 16, 17]
for start, stop in [(0, 4), (-5, 5), (3, 4)]:
    for kind in FLOWS:
        axis = bh.axis.Integer(start, stop, **kind)
        write({"kind": "integer", "start": start, "stop": stop} | flow(axis), axis, integers)

axis = bh.axis.Integer(3, 3)
write({"kind": "integer", "start": 3, "stop": 3} | flow(axis), axis, integers)

for overflow in (True, False):
    axis = bh.axis.IntCategory([5, -1, 13, 0], overflow=overflow)
    spec = {"kind": "int_category", "categories": [5, -1, 13, 0], "overflow": overflow}
    write(spec, axis, integers)
    names = ["mu", "", "e e", "τ"]
    axis = bh.axis.StrCategory(names, overflow=overflow)
    spec = {"kind": "str_category", "categories": names, "overflow": overflow}
    wanted = ["mu", "e", "", "e e", "τ", "mu "]
    print(json.dumps({"axis": spec, "values": wanted, "cells": cells(axis, [[v] for v in wanted])}))

write({"kind": "boolean"}, bh.axis.Boolean(), integers)
