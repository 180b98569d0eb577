//! Computing on slices: no expression, no level, no missing value is known here.
//!
//! Operations position by position are named by [`Map`] and looked up once per node as a [`Kernel`],
//! a function on chunks. Bools are bytes 0 and 1; u64 travels as the bits of i64.

pub(crate) mod arithmetic;
pub(crate) mod arrangements;
pub(crate) mod bundle;
pub(crate) mod cartesian;
pub(crate) mod comparison;
pub(crate) mod folds;
pub(crate) mod gather;
pub(crate) mod interleaved;
pub(crate) mod lists;
pub(crate) mod logic;
pub(crate) mod masks;
pub(crate) mod math;
pub(crate) mod numbered;
pub(crate) mod pieces;
pub(crate) mod random;
pub(crate) mod reduce;
pub(crate) mod references;
pub(crate) mod special;
pub(crate) mod squares;
pub(crate) mod tables;
pub(crate) mod trig;
pub(crate) mod tuples;

pub(crate) use arithmetic::{Arithmetic, Bits};
pub(crate) use bundle::Bundle;
pub(crate) use comparison::Compare;
pub(crate) use math::{Real1, Real2, Test};
pub(crate) use squares::{Root, Shape, Squares};

/// An operation position by position, with the types that it computes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Map {
    Real(Arithmetic),
    Int(Arithmetic),
    UInt(Arithmetic),
    Bits(Bits),
    /// Shift right of u64.
    ShiftRightUInt,
    Negate,
    NegateInt,
    Invert,
    AbsInt,
    SignInt,
    Real1(Real1),
    Real2(Real2),
    /// Sums of squares and their root.
    Squares(Squares),
    /// The momentum along an axis, from pt and phi.
    Px,
    /// The momentum along an axis, from pt and phi.
    Py,
    /// The momentum along the beam, from pt and eta.
    Pz,
    /// The energy, from pt, pz and mass.
    Energy,
    MinInt,
    MaxInt,
    MinUInt,
    MaxUInt,
    CompareReal(Compare),
    CompareInt(Compare),
    CompareUInt(Compare),
    CompareBool(Compare),
    /// i64 with u64.
    CompareIntUInt(Compare),
    /// i64 with f64, exactly.
    CompareIntReal(Compare),
    /// u64 with f64, exactly.
    CompareUIntReal(Compare),
    And,
    Or,
    Xor,
    Not,
    Test(Test),
    SelectReal,
    SelectInt,
    SelectBool,
    BoolToInt,
    BoolToReal,
    IntToReal,
    UIntToReal,
    /// Towards zero; out of range: the nearest.
    RealToInt,
    /// The state of random numbers after a counter.
    Count,
    /// Random numbers of states.
    Uniform,
    Normal,
}

/// A choice: condition, values where it holds, values where not.
type Choice<T> = fn(&[u8], &[T], &[T], &mut [T]);

/// Functions of three and of four numbers.
type Of3 = fn(&[f64], &[f64], &[f64], &mut [f64]);
type Of4 = fn(&[f64], &[f64], &[f64], &[f64], &mut [f64]);

/// A function on chunks of equal lengths; letters are the types of arguments and result:
/// F f64, I i64 or the bits of u64, B bool.
#[derive(Clone, Copy)]
pub(crate) enum Kernel {
    FtoF(fn(&[f64], &mut [f64])),
    FFtoF(fn(&[f64], &[f64], &mut [f64])),
    FFFtoF(Of3),
    FFFFtoF(Of4),
    ItoI(fn(&[i64], &mut [i64])),
    IItoI(fn(&[i64], &[i64], &mut [i64])),
    FFtoB(fn(&[f64], &[f64], &mut [u8])),
    IItoB(fn(&[i64], &[i64], &mut [u8])),
    IFtoB(fn(&[i64], &[f64], &mut [u8])),
    FtoB(fn(&[f64], &mut [u8])),
    BtoB(fn(&[u8], &mut [u8])),
    BBtoB(fn(&[u8], &[u8], &mut [u8])),
    BFFtoF(Choice<f64>),
    BIItoI(Choice<i64>),
    BBBtoB(Choice<u8>),
    BtoI(fn(&[u8], &mut [i64])),
    BtoF(fn(&[u8], &mut [f64])),
    ItoF(fn(&[i64], &mut [f64])),
    FtoI(fn(&[f64], &mut [i64])),
}

