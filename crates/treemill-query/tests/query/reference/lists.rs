//! Reductions of the slow evaluator, item by item.

use super::evaluate::V;
use super::numbers::{compare, int, real, truth};

pub fn reduce(name: &str, list: &[V], example: &V) -> V {
    if name == "len" {
        return V::I(list.len() as i64);
    }
    let present: Vec<(usize, &V)> = list
        .iter()
        .enumerate()
        .filter(|(_, v)| **v != V::Missing)
        .collect();
    let reals = || present.iter().map(|(_, v)| real(v));
    match name {
        "count" => V::I(present.len() as i64),
        "any" => V::B(present.iter().any(|(_, v)| truth(v) == Some(true))),
        "all" => V::B(present.iter().all(|(_, v)| truth(v) == Some(true))),
        "sum" => match example {
            V::F(_) => V::F(reals().fold(0.0, |sum, x| sum + x)),
            V::U(_) => V::U(
                present
                    .iter()
                    .fold(0, |sum: u64, (_, v)| sum.wrapping_add(int(v) as u64)),
            ),
            _ => V::I(
                present
                    .iter()
                    .fold(0, |sum: i64, (_, v)| sum.wrapping_add(int(v))),
            ),
        },
        "prod" => match example {
            V::F(_) => V::F(reals().fold(1.0, |product, x| product * x)),
            V::U(_) => V::U(present.iter().fold(1, |product: u64, (_, v)| {
                product.wrapping_mul(int(v) as u64)
            })),
            _ => V::I(
                present
                    .iter()
                    .fold(1, |product: i64, (_, v)| product.wrapping_mul(int(v))),
            ),
        },
        "mean" if present.is_empty() => V::Missing,
        "mean" => V::F(reals().fold(0.0, |sum, x| sum + x) / present.len() as f64),
        "min" | "max" | "argmin" | "argmax" => {
            let mut best: Option<(usize, &V)> = None;
            for (i, v) in present {
                let better = best.is_none_or(|(_, old)| {
                    let nan = |v: &V| matches!(v, V::F(x) if x.is_nan());
                    let op = if name.ends_with("min") { "<" } else { ">" };
                    compare(op, v, old) == V::B(true) || (nan(old) && !nan(v))
                });
                if better {
                    best = Some((i, v));
                }
            }
            match best {
                None => V::Missing,
                Some((i, _)) if name.starts_with("arg") => V::I(i as i64),
                Some((_, v)) => v.clone(),
            }
        }
        other => panic!("{other}"),
    }
}
