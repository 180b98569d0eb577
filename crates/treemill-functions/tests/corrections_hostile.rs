//! Whatever a document says, reading it gives a correction set or an error, and evaluation a number or an error.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use proptest::prelude::*;
use treemill_functions::corrections::{Argument, Constant, CorrectionSet};

/// Pieces of documents, some of them broken.
fn content() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        Just("1".to_owned()),
        Just("-0.5".to_owned()),
        Just("NaN".to_owned()),
        Just("1e308".to_owned()),
        Just("\"clamp\"".to_owned()),
        Just("null".to_owned()),
        any::<f64>().prop_map(|x| format!("{x:e}")),
    ];
    let name = prop_oneof![Just("x"), Just("n"), Just("s"), Just("none")];
    let flow = prop_oneof![
        Just("\"clamp\""),
        Just("\"error\""),
        Just("\"wrap\""),
        Just("1.5"),
        Just("[]")
    ];
    let formula = prop_oneof![
        "[-+x\\[\\]0-9()a-z*^.<&| ]{0,20}",
        Just("x/0+log(-x)^[0]".to_owned()),
    ];
    number.prop_recursive(4, 40, 4, move |inner| {
        let items = prop::collection::vec(inner.clone(), 0..4);
        let edges = prop::collection::vec(-3.0..3.0_f64, 0..5);
        prop_oneof![
            (name.clone(), edges, items.clone(), flow.clone()).prop_map(|(name, edges, items, flow)| format!(
                r#"{{"nodetype":"binning","input":"{name}","edges":{edges:?},"content":[{}],"flow":{flow}}}"#,
                items.join(",")
            )),
            (name.clone(), 0..4_u32, items.clone(), flow.clone()).prop_map(|(name, n, items, flow)| format!(
                r#"{{"nodetype":"multibinning","inputs":["{name}"],"edges":[{{"n":{n},"low":-1.0,"high":1.5}}],"content":[{}],"flow":{flow}}}"#,
                items.join(",")
            )),
            (name.clone(), inner.clone(), inner.clone()).prop_map(|(name, a, b)| format!(
                r#"{{"nodetype":"category","input":"{name}","content":[{{"key":1,"value":{a}}}],"default":{b}}}"#
            )),
            (name.clone(), inner.clone(), inner).prop_map(|(name, a, b)| format!(
                r#"{{"nodetype":"transform","input":"{name}","rule":{a},"content":{b}}}"#
            )),
            formula.clone().prop_map(|text| format!(
                r#"{{"nodetype":"formula","expression":"{text}","parser":"TFormula","variables":["x"],"parameters":[2]}}"#
            )),
            Just(r#"{"nodetype":"formularef","index":0,"parameters":[1.0]}"#.to_owned()),
            Just(r#"{"nodetype":"hashprng","inputs":["x","n"],"distribution":"normal"}"#.to_owned()),
        ]
    })
}

fn document(content: &str) -> String {
    format!(
        r#"{{"schema_version":2,"corrections":[{{"name":"a","version":1,
        "inputs":[{{"name":"x","type":"real"}},{{"name":"n","type":"int"}},{{"name":"s","type":"string"}}],
        "output":{{"name":"w","type":"real"}},
        "generic_formulas":[{{"expression":"x*[0]","parser":"TFormula","variables":["x"]}}],
        "data":{content}}}]}}"#
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn documents_never_panic(content in content()) {
        let Ok(set) = CorrectionSet::parse(document(&content).as_bytes()) else {
            return Ok(());
        };
        let sf = &set.corrections()["a"];
        let constants = [None, Some(Constant::Integer(1)), Some(Constant::Text(b"b".to_vec()))];
        let special = sf.specialised(&constants).unwrap();
        for x in [-5.0, -0.5, 0.0, 1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300] {
            let arguments = [Argument::Real(&[x]), Argument::Integer(&[1]), Argument::Text(&[b"b"])];
            let (mut plain, mut fast) = ([0.0], [0.0]);
            let a = sf.evaluate(&arguments, &mut plain);
            let b = special.evaluate(&arguments, &mut fast);
            prop_assert_eq!(&a, &b);
            prop_assert_eq!(plain[0].to_bits(), fast[0].to_bits());
        }
        // Many rows have the values of each row alone, or the error of the first one that has none.
        for wide in [1.0, 100.0] {
            let x: Vec<f64> = (0..200).map(|i| (f64::from(i) * 0.37).sin() * wide).collect();
            let mut many = vec![0.0; x.len()];
            let tail = [Argument::Integer(&[1]), Argument::Text(&[b"b"])];
            let found = sf.evaluate(&[Argument::Real(&x), tail[0], tail[1]], &mut many);
            let mut wanted = Ok(());
            for (x, many) in x.iter().zip(&many) {
                let mut one = [0.0];
                wanted = sf.evaluate(&[Argument::Real(&[*x]), tail[0], tail[1]], &mut one);
                if wanted.is_err() {
                    break;
                }
                prop_assert!(found.is_err() || many.to_bits() == one[0].to_bits());
            }
            prop_assert_eq!(found, wanted);
        }
    }

    #[test]
    fn changed_documents_never_panic(content in content(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut text = document(&content).into_bytes();
        let at = at.index(text.len());
        text[at] = byte;
        let _ = CorrectionSet::parse(&text);
        let _ = CorrectionSet::parse(&text[..at]);
    }
}

#[test]
fn deep_ones_are_errors() {
    let mut content = "1".to_owned();
    for _ in 0..10_000 {
        content = format!(r#"{{"nodetype":"transform","input":"x","rule":1,"content":{content}}}"#);
    }
    let error = CorrectionSet::parse(document(&content).as_bytes()).unwrap_err();
    assert!(error.message.contains("brackets in one another"), "{error}");
}
