//! Operators of the slow evaluator, on two values of one event.

use super::evaluate::{R, V};

pub fn real(v: &V) -> f64 {
    match v {
        V::B(x) => f64::from(u8::from(*x)),
        V::I(x) => *x as f64,
        V::U(x) => *x as f64,
        V::F(x) => *x,
        other => panic!("{other:?} is no number"),
    }
}

pub fn int(v: &V) -> i64 {
    match v {
        V::B(x) => i64::from(*x),
        V::I(x) => *x,
        V::U(x) => *x as i64,
        other => panic!("{other:?} is no integer"),
    }
}

pub fn truth(v: &V) -> Option<bool> {
    match v {
        V::Missing => None,
        V::B(x) => Some(*x),
        V::I(x) => Some(*x != 0),
        V::U(x) => Some(*x != 0),
        V::F(x) => Some(*x != 0.0),
        V::L(..) => panic!("a list is no condition"),
    }
}

/// The type that two numbers are computed in.
pub enum Pair {
    Ints(i64, i64),
    UInts(u64, u64),
    Reals(f64, f64),
}

pub fn pair(a: &R, b: &R) -> Pair {
    let unsigned = |r: &R| match &r.v {
        V::U(x) => Some(*x),
        V::B(x) => Some(u64::from(*x)),
        V::I(x) if r.constant => u64::try_from(*x).ok(),
        _ => None,
    };
    match (&a.v, &b.v) {
        (V::F(_), _) | (_, V::F(_)) => Pair::Reals(real(&a.v), real(&b.v)),
        (V::U(_), _) | (_, V::U(_)) => match (unsigned(a), unsigned(b)) {
            (Some(x), Some(y)) => Pair::UInts(x, y),
            _ => Pair::Reals(real(&a.v), real(&b.v)),
        },
        _ => Pair::Ints(int(&a.v), int(&b.v)),
    }
}

pub fn unary(op: &str, v: &V) -> V {
    if *v == V::Missing {
        return V::Missing;
    }
    match (op, v) {
        ("not", _) => V::B(!truth(v).expect("present")),
        ("-", V::F(x)) => V::F(-x),
        ("-", V::U(x)) => i64::try_from(-i128::from(*x)).map_or(V::Missing, V::I),
        ("-", _) => V::I(int(v).wrapping_neg()),
        ("~", V::B(x)) => V::B(!x),
        ("~", V::U(x)) => V::U(!x),
        ("~", _) => V::I(!int(v)),
        ("+", V::B(x)) => V::I(i64::from(*x)),
        ("+", _) => v.clone(),
        other => panic!("{other:?}"),
    }
}

pub fn binary(op: &str, a: &R, b: &R) -> V {
    if a.v == V::Missing || b.v == V::Missing {
        return V::Missing;
    }
    if op == "/" {
        return V::F(real(&a.v) / real(&b.v));
    }
    if matches!(op, "&" | "|" | "^") {
        if let (V::B(x), V::B(y)) = (&a.v, &b.v) {
            return V::B(match op {
                "&" => *x && *y,
                "|" => *x || *y,
                _ => x != y,
            });
        }
        let (x, y) = (int(&a.v), int(&b.v));
        return V::I(match op {
            "&" => x & y,
            "|" => x | y,
            _ => x ^ y,
        });
    }
    match pair(a, b) {
        Pair::Ints(x, y) => match op {
            "+" => V::I(x.wrapping_add(y)),
            "-" => V::I(x.wrapping_sub(y)),
            "*" => V::I(x.wrapping_mul(y)),
            "//" | "%" if y == 0 => V::Missing,
            // Through wider integers, where nothing overflows.
            "//" => V::I((i128::from(x) - floor_mod(x, y)).wrapping_div(y.into()) as i64),
            "%" => V::I(floor_mod(x, y) as i64),
            "**" if b.constant && y >= 0 => {
                V::I((0..y).fold(1, |product: i64, _| product.wrapping_mul(x)))
            }
            "**" => V::F(power(x as f64, y as f64, b.constant)),
            other => panic!("{other}"),
        },
        Pair::UInts(x, y) => match op {
            "+" => V::U(x.wrapping_add(y)),
            "-" => V::U(x.wrapping_sub(y)),
            "*" => V::U(x.wrapping_mul(y)),
            "**" if b.constant => V::U((0..y).fold(1, |product: u64, _| product.wrapping_mul(x))),
            "//" => x.checked_div(y).map_or(V::Missing, V::U),
            "%" => x.checked_rem(y).map_or(V::Missing, V::U),
            other => panic!("{other}"),
        },
        Pair::Reals(x, y) => V::F(match op {
            "+" => x + y,
            "-" => x - y,
            "*" => x * y,
            "**" => power(x, y, b.constant),
            other => panic!("{other}"),
        }),
    }
}

fn power(x: f64, y: f64, constant: bool) -> f64 {
    if constant && y == 2.0 {
        x * x
    } else {
        x.powf(y)
    }
}

fn floor_mod(x: i64, y: i64) -> i128 {
    let (x, y) = (i128::from(x), i128::from(y));
    let rest = x % y;
    if rest != 0 && (rest < 0) != (y < 0) {
        rest + y
    } else {
        rest
    }
}

pub fn logic(op: &str, args: &[R]) -> V {
    let decides = op == "or";
    let mut missing = false;
    for arg in args {
        match truth(&arg.v) {
            Some(x) if x == decides => return V::B(decides),
            Some(_) => (),
            None => missing = true,
        }
    }
    if missing { V::Missing } else { V::B(!decides) }
}

pub fn compare(op: &str, a: &V, b: &V) -> V {
    if *a == V::Missing || *b == V::Missing {
        return V::Missing;
    }
    let wide = |v: &V| match v {
        V::U(x) => i128::from(*x),
        _ => i128::from(int(v)),
    };
    let order = match (a, b) {
        (V::F(x), V::F(y)) => x.partial_cmp(y),
        (V::F(x), _) => with_int(*x, wide(b)),
        (_, V::F(y)) => with_int(*y, wide(a)).map(std::cmp::Ordering::reverse),
        _ => Some(wide(a).cmp(&wide(b))),
    };
    use std::cmp::Ordering::{Equal, Greater, Less};
    V::B(match op {
        "==" => order == Some(Equal),
        "!=" => order != Some(Equal),
        "<" => order == Some(Less),
        "<=" => matches!(order, Some(Less | Equal)),
        ">" => order == Some(Greater),
        ">=" => matches!(order, Some(Greater | Equal)),
        other => panic!("{other}"),
    })
}

fn with_int(x: f64, y: i128) -> Option<std::cmp::Ordering> {
    if x.is_nan() {
        return None;
    }
    // Integers here have 64 bits; what is beyond is as good as infinite.
    if x.abs() >= 1e30 {
        return x.partial_cmp(&0.0);
    }
    let whole = (x.trunc() as i128).cmp(&y);
    Some(whole.then(x.fract().partial_cmp(&0.0)?))
}
