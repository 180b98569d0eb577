//! Whatever a file says, reading it gives a model or an error, and evaluation ends with numbers. Rows that are evaluated
//! together have the numbers of each alone.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

use proptest::prelude::*;
use treemill_functions::trees::{Argument, Model, Output};

/// A tree's places: children anywhere near, features and thresholds mostly right.
#[derive(Debug, Clone)]
struct Places {
    left: Vec<i64>,
    right: Vec<i64>,
    features: Vec<i64>,
    values: Vec<f32>,
    flags: Vec<u8>,
}

/// Trees that grow from the root as they should, and then have a few places changed.
fn places() -> impl Strategy<Value = Places> {
    let node = (0..3_i64, -2.0..2.0_f32, 0..2_u8, any::<bool>());
    let changes = prop::collection::vec((any::<prop::sample::Index>(), -3..12_i64, 0..4_u8), 0..2);
    (prop::collection::vec(node, 1..40), changes).prop_map(|(nodes, changes)| {
        let mut places = Places {
            left: vec![-1],
            right: vec![-1],
            features: vec![0],
            values: vec![0.5],
            flags: vec![0],
        };
        for (i, (feature, threshold, flag, splits)) in nodes.iter().enumerate() {
            if i < places.left.len() && (*splits || i == 0) {
                let next = places.left.len() as i64;
                places.left[i] = next;
                places.right[i] = next + 1;
                places.features[i] = *feature;
                places.flags[i] = *flag;
                for value in [threshold * 0.3, threshold * 0.7] {
                    places.left.push(-1);
                    places.right.push(-1);
                    places.features.push(0);
                    places.values.push(value);
                    places.flags.push(0);
                }
                places.values[i] = *threshold;
            }
        }
        for (at, to, what) in changes {
            let at = at.index(places.left.len());
            match what {
                0 => places.left[at] = to,
                1 => places.right[at] = to,
                2 => places.features[at] = to,
                _ => _ = places.values.pop(),
            }
        }
        places
    })
}

fn xgboost(trees: &[Places], objective: &str) -> String {
    let trees: Vec<String> = trees
        .iter()
        .map(|tree| {
            format!(
                r#"{{"left_children":{:?},"right_children":{:?},"split_indices":{:?},"split_conditions":{:?},
                "default_left":{:?},"split_type":{:?},"categories":[1,70000000,3],"categories_nodes":[0,1],
                "categories_segments":[0,2],"categories_sizes":[2,1],"tree_param":{{}}}}"#,
                tree.left,
                tree.right,
                tree.features,
                tree.values,
                tree.flags,
                tree.features.iter().enumerate().map(|(i, f)| u8::from(*f == 2 && i < 2)).collect::<Vec<_>>(),
            )
        })
        .collect();
    let groups: Vec<usize> = (0..trees.len()).map(|i| i % 2).collect();
    format!(
        r#"{{"learner":{{"gradient_booster":{{"name":"gbtree","model":{{"trees":[{}],"tree_info":{groups:?}}}}},
        "learner_model_param":{{"base_score":"5E-1","num_class":"2","num_feature":"3"}},
        "objective":{{"name":"{objective}"}}}}}}"#,
        trees.join(",")
    )
}

fn words<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    let words: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    words.join(" ")
}

/// The same places as LightGBM has them: nodes and leaves have numbers of their own.
fn lightgbm(trees: &[Places], objective: &str) -> String {
    let mut text = format!(
        "tree\nversion=v4\nnum_class=2\nnum_tree_per_iteration=2\nmax_feature_idx=2\nobjective={objective}\n\
         feature_names=a b c\n\n"
    );
    for (i, tree) in trees.iter().enumerate() {
        let is_leaf = |at: usize| tree.left[at] == -1;
        let before =
            |at: usize, leaves: bool| (0..at).filter(|at| is_leaf(*at) == leaves).count() as i64;
        let named = |child: i64| match usize::try_from(child) {
            Ok(at) if at < tree.left.len() && is_leaf(at) => -1 - before(at, true),
            Ok(at) if at < tree.left.len() => before(at, false),
            _ => child,
        };
        let of = |leaves: bool| (0..tree.left.len()).filter(move |at| is_leaf(*at) == leaves);
        let inner: Vec<usize> = of(false).collect();
        let value = |at: usize| tree.values.get(at).copied().unwrap_or(1.0);
        text += &format!(
            "Tree={i}\nnum_leaves={}\nnum_cat=1\nsplit_feature={}\nthreshold={}\ndecision_type={}\nleft_child={}\n\
             right_child={}\nleaf_value={}\ncat_boundaries=0 2\ncat_threshold=5 1\n\n",
            inner.len() + 1,
            words(inner.iter().map(|at| tree.features[*at])),
            words(inner.iter().map(|at| value(*at).abs())),
            words(
                inner
                    .iter()
                    .map(|at| [10, 8, 4, 6, 0, 1][(at + usize::from(tree.flags[*at])) % 6])
            ),
            words(inner.iter().map(|at| named(tree.left[*at]))),
            words(inner.iter().map(|at| named(tree.right[*at]))),
            words(of(true).map(value)),
        );
    }
    text + "end of trees\n"
}

