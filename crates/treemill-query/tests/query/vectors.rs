//! Four-vectors, their sums and what is made of them: known answers, event by event.

use crate::common::known::{NONE, check};

#[test]
fn vectors() {
    let mass = |a: [f64; 4], b: [f64; 4]| {
        let four = |[pt, eta, phi, m]: [f64; 4]| {
            let p = [pt * phi.cos(), pt * phi.sin(), pt * eta.sinh()];
            let e = (p.iter().map(|x| x * x).sum::<f64>() + m * m).sqrt();
            [p[0], p[1], p[2], e]
        };
        let (a, b) = (four(a), four(b));
        let sum: Vec<f64> = a.iter().zip(b).map(|(x, y)| x + y).collect();
        (sum[3] * sum[3] - sum[..3].iter().map(|x| x * x).sum::<f64>()).sqrt()
    };
    let first = mass([50.0, 0.5, 0.0, 5.0], [30.0, -1.0, 3.0, 4.0]);
    let last = mass([40.0, 0.0, 1.0, 2.0], [60.0, 1.0, 2.0, 1.0]);
    let muons = mass([15.0, 1.0, 0.0, 0.1], [35.0, -1.0, 3.0, 0.1]);
    let turn = 2.0 * std::f64::consts::PI - 6.0;
    check(&[
        ("(Jet[0] + Jet[1]).mass", [first, NONE, last]),
        (
            "sum((a + b).mass for a, b in combinations(Muon, 2))",
            [0.0, muons, 0.0],
        ),
        (
            "any(60 < (a + b).mass < 120 for a, b in combinations(Muon, 2) if a.charge != b.charge)",
            [0.0, f64::from(u8::from(60.0 < muons && muons < 120.0)), 0.0],
        ),
        (
            "(min(combinations(Jet, 2), key=lambda t: abs((t[0] + t[1]).mass - 90))[0] * 2).pt",
            [100.0, NONE, 80.0],
        ),
        ("Jet[1].deltaphi(Jet[2])", [-turn, NONE, NONE]),
        (
            "Jet[0].deltaR(Jet[1])",
            [(1.5_f64 * 1.5 + 9.0).sqrt(), NONE, 2.0_f64.sqrt()],
        ),
        (
            "sum(j.deltaeta(m) for j in Jet for m in Muon)",
            [0.3, 0.0, 0.0],
        ),
        (
            "min(j.deltaR(m) for j in Jet for m in Muon)",
            [0.02_f64.sqrt(), NONE, NONE],
        ),
        ("(Jet[0] - Jet[0]).pt", [0.0, NONE, 0.0]),
        ("(-Jet[0]).px", [-50.0, NONE, -40.0 * 1.0_f64.cos()]),
        ("sum(j.pt for j in Jet if j.px > 0)", [50.0, 0.0, 40.0]),
        (
            "sqrt(2 * Muon[0].pt * MET.pt * (1 - cos(Muon[0].deltaphi(MET))))",
            [
                (500.0 * (1.0 - 0.1_f64.cos())).sqrt(),
                (600.0 * (1.0 - 1.0_f64.cos())).sqrt(),
                NONE,
            ],
        ),
        (
            "vector(px=3, py=4, pz=0, energy=13).mass",
            [12.0, 12.0, 12.0],
        ),
        (
            "(vector(pt=MET_pt, eta=0, phi=0, mass=0) + vector(pt=MET_pt, eta=0, phi=pi, mass=0)).mass",
            [20.0, 40.0, 60.0],
        ),
    ]);
}
