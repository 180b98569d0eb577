//! Files of models: XGBoost's JSON and LightGBM's text. What is read is evaluated for a few rows.
#![no_main]

use libfuzzer_sys::fuzz_target;
use treemill_functions::trees::{Model, Output};

/// Arguments that are given, at most: files may ask for more, which takes time and shows nothing.
const ARGUMENTS: usize = 1000;

fuzz_target!(|data: &[u8]| {
    for model in [Model::from_xgboost(data), Model::from_lightgbm(data)].into_iter().flatten() {
        if model.features().len() > ARGUMENTS {
            continue;
        }
        let rows = [f64::NAN, 0.0, 1.0, -1e30, 40.5];
        let arguments: Vec<&[f64]> = model.features().iter().map(|_| rows.as_slice()).collect();
        for raw in [false, true] {
            for number in 0..model.outputs(raw).min(3) {
                let mut out = [0.0; 5];
                let done = model.evaluate(&arguments, Output { number, raw }, &mut out);
                assert!(done.is_ok());
            }
        }
    }
});
