"""Totals over files without any file: which are made, which are looked up, what is lacking."""

import hashlib

from hypothesis import given
from hypothesis import strategies as st
from treemill.checkpoint.totals import gathered, tree_of

from tests.random_search import examples


class Memory:
    """Remembers in a dictionary, and counts what is looked for."""

    def __init__(self):
        self.values, self.entries, self.looked, self.made = {}, {}, 0, 0

    def may_have(self, value):
        return any(value in each for each in self.values.values())

    def find(self, data, wanted):
        self.looked += 1
        known = self.values.get(data, {})
        return {key: known[key] for key in wanted if key in known}, self.entries.get(data, [])

    def add(self, records):
        for data, entries, values in records:
            self.made += 1
            self.values.setdefault(data, {}).update(values)
            self.entries[data] = list(entries)


def added(rows):
    """Values are texts of numbers."""
    return [str(sum(map(int, column))).encode() for column in zip(*rows, strict=True)]


def key(*of):
    return hashlib.blake2b(repr(of).encode(), digest_size=16).digest()


def value(file, booking):
    return str(hash((file, booking)) % 1000).encode()


def computed(memory, files, bookings):
    """Looks, computes what is missing, looks again: gives what was missing and the totals."""
    keys = [key(file) for file in files]
    first = gathered(tree_of(keys), bookings, memory, added)
    for place, lacking in first.missing.items():
        memory.add([(keys[place], [files[place]], {b: value(files[place], b) for b in lacking})])
    return first, gathered(tree_of(keys), bookings, memory, added)


files = st.lists(st.integers(0, 400), min_size=1, max_size=80)
bookings = st.lists(st.integers(0, 5).map(lambda n: key("booking", n)), unique=True, min_size=1)


@examples(1000)
@given(st.lists(st.tuples(files, bookings), min_size=1, max_size=5))
def test_what_is_missing_is_what_nobody_has_computed_and_totals_are_right(runs):
    memory, seen = Memory(), set()
    for names, wanted in runs:
        first, again = computed(memory, names, wanted)
        missing = {(names[place], b) for place, keys in first.missing.items() for b in keys}
        assert missing == {(name, b) for name in names for b in wanted} - seen
        seen |= missing
        assert not again.missing
        assert again.entries == dict(enumerate(names))
        for booking in wanted:
            total = sum(int(value(name, booking)) for name in names)
            assert int(again.complete[booking]) == total
            # What is remembered before the rest is computed, each file once.
            known = sum(int(piece.get(booking, 0)) for piece in first.pieces)
            known += int(first.complete.get(booking, 0))
            lacking = {p for p, keys in first.missing.items() if booking in keys}
            rest = sum(int(value(n, booking)) for p, n in enumerate(names) if p in lacking)
            assert known + rest == total


@examples(100)
@given(st.randoms(use_true_random=False), st.sampled_from(["add", "remove", "change"]))
def test_a_file_more_or_less_takes_few_looks(chance, edit):
    memory, booking = Memory(), [key("booking")]
    names = list(range(1000))
    computed(memory, names, booking)
    place = chance.randrange(len(names))
    if edit == "add":
        names.insert(place, 5000)
    elif edit == "remove":
        del names[place]
    else:
        names[place] = 5000
    memory.looked = 0
    first, _ = computed(memory, names, booking)
    assert sum(map(len, first.missing.values())) == (edit != "remove")
    assert memory.looked < 250, (
        "a few runs of files on the way down, of eight nodes each on average"
    )
    memory.looked = 0
    computed(memory, names, booking)
    assert memory.looked == 2, "all is in one place"


def test_what_is_new_is_looked_for_nowhere():
    memory, names = Memory(), list(range(1000))
    old, new = key("old"), key("new")
    computed(memory, names, [old])
    memory.looked = 0
    found = gathered(tree_of([key(name) for name in names]), [old, new], memory, added)
    assert memory.looked == 1, "what is there is in one place"
    assert [*found.complete] == [old]
    assert found.missing == {place: [new] for place in range(1000)}


def test_the_order_of_merging_is_that_of_the_files():
    def joined(rows):
        return [b"".join(column) for column in zip(*rows, strict=True)]

    memory, booking = Memory(), key("booking")
    keys = [key(n) for n in range(300)]
    for n, each in enumerate(keys):
        memory.add([(each, [n], {booking: b"%03d " % n})])
    found = gathered(tree_of(keys), [booking], memory, joined)
    assert found.complete[booking] == b"".join(b"%03d " % n for n in range(300))


def test_large_totals_do_not_wait_for_the_end():
    class Counting(Memory):
        calls = ()

        def add(self, records):
            self.calls += (sum(len(v) for _, _, values in records for v in values.values()),)
            super().add(records)

    size, names = 1 << 20, range(300)
    memory, booked = Counting(), [key("booking")]
    for name in names:
        memory.values[key(name)], memory.entries[key(name)] = {booked[0]: bytes(size)}, [1]
    found = gathered(tree_of([key(name) for name in names]), booked, memory, lambda rows: rows[0])
    assert not found.missing
    assert sum(memory.calls) > 0
    assert max(memory.calls) <= 5 * size