/// One of the types that are computed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    F,
    I,
    B,
}

impl Kernel {
    /// Types of the arguments.
    pub fn arguments(&self) -> &'static [Lane] {
        use Lane::{B, F, I};
        match self {
            Self::FtoF(_) | Self::FtoB(_) | Self::FtoI(_) => &[F],
            Self::FFtoF(_) | Self::FFtoB(_) => &[F, F],
            Self::FFFtoF(_) => &[F, F, F],
            Self::FFFFtoF(_) => &[F, F, F, F],
            Self::ItoI(_) | Self::ItoF(_) => &[I],
            Self::IItoI(_) | Self::IItoB(_) => &[I, I],
            Self::IFtoB(_) => &[I, F],
            Self::BtoB(_) | Self::BtoI(_) | Self::BtoF(_) => &[B],
            Self::BBtoB(_) => &[B, B],
            Self::BFFtoF(_) => &[B, F, F],
            Self::BIItoI(_) => &[B, I, I],
            Self::BBBtoB(_) => &[B, B, B],
        }
    }

    /// Type of the result.
    pub fn result(&self) -> Lane {
        match self {
            Self::FtoF(_)
            | Self::FFtoF(_)
            | Self::FFFtoF(_)
            | Self::FFFFtoF(_)
            | Self::BFFtoF(_)
            | Self::BtoF(_)
            | Self::ItoF(_) => Lane::F,
            Self::ItoI(_) | Self::IItoI(_) | Self::BIItoI(_) | Self::BtoI(_) | Self::FtoI(_) => {
                Lane::I
            }
            Self::FFtoB(_)
            | Self::IItoB(_)
            | Self::IFtoB(_)
            | Self::FtoB(_)
            | Self::BtoB(_)
            | Self::BBtoB(_)
            | Self::BBBtoB(_) => Lane::B,
        }
    }
}

impl Map {
    /// What computes it.
    pub fn kernel(self) -> Kernel {
        match self {
            Self::Real(op) => Kernel::FFtoF(arithmetic::real(op)),
            Self::Int(op) => Kernel::IItoI(arithmetic::int(op)),
            Self::UInt(op) => Kernel::IItoI(arithmetic::uint(op)),
            Self::Bits(op) => Kernel::IItoI(arithmetic::bits(op)),
            Self::ShiftRightUInt => Kernel::IItoI(arithmetic::shift_right_uint),
            Self::Negate => Kernel::FtoF(arithmetic::negate),
            Self::NegateInt => Kernel::ItoI(arithmetic::negate_int),
            Self::Invert => Kernel::ItoI(arithmetic::invert),
            Self::AbsInt => Kernel::ItoI(arithmetic::abs_int),
            Self::SignInt => Kernel::ItoI(arithmetic::sign_int),
            Self::Real1(op) => Kernel::FtoF(math::real1(op)),
            Self::Real2(op) => Kernel::FFtoF(math::real2(op)),
            Self::Squares(squares) => squares.kernel(),
            Self::Px => Kernel::FFtoF(cartesian::px),
            Self::Py => Kernel::FFtoF(cartesian::py),
            Self::Pz => Kernel::FFtoF(cartesian::pz),
            Self::Energy => Kernel::FFFtoF(cartesian::energy),
            Self::MinInt => Kernel::IItoI(arithmetic::min_int),
            Self::MaxInt => Kernel::IItoI(arithmetic::max_int),
            Self::MinUInt => Kernel::IItoI(arithmetic::min_uint),
            Self::MaxUInt => Kernel::IItoI(arithmetic::max_uint),
            Self::CompareReal(op) => Kernel::FFtoB(comparison::real(op)),
            Self::CompareInt(op) => Kernel::IItoB(comparison::int(op)),
            Self::CompareUInt(op) => Kernel::IItoB(comparison::uint(op)),
            Self::CompareBool(op) => Kernel::BBtoB(comparison::boolean(op)),
            Self::CompareIntUInt(op) => Kernel::IItoB(comparison::int_uint(op)),
            Self::CompareIntReal(op) => Kernel::IFtoB(comparison::int_real(op)),
            Self::CompareUIntReal(op) => Kernel::IFtoB(comparison::uint_real(op)),
            Self::And => Kernel::BBtoB(logic::and),
            Self::Or => Kernel::BBtoB(logic::or),
            Self::Xor => Kernel::BBtoB(logic::xor),
            Self::Not => Kernel::BtoB(logic::not),
            Self::Test(op) => Kernel::FtoB(math::test(op)),
            Self::SelectReal => Kernel::BFFtoF(logic::select),
            Self::SelectInt => Kernel::BIItoI(logic::select),
            Self::SelectBool => Kernel::BBBtoB(logic::select),
            Self::BoolToInt => Kernel::BtoI(logic::convert),
            Self::BoolToReal => Kernel::BtoF(logic::convert),
            Self::IntToReal => Kernel::ItoF(logic::convert),
            Self::UIntToReal => Kernel::ItoF(arithmetic::uint_to_real),
            Self::RealToInt => Kernel::FtoI(logic::convert),
            Self::Count => Kernel::IItoI(random::count),
            Self::Uniform => Kernel::ItoF(random::uniform),
            Self::Normal => Kernel::ItoF(random::normal),
        }
    }

