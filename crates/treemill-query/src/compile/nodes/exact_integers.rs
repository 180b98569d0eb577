//! Arithmetic of constant integers. A result that does not fit its type is an error, whereas arithmetic of columns
//! wraps around. Knows neither names nor levels.

use crate::compile::{Builder, Constant, NodeId, Result, Type};
use crate::error::QueryError;
use crate::kernel::{Arithmetic, Bits, Map};
use crate::spec::Span;

impl Builder<'_> {
    /// An elementwise operation on integers. If they are constants, the result must fit the type.
    pub(in crate::compile) fn integral(
        &mut self,
        op: Map,
        inputs: &[NodeId],
        ty: Type,
        at: Span,
    ) -> Result<NodeId> {
        let constants: Option<Vec<i128>> = inputs
            .iter()
            .map(|id| self.graph.as_const(*id).and_then(whole))
            .collect();
        if let Some(constants) = constants
            && !fits(op, &constants, ty)
        {
            let range = match ty {
                Type::UInt => "an unsigned integer of 64 bits holds 0 to 2^64 - 1",
                _ => "an integer of 64 bits holds -2^63 to 2^63 - 1",
            };
            let message = format!(
                "this number does not fit: {range}; write one of its parts as a float, as 2.0"
            );
            return Err(QueryError::at(at, message));
        }
        Ok(self.map(op, inputs, ty))
    }

    /// `-x` of an unsigned integer is signed; below -2^63 there is none.
    pub(in crate::compile) fn negated_unsigned(&mut self, id: NodeId, at: Span) -> Result<NodeId> {
        let negated = self.integral(Map::NegateInt, &[id], Type::Int, at)?;
        if self.graph.as_const(id).is_some() {
            return Ok(negated);
        }
        let most = self.graph.constant(Constant::UInt(1 << 63));
        let op = Map::CompareUInt(crate::kernel::Compare::Le);
        let fits = self.map(op, &[id, most], Type::Bool);
        Ok(self.only(negated, fits))
    }
}

fn whole(constant: &Constant) -> Option<i128> {
    match constant {
        Constant::Bool(x) => Some(i128::from(*x)),
        Constant::Int(x) => Some(i128::from(*x)),
        Constant::UInt(x) => Some(i128::from(*x)),
        Constant::Float(_) | Constant::Str(_) => None,
    }
}

/// Whether the result fits this type. A shift by a negative number has no result.
fn fits(op: Map, of: &[i128], ty: Type) -> bool {
    let found = match (op, of) {
        (Map::Int(op) | Map::UInt(op), &[a, b]) => match op {
            Arithmetic::Add => a.checked_add(b),
            Arithmetic::Sub => a.checked_sub(b),
            Arithmetic::Mul => a.checked_mul(b),
            Arithmetic::Pow => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
            // Rounded up rather than down, which makes no difference to what fits.
            Arithmetic::FloorDiv | Arithmetic::Div => a.checked_div(b),
            Arithmetic::Mod => Some(0),
        },
        (Map::Bits(Bits::ShiftLeft), &[a, b]) => match u32::try_from(b) {
            Ok(places @ 0..=63) => Some(a << places),
            Ok(_) if a == 0 => Some(0),
            _ => None,
        },
        (Map::Bits(Bits::ShiftRight) | Map::ShiftRightUInt, &[_, b]) => (b >= 0).then_some(0),
        (Map::NegateInt, &[a]) => Some(-a),
        (Map::AbsInt, &[a]) => Some(a.abs()),
        _ => Some(0),
    };
    found.is_some_and(|x| match ty {
        Type::UInt => u64::try_from(x).is_ok(),
        _ => i64::try_from(x).is_ok(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_what_python_holds_in_64_bits() {
        let (int, uint) = (Type::Int, Type::UInt);
        let most = i128::from(u64::MAX);
        let cases = [
            (Map::UInt(Arithmetic::Add), vec![most, 1], uint, false),
            (Map::UInt(Arithmetic::Add), vec![most - 1, 1], uint, true),
            (Map::UInt(Arithmetic::Sub), vec![1, 2], uint, false),
            (Map::Int(Arithmetic::Pow), vec![2, 62], int, true),
            (Map::Int(Arithmetic::Pow), vec![2, 63], int, false),
            (Map::Int(Arithmetic::Pow), vec![-2, 63], int, true),
            (Map::Int(Arithmetic::Pow), vec![1, 1 << 40], int, false),
            (
                Map::Int(Arithmetic::FloorDiv),
                vec![-(1 << 63), -1],
                int,
                false,
            ),
            (Map::Bits(Bits::ShiftLeft), vec![1, 62], int, true),
            (Map::Bits(Bits::ShiftLeft), vec![1, 63], int, false),
            (Map::Bits(Bits::ShiftLeft), vec![-1, 63], int, true),
            (Map::Bits(Bits::ShiftLeft), vec![1, 64], int, false),
            (Map::Bits(Bits::ShiftLeft), vec![0, 64], int, true),
            (Map::Bits(Bits::ShiftRight), vec![5, -1], int, false),
            (Map::NegateInt, vec![most], int, false),
            (Map::NegateInt, vec![1 << 63], int, true),
            (Map::AbsInt, vec![-(1 << 63)], int, false),
        ];
        for (op, of, ty, wanted) in cases {
            assert_eq!(fits(op, &of, ty), wanted, "{op:?} of {of:?}");
        }
    }
}
