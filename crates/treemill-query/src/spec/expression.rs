//! Expressions as data: syntax trees, as Python writes them. Names and types are resolved later, against a schema.

use super::Span;
use serde::{Deserialize, Serialize};

/// An expression: its text (for messages) and its tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expression {
    /// The text that the user wrote.
    pub text: String,
    /// The tree that Python's parser made of it.
    pub tree: Expr,
}

/// A node of an expression; `at` is its place in the text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Expr {
    /// A column, a defined column, a comprehension's or lambda's variable, or a constant's name.
    Name { id: String, at: Span },
    /// A function, or functions by name, that the query does not define, by the id under which it is given. The
    /// name is what users call it.
    Provided { id: String, name: String, at: Span },
    /// A literal.
    Const { value: Literal, at: Span },
    /// `-` `+` `~` `not`, and `-.` as for `Binary`.
    Unary {
        op: String,
        operand: Box<Expr>,
        at: Span,
    },
    /// `+ - * / // % ** & | ^ << >>`, and `+. -. *. **.`, which compute in doubles what 64 bits might not hold.
    Binary {
        op: String,
        left: Box<Expr>,
        right: Box<Expr>,
        at: Span,
    },
    /// `first op right op right …`, from left to right: a row of operators that is as deep as one.
    Chain {
        first: Box<Expr>,
        rest: Vec<Operation>,
        at: Span,
    },
    /// `and`, `or` over two or more values.
    Bool {
        op: String,
        values: Vec<Expr>,
        at: Span,
    },
    /// `left ops[0] rights[0] ops[1] rights[1] …`: `== != < <= > >= in not_in`.
    Compare {
        left: Box<Expr>,
        ops: Vec<String>,
        rights: Vec<Expr>,
        at: Span,
    },
    /// `function(args, keywords)`; the function is a name or an attribute.
    Call {
        function: Box<Expr>,
        args: Vec<Expr>,
        keywords: Vec<(String, Expr)>,
        at: Span,
    },
    /// `value.name`.
    Attribute {
        value: Box<Expr>,
        name: String,
        at: Span,
    },
    /// `value[index]`: an integer, a mask, or a slice.
    Index {
        value: Box<Expr>,
        index: Box<Expr>,
        at: Span,
    },
    /// `lower:upper:step` inside an index.
    Slice {
        lower: Option<Box<Expr>>,
        upper: Option<Box<Expr>>,
        step: Option<Box<Expr>>,
        at: Span,
    },
    /// `[a, b]`, or `(a, b)`, which is no list.
    Sequence {
        items: Vec<Expr>,
        #[serde(default)]
        is_tuple: bool,
        at: Span,
    },
    /// `body if test else otherwise`.
    IfElse {
        test: Box<Expr>,
        body: Box<Expr>,
        otherwise: Box<Expr>,
        at: Span,
    },
    /// `lambda a, b: body`.
    Lambda {
        params: Vec<String>,
        body: Box<Expr>,
        at: Span,
    },
    /// `element for … in … if …`, as a list or a generator.
    Comprehension {
        element: Box<Expr>,
        loops: Vec<Loop>,
        at: Span,
    },
    /// `name(args)` of a function that the user has written: the body knows its parameters, and no
    /// variable of where it is called.
    Apply {
        name: String,
        params: Vec<String>,
        body: Box<Expression>,
        args: Vec<Expr>,
        at: Span,
    },
}

/// An operator of a row, and what stands right of it; `at` is the place of the row up to there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// One of the operators of [`Expr::Binary`].
    pub op: String,
    /// What stands right of it.
    pub right: Expr,
    /// Its place in the text, from the row's first character on.
    pub at: Span,
}

/// One `for targets in iter if conditions`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Loop {
    /// Names bound, one or more.
    pub targets: Vec<Target>,
    /// What is gone through.
    pub iter: Expr,
    /// Conditions.
    pub conditions: Vec<Expr>,
}

/// What an item is bound to: a name, or names for a tuple's elements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Target {
    Name(String),
    Elements(Vec<Target>),
}

impl Target {
    /// The names, in order.
    pub fn names(targets: &[Self]) -> Vec<&str> {
        let each = targets.iter().flat_map(|target| match target {
            Self::Name(name) => vec![name.as_str()],
            Self::Elements(targets) => Self::names(targets),
        });
        each.collect()
    }
}

/// A literal value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Literal {
    Bool(bool),
    Int(i64),
    BigInt(u64),
    Float(f64),
    Str(String),
    /// A table of integers, for functions that take one.
    Ints(Vec<i64>),
}