    /// Whether it takes no more than a few instructions.
    pub fn is_quick(self) -> bool {
        use Arithmetic::{Add, Mul, Sub};
        match self {
            Self::Real(op) => matches!(op, Add | Sub | Mul | Arithmetic::Div),
            Self::Int(op) | Self::UInt(op) => matches!(op, Add | Sub | Mul),
            Self::Real1(op) => op.is_quick(),
            Self::Real2(op) => op.is_quick(),
            Self::Normal | Self::Px | Self::Py | Self::Pz => false,
            _ => true,
        }
    }

    /// How it compares two numbers or bools, if it does.
    pub fn comparison(self) -> Option<Compare> {
        match self {
            Self::CompareReal(op)
            | Self::CompareInt(op)
            | Self::CompareUInt(op)
            | Self::CompareBool(op)
            | Self::CompareIntUInt(op)
            | Self::CompareIntReal(op)
            | Self::CompareUIntReal(op) => Some(op),
            _ => None,
        }
    }

    /// Whether it only changes the type.
    pub fn is_cast(self) -> bool {
        matches!(
            self,
            Self::BoolToInt | Self::BoolToReal | Self::IntToReal | Self::UIntToReal
        )
    }
}

/// Applies a function of one argument.
#[inline(always)]
fn map1<A: Copy, R>(a: &[A], out: &mut [R], f: impl Fn(A) -> R) {
    for (to, a) in out.iter_mut().zip(a) {
        *to = f(*a);
    }
}

/// Applies a function of two arguments.
#[inline(always)]
fn map2<A: Copy, B: Copy, R>(a: &[A], b: &[B], out: &mut [R], f: impl Fn(A, B) -> R) {
    for ((to, a), b) in out.iter_mut().zip(a).zip(b) {
        *to = f(*a, *b);
    }
}

/// Applies a function of three arguments.
#[inline(always)]
fn map3<A: Copy>(a: &[A], b: &[A], c: &[A], out: &mut [A], f: impl Fn(A, A, A) -> A) {
    let n = out.len().min(a.len()).min(b.len()).min(c.len());
    let (a, b, c, out) = (&a[..n], &b[..n], &c[..n], &mut out[..n]);
    for i in 0..n {
        out[i] = f(a[i], b[i], c[i]);
    }
}

/// Applies a function of four arguments.
#[inline(always)]
fn map4<A: Copy>(a: &[A], b: &[A], c: &[A], d: &[A], out: &mut [A], f: impl Fn(A, A, A, A) -> A) {
    let n = out.len().min(a.len()).min(b.len());
    let n = n.min(c.len()).min(d.len());
    let (a, b, c, d, out) = (&a[..n], &b[..n], &c[..n], &d[..n], &mut out[..n]);
    for i in 0..n {
        out[i] = f(a[i], b[i], c[i], d[i]);
    }
}
