//! Random expressions, as text. `A_…` are lists with a counter, `free` has none, `fixed` has three.

use proptest::prelude::*;

fn constant() -> BoxedStrategy<String> {
    prop_oneof![
        (0..9_i32).prop_map(|x| x.to_string()),
        (0..40_i32).prop_map(|x| format!("{:?}", f64::from(x) / 8.0)),
    ]
    .boxed()
}

fn join(
    a: BoxedStrategy<String>,
    ops: &'static [&'static str],
    b: BoxedStrategy<String>,
) -> BoxedStrategy<String> {
    (a, prop::sample::select(ops), b)
        .prop_map(|(a, op, b)| format!("({a} {op} {b})"))
        .boxed()
}

fn of(names: &'static [&'static str], arg: BoxedStrategy<String>) -> BoxedStrategy<String> {
    (prop::sample::select(names), arg)
        .prop_map(|(name, arg)| format!("{name}({arg})"))
        .boxed()
}

const ARITHMETIC: &[&str] = &["+", "-", "*", "/"];
const COMPARE: &[&str] = &["<", "<=", ">", ">=", "==", "!="];

/// One number per event.
pub fn scalar(depth: u32) -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        prop::sample::select(&["x", "i", "l", "u", "nA", "x", "i"][..]).prop_map(str::to_owned),
        constant(),
    ]
    .boxed();
    if depth == 0 {
        return leaf;
    }
    let (inner, lists, masks) = (scalar(depth - 1), list(depth - 1), mask(depth - 1));
    let index = prop_oneof![
        (-3..4_i32).prop_map(|i| i.to_string()),
        integer(depth - 1).prop_map(|i| format!("{i} + 0"))
    ]
    .boxed();
    let present = inner
        .clone()
        .prop_map(|text| format!("fill_missing({text} * 1.0, 0.5)"));
    prop_oneof![
        1 => leaf,
        3 => join(inner.clone(), ARITHMETIC, inner.clone()),
        1 => inner.clone().prop_map(|text| format!("(-{text})")),
        1 => inner.clone().prop_map(|text| format!("({text} ** 2)")),
        1 => of(&["abs", "sqrt", "floor"], inner.clone()),
        1 => (prop::sample::select(&["min", "max"][..]), inner.clone(), inner.clone())
            .prop_map(|(name, a, b)| format!("{name}({a}, {b})")),
        1 => integer(depth - 1),
        1 => (condition(depth - 1), inner.clone(), inner)
            .prop_map(|(c, a, b)| format!("({a} * 1.0 if {c} else {b} * 1.0)")),
        1 => present,
        4 => of(&["sum", "prod", "mean", "min", "max", "argmin", "argmax", "len", "first", "last", "count"],
                lists.clone()),
        1 => of(&["sum", "len"], masks.clone()),
        3 => (prop::sample::select(&["sum", "max", "len", "mean"][..]), lists.clone(), masks.clone())
            .prop_map(|(name, list, mask)| format!("{name}(({list})[{mask}])")),
        1 => (lists.clone(), masks.clone(), lists.clone(), constant()).prop_map(
            |(list, mask, other, bound)| {
                format!("sum(({list})[{mask}][({other})[{mask}] > {bound}])")
            }
        ),
        1 => (lists.clone(), masks, lists.clone())
            .prop_map(|(a, mask, b)| format!("sum(({a})[{mask}] * ({b})[{mask}])")),
        2 => (lists.clone(), index).prop_map(|(list, index)| format!("({list})[{index}]")),
        1 => (lists, prop::option::of(-3..4_i32), prop::option::of(-3..4_i32), 1..3_i32, any::<bool>())
            .prop_map(|(list, lower, upper, step, back)| {
                let bound = |x: Option<i32>| x.map_or(String::new(), |x| x.to_string());
                let step = if back { -step } else { step };
                format!("sum(({list})[{}:{}:{step}])", bound(lower), bound(upper))
            }),
        1 => of(&["sum", "max", "mean"], prop::sample::select(&["free", "fixed", "free * free"][..])
            .prop_map(str::to_owned).boxed()),
        1 => (0..3_i32).prop_map(|i| format!("fixed[{i}]")),
        1 => constant().prop_map(|bound| format!("sum(free[free > {bound}])")),
    ]
    .boxed()
}

