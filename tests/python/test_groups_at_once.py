"""The scheduler's part of a pass with sub-masters, and theirs, in random histories in which all
processes that lead, or all processes, die or are sent away at once. Every entry is counted once,
and every history has an end.
"""

import random

import pytest
from test_groups_on_desk import World, live


class Burst(World):
    """Twice something happens to many at once."""

    def __init__(self, seed):
        chosen = random.Random(seed * 7919)
        super().__init__(
            seed,
            size=chosen.choice([2, 4, 6, 100]),
            hosts=chosen.choice([2, 4, 6, 8]),
            nodes=chosen.choice([1, 2, 4]),
            kills=chosen.choice([0, 4, 8]),
            leaders=chosen.random() < 0.5,
            leaves=chosen.choice([0, 4, 8]),
            patient=chosen.random() < 0.3,
        )
        self.bursts = []

    def step(self):
        if len(self.bursts) < 2 and self.chance.random() < 0.002:
            leading = [each for each in self.hosts if self.hosts[each].groups.led]
            if leading and (self.desk.parts("work") or self.chance.random() < 0.3):
                how = self.chance.choice(["kill", "leave", "all leave", "all kill"])
                self.bursts.append(how)
                for each in sorted(self.hosts) if how.startswith("all") else leading:
                    if how.endswith("kill"):
                        self.kill(each)
                    elif each not in self.leaving:
                        self.leave(each)
        super().step()


def test_every_entry_once_if_all_go_at_once():
    """Nobody is there who could take what they have, until others lead."""
    seen = set()
    for seed in range(16):
        world = Burst(seed)
        live(world, seed)
        seen |= set(world.bursts)
    assert len(seen) == 4


@pytest.mark.parametrize("seed", [97])
def test_one_that_was_asked_to_take_something_goes_before_it_has_anything(seed):
    """And the one whose result that is was lost meanwhile: it is done again."""
    live(Burst(seed), seed)
