"""Messages of a cluster arrive in order, and once, whatever happens to the requests that carry
them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from treemill.backends.dask.messages import Mailbox, Parcel

ACTIONS = st.lists(st.tuples(st.sampled_from(["put", "send", "arrive", "lose"]), st.integers(0, 7)))


@given(ACTIONS)
def test_in_order_and_once(actions):
    sides = [Mailbox(), Mailbox()]
    said, heard = [0, 0], [[], []]
    flying = []  # parcels, with the side that they are for; any may arrive next, or twice
    for what, choice in actions:
        side = choice % 2
        if what == "put":
            sides[side].put(said[side])
            said[side] += 1
        elif what == "send":
            flying.append((1 - side, sides[side].parcel()))
        elif flying and what == "arrive":
            to, parcel = flying[choice % len(flying)]
            heard[to] += sides[to].take(parcel)
        elif flying:
            flying.pop(choice % len(flying))
        for to in (0, 1):
            assert heard[to] == list(range(len(heard[to])))
    for side in (0, 1, 0, 1):  # at last a parcel arrives from each side, twice
        heard[1 - side] += sides[1 - side].take(sides[side].parcel())
    assert heard == [list(range(said[1])), list(range(said[0]))]
    assert not sides[0].waiting


def test_another_conversation_is_refused():
    side = Mailbox()
    with pytest.raises(ValueError, match="another conversation"):
        side.take(Parcel(3, ("late",), 0))
    with pytest.raises(ValueError, match="another conversation"):
        side.take(Parcel(0, (), 1))
