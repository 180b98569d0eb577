//! References from objects to others, the lengths of the collections that they lead to, and what errors say of both.

use crate::common::Steps;
use crate::common::table::Table;
use treemill_query::{DType, Number, Outcome, QueryError};

/// Muons and jets that refer to each other, with this sign between a collection's name and a member's.
fn events(joint: char) -> Table {
    let list = |table: Table, collection: &str, member: &str, lists: &[Vec<f64>]| {
        let name = format!("{collection}{joint}{member}");
        table.list(&name, DType::I32, Some(collection), lists)
    };
    let table = Table::new();
    let table = list(table, "Muon", "pt", &[vec![5.0, 6.0], vec![7.0], vec![]]);
    let table = list(
        table,
        "Muon",
        "jetIdx",
        &[vec![1.0, -1.0], vec![0.0], vec![]],
    );
    let table = list(table, "Jet", "pt", &[vec![50.0, 40.0], vec![], vec![30.0]]);
    let table = list(
        table,
        "Jet",
        "muonIdx1",
        &[vec![0.0, 1.0], vec![], vec![0.0]],
    );
    list(
        table,
        "Jet",
        "muonIdx2",
        &[vec![-1.0, 0.0], vec![], vec![-1.0]],
    )
}

fn sum(table: &Table, text: &str) -> Outcome {
    Steps::new().sum(text).run(table).remove(0)
}

fn refused(table: &Table, text: &str) -> QueryError {
    Steps::new().sum(text).compile(table).err().unwrap()
}

const fn int(number: i128) -> Outcome {
    Outcome::Sum(Number::Int(number))
}

#[test]
fn records_have_references_as_columns_do() {
    for joint in ['_', '.'] {
        let table = events(joint);
        assert_eq!(sum(&table, "sum(m.jet.pt for m in Muon)"), int(40));
        assert_eq!(
            sum(&table, "sum(sum(m.pt for m in j.muons) for j in Jet)"),
            int(16)
        );
        assert_eq!(
            sum(&table, "sum(is_missing(m.jet.pt) for m in Muon)"),
            int(2)
        );
    }
}

#[test]
fn a_list_of_a_missing_object_has_no_items() {
    let table = events('_');
    // The first muon alone has a jet.
    assert_eq!(sum(&table, "sum(len(m.jet.muons) for m in Muon)"), int(2));
    assert_eq!(sum(&table, "len(Muon[0].jet.muons)"), int(2));
    assert_eq!(sum(&table, "len(Muon[5].jet.muons)"), int(0));
    assert_eq!(
        sum(&table, "sum(sum(1 for q in m.jet.muons) for m in Muon)"),
        int(2)
    );
    assert_eq!(sum(&table, "sum(len(j.muons) for j in Jet)"), int(6));
    assert_eq!(sum(&table, "len(Jet[0].muons)"), int(4));
}

#[test]
fn a_collection_is_as_long_as_its_own_counter_says() {
    let other = "P (branch 2 of this name)";
    let table = Table::new()
        .scalar("P", DType::I32, &[2.0, 1.0])
        .list("P.a", DType::I32, Some(other), &[vec![1.0], vec![2.0]])
        .list("P.b", DType::I32, Some(other), &[vec![1.0], vec![2.0]])
        .list("P.c", DType::I32, Some(other), &[vec![1.0], vec![2.0]])
        .list("P.x", DType::I32, Some("P"), &[vec![3.0, 4.0], vec![5.0]])
        .list("P.y", DType::I32, Some("P"), &[vec![3.0, 4.0], vec![5.0]]);
    assert_eq!(sum(&table, "len(P)"), int(3));
    assert_eq!(sum(&table, "sum(p.x for p in P)"), int(12));
    assert_eq!(sum(&table, "P[0].y"), int(8));
    assert_eq!(sum(&table, "sum(P.a)"), int(3));
    for text in ["sum(p.a for p in P)", "P[0].a", "sum(P.a * P.x)"] {
        let error = refused(&table, text).message;
        assert!(error.contains(other), "{error}");
        assert!(error.contains("counted by P"), "{error}");
    }
}

#[test]
fn lists_of_a_longer_name_do_not_decide_how_many_there_are() {
    let table = Table::new()
        .scalar("nA", DType::I32, &[2.0, 1.0])
        .scalar("nA_b", DType::I32, &[5.0, 0.0])
        .list("A_x", DType::I32, Some("nA"), &[vec![1.0, 1.0], vec![1.0]])
        .list("A_y", DType::I32, Some("nA"), &[vec![1.0, 1.0], vec![1.0]])
        .list("A_b_x", DType::I32, Some("nA_b"), &[vec![1.0; 5], vec![]])
        .list("A_b_y", DType::I32, Some("nA_b"), &[vec![1.0; 5], vec![]])
        .list("A_b_z", DType::I32, Some("nA_b"), &[vec![1.0; 5], vec![]]);
    assert_eq!(sum(&table, "len(A)"), int(3));
    assert_eq!(sum(&table, "sum(a.x for a in A)"), int(3));
}

#[test]
fn errors_suggest_collections_and_references() {
    let table = events('_');
    for (text, suggested) in [
        ("len(Muons)", &["Muon"][..]),
        ("len(muon)", &["Muon"]),
        ("len(jets)", &["Jet"]),
        ("sum(Muon.jt.pt)", &["jet", "pt"]),
        ("sum(Jet.muon.pt)", &["muons"]),
        ("sum(Jet.matched_muon.pt)", &["matched_muons"]),
    ] {
        assert_eq!(*refused(&table, text).suggestions, *suggested, "{text}");
    }
    let error = refused(&table, "sum(Muon.vertex.pt)").message;
    assert_eq!(
        error,
        "Muon has no vertex; it has pt, jetIdx, and refers to jet"
    );
}

#[test]
fn a_link_that_is_not_followed_is_no_typing_error() {
    let lists = [vec![0.0]];
    let container = "AnalysisElectronsAuxDyn";
    let table = Table::new().list(&format!("{container}.pt"), DType::F32, None, &lists);
    let table = ["ambiguityLink", "fooLink", "muonSegmentLinks"]
        .iter()
        .fold(table, |table, link| {
            let column = |end: &str| format!("{container}.{link}.{end}");
            let table = table.list(&column("m_persIndex"), DType::U32, None, &lists);
            table.list(&column("m_persKey"), DType::U32, None, &lists)
        });
    let indices = |link: &str| format!("; its indices are Electrons.{link}.m_persIndex");
    for (member, link, why) in [
        (
            "ambiguity",
            "ambiguityLink",
            "leads to the containers Electrons and Photons",
        ),
        ("foo", "fooLink", "leads to a container that"),
    ] {
        let error = refused(&table, &format!("sum(Electrons.{member}.pt)")).message;
        let begin =
            format!("Electrons.{member} is not followed: the ElementLink {container}.{link} {why}");
        assert!(error.starts_with(&begin), "{error}");
        assert!(error.ends_with(&indices(link)), "{error}");
    }
    let error = refused(&table, "sum(Electrons.muonSegments.x)").message;
    let known =
        "Electrons.muonSegments refers to MuonSegments, and there is no collection MuonSegments";
    assert_eq!(error, format!("{known}{}", indices("muonSegmentLinks")));
}