/// Rows that share values, all and some of them, get what they get with values of their own.
fn shared(model: &Model, raw: bool, columns: &[Vec<f64>]) {
    let output = Output { number: 0, raw };
    // A few values, as many as rows, and those of rows themselves.
    let few: Vec<f64> = columns[0][255..].to_vec();
    let places = |step: u32, most: usize| -> Vec<u32> {
        (0..300).map(|row| row * step % most as u32).collect()
    };
    let at = [places(7, few.len()), places(11, 300), places(13, 300)];
    let then: Vec<u32> = at[1].iter().map(|place| at[2][*place as usize]).collect();
    let through = |values: &[f64], places: &[u32]| -> Vec<f64> {
        places.iter().map(|place| values[*place as usize]).collect()
    };
    let alone = [
        through(&few, &at[0]),
        through(&columns[1], &then),
        columns[2].clone(),
    ];
    let alone: Vec<&[f64]> = alone.iter().map(Vec::as_slice).collect();
    let mut wanted = vec![0.0; 300];
    model.evaluate(&alone, output, &mut wanted).unwrap();
    let argument = |values, places| Argument { values, places };
    let one = [&at[0][..]];
    let two = [&at[1][..], &at[2]];
    let given = [
        argument(&few[..], &one[..]),
        argument(&columns[1], &two),
        argument(&columns[2], &[]),
    ];
    let bits = |all: &[f64]| -> Vec<u64> { all.iter().map(|x| x.to_bits()).collect() };
    let mut found = vec![0.0; 300];
    model
        .evaluate_shared(&given, None, output, &mut found)
        .unwrap();
    assert_eq!(bits(&found), bits(&wanted));
    let chosen: Vec<u32> = (0..300).filter(|row| row % 3 != 1).rev().collect();
    let mut some = vec![0.0; chosen.len()];
    model
        .evaluate_shared(&given, Some(&chosen), output, &mut some)
        .unwrap();
    assert_eq!(bits(&some), bits(&through(&wanted, &chosen)));
    for (wrong, chosen) in [
        (argument(&few[1..], &one[..]), None),
        (argument(&few, &[&at[0][1..]]), None),
        (argument(&columns[1], &[&at[1], &at[2][..299]]), None),
        (argument(&few, &[]), None),
        (given[0], Some(&[299, 300][..])),
        (given[0], Some(&[299][..])),
    ] {
        let given = [wrong, given[1], given[2]];
        let count = if chosen.is_some() { 2 } else { 300 };
        let mut out = vec![0.0; count];
        let done = model.evaluate_shared(&given, chosen, output, &mut out);
        assert!(done.is_err(), "{wrong:?} {chosen:?}");
    }
}

