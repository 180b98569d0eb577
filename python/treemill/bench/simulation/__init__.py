"""Simulated clusters, on which the sessions' own packetizer is tried: an event queue with nodes,
disks, links, noise, deaths and joins. Pure: seeded, no clock, no thread.

Knows the packetizer's events and actions, and nothing else of treemill.
"""

from .run import Outcome, simulate
from .scenario import Scenario, load, shipped
from .strategies import STRATEGIES

__all__ = ["STRATEGIES", "Outcome", "Scenario", "load", "shipped", "simulate"]
