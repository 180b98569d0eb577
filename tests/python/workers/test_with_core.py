"""Which files of an order the core runs, and which are run one by one, where it refuses some."""

import pytest
from treemill.scheduling import FAILED, FULL, REFUSED
from treemill.workers.workload import Ran, Turn, with_core

ENTRIES = 5
ALL = Turn(1000, 1e4)


class Control:
    stopped = False


class Filled:
    """A partial that is full after some files."""

    def __init__(self, most):
        self.most, self.files = most, []

    @property
    def is_full(self):
        return len(self.files) >= self.most


class World:
    """A workload whose core refuses `odd` files, and notes who has run which."""

    def __init__(self, odd=(), bad=(), most=1000):
        self.odd, self.bad, self.most = odd, bad, most
        self.by_core, self.alone, self.calls = [], [], 0

    def partial(self):
        return Filled(self.most)

    def bound(self, file):
        self.file = file
        return self

    def size(self, file):
        return ENTRIES, ()

    def ahead(self, file):
        return 0

    def changed(self, file):
        return None

    def run(self, start, stop, partial, control):
        if self.file in self.bad:
            raise ValueError
        partial.files.append(self.file)
        self.alone.append(self.file)

    def run_plain(self, spans, turn, partial):
        self.calls += 1
        done, ended = [], ""
        partial = partial or self.partial()
        for file, *_ in spans:
            if done and turn.seconds <= 0:
                break
            if file in self.odd:
                ended = REFUSED
                break
            partial.files.append(file)
            done.append(file)
            if partial.is_full:
                ended = FULL
                break
        self.by_core += done
        return partial, Ran((ENTRIES,) * len(done), ENTRIES if done else 0, ended)

    def ran(self, files, turn=ALL, control=Control):
        spans = [(file, 0, None) for file in range(files)]
        partial, ran = with_core(self, self.run_plain, spans, turn, None, control)
        assert partial.files == list(range(len(ran.entries)))
        assert sorted(self.by_core + self.alone) == partial.files
        return ran


@pytest.mark.parametrize("odd", [(), (0,), (7,), (0, 1, 5), (4, 9), (2, 4, 6, 8), (9,)])
def test_the_core_goes_on_after_each_file_that_it_refuses(odd):
    world = World(odd)
    assert world.ran(10) == Ran((ENTRIES,) * 10, ENTRIES, "")
    assert world.alone == list(odd)


def test_a_core_that_refuses_several_in_a_row_is_not_asked_again():
    world = World(odd=range(3, 90))
    assert len(world.ran(100).entries) == 100
    assert world.by_core == [0, 1, 2]
    assert world.calls < 5


def test_one_file_is_run_alone_when_the_turn_is_over_and_no_further_one():
    world = World(odd=(0, 1))
    assert world.ran(10, Turn(1000, 0.0)) == Ran((ENTRIES,), ENTRIES, "")
    assert world.alone == [0]


@pytest.mark.parametrize("most", range(1, 10))
def test_a_partial_that_is_full_ends_the_order(most):
    assert World(odd=(3, 6), most=most).ran(10) == Ran((ENTRIES,) * most, ENTRIES, FULL)


def test_a_stopped_run_begins_no_further_file():
    class Stopped:
        stopped = False

    class Stopping(World):
        def run(self, *args):
            Stopped.stopped = True
            super().run(*args)

    world = Stopping(odd=(4,))
    assert len(world.ran(10, control=Stopped).entries) == 5


def test_files_before_one_that_fails_are_counted():
    world = World(odd=(2, 5), bad=(5,))
    spans = [(file, 0, None) for file in range(10)]
    _, ran = with_core(world, world.run_plain, spans, ALL, None, Control)
    assert ran.ended == FAILED
    assert len(ran.entries) == 5


def test_a_file_that_is_too_large_is_left_to_an_order_of_its_own():
    world = World(odd=(2,))
    ran = world.ran(10, Turn(ENTRIES - 1, 1e4))
    assert (len(ran.entries), ran.ended) == (2, REFUSED)


def test_no_file_is_begun_after_one_that_ended_early():
    class Short(World):
        def run(self, *args):
            super().run(*args)
            return 3

    assert Short(odd=(4,)).ran(10) == Ran((ENTRIES,) * 5, 3, "")
