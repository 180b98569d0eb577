//! The functions of the language: names, numbers of arguments, and what each compiles to. A table;
//! the compiler turns a row and typed arguments into nodes.

use crate::compile::Reducer;
use crate::kernel::{Map, Real1, Real2, Test};
use crate::limits::FUNCTION_ARGUMENTS;

/// A function.
pub(crate) struct Function {
    pub name: &'static str,
    /// Least and largest number of arguments.
    pub arity: (usize, usize),
    pub kind: FunctionKind,
}

/// What a function compiles to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum FunctionKind {
    /// Float to float.
    Real1(Real1),
    /// Float to float; integers stay what they are.
    Rounding(Real1),
    Abs,
    Sign,
    Real2(Real2),
    Power,
    /// The smallest or largest of one list, or of several values.
    Least,
    Most,
    /// Always of several values.
    Minimum,
    Maximum,
    Reduce(Reducer),
    /// The variance, or its root.
    Variance {
        is_root: bool,
    },
    Median,
    Unique,
    RunningSum,
    Argsort,
    /// A distance of two vectors, or of two angles.
    Difference,
    Len,
    First,
    Last,
    Where,
    Clip,
    Test(Test),
    IsMissing,
    FillMissing,
    /// The value where a condition holds, else missing.
    Only,
    ToFloat,
    ToInt,
    ToBool,
    Combinations,
    Permutations,
    Concat,
    Zip,
    Enumerate,
    Sorted,
    /// The items of lists in lists as one list.
    Flatten,
    /// A search in a table of constants.
    Interp,
    Digitize,
    InRanges,
    Take,
    /// Numbers of a distribution, by counters.
    Random(Map),
    /// Takes keywords only.
    Vector,
}

impl FunctionKind {
    /// Names of the keyword arguments.
    pub fn keywords(self) -> &'static [&'static str] {
        match self {
            Self::Least | Self::Most | Self::Reduce(Reducer::ArgMin | Reducer::ArgMax) => {
                &["key", "default"]
            }
            Self::First | Self::Last => &["default"],
            Self::Variance { .. } => &["ddof"],
            Self::Sorted | Self::Argsort => &["key", "reverse"],
            Self::Digitize => &["right"],
            Self::Random(_) => &["seed"],
            _ => &[],
        }
    }
}

const fn f(name: &'static str, least: usize, most: usize, kind: FunctionKind) -> Function {
    Function {
        name,
        arity: (least, most),
        kind,
    }
}

const fn real1(name: &'static str, op: Real1) -> Function {
    f(name, 1, 1, FunctionKind::Real1(op))
}

const fn rounding(name: &'static str, op: Real1) -> Function {
    f(name, 1, 1, FunctionKind::Rounding(op))
}

const fn real2(name: &'static str, op: Real2) -> Function {
    f(name, 2, 2, FunctionKind::Real2(op))
}

const fn reduce(name: &'static str, op: Reducer) -> Function {
    f(name, 1, 1, FunctionKind::Reduce(op))
}

const fn test(name: &'static str, op: Test) -> Function {
    f(name, 1, 1, FunctionKind::Test(op))
}

