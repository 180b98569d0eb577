//! Momenta of tracks whose columns hold the parameters of their helices: `qOverP`, `theta`, `phi`.

use crate::compile::nodes::coordinates::Coordinate;
use crate::compile::{Binding, NodeId, Resolver, Result};
use crate::kernel::{Arithmetic, Real1};
use crate::spec::Span;

impl Resolver<'_> {
    /// A coordinate of a track; `None` if these are no parameters of a track, or the coordinate is none of theirs.
    pub(in crate::compile) fn of_track(
        &mut self,
        bound: &Binding,
        part: Coordinate,
        at: Span,
    ) -> Result<Option<NodeId>> {
        if !matches!(part, Coordinate::Pt | Coordinate::Eta) {
            return Ok(None);
        }
        let Some(Binding::Value(curvature)) = self.stored(bound, "qOverP", at)? else {
            return Ok(None);
        };
        let Some(Binding::Value(theta)) = self.stored(bound, "theta", at)? else {
            return Ok(None);
        };
        let (curvature, theta) = (self.nodes.real_of(curvature), self.nodes.real_of(theta));
        let both = self.nodes.together(&[curvature, theta], at)?;
        let (curvature, theta) = (both[0], both[1]);
        Ok(Some(match part {
            Coordinate::Pt => {
                let sine = self.nodes.math(Real1::Sin, theta);
                let ratio = self.nodes.real(Arithmetic::Div, sine, curvature);
                self.nodes.math(Real1::Abs, ratio)
            }
            _ => {
                let half = self.nodes.number(0.5);
                let half = self.nodes.real(Arithmetic::Mul, theta, half);
                let tangent = self.nodes.math(Real1::Tan, half);
                let log = self.nodes.math(Real1::Log, tangent);
                let minus = self.nodes.number(-1.0);
                self.nodes.real(Arithmetic::Mul, log, minus)
            }
        }))
    }
}
