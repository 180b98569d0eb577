"""numba's kernels run without the GIL: two that wait for one another on two threads both go on."""

import ctypes
import threading

import numpy as np
import pytest
import treemill as tm

numba = pytest.importorskip("numba")
from numba.core import types  # noqa: E402
from numba.extending import intrinsic  # noqa: E402

PATIENCE = 20_000_000
"""Steps after which a kernel gives up: a thread that can run has run long before."""
ARRIVED = np.zeros(3, np.int64)
"""Which of the two has begun, and whether one of them has given up."""
ADDRESS = ARRIVED.ctypes.data
others_first = ctypes.CDLL(None).sched_yield
others_first.argtypes, others_first.restype = [], ctypes.c_int


@intrinsic
def pointer(typing, address):
    """The address as a pointer: kernels take numbers only."""

    def code(context, builder, signature, given):
        return builder.inttoptr(given[0], context.get_value_type(signature.return_type))

    return types.CPointer(types.int64)(types.int64), code


@tm.kernel("float64(int64)")
def meet(number):
    arrived = numba.carray(pointer(ADDRESS), 3)
    arrived[number] = 1
    for _ in range(PATIENCE):
        if arrived[2]:
            break
        if arrived[1 - number]:
            return 1.0
        others_first()
    arrived[2] = 1
    return 0.0


def test_two_kernels_are_called_at_once(paths):
    ARRIVED[:] = 0
    met = [None, None]

    def run(number):
        events = tm.dataset(paths[0], tree="Events").with_params({"meet": meet, "number": number})
        with tm.connect(workers=1, mode="threads") as session:
            met[number] = session.run(events.sum("meet(number)"), progress=False)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    number = tm.dataset(paths[0], tree="Events").num_entries
    assert met == [number, number]
