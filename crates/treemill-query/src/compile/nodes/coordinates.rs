//! The coordinates of four-vectors, and the names that columns and expressions have for them. Tables, for all kinds of
//! vectors.

/// A coordinate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::compile) enum Coordinate {
    Px,
    Py,
    Pz,
    Energy,
    Pt,
    Phi,
    Eta,
    Mass,
}

/// Names under which coordinates are stored: of flat columns, and of ROOT's classes of vectors.
const STORED: &[(Coordinate, &[&str])] = &[
    (
        Coordinate::Px,
        &[
            "px",
            "x",
            "Px",
            "momentum.x",
            "fP.fX",
            "fX",
            "fCoordinates.fX",
        ],
    ),
    (
        Coordinate::Py,
        &[
            "py",
            "y",
            "Py",
            "momentum.y",
            "fP.fY",
            "fY",
            "fCoordinates.fY",
        ],
    ),
    (
        Coordinate::Pz,
        &[
            "pz",
            "z",
            "Pz",
            "momentum.z",
            "fP.fZ",
            "fZ",
            "fCoordinates.fZ",
        ],
    ),
    (
        Coordinate::Energy,
        &[
            "energy",
            "E",
            "e",
            "t",
            "Energy",
            "fE",
            "fCoordinates.fT",
            "fCoordinates.fE",
        ],
    ),
    (
        Coordinate::Pt,
        &["pt", "rho", "Pt", "PT", "fCoordinates.fPt"],
    ),
    (Coordinate::Phi, &["phi", "Phi", "fCoordinates.fPhi"]),
    (Coordinate::Eta, &["eta", "Eta", "fCoordinates.fEta"]),
    (
        Coordinate::Mass,
        &["mass", "m", "M", "Mass", "fCoordinates.fM"],
    ),
];

/// Attributes that are coordinates.
pub(in crate::compile) const COORDINATES: &[(&str, Coordinate)] = &[
    ("px", Coordinate::Px),
    ("x", Coordinate::Px),
    ("py", Coordinate::Py),
    ("y", Coordinate::Py),
    ("pz", Coordinate::Pz),
    ("z", Coordinate::Pz),
    ("energy", Coordinate::Energy),
    ("E", Coordinate::Energy),
    ("e", Coordinate::Energy),
    ("t", Coordinate::Energy),
    ("pt", Coordinate::Pt),
    ("rho", Coordinate::Pt),
    ("phi", Coordinate::Phi),
    ("eta", Coordinate::Eta),
    ("mass", Coordinate::Mass),
    ("m", Coordinate::Mass),
    ("M", Coordinate::Mass),
    ("tau", Coordinate::Mass),
];

/// Whether a coordinate may be stored under this name.
pub(in crate::compile) fn is_stored(name: &str) -> bool {
    STORED.iter().any(|(_, names)| names.contains(&name))
}

impl Coordinate {
    pub(in crate::compile) fn is_cartesian(self) -> bool {
        matches!(self, Self::Px | Self::Py | Self::Pz | Self::Energy)
    }

    /// The names under which it is stored.
    pub(in crate::compile) fn stored(self) -> &'static [&'static str] {
        let row = STORED.iter().find(|(part, _)| *part == self);
        row.map_or(&[], |(_, names)| names)
    }

    pub(in crate::compile) fn name(self) -> &'static str {
        let row = COORDINATES.iter().find(|(_, part)| *part == self);
        row.map_or("such coordinate", |(name, _)| name)
    }
}

/// Attributes of vectors, those that are mostly wanted first.
pub(in crate::compile) const ATTRIBUTES: &[&str] = &[
    "pt", "eta", "phi", "mass", "px", "py", "pz", "energy", "p", "theta", "rapidity", "mt", "et",
    "beta", "gamma", "pt2", "p2", "mass2", "costheta", "cottheta", "mt2", "et2",
];
