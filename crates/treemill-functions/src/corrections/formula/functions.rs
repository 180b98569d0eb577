//! The functions and operators of formulas. All are the system's, as correctionlib's are: their results are equal to
//! the bit on one machine. Rust's standard library calls the system's but for four, which come from treemill-cmath.

/// A function of one number, or the minus sign.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Unary {
    Negative,
    Log,
    Log10,
    Exp,
    Erf,
    Sqrt,
    Abs,
    Cos,
    Sin,
    Tan,
    Acos,
    Asin,
    Atan,
    Cosh,
    Sinh,
    Tanh,
    Acosh,
    Asinh,
    Atanh,
}

/// A function of two numbers, or an operator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Binary {
    Or,
    And,
    Equal,
    NotEqual,
    Greater,
    Less,
    GreaterEqual,
    LessEqual,
    Minus,
    Plus,
    Over,
    Times,
    Power,
    Atan2,
    Max,
    Min,
}

/// Functions of one number by their names; the longest name that fits is meant.
pub(super) const UNARY: &[(&str, Unary)] = &[
    ("log10", Unary::Log10),
    ("log", Unary::Log),
    ("exp", Unary::Exp),
    ("erf", Unary::Erf),
    ("sqrt", Unary::Sqrt),
    ("abs", Unary::Abs),
    ("cosh", Unary::Cosh),
    ("sinh", Unary::Sinh),
    ("tanh", Unary::Tanh),
    ("cos", Unary::Cos),
    ("sin", Unary::Sin),
    ("tan", Unary::Tan),
    ("acosh", Unary::Acosh),
    ("asinh", Unary::Asinh),
    ("atanh", Unary::Atanh),
    ("acos", Unary::Acos),
    ("asin", Unary::Asin),
    ("atan", Unary::Atan),
];

/// Functions of two numbers by their names.
pub(super) const BINARY: &[(&str, Binary)] = &[
    ("atan2", Binary::Atan2),
    ("pow", Binary::Power),
    ("max", Binary::Max),
    ("min", Binary::Min),
];

/// Operators, the longer ones first, and how tightly they bind.
pub(super) const OPERATORS: &[(&str, Binary, u8)] = &[
    ("||", Binary::Or, 1),
    ("&&", Binary::And, 2),
    ("==", Binary::Equal, 3),
    ("!=", Binary::NotEqual, 3),
    (">=", Binary::GreaterEqual, 4),
    ("<=", Binary::LessEqual, 4),
    (">", Binary::Greater, 4),
    ("<", Binary::Less, 4),
    ("-", Binary::Minus, 5),
    ("+", Binary::Plus, 5),
    ("/", Binary::Over, 6),
    ("*", Binary::Times, 6),
    ("^", Binary::Power, POWER),
];
/// What binds most tightly, and from the right.
pub(super) const POWER: u8 = 7;

impl Unary {
    pub fn of(self, x: f64) -> f64 {
        match self {
            Self::Negative => -x,
            Self::Log => x.ln(),
            Self::Log10 => x.log10(),
            Self::Exp => x.exp(),
            Self::Erf => treemill_native::cmath::erf(x),
            Self::Sqrt => x.sqrt(),
            Self::Abs => x.abs(),
            Self::Cos => x.cos(),
            Self::Sin => x.sin(),
            Self::Tan => x.tan(),
            Self::Acos => x.acos(),
            Self::Asin => x.asin(),
            Self::Atan => x.atan(),
            Self::Cosh => x.cosh(),
            Self::Sinh => x.sinh(),
            Self::Tanh => x.tanh(),
            Self::Acosh => treemill_native::cmath::acosh(x),
            Self::Asinh => treemill_native::cmath::asinh(x),
            Self::Atanh => treemill_native::cmath::atanh(x),
        }
    }
}

impl Binary {
    // Equality is what users have written.
    #[allow(clippy::float_cmp)]
    pub fn of(self, a: f64, b: f64) -> f64 {
        let truth = |holds: bool| f64::from(u8::from(holds));
        match self {
            Self::Or => truth(a != 0.0 || b != 0.0),
            Self::And => truth(a != 0.0 && b != 0.0),
            Self::Equal => truth(a == b),
            Self::NotEqual => truth(a != b),
            Self::Greater => truth(a > b),
            Self::Less => truth(a < b),
            Self::GreaterEqual => truth(a >= b),
            Self::LessEqual => truth(a <= b),
            Self::Minus => a - b,
            Self::Plus => a + b,
            Self::Over => a / b,
            Self::Times => a * b,
            Self::Power => a.powf(b),
            Self::Atan2 => a.atan2(b),
            // C++'s, of which the first counts if one is NaN.
            Self::Max => {
                if a < b {
                    b
                } else {
                    a
                }
            }
            Self::Min => {
                if b < a {
                    b
                } else {
                    a
                }
            }
        }
    }
}
