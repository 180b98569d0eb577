//! Filters, definitions and bookings over a small table, and messages about what is wrong.

use crate::common::events::events;
use crate::common::{Steps, regular, values};
use treemill_query::{Number, Outcome};

/// Sum over all values, as a float.
fn sum(text: &str) -> f64 {
    let outcome = Steps::new().sum(text).run(&events()).remove(0);
    // Batches of any size give the same.
    for size in [1, 3] {
        assert_eq!(
            Steps::new().sum(text).run_in(&events(), size)[0],
            outcome,
            "{text}"
        );
    }
    match outcome {
        Outcome::Sum(Number::Float(x)) => x,
        Outcome::Sum(Number::Int(x)) => x as f64,
        other => panic!("{other:?}"),
    }
}

/// Message and marked part of the error.
fn error(text: &str) -> (String, String) {
    let found = Steps::new().sum(text).compile(&events());
    let error = found.err().unwrap_or_else(|| panic!("{text} compiles"));
    let (start, stop) = error.span.unwrap_or((0, 0));
    let marked = text
        .chars()
        .skip(start as usize)
        .take((stop - start) as usize);
    assert_eq!(error.text.as_deref(), Some(text));
    (error.message, marked.collect())
}

#[test]
fn filters_definitions_and_bookings() {
    let steps = Steps::new()
        .define("good", "Muon_pt[abs(Muon_eta) < 2.2]")
        .filter("len(good) >= 1")
        .define("ht", "sum(good)")
        .count()
        .sum("ht")
        .sum("Muon_pt")
        .filter("MET_pt > 30")
        .count()
        .mean("Muon_pt")
        .hist(
            &[
                ("good", regular(4, 0.0, 80.0)),
                ("MET_pt", regular(1, 0.0, 100.0)),
            ],
            Some("MET_pt"),
        )
        .at(None)
        .count()
        .sum("MET_pt");
    for size in [1, 2, 3, 100] {
        let results = steps.run_in(&events(), size);
        assert_eq!(results[0], Outcome::Count(3));
        assert_eq!(results[1], Outcome::Sum(Number::Float(185.5)));
        assert_eq!(results[2], Outcome::Sum(Number::Float(205.5)));
        assert_eq!(results[3], Outcome::Count(1));
        assert_eq!(results[4], Outcome::Mean(Some(33.5)));
        let Outcome::Hist {
            shape,
            values,
            variances,
            fills,
        } = &results[5]
        else {
            panic!("{:?}", results[5]);
        };
        assert_eq!(shape, &[6, 3]);
        assert_eq!(*fills, 3);
        let expected = |w: f64| {
            let mut cells = [0.0; 18];
            for row in [1, 2, 4] {
                cells[row * 3 + 1] = w;
            }
            cells.to_vec()
        };
        assert_eq!(values, &expected(40.0));
        assert_eq!(variances.as_ref(), Some(&expected(1600.0)));
        assert_eq!(results[6], Outcome::Count(4));
        assert_eq!(results[7], Outcome::Sum(Number::Float(100.0)));
    }
}

#[test]
fn collections_can_be_defined() {
    let steps = Steps::new()
        .define("Muon_half", "Muon.pt / 2")
        .define("good", "Muon[Muon.pt > 15]")
        .define("lead", "good[0]")
        .filter("len(good) >= 1")
        .count()
        .sum("good.pt")
        .sum("good.charge * lead.charge")
        .sum("lead.half");
    for size in [1, 4] {
        let results = steps.run_in(&events(), size);
        assert_eq!(results[0], Outcome::Count(3));
        assert_eq!(results[1], Outcome::Sum(Number::Float(195.5)));
        assert_eq!(results[2], Outcome::Sum(Number::Int(1)));
        assert_eq!(results[3], Outcome::Sum(Number::Float(25.0 + 17.5 + 30.0)));
    }
}

#[test]
fn constants_count_once_per_event() {
    assert_eq!(sum("1"), 4.0);
    assert_eq!(sum("True"), 4.0);
    let hist = Steps::new().hist(&[("0.5", regular(1, 0.0, 1.0))], None);
    assert_eq!(values(&hist.run(&events())[0]), [0.0, 4.0, 0.0]);
    let with_items = Steps::new().hist(&[("0.5", regular(1, 0.0, 1.0))], Some("Muon_charge"));
    assert_eq!(values(&with_items.run(&events())[0]), [0.0, 0.0, 0.0]);
    assert_eq!(
        Steps::new().filter("False").count().run(&events()),
        [Outcome::Count(0)]
    );
    assert_eq!(
        Steps::new().filter("True").count().run(&events()),
        [Outcome::Count(4)]
    );
}

#[test]
fn errors_name_the_place() {
    assert_eq!(error("MET_pt + Moun_pt").1, "Moun_pt");
    let found = Steps::new()
        .sum("Moun_pt")
        .compile(&events())
        .err()
        .unwrap();
    assert_eq!(*found.suggestions, ["Muon_pt"]);
    let found = Steps::new()
        .sum("Muon.ptt")
        .compile(&events())
        .err()
        .unwrap();
    assert_eq!(found.suggestions[0], "pt");
    assert_eq!(error("1 + (label * 2)").1, "label * 2");
    assert_eq!(error("Muon + 1").1, "Muon");
    assert_eq!(error("sum(MET_pt)").1, "MET_pt");
    assert_eq!(error("2 * summ(Muon_pt)").1, "summ");
    assert_eq!(error("MET_pt[0]").1, "MET_pt");
    assert_eq!(error("P4[3]").1, "P4[3]");
    assert_eq!(error("Muon_pt[flag]").1, "flag");
    assert_eq!(error("Muon_pt + Jet_pt").1, "Muon_pt + Jet_pt");
    assert!(error("Muon_pt + Jet_pt").0.contains("nJet"));
    assert_eq!(error("Muon_pt[Jet_pt > 0]").1, "Jet_pt > 0");
    assert_eq!(
        error("Muon_pt[Muon_pt > 1] + Muon_pt").1,
        "Muon_pt[Muon_pt > 1] + Muon_pt"
    );
    assert_eq!(error("Muon_pt & 1").1, "Muon_pt & 1");
    assert_eq!(error("5 // 0").1, "5 // 0");
    assert_eq!(error("count(Muon_pt > 1)").1, "count(Muon_pt > 1)");
    assert_eq!(error("sqrt()").1, "sqrt()");
    assert_eq!(error("label < 1").1, "label < 1");
    let found = Steps::new()
        .filter("Muon_pt > 3")
        .count()
        .compile(&events());
    assert!(found.err().unwrap().message.contains("any("));
    let integers = treemill_query::spec::Axis::Boolean;
    let found = Steps::new()
        .hist(&[("MET_pt", integers)], None)
        .compile(&events());
    assert_eq!(found.err().unwrap().span, Some((0, 6)));
}

#[test]
fn lists_without_counter_must_match_at_run_time() {
    let table = events();
    let query = Steps::new().sum("vx * vz").compile(&table).unwrap();
    let mut partial = query.partial();
    let mut batch = table.batch(&query, 0, 4);
    let error = query.process(&mut batch, &mut partial, &mut Default::default());
    let message = error.err().unwrap().to_string();
    assert!(
        message.contains("vx") && message.contains("vz"),
        "{message}"
    );
}
