"""Made-up collisions for tutorials: simulated processes with their cross sections, and data that
are a mixture of them. Values depend on the seed alone. Knows no file: ../samples.py writes them.
"""

from .events import recorded, simulated
from .processes import LUMINOSITY, PROCESSES, SCALE_FACTORS, SimulatedProcess

__all__ = ["LUMINOSITY", "PROCESSES", "SCALE_FACTORS", "SimulatedProcess", "recorded", "simulated"]
