"""Values that the core finds out it cannot read while it reads them, in a file of ROOT's: queries
have them from uproot."""

import numpy as np
import pytest
import treemill as tm
import uproot
from treemill.data.uproot_fallback import Fallback

from tests.raising import raises

ENTRIES = 60


@pytest.fixture(scope="module")
def files(made_by_root):
    """A file with vectors, and a copy in which the first entry has no byte at all, which the core
    knows no meaning of."""
    sound = made_by_root("vector") / "vector.root"
    damaged = sound.with_name("damaged.root")
    with uproot.open(sound) as file:
        branch = file["t/v"]
        assert branch.num_baskets == 1
        offsets = branch.basket(0).byte_offsets[:-1]
        key_len = int(branch.basket_key(0).fKeylen)
    whole = sound.read_bytes()
    before = (offsets + key_len).astype(">i4")
    assert whole.count(before.tobytes()) == 1
    after = before.copy()
    after[1] = after[0]
    damaged.write_bytes(whole.replace(before.tobytes(), after.tobytes()))
    return sound, damaged


def test_a_query_goes_on_with_uproot(files, monkeypatch):
    sound, damaged = files
    # uproot reads no such entry either; what it would read, were it able to:
    other, read = Fallback(str(sound), "t"), Fallback.read
    monkeypatch.setattr(Fallback, "read", lambda self, *arguments: read(other, *arguments))
    monkeypatch.setattr(Fallback, "can", lambda self, *_: True)
    events = tm.dataset(damaged)
    assert events.branches["v"].how == "core"
    count, total, hist = tm.run(
        events.filter("count(v) > 1").count(), events.sum("v"), events.hist("v", bins=(60, 0, 60))
    )
    counts = 1 + np.arange(ENTRIES) % 3
    assert count == np.sum(counts > 1)
    assert total == np.sum(counts * np.arange(ENTRIES))
    assert hist.values().tolist() == counts.tolist()
    # Now it is known, and said.
    assert events.branches["v"].how == "uproot"
    assert events.branches["v"].reads_as == "as uproot reads it"


def test_what_uproot_cannot_read_either_is_refused_by_name(files, monkeypatch):
    monkeypatch.setattr(Fallback, "can", lambda self, *_: False)
    with raises(tm.UnsupportedError, said="vector float of branch v") as caught:
        tm.run(tm.dataset(files[1]).sum("v"))
    assert caught.value.branch == "v"