/// One integer per event.
fn integer(depth: u32) -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        prop::sample::select(&["i", "l", "nA", "b"][..]).prop_map(str::to_owned),
        (0..9_i32).prop_map(|x| x.to_string()),
    ]
    .boxed();
    if depth == 0 {
        return leaf;
    }
    let inner = integer(depth - 1);
    // A constant divisor that is 0 is an error; all constants are made columns.
    let divisor = inner.clone().prop_map(|text| format!("({text} + 0 * i)"));
    prop_oneof![
        1 => leaf,
        2 => join(inner.clone(), &["+", "-", "*", "&", "|", "^"], inner.clone()),
        2 => join(inner.clone(), &["//", "%"], divisor.boxed()),
        1 => (inner, 0..4_i32).prop_map(|(text, n)| format!("(({text} + 0) ** {n})")),
        1 => of(&["sum", "len"], mask(depth - 1)),
    ]
    .boxed()
}

/// One condition per event.
pub fn condition(depth: u32) -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        Just("b".to_owned()),
        join(scalar(0), COMPARE, scalar(0)),
        Just("nA > 1".to_owned()),
    ]
    .boxed();
    if depth == 0 {
        return leaf;
    }
    let (inner, number) = (condition(depth - 1), scalar(depth - 1));
    prop_oneof![
        1 => leaf,
        3 => join(number.clone(), COMPARE, number.clone()),
        1 => (number.clone(), number.clone(), number.clone())
            .prop_map(|(a, b, c)| format!("({a} < {b} <= {c})")),
        2 => join(inner.clone(), &["and", "or"], inner.clone()),
        1 => inner.prop_map(|text| format!("(not {text})")),
        1 => of(&["isnan", "isfinite", "is_missing"], number),
        2 => of(&["any", "all"], mask(depth - 1)),
    ]
    .boxed()
}

/// Numbers of the collection A.
pub fn list(depth: u32) -> BoxedStrategy<String> {
    let leaf = prop::sample::select(&["A_x", "A_y", "A_k"][..]).prop_map(str::to_owned);
    if depth == 0 {
        return leaf.boxed();
    }
    let (inner, number) = (list(depth - 1), scalar(depth - 1));
    prop_oneof![
        2 => leaf,
        3 => join(inner.clone(), ARITHMETIC, inner.clone()),
        2 => join(inner.clone(), ARITHMETIC, number.clone()),
        1 => join(number.clone(), ARITHMETIC, inner.clone()),
        1 => of(&["abs", "floor", "exp"], inner.clone()),
        1 => (inner.clone(), number.clone()).prop_map(|(a, b)| format!("hypot({a}, {b})")),
        1 => (mask(depth - 1), inner.clone(), number)
            .prop_map(|(c, a, b)| format!("where({c}, {a} * 1.0, {b} * 1.0)")),
        1 => inner.prop_map(|text| format!("(-({text}))")),
    ]
    .boxed()
}

/// Conditions on the items of A.
pub fn mask(depth: u32) -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        Just("A_b".to_owned()),
        (list(0), constant()).prop_map(|(list, bound)| format!("({list} > {bound})")),
    ]
    .boxed();
    if depth == 0 {
        return leaf;
    }
    let (inner, items) = (mask(depth - 1), list(depth - 1));
    prop_oneof![
        1 => leaf,
        2 => join(items.clone(), COMPARE, items.clone()),
        2 => join(items, COMPARE, scalar(depth - 1)),
        1 => join(inner.clone(), &["&", "|", "and", "or"], inner.clone()),
        1 => (inner.clone(), condition(depth - 1)).prop_map(|(a, b)| format!("({a} and {b})")),
        1 => inner.prop_map(|text| format!("(~{text})")),
    ]
    .boxed()
}
