//! Properties of an expression that its form alone decides: its free names, and whether it is cheap.

use crate::spec::{Expr, Target};
use std::collections::HashSet;

/// Names that an expression takes from outside.
pub(in crate::compile) struct Names<'a>(HashSet<&'a str>);

impl Names<'_> {
    pub fn any_of<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> bool {
        names.into_iter().any(|name| self.0.contains(name))
    }
}

/// The names that an expression takes from outside. A name that the expression binds is left out where it is bound,
/// and counts if it is free elsewhere.
pub(in crate::compile) fn names(expr: &Expr) -> Names<'_> {
    let mut found = HashSet::new();
    let mut bound = Vec::new();
    walk(expr, &mut bound, &mut found);
    Names(found)
}

fn walk<'a>(expr: &'a Expr, bound: &mut Vec<&'a str>, found: &mut HashSet<&'a str>) {
    match expr {
        Expr::Name { id, .. } => {
            if !bound.contains(&id.as_str()) {
                found.insert(id);
            }
        }
        Expr::Lambda { params, body, .. } => {
            let before = bound.len();
            bound.extend(params.iter().map(String::as_str));
            walk(body, bound, found);
            bound.truncate(before);
        }
        Expr::Comprehension { element, loops, .. } => {
            let before = bound.len();
            for each in loops {
                walk(&each.iter, bound, found);
                bound.extend(Target::names(&each.targets));
                for condition in &each.conditions {
                    walk(condition, bound, found);
                }
            }
            walk(element, bound, found);
            bound.truncate(before);
        }
        other => each_child(other, &mut |child| walk(child, bound, found)),
    }
}

/// Calls `f` with every part of an expression that is one itself; not for what binds names.
fn each_child<'a>(expr: &'a Expr, f: &mut dyn FnMut(&'a Expr)) {
    match expr {
        Expr::Name { .. } | Expr::Const { .. } | Expr::Provided { .. } => (),
        Expr::Lambda { body, .. } => f(body),
        Expr::Comprehension { element, loops, .. } => {
            for each in loops {
                f(&each.iter);
                each.conditions.iter().for_each(&mut *f);
            }
            f(element);
        }
        // A function's body knows its parameters only.
        Expr::Apply { args, .. } => args.iter().for_each(f),
        Expr::Unary { operand, .. } => f(operand),
        Expr::Binary { left, right, .. } => {
            f(left);
            f(right);
        }
        Expr::Chain { first, rest, .. } => {
            f(first);
            rest.iter().for_each(|each| f(&each.right));
        }
        Expr::Bool { values, .. } | Expr::Sequence { items: values, .. } => {
            values.iter().for_each(f);
        }
        Expr::Compare { left, rights, .. } => {
            f(left);
            rights.iter().for_each(f);
        }
        Expr::Call {
            function,
            args,
            keywords,
            ..
        } => {
            // A function's name is no variable.
            match &**function {
                Expr::Name { .. } => (),
                Expr::Attribute { value, .. } => f(value),
                other => f(other),
            }
            args.iter().for_each(&mut *f);
            keywords.iter().for_each(|(_, value)| f(value));
        }
        Expr::Attribute { value, .. } => f(value),
        Expr::Index { value, index, .. } => {
            f(value);
            f(index);
        }
        Expr::Slice {
            lower, upper, step, ..
        } => {
            for part in [lower, upper, step].into_iter().flatten() {
                f(part);
            }
        }
        Expr::IfElse {
            test,
            body,
            otherwise,
            ..
        } => {
            f(test);
            f(body);
            f(otherwise);
        }
    }
}

/// Attributes that are computed from others, with functions that cost more than a comparison.
const COSTLY: &[&str] = &["mass", "rapidity", "energy", "px", "py", "pz", "p"];

/// Whether it is worth less than making a list of positions: comparisons and arithmetic of what is
/// stored.
pub(in crate::compile) fn is_cheap(expr: &Expr) -> bool {
    match expr {
        Expr::Call { function, args, .. } => {
            matches!(&**function, Expr::Name { id, .. } if id == "abs") && args.iter().all(is_cheap)
        }
        Expr::Comprehension { .. } | Expr::Lambda { .. } | Expr::Apply { .. } => false,
        // A part of a tuple, as `enumerate` gives it.
        Expr::Index { value, index, .. } => {
            matches!(
                (&**value, &**index),
                (Expr::Name { .. }, Expr::Const { .. })
            )
        }
        Expr::Attribute { value, name, .. } => {
            matches!(**value, Expr::Name { .. }) && !COSTLY.contains(&name.as_str())
        }
        other => {
            let mut cheap = true;
            each_child(other, &mut |child| cheap &= is_cheap(child));
            cheap
        }
    }
}

/// Whether it has random numbers, of which each item of the loops around has its own.
pub(in crate::compile) fn draws(expr: &Expr) -> bool {
    let mut found = match expr {
        Expr::Call { function, .. } => {
            matches!(&**function, Expr::Name { id, .. } if crate::compile::nodes::builtins::is_drawn(id))
        }
        Expr::Apply { body, .. } => draws(&body.tree),
        _ => false,
    };
    each_child(expr, &mut |child| found |= draws(child));
    found
}

/// The operands of `and`, and of `and`s in it.
pub(in crate::compile) fn conjuncts<'a>(expr: &'a Expr, found: &mut Vec<&'a Expr>) {
    match expr {
        Expr::Bool { op, values, .. } if op == "and" => {
            values.iter().for_each(|value| conjuncts(value, found));
        }
        other => found.push(other),
    }
}