/// All functions.
pub(crate) static FUNCTIONS: &[Function] = &[
    real1("sqrt", Real1::Sqrt),
    real1("cbrt", Real1::Cbrt),
    real1("square", Real1::Square),
    real1("exp", Real1::Exp),
    real1("exp2", Real1::Exp2),
    real1("expm1", Real1::Expm1),
    real1("log", Real1::Log),
    real1("log2", Real1::Log2),
    real1("log10", Real1::Log10),
    real1("log1p", Real1::Log1p),
    real1("sin", Real1::Sin),
    real1("cos", Real1::Cos),
    real1("tan", Real1::Tan),
    real1("asin", Real1::Asin),
    real1("acos", Real1::Acos),
    real1("atan", Real1::Atan),
    real1("arcsin", Real1::Asin),
    real1("arccos", Real1::Acos),
    real1("arctan", Real1::Atan),
    real1("sinh", Real1::Sinh),
    real1("cosh", Real1::Cosh),
    real1("tanh", Real1::Tanh),
    real1("asinh", Real1::Asinh),
    real1("acosh", Real1::Acosh),
    real1("atanh", Real1::Atanh),
    real1("arcsinh", Real1::Asinh),
    real1("arccosh", Real1::Acosh),
    real1("arctanh", Real1::Atanh),
    real1("erf", Real1::Erf),
    real1("erfc", Real1::Erfc),
    real1("gamma", Real1::Gamma),
    real1("lgamma", Real1::LGamma),
    real1("deg2rad", Real1::Radians),
    real1("radians", Real1::Radians),
    real1("rad2deg", Real1::Degrees),
    real1("degrees", Real1::Degrees),
    rounding("floor", Real1::Floor),
    rounding("ceil", Real1::Ceil),
    rounding("trunc", Real1::Trunc),
    rounding("round", Real1::Round),
    rounding("rint", Real1::Round),
    rounding("round_half_away", Real1::RoundHalfAway),
    f("abs", 1, 1, FunctionKind::Abs),
    f("fabs", 1, 1, FunctionKind::Real1(Real1::Abs)),
    f("sign", 1, 1, FunctionKind::Sign),
    real2("atan2", Real2::Atan2),
    real2("arctan2", Real2::Atan2),
    real2("hypot", Real2::Hypot),
    real2("fmod", Real2::Fmod),
    real2("copysign", Real2::CopySign),
    real2("fmin", Real2::Fmin),
    real2("fmax", Real2::Fmax),
    f("pow", 2, 2, FunctionKind::Power),
    f("power", 2, 2, FunctionKind::Power),
    f("min", 1, FUNCTION_ARGUMENTS, FunctionKind::Least),
    f("max", 1, FUNCTION_ARGUMENTS, FunctionKind::Most),
    f("minimum", 2, 2, FunctionKind::Minimum),
    f("maximum", 2, 2, FunctionKind::Maximum),
    reduce("sum", Reducer::Sum),
    reduce("prod", Reducer::Prod),
    reduce("any", Reducer::Any),
    reduce("all", Reducer::All),
    reduce("count", Reducer::Count),
    reduce("mean", Reducer::Mean),
    reduce("argmin", Reducer::ArgMin),
    reduce("argmax", Reducer::ArgMax),
    f("var", 1, 1, FunctionKind::Variance { is_root: false }),
    f("std", 1, 1, FunctionKind::Variance { is_root: true }),
    f("median", 1, 1, FunctionKind::Median),
    f("unique", 1, 1, FunctionKind::Unique),
    f("cumsum", 1, 1, FunctionKind::RunningSum),
    f("argsort", 1, 1, FunctionKind::Argsort),
    f("len", 1, 1, FunctionKind::Len),
    f("first", 1, 1, FunctionKind::First),
    f("last", 1, 1, FunctionKind::Last),
    f("where", 3, 3, FunctionKind::Where),
    f("clip", 3, 3, FunctionKind::Clip),
    test("isnan", Test::IsNan),
    test("isinf", Test::IsInf),
    test("isfinite", Test::IsFinite),
    test("signbit", Test::SignBit),
    f("is_missing", 1, 1, FunctionKind::IsMissing),
    f("fill_missing", 2, 2, FunctionKind::FillMissing),
    f("only", 2, 2, FunctionKind::Only),
    f("interp", 3, 3, FunctionKind::Interp),
    f("digitize", 2, 2, FunctionKind::Digitize),
    f("in_ranges", 2, 2, FunctionKind::InRanges),
    f("take", 2, 2, FunctionKind::Take),
    f("random", 0, 0, FunctionKind::Random(Map::Uniform)),
    f("normal", 0, 0, FunctionKind::Random(Map::Normal)),
    f("float", 1, 1, FunctionKind::ToFloat),
    f("int", 1, 1, FunctionKind::ToInt),
    f("bool", 1, 1, FunctionKind::ToBool),
    f("combinations", 2, 2, FunctionKind::Combinations),
    f("permutations", 2, 2, FunctionKind::Permutations),
    f("concat", 1, FUNCTION_ARGUMENTS, FunctionKind::Concat),
    f("enumerate", 1, 1, FunctionKind::Enumerate),
    f("flatten", 1, 1, FunctionKind::Flatten),
    f("sorted", 1, 1, FunctionKind::Sorted),
    f("zip", 1, FUNCTION_ARGUMENTS, FunctionKind::Zip),
    f("deltaR", 2, 2, FunctionKind::Difference),
    f("deltaphi", 2, 2, FunctionKind::Difference),
    f("deltaPhi", 2, 2, FunctionKind::Difference),
    f("deltaeta", 2, 2, FunctionKind::Difference),
    f("deltaEta", 2, 2, FunctionKind::Difference),
    f("vector", 0, 0, FunctionKind::Vector),
];

/// The function of a name.
pub(crate) fn find(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.name == name)
}

/// Whether a function of this name gives random numbers.
pub(crate) fn is_drawn(name: &str) -> bool {
    find(name).is_some_and(|function| matches!(function.kind, FunctionKind::Random(_)))
}

/// Constants by name, where no column has that name.
pub(crate) static CONSTANTS: &[(&str, f64)] = &[
    ("pi", std::f64::consts::PI),
    ("e", std::f64::consts::E),
    ("inf", f64::INFINITY),
    ("nan", f64::NAN),
];