/// Every output of a model, for many rows and for each of them.
fn evaluated(model: &Model) {
    let strange = [
        f64::NAN,
        0.0,
        -0.0,
        1e300,
        f64::INFINITY,
        f64::NEG_INFINITY,
        1e-36,
        0.5,
        -1.0,
        7e7,
    ];
    let column = |step: usize| -> Vec<f64> {
        let regular = (0..290).map(|i| ((i * step % 97) as f64 / 97.0).mul_add(4.0, -2.0));
        regular
            .chain(strange.iter().cycle().skip(step).take(10).copied())
            .collect()
    };
    let columns: Vec<Vec<f64>> = [3, 5, 11].iter().map(|step| column(*step)).collect();
    let given: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    for raw in [false, true] {
        for number in 0..model.outputs(raw) {
            let output = Output { number, raw };
            let mut together = vec![0.0; 300];
            model.evaluate(&given, output, &mut together).unwrap();
            for row in (0..300).step_by(37).chain(290..300) {
                let alone: Vec<&[f64]> = given.iter().map(|all| &all[row..=row]).collect();
                let mut out = [0.0];
                model.evaluate(&alone, output, &mut out).unwrap();
                assert_eq!(out[0].to_bits(), together[row].to_bits());
            }
        }
        let output = Output {
            number: model.outputs(raw),
            raw,
        };
        assert!(model.evaluate(&given, output, &mut [0.0]).is_err());
        shared(model, raw, &columns);
    }
    assert!(
        model
            .evaluate(
                &given[1..],
                Output {
                    number: 0,
                    raw: true
                },
                &mut [0.0]
            )
            .is_err()
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn files_never_panic(trees in prop::collection::vec(places(), 0..4), which in 0..3_usize) {
        let objective = ["multi:softprob", "multi:softmax", "binary:logistic"][which];
        if let Ok(model) = Model::from_xgboost(xgboost(&trees, objective).as_bytes()) {
            evaluated(&model);
        }
        let objective = ["multiclass num_class:2", "multiclassova num_class:2 sigmoid:2", "regression sqrt"][which];
        if let Ok(model) = Model::from_lightgbm(lightgbm(&trees, objective).as_bytes()) {
            evaluated(&model);
        }
    }

    #[test]
    fn changed_files_never_panic(
        trees in prop::collection::vec(places(), 1..3),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut text = xgboost(&trees, "multi:softprob").into_bytes();
        let here = at.index(text.len());
        text[here] = byte;
        let _ = Model::from_xgboost(&text).map(|model| evaluated_if_three(&model));
        let _ = Model::from_xgboost(&text[..here]);
        let mut text = lightgbm(&trees, "multiclass").into_bytes();
        let here = at.index(text.len());
        text[here] = byte;
        let _ = Model::from_lightgbm(&text).map(|model| evaluated_if_three(&model));
        let _ = Model::from_lightgbm(&text[..here]).map(|model| evaluated_if_three(&model));
    }
}

fn evaluated_if_three(model: &Model) {
    if model.features().len() == 3 && model.outputs(true) < 10 {
        evaluated(model);
    }
}

/// A tree as deep as it has nodes, and one that leads to itself.
#[test]
fn deep_trees_end_and_circles_are_errors() {
    let depth = 3000_i64;
    let mut tree = Places {
        left: (0..depth)
            .map(|i| 2 * i + 1)
            .flat_map(|left| [left, -1])
            .collect(),
        right: (0..depth)
            .map(|i| 2 * i + 2)
            .flat_map(|right| [right, -1])
            .collect(),
        features: vec![0; 2 * depth as usize],
        values: (0..2 * depth).map(|i| i as f32 * -1e-4).collect(),
        flags: vec![0; 2 * depth as usize],
    };
    let last = tree.left.len() - 2;
    (tree.left[last], tree.right[last]) = (-1, -1);
    let model = Model::from_xgboost(xgboost(&[tree.clone()], "multi:softprob").as_bytes()).unwrap();
    evaluated(&model);
    // The last place is the child of no other, which XGBoost's files may have.
    let mut all = tree.clone();
    for list in [&mut all.left, &mut all.right, &mut all.features] {
        list.pop();
    }
    let text = lightgbm(&[all.clone(), all], "multiclass num_class:2");
    evaluated(&Model::from_lightgbm(text.as_bytes()).unwrap());
    tree.left[last] = 0;
    let error = Model::from_xgboost(xgboost(&[tree], "multi:softprob").as_bytes()).unwrap_err();
    assert!(
        error
            .message
            .contains("two ways lead to node 0 (in tree 0)"),
        "{error}"
    );
}

/// One large number does not make a large set.
#[test]
fn sets_of_few_categories_stay_small() {
    let tree = |categories: usize| {
        let listed: Vec<u32> = (0..categories as u32).map(|i| 16_000_000 - i).collect();
        let ones = vec![1; categories];
        let places: Vec<usize> = (0..categories).collect();
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for i in 0..categories as i64 {
            left.push(2 * i + 1);
            left.push(-1);
            right.push(2 * i + 2);
            right.push(-1);
        }
        left.push(-1);
        right.push(-1);
        let all = left.len();
        let nodes: Vec<usize> = places.iter().map(|i| 2 * i).collect();
        let types: Vec<u8> = left.iter().map(|left| u8::from(*left != -1)).collect();
        format!(
            r#"{{"left_children":{left:?},"right_children":{right:?},"split_indices":{:?},"split_conditions":{:?},
            "default_left":{:?},"split_type":{types:?},"categories":{listed:?},"categories_nodes":{nodes:?},
            "categories_segments":{places:?},"categories_sizes":{ones:?},"tree_param":{{}}}}"#,
            vec![0; all],
            vec![0.5; all],
            vec![0; all],
        )
    };
    let text = format!(
        r#"{{"learner":{{"gradient_booster":{{"name":"gbtree","model":{{"trees":[{}],"tree_info":[0]}}}},
        "learner_model_param":{{"base_score":"0","num_class":"0","num_feature":"1"}},
        "objective":{{"name":"reg:squarederror"}}}}}}"#,
        tree(1000)
    );
    let model = Model::from_xgboost(text.as_bytes()).unwrap();
    let mut out = [0.0; 2];
    let output = Output {
        number: 0,
        raw: false,
    };
    model
        .evaluate(&[&[16_000_000.0, 1.0]], output, &mut out)
        .unwrap();
    assert_eq!(out, [0.5, 0.5]);
}
