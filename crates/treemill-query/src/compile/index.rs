//! `value[…]`: masks, integers and slices; and reductions, which close a level.

use super::{
    Bound, Compiler, Constant, EVENT, Level, LevelId, LevelKind, Node, NodeId, Op, Reducer, Result,
    Type, later, span,
};
use crate::error::QueryError;
use crate::spec::{Expr, Span};

impl Compiler<'_> {
    pub(super) fn index(&mut self, value: &Expr, index: &Expr, at: Span) -> Result<Bound> {
        let bound = self.bind(value)?;
        let level = match &bound {
            Bound::Value(node) => self.graph.node(*node).level,
            Bound::Object(object) => object.level,
        };
        if level == EVENT {
            let message = "there is one per event, so there is nothing to pick from";
            return Err(QueryError::at(span(value), message));
        }
        if let Expr::Slice {
            lower, upper, step, ..
        } = index
        {
            let lower = self.bound_of_slice(lower.as_deref())?;
            let upper = self.bound_of_slice(upper.as_deref())?;
            let step = self.bound_of_slice(step.as_deref())?.unwrap_or(1);
            if step == 0 {
                return Err(QueryError::at(span(index), "a slice's step is not 0"));
            }
            let parent = self.graph.parent(level);
            let kind = LevelKind::Sliced {
                of: level,
                lower,
                upper,
                step,
            };
            let sliced = self.graph.add_level(Level { parent, kind });
            return Ok(self.pick(bound, sliced));
        }
        if matches!(index, Expr::Sequence { .. }) {
            return Err(later(span(index), "a list of indices"));
        }
        let picked = self.value(index)?;
        let place = span(index);
        match self.type_of(picked) {
            Type::Bool => self.masked(bound, level, picked, place),
            Type::Int | Type::UInt => self.at_index(bound, level, picked, at, place),
            ty => Err(QueryError::at(
                place,
                format!(
                    "an index is an integer, a mask or a slice, not {}",
                    ty.name()
                ),
            )),
        }
    }

    fn bound_of_slice(&mut self, bound: Option<&Expr>) -> Result<Option<i64>> {
        let Some(expr) = bound else {
            return Ok(None);
        };
        let id = self.value(expr)?;
        match self.graph.as_const(id) {
            Some(Constant::Int(x)) => Ok(Some(*x)),
            _ => Err(QueryError::at(
                span(expr),
                "the bounds of a slice are constant integers",
            )),
        }
    }

    fn pick(&mut self, bound: Bound, level: LevelId) -> Bound {
        match bound {
            Bound::Value(node) => Bound::Value(self.moved(Op::Pick(0), node, level)),
            Bound::Object(object) => Bound::Object(self.picked(&object, level)),
        }
    }

    fn masked(&mut self, bound: Bound, level: LevelId, mask: NodeId, at: Span) -> Result<Bound> {
        let mask_level = self.graph.node(mask).level;
        let mask = self.passed(mask);
        if self.graph.as_const(mask).is_some() || self.graph.encloses(mask_level, level) {
            if mask_level == level {
                let filtered = self.filtered(level, mask);
                return Ok(self.pick(bound, filtered));
            }
            let message = "the mask has one bool per event, and the list needs one per item: \
                           to select events use a filter";
            return Err(QueryError::at(at, message));
        }
        // The mask's level stays, so that all that is masked by it is at one level.
        if let Bound::Value(value) = bound
            && self.may_be_equal(mask_level, level)
        {
            let aligned = self.bring(value, mask_level, at)?;
            let filtered = self.filtered(mask_level, mask);
            return Ok(self.pick(Bound::Value(aligned), filtered));
        }
        let mask = self.bring(mask, level, at)?;
        let filtered = self.filtered(level, mask);
        Ok(self.pick(bound, filtered))
    }

    fn at_index(
        &mut self,
        bound: Bound,
        level: LevelId,
        index: NodeId,
        at: Span,
        place: Span,
    ) -> Result<Bound> {
        let parent = self.graph.parent(level);
        let constant = self.graph.as_const(index).cloned();
        if constant.is_none() && !self.graph.encloses(self.graph.node(index).level, parent) {
            return Err(later(place, "a list of indices"));
        }
        let index = if constant.is_some() {
            index
        } else {
            self.bring(index, parent, place)?
        };
        if let (LevelKind::Fixed(len), Some(constant)) = (&self.graph.level(level).kind, constant)
            && !within(*len, &constant)
        {
            let message = format!("the index is outside of an array of {len}");
            return Err(QueryError::at(at, message));
        }
        Ok(match bound {
            Bound::Value(node) => Bound::Value(self.item(node, index)),
            Bound::Object(object) => Bound::Object(self.element(&object, index)),
        })
    }

    /// Item number `index` of each list.
    pub(super) fn item(&mut self, value: NodeId, index: NodeId) -> NodeId {
        let node = self.graph.node(value);
        let (ty, level) = (node.ty, node.level);
        let sure = match (&self.graph.level(level).kind, self.graph.as_const(index)) {
            (LevelKind::Fixed(len), Some(constant)) => within(*len, constant),
            _ => false,
        };
        let missing = !sure || node.missing;
        let parent = self.graph.parent(level);
        self.graph.add(Node {
            op: Op::At,
            inputs: vec![value, index],
            level: parent,
            ty,
            missing,
        })
    }

    /// All items of each list as one value.
    pub(super) fn reduce(&mut self, reducer: Reducer, value: NodeId, at: Span) -> Result<NodeId> {
        let node = self.graph.node(value);
        let (level, items_missing) = (node.level, node.missing);
        if level == EVENT {
            return Err(QueryError::at(
                at,
                "this needs a list, and there is one value per event",
            ));
        }
        let mut value = value;
        let mut ty = node.ty;
        if ty == Type::Str && reducer != Reducer::Count {
            return Err(QueryError::at(at, "strings can be compared, and no more"));
        }
        match reducer {
            Reducer::Any | Reducer::All => {
                value = self.truth(value, at)?;
                ty = Type::Bool;
            }
            Reducer::Count if ty == Type::Bool => {
                let message = "count of bools could mean two things: \
                               write sum(…) for those that are true, len(…) for all";
                return Err(QueryError::at(at, message));
            }
            Reducer::Count => ty = Type::Int,
            Reducer::Sum if ty == Type::Bool => ty = Type::Int,
            Reducer::Mean => {
                value = self.real_of(value);
                ty = Type::Float;
            }
            Reducer::ArgMin | Reducer::ArgMax => ty = Type::Int,
            Reducer::Sum | Reducer::Min | Reducer::Max => (),
        }
        let empty = match reducer {
            Reducer::Sum | Reducer::Any | Reducer::All | Reducer::Count => false,
            Reducer::Mean | Reducer::Min | Reducer::Max | Reducer::ArgMin | Reducer::ArgMax => {
                let never = matches!(self.graph.level(level).kind, LevelKind::Fixed(1..));
                items_missing || !never
            }
        };
        let parent = self.graph.parent(level);
        Ok(self.graph.add(Node {
            op: Op::Reduce(reducer),
            inputs: vec![value],
            level: parent,
            ty,
            missing: empty,
        }))
    }

    /// Number of items of a level.
    pub(super) fn length(&mut self, level: LevelId) -> NodeId {
        let parent = self.graph.parent(level);
        // The number of items kept is the number of trues of the mask: no list needs to be made.
        if let LevelKind::Filtered { mask, .. } = self.graph.level(level).kind {
            return self.graph.add(Node {
                op: Op::Reduce(Reducer::Sum),
                inputs: vec![mask],
                level: parent,
                ty: Type::Int,
                missing: false,
            });
        }
        if let LevelKind::Fixed(len) = self.graph.level(level).kind {
            return self.graph.constant(Constant::Int(i64::from(len)));
        }
        self.graph.add(Node {
            op: Op::Len(level),
            inputs: Vec::new(),
            level: parent,
            ty: Type::Int,
            missing: false,
        })
    }
}

/// Whether an array of `len` has such an item.
fn within(len: u32, index: &Constant) -> bool {
    match index {
        Constant::Int(x) => (-i64::from(len)..i64::from(len)).contains(x),
        Constant::UInt(x) => *x < u64::from(len),
        _ => false,
    }
}
