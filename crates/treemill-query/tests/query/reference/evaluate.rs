//! A slow evaluator to compare with: one event at a time, recursively, over values that know their
//! own types. It shares nothing with the engine but the syntax tree.

use super::lists::reduce;
use super::numbers::{Pair, binary, compare, int, logic, pair, real, truth, unary};
use std::collections::HashMap;
use treemill_query::spec::{Expr, Literal};

/// A value in one event.
#[derive(Debug, Clone, PartialEq)]
pub enum V {
    Missing,
    B(bool),
    I(i64),
    U(u64),
    F(f64),
    /// A list, and an example of its items (which an empty one has not).
    L(Vec<V>, Box<V>),
}

/// An event's columns.
pub type Event = HashMap<String, V>;

/// A value, and whether no column went into it (constants convert where columns do not).
#[derive(Clone)]
pub struct R {
    pub v: V,
    pub constant: bool,
}

pub fn evaluate(expr: &Expr, event: &Event) -> V {
    eval(expr, event).v
}

fn eval(expr: &Expr, event: &Event) -> R {
    let one = |expr: &Expr| eval(expr, event);
    match expr {
        Expr::Name { id, .. } => R {
            v: event.get(id).unwrap_or_else(|| panic!("no {id}")).clone(),
            constant: false,
        },
        Expr::Const { value, .. } => R {
            v: match value {
                Literal::Bool(x) => V::B(*x),
                Literal::Int(x) => V::I(*x),
                Literal::BigInt(x) => V::U(*x),
                Literal::Float(x) => V::F(*x),
                Literal::Str(_) => panic!("strings are not compared here"),
                Literal::Ints(_) => panic!("tables are no values"),
            },
            constant: true,
        },
        Expr::Unary { op, operand, .. } => each(&[one(operand)], &|args| unary(op, &args[0].v)),
        Expr::Binary {
            op, left, right, ..
        } => each(&[one(left), one(right)], &|args| {
            binary(op, &args[0], &args[1])
        }),
        Expr::Bool { op, values, .. } => {
            let values: Vec<R> = values.iter().map(one).collect();
            each(&values, &|args| logic(op, args))
        }
        Expr::Compare {
            left, ops, rights, ..
        } => {
            let mut all = vec![one(left)];
            all.extend(rights.iter().map(one));
            each(&all, &|args| {
                let pairs = args.windows(2).zip(ops);
                let links = pairs.map(|(pair, op)| R {
                    v: compare(op, &pair[0].v, &pair[1].v),
                    constant: false,
                });
                logic("and", &links.collect::<Vec<_>>())
            })
        }
        Expr::IfElse {
            test,
            body,
            otherwise,
            ..
        } => each(&[one(test), one(body), one(otherwise)], &choose),
        Expr::Index { value, index, .. } => at(one(value), index, event),
        Expr::Call { function, args, .. } => {
            let Expr::Name { id, .. } = &**function else {
                panic!("a method");
            };
            let args: Vec<R> = args.iter().map(one).collect();
            call(id, &args)
        }
        other => panic!("not compared: {other:?}"),
    }
}

/// Applies a function position by position; values of the event are repeated.
fn each(args: &[R], f: &dyn Fn(&[R]) -> V) -> R {
    let lengths = args.iter().filter_map(|arg| match &arg.v {
        V::L(list, _) => Some(list.len()),
        _ => None,
    });
    let constant = args.iter().all(|arg| arg.constant);
    let Some(n) = lengths.max() else {
        return R {
            v: f(args),
            constant,
        };
    };
    // The row of number `i`, or one of examples.
    let row = |i: Option<usize>| -> Vec<R> {
        let taken = |arg: &R| {
            let v = match (&arg.v, i) {
                (V::L(list, _), Some(i)) => list[i].clone(),
                (V::L(_, example), None) => (**example).clone(),
                (V::Missing, None) => V::F(1.0),
                (v, _) => v.clone(),
            };
            R {
                v,
                constant: arg.constant,
            }
        };
        args.iter().map(taken).collect()
    };
    let example = match f(&row(None)) {
        V::Missing => V::F(1.0),
        v => v,
    };
    R {
        v: V::L((0..n).map(|i| f(&row(Some(i)))).collect(), example.into()),
        constant: false,
    }
}

fn choose(args: &[R]) -> V {
    let Some(test) = truth(&args[0].v) else {
        return V::Missing;
    };
    let (chosen, other) = if test {
        (&args[1], &args[2])
    } else {
        (&args[2], &args[1])
    };
    if chosen.v == V::Missing || other.v == V::Missing {
        return match (&chosen.v, &other.v) {
            (V::Missing, _) => V::Missing,
            // The other's type is not known then; floats are what the tests use here.
            (v, _) => V::F(real(v)),
        };
    }
    if let (V::B(x), V::B(_)) = (&chosen.v, &other.v) {
        return V::B(*x);
    }
    match pair(chosen, other) {
        Pair::Ints(x, _) => V::I(x),
        Pair::UInts(x, _) => V::U(x),
        Pair::Reals(x, _) => V::F(x),
    }
}

