//! A small table with columns of all kinds.

use super::table::Table;
use treemill_query::DType;

/// Four events: two muons, none, one, three.
pub fn events() -> Table {
    let pt = [vec![50.0, 20.0], vec![], vec![35.0], vec![10.0, 60.0, 30.5]];
    let eta = [vec![0.5, -2.5], vec![], vec![-1.0], vec![2.0, -0.1, 1.5]];
    let charge = [vec![1.0, -1.0], vec![], vec![1.0], vec![-1.0, -1.0, 1.0]];
    let jet = [vec![1.0], vec![], vec![], vec![]];
    Table::new()
        .scalar("nMuon", DType::U32, &[2.0, 0.0, 1.0, 3.0])
        .list("Muon_pt", DType::F32, Some("nMuon"), &pt)
        .list("Muon_eta", DType::F32, Some("nMuon"), &eta)
        .list("Muon_charge", DType::I32, Some("nMuon"), &charge)
        .list("Jet_pt", DType::F32, Some("nJet"), &jet)
        .list("Jet_eta", DType::F32, Some("nJet"), &jet)
        .f32("MET_pt", &[10.0, 20.0, 30.0, 40.0])
        .u64("event", &[1, 2, (1 << 53) + 1, u64::MAX])
        .i64("signed", &[-7, 7, i64::MAX, 0])
        .array(
            "P4",
            DType::F64,
            3,
            &(0..12).map(f64::from).collect::<Vec<_>>(),
        )
        .list(
            "vx",
            DType::F64,
            None,
            &[vec![1.0], vec![], vec![2.0, 3.0], vec![4.0]],
        )
        .list(
            "vy",
            DType::F64,
            None,
            &[vec![5.0], vec![], vec![6.0, 7.0], vec![8.0]],
        )
        .list(
            "vz",
            DType::F64,
            None,
            &[vec![5.0, 1.0], vec![], vec![6.0], vec![8.0]],
        )
        .strings("label", &["a", "b", "a", "long one"])
        .scalar("flag", DType::Bool, &[1.0, 0.0, 0.0, 1.0])
}
