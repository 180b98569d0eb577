"""Tables of TTreeFormula's functions and ROOT's methods, and what each is in the language. Knows no
grammar, no branch and no type.

A template has the arguments as {0}, {1} …; the translator puts each in parentheses.
"""

from __future__ import annotations

__all__ = ["CONSTANTS", "DOLLAR", "INSTEAD", "METHODS", "SCOPED", "TWO_VECTORS"]

# As in TTreeFormula they take all items, those of lists in lists too; the extreme of none is 0.
DOLLAR = {
    "Sum$": ("sum(flatten(", "))", 1),
    "Length$": ("len(flatten(", "))", 1),
    "Max$": ("fill_missing(max(flatten(", ")), 0)", 1),
    "Min$": ("fill_missing(min(flatten(", ")), 0)", 1),
    "MaxIf$": ("fill_missing(max(flatten((", ")!=0])), 0)", 2),
    "MinIf$": ("fill_missing(min(flatten((", ")!=0])), 0)", 2),
    "Alt$": ("fill_missing(", ")", 2),
}
INSTEAD = {
    "Iteration$": "Iteration$ is an item's place in its list: write Jet_pt[:2] for the first "
    "items, or [i for i, j in enumerate(Jet)] for the places",
    "Entries$": "Entries$ is known in drawings alone: write the dataset's num_entries as a number",
    "LocalEntries$": "LocalEntries$ is not known: write the number of entries",
    "Length$": "Length$ needs its list: write Length$(x) or len(x)",
    "LocalEntry$": "LocalEntry$ is a number and takes no argument",
    "Entry$": "Entry$ is a number and takes no argument",
}


def _same(*names: str) -> dict[str, tuple[str, int]]:
    """Functions of one argument whose names differ from the language's by capitals only."""
    return {name: (f"{name.lower()}({{0}})", 1) for name in names}


_TMATH: dict[str, tuple[str, int]] = {
    **_same("Abs", "Sqrt", "Exp", "Log", "Log2", "Log10", "Sin", "Cos", "Tan", "ASin", "ACos"),
    **_same("ATan", "SinH", "CosH", "TanH", "ASinH", "ACosH", "ATanH", "Floor", "Ceil", "IsNaN"),
    "ATan2": ("atan2({0}, {1})", 2),
    "Hypot": ("hypot({0}, {1})", 2),
    "Min": ("min({0}, {1})", 2),
    "Max": ("max({0}, {1})", 2),
    "Power": ("pow({0}, {1})", 2),
    "Sq": ("square({0})", 1),
    "Finite": ("isfinite({0})", 1),
    "Nint": ("rint({0})", 1),
    "FloorNint": ("floor({0})", 1),
    "CeilNint": ("ceil({0})", 1),
    "Odd": ("({0} % 2 != 0)", 1),
    "Even": ("({0} % 2 == 0)", 1),
    "Sign": ("copysign({0}, {1})", 2),
    "Range": ("clip({2}, {0}, {1})", 3),
    "Gaus": ("exp(-0.5*(({0} - {1})/{2})**2)", 3),
}
# In C++'s own namespace; ROOT knows fewer of them.
_STD = {
    **{f"std::{name}": (f"{name}({{0}})", 1) for name in ("abs", "fabs", "sqrt", "exp", "log")},
    **{f"std::{name}": (f"{name}({{0}})", 1) for name in ("log10", "sin", "cos", "tan", "asin")},
    **{f"std::{name}": (f"{name}({{0}})", 1) for name in ("acos", "atan", "sinh", "cosh", "tanh")},
    **{f"std::{name}": (f"{name}({{0}})", 1) for name in ("floor", "ceil", "isnan", "cbrt")},
    **{f"std::{name}": (f"{name}({{0}}, {{1}})", 2) for name in ("min", "max", "pow", "atan2")},
    **{f"std::{name}": (f"{name}({{0}}, {{1}})", 2) for name in ("hypot", "fmod")},
}
_ANGLES = {
    "TVector2::Phi_mpi_pi": ("({0} - 2*pi*floor(({0} + pi)/(2*pi)))", 1),
    "TVector2::Phi_0_2pi": ("({0} - 2*pi*floor({0}/(2*pi)))", 1),
}
SCOPED = {**{f"TMath::{name}": value for name, value in _TMATH.items()}, **_STD, **_ANGLES}
"""Functions of C++'s namespaces: template and number of arguments."""

CONSTANTS = {
    "TMath::Pi": "pi",
    "TMath::TwoPi": "(2*pi)",
    "TMath::PiOver2": "(pi/2)",
    "TMath::PiOver4": "(pi/4)",
    "TMath::E": "e",
    "TMath::DegToRad": "(pi/180)",
    "TMath::RadToDeg": "(180/pi)",
    "TMath::Sqrt2": "sqrt(2)",
    "TMath::Ln10": "log(10)",
    "TMath::LogE": "log10(e)",
    "TMath::Infinity": "inf",
}
"""TMath's constants, which are called without arguments."""

METHODS = {
    **dict.fromkeys(("Pt", "Perp", "pt"), "pt"),
    **dict.fromkeys(("Eta", "PseudoRapidity", "eta"), "eta"),
    **dict.fromkeys(("Phi", "phi"), "phi"),
    **dict.fromkeys(("M", "mass"), "mass"),
    **dict.fromkeys(("E", "Energy", "T", "energy"), "energy"),
    **dict.fromkeys(("Px", "X", "px"), "px"),
    **dict.fromkeys(("Py", "Y", "py"), "py"),
    **dict.fromkeys(("Pz", "Z", "pz"), "pz"),
    **dict.fromkeys(("P", "p"), "p"),
    **dict.fromkeys(("Rapidity", "rapidity"), "rapidity"),
    **dict.fromkeys(("Theta", "theta"), "theta"),
    "M2": "mass2",
    "Mag": "Mag",
    "Mag2": "Mag2",
    "Perp2": "pt2",
    "CosTheta": "costheta",
    "Et": "et",
    "Mt": "mt",
    "Beta": "beta",
    "Gamma": "gamma",
}
"""Methods without arguments of ROOT's vectors, as attributes."""
TWO_VECTORS = {
    "DeltaR": "deltaR",
    "DrEtaPhi": "deltaR",
    "DeltaPhi": "deltaphi",
    "Angle": "deltaangle",
    "Dot": "dot",
}
"""Methods that take another vector."""