fn at(value: R, index: &Expr, event: &Event) -> R {
    let V::L(list, example) = value.v else {
        panic!("no list");
    };
    let v = if let Expr::Slice {
        lower, upper, step, ..
    } = index
    {
        let bound =
            |bound: &Option<Box<Expr>>| bound.as_ref().map(|expr| int(&evaluate(expr, event)));
        V::L(
            slice(&list, bound(lower), bound(upper), bound(step).unwrap_or(1)),
            example,
        )
    } else {
        let expr = index;
        match evaluate(expr, event) {
            V::L(mask, _) => V::L(
                list.into_iter()
                    .zip(mask)
                    .filter(|(_, keep)| truth(keep) == Some(true))
                    .map(|(item, _)| item)
                    .collect(),
                example,
            ),
            V::Missing => V::Missing,
            index => {
                // Constants only count from the end: -1 in a column means that there is none.
                let place = int(&index);
                let n = list.len() as i64;
                let from_end = place < 0 && eval(expr, event).constant;
                let place = if from_end { place + n } else { place };
                let place = usize::try_from(place).ok();
                place
                    .and_then(|place| list.get(place).cloned())
                    .unwrap_or(V::Missing)
            }
        }
    };
    R { v, constant: false }
}

/// Item by item, as Python's slice walks.
fn slice(list: &[V], lower: Option<i64>, upper: Option<i64>, step: i64) -> Vec<V> {
    let n = list.len() as i64;
    let from_end = |bound: i64| if bound < 0 { bound + n } else { bound };
    let mut found = Vec::new();
    if step > 0 {
        let mut i = lower.map_or(0, from_end).max(0);
        while i < upper.map_or(n, from_end).min(n) {
            found.push(list[i as usize].clone());
            i += step;
        }
    } else {
        let mut i = lower.map_or(n - 1, from_end).min(n - 1);
        while i > upper.map_or(-1, from_end).max(-1) {
            found.push(list[i as usize].clone());
            i += step;
        }
    }
    found
}

fn call(name: &str, args: &[R]) -> R {
    let missing = |v: V| R { v, constant: false };
    const REDUCTIONS: [&str; 11] = [
        "sum", "prod", "any", "all", "count", "mean", "argmin", "argmax", "len", "min", "max",
    ];
    if let [
        R {
            v: V::L(list, example),
            ..
        },
    ] = args
        && REDUCTIONS.contains(&name)
    {
        return missing(reduce(name, list, example));
    }
    match name {
        "first" | "last" => {
            let V::L(list, _) = &args[0].v else {
                panic!("no list");
            };
            let item = if name == "first" {
                list.first()
            } else {
                list.last()
            };
            missing(item.cloned().unwrap_or(V::Missing))
        }
        "is_missing" => each(args, &|args| V::B(args[0].v == V::Missing)),
        "fill_missing" => each(args, &|args| {
            // Both become one type; the tests use floats here.
            let v = if args[0].v == V::Missing {
                &args[1].v
            } else {
                &args[0].v
            };
            V::F(real(v))
        }),
        "where" => each(args, &choose),
        "min" | "max" => each(args, &|args| {
            let mut best = args[0].clone();
            for next in &args[1..] {
                if best.v == V::Missing || next.v == V::Missing {
                    return V::Missing;
                }
                let least = name == "min";
                // Of an integer with a sign and one without, both are exact.
                let signs = match (&best.v, &next.v) {
                    (V::I(x), V::U(y)) | (V::U(y), V::I(x)) => {
                        Some((i128::from(*x), i128::from(*y)))
                    }
                    _ => None,
                };
                if let Some((x, y)) = signs {
                    best.v = match least {
                        true => V::I(x.min(y) as i64),
                        false => V::U(x.max(y) as u64),
                    };
                    continue;
                }
                best.v = match pair(&best, next) {
                    Pair::Ints(x, y) => V::I(if least { x.min(y) } else { x.max(y) }),
                    Pair::UInts(x, y) => V::U(if least { x.min(y) } else { x.max(y) }),
                    Pair::Reals(x, y) if x.is_nan() || y.is_nan() => V::F(f64::NAN),
                    Pair::Reals(x, y) if x == y => V::F(x),
                    Pair::Reals(x, y) => V::F(if least == (x < y) { x } else { y }),
                };
            }
            best.v
        }),
        "abs" => each(args, &|args| match &args[0].v {
            V::Missing => V::Missing,
            V::F(x) => V::F(x.abs()),
            V::U(x) => V::U(*x),
            v => V::I(int(v).wrapping_abs()),
        }),
        "floor" => each(args, &|args| match &args[0].v {
            V::F(x) => V::F(x.floor()),
            V::B(x) => V::I(i64::from(*x)),
            v => v.clone(),
        }),
        "sqrt" | "exp" | "isnan" | "isfinite" => each(args, &|args| {
            if args[0].v == V::Missing {
                return V::Missing;
            }
            let x = real(&args[0].v);
            match name {
                "sqrt" => V::F(x.sqrt()),
                "exp" => V::F(x.exp()),
                "isnan" => V::B(x.is_nan()),
                _ => V::B(x.is_finite()),
            }
        }),
        "hypot" => each(args, &|args| {
            if args.iter().any(|arg| arg.v == V::Missing) {
                return V::Missing;
            }
            V::F(real(&args[0].v).hypot(real(&args[1].v)))
        }),
        other => panic!("not compared: {other}"),
    }
}
