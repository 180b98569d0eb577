"""Random numbers by their counters: the seed, the entry, and the places of items in lists."""

import math
from collections.abc import Callable

_MASK = (1 << 64) - 1


def _counted(state: int, counter: int) -> int:
    """SplitMix64's output, so many steps from a state."""
    x = (state + (counter + 1) * 0x9E3779B97F4A7C15) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


def _state(seed: int, *counters: int) -> int:
    state = _counted(0, seed)
    for counter in counters:
        state = _counted(state, counter)
    return state


def _unit(state: int) -> float:
    return (state >> 11) * 2.0**-53


def _normal(seed: int, *counters: int) -> float:
    state = _state(seed, *counters)
    radius = math.sqrt(-2 * math.log(1 - _unit(state)))
    return radius * math.cos(2 * math.pi * _unit(_counted(state, 0)))


DRAWN: dict[str, Callable[..., float]] = {
    "random": lambda *counters: _unit(_state(*counters)),
    "normal": _normal,
}
