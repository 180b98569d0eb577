//! `value[…]`: masks, integers, lists of integers and slices.

use super::objects::Move;
use super::{
    Binding, Builder, Compiler, Constant, EVENT, Level, LevelId, LevelKind, Node, NodeId, Op,
    Result, Type, span,
};
use crate::error::QueryError;
use crate::spec::{Expr, Span};

impl Compiler<'_> {
    pub(super) fn index(&mut self, value: &Expr, index: &Expr, at: Span) -> Result<Binding> {
        let mut bound = self.bind(value)?;
        if let Binding::Provided(named) = &bound {
            return self.function_of(named, index, at);
        }
        if let Binding::Tuple { items, level, .. } = &bound
            && self.names.nodes.is_single(*level)
        {
            if !matches!(index, Expr::Slice { .. } | Expr::Sequence { .. })
                && let Some(numbers) = self.names.nodes.numbers_of(&bound)
            {
                let place = self.value(index)?;
                return self
                    .names
                    .nodes
                    .item_of_constants(numbers, place, span(index));
            }
            let list = match is_constant(index) {
                true => bound.clone(),
                false => self.names.nodes.as_list(bound.clone(), span(value))?,
            };
            match list {
                Binding::Tuple { .. } => return self.element_of_tuple(items, index),
                list => bound = list,
            }
        }
        let level = self.names.nodes.level_of(&bound);
        if self.names.nodes.is_single(level) {
            let title = self.names.nodes.title(&bound);
            let message = match self.names.nodes.here {
                EVENT => {
                    format!("{title} is one value per event, not a list: leave out the index")
                }
                _ => format!("{title} is one value, not a list: leave out the index"),
            };
            return Err(QueryError::at(span(value), message));
        }
        let outer = self.names.nodes.outermost(level);
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
            let parent = self.names.nodes.graph.parent(outer);
            let kind = LevelKind::Sliced {
                of: outer,
                lower,
                upper,
                step,
            };
            let sliced = self.names.nodes.graph.add_level(Level { parent, kind });
            return Ok(self.names.nodes.kept_below(&bound, outer, sliced));
        }
        let holds_lists = matches!(&bound, Binding::Tuple { items, .. }
            if items.iter().any(|item| self.names.nodes.level_of(item) != level));
        if holds_lists && !is_constant(index) {
            let message =
                "of tuples that hold lists a constant integer picks one, and a slice some";
            return Err(QueryError::at(span(index), message));
        }
        if outer != level {
            return self.index_lists(bound, level, index, at);
        }
        let place = span(index);
        let selected = match self.picked(index)? {
            Picked::Constant(indices) => {
                return self
                    .names
                    .nodes
                    .at_each(&bound, level, indices, true, place);
            }
            Picked::Computed(id) => id,
        };
        match self.names.nodes.type_of(selected) {
            Type::Bool => self.names.nodes.masked(bound, level, selected, place),
            Type::Int | Type::UInt => self.names.nodes.at_index(bound, level, selected, at, place),
            ty => Err(QueryError::at(
                place,
                format!(
                    "an index is an integer, a mask or a slice, not {}",
                    ty.name()
                ),
            )),
        }
    }

    /// What stands in the brackets.
    fn picked(&mut self, index: &Expr) -> Result<Picked> {
        let bound = self.bind(index)?;
        let place = span(index);
        if let Some(numbers) = self.names.nodes.numbers_of(&bound) {
            if numbers.ty == Type::Float {
                return Err(QueryError::at(place, "a list of indices is of integers"));
            }
            return Ok(Picked::Constant(self.names.nodes.cycled(numbers)));
        }
        match self.names.nodes.as_list(bound, place)? {
            Binding::Value(id) => Ok(Picked::Computed(id)),
            other => Err(self.names.not_a_value(&other, place)),
        }
    }

    /// Indexes a list of lists: an integer takes one list, a mask selects lists or the items of all lists.
    fn index_lists(
        &mut self,
        bound: Binding,
        level: LevelId,
        index: &Expr,
        at: Span,
    ) -> Result<Binding> {
        let place = span(index);
        let index = match self.picked(index)? {
            Picked::Constant(indices) => {
                return self.names.nodes.lists_at(&bound, level, indices, place);
            }
            Picked::Computed(id) => id,
        };
        match self.names.nodes.type_of(index) {
            Type::Bool => return self.names.nodes.masked(bound, level, index, place),
            Type::Int | Type::UInt => return self.names.nodes.list_at(&bound, level, index, at),
            _ => (),
        }
        let message = "this is a list of lists, of which an integer picks one, a slice or a list of \
                       integers some, and a mask lists or items: write [v[…] for v in …] for \
                       something of each";
        Err(QueryError::at(place, message))
    }

    /// `t[0]`
    fn element_of_tuple(&mut self, items: &[Binding], index: &Expr) -> Result<Binding> {
        let place = span(index);
        let number = self.value(index)?;
        let n = items.len() as i64;
        let found = match self.names.nodes.graph.as_const(number) {
            Some(Constant::Int(x)) if *x < 0 => items.get((x + n).try_into().unwrap_or(usize::MAX)),
            Some(Constant::Int(x)) => items.get(usize::try_from(*x).unwrap_or(usize::MAX)),
            _ => None,
        };
        found.cloned().ok_or_else(|| {
            let message = format!("a tuple of {n} has the elements 0 to {}", n - 1);
            QueryError::at(place, message)
        })
    }

    fn bound_of_slice(&mut self, bound: Option<&Expr>) -> Result<Option<i64>> {
        let Some(expr) = bound else {
            return Ok(None);
        };
        let id = self.value(expr)?;
        match self.names.nodes.graph.as_const(id) {
            Some(Constant::Int(x)) => Ok(Some(*x)),
            _ => Err(QueryError::at(
                span(expr),
                "the bounds of a slice are constant integers",
            )),
        }
    }
}

impl Builder<'_> {
    /// One of a list's lists, by its number. It is empty if there is none.
    pub(super) fn list_at(
        &mut self,
        bound: &Binding,
        level: LevelId,
        index: NodeId,
        at: Span,
    ) -> Result<Binding> {
        let lists = self.outermost(level);
        let parent = self.graph.parent(lists);
        let own = self.graph.node(index).level;
        let from_end = self.graph.as_const(index).is_some();
        if !(from_end || self.graph.encloses(own, parent)) {
            let message = "of a list of lists one is picked by one integer per event: \
                           bind the lists by a for, and pick from those";
            return Err(QueryError::at(at, message));
        }
        let index = match from_end {
            true => index,
            false => self.bring(index, parent, at)?,
        };
        self.check_within(lists, index, at)?;
        let row = self.row(lists);
        let list = self.item(row, index, None, from_end);
        Ok(self.lists_of_rows(bound, lists, list))
    }

    /// The lists of a list that have these numbers, which are constants. A list that does not exist is empty.
    pub(super) fn lists_at(
        &mut self,
        bound: &Binding,
        level: LevelId,
        indices: NodeId,
        at: Span,
    ) -> Result<Binding> {
        let lists = self.outermost(level);
        let parent = self.graph.parent(lists);
        let (index, own) = self.below(indices, parent, at)?;
        let row = self.row(lists);
        let list = self.item(row, index, Some(own), true);
        Ok(self.lists_of_rows(bound, lists, list))
    }

    /// Selects lists of the level `lists` by their numbers at that level, with all that is below.
    pub(super) fn lists_of_rows(
        &mut self,
        bound: &Binding,
        lists: LevelId,
        list: NodeId,
    ) -> Binding {
        let mut of = self.level_of(bound);
        while self.graph.parent(of) != lists {
            of = self.graph.parent(of);
        }
        let selected = self.graph.add_level(Level {
            parent: self.graph.node(list).level,
            kind: LevelKind::Product { of, list },
        });
        self.kept_below(bound, of, selected)
    }

    pub(super) fn masked(
        &mut self,
        bound: Binding,
        level: LevelId,
        mask: NodeId,
        at: Span,
    ) -> Result<Binding> {
        let mask_level = self.graph.node(mask).level;
        let mask = self.passed(mask);
        if self.graph.as_const(mask).is_some() || self.is_single(mask_level) {
            let message = "the mask has one bool per event, and the list needs one per item: \
                           to select events use a filter";
            return Err(QueryError::at(at, message));
        }
        if let Some(lists) = self.lists_beside_mask(level, mask_level) {
            // One bool for each of the lists.
            let mask = self.bring(mask, lists, at)?;
            let filtered = self.filtered(lists, mask);
            return Ok(self.kept_below(&bound, lists, filtered));
        }
        // The mask keeps its level, so that all that it masks is at one level.
        let is_value = matches!(bound, Binding::Value(_));
        let beside = is_value && self.may_be_equal(mask_level, level);
        if beside || matches!(self.graph.level(mask_level).kind, LevelKind::Product { .. }) {
            let aligned = self.brought(&bound, mask_level, at)?;
            let filtered = self.filtered(mask_level, mask);
            return Ok(self.carried(&aligned, Move::Take(filtered, 0)));
        }
        let mask = self.bring(mask, level, at)?;
        let filtered = self.filtered(level, mask);
        Ok(self.carried(&bound, Move::Take(filtered, 0)))
    }

    /// The level, or one of lists above it, whose items a mask has a bool for: the mask's own, or, if there are lists
    /// above, one that may have the same items.
    pub(super) fn lists_beside_mask(&self, level: LevelId, mask: LevelId) -> Option<LevelId> {
        if self.graph.encloses(mask, level) {
            return Some(mask);
        }
        let mut lists = level;
        while !self.is_single(self.graph.parent(lists)) {
            lists = self.graph.parent(lists);
            if self.may_be_equal(mask, lists) {
                return Some(lists);
            }
        }
        None
    }

    pub(super) fn at_index(
        &mut self,
        bound: Binding,
        level: LevelId,
        index: NodeId,
        at: Span,
        place: Span,
    ) -> Result<Binding> {
        let parent = self.graph.parent(level);
        let own = self.graph.node(index).level;
        let from_end = self.graph.as_const(index).is_some();
        if !from_end && !self.graph.encloses(own, parent) {
            return self.at_each(&bound, level, index, false, place);
        }
        let index = match from_end {
            true => index,
            false => self.bring(index, parent, place)?,
        };
        self.check_within(level, index, at)?;
        let list = None;
        Ok(self.carried(
            &bound,
            Move::At {
                index,
                list,
                from_end,
            },
        ))
    }

    /// Arrays of a known length have the same items in every event: an index beyond them is an error.
    pub(super) fn check_within(&self, level: LevelId, index: NodeId, at: Span) -> Result<()> {
        let mut walk = level;
        let len = loop {
            match &self.graph.level(walk).kind {
                LevelKind::Fixed(len) => break *len,
                LevelKind::Same { of, .. } | LevelKind::Product { of, .. } => walk = *of,
                _ => return Ok(()),
            }
        };
        match self.graph.as_const(index) {
            Some(constant) if !within(len, constant) => {
                let message = format!("the index is outside of an array of {len}");
                Err(QueryError::at(at, message))
            }
            _ => Ok(()),
        }
    }

    /// One item of the list for each index. The indices are at a level below that of the lists.
    pub(super) fn at_each(
        &mut self,
        bound: &Binding,
        level: LevelId,
        index: NodeId,
        from_end: bool,
        at: Span,
    ) -> Result<Binding> {
        let parent = self.graph.parent(level);
        let (index, list) = self.below(index, parent, at)?;
        let list = Some(list);
        Ok(self.carried(
            bound,
            Move::At {
                index,
                list,
                from_end,
            },
        ))
    }

    /// Indices at a level below some lists', and the number of the list that each is for.
    pub(super) fn below(
        &mut self,
        index: NodeId,
        parent: LevelId,
        at: Span,
    ) -> Result<(NodeId, NodeId)> {
        let mut below = self.graph.node(index).level;
        let mut index = index;
        if !self.graph.encloses(parent, below) {
            below = self.nested(below, parent, at)?;
            index = self.bring(index, below, at)?;
        }
        let row = self.row(parent);
        let list = self.bring(row, below, at)?;
        Ok((index, list))
    }

    /// One item of each list by its number, or of the lists whose numbers are given.
    pub(super) fn item(
        &mut self,
        value: NodeId,
        index: NodeId,
        list: Option<NodeId>,
        from_end: bool,
    ) -> NodeId {
        let node = self.graph.node(value);
        let (ty, level) = (node.ty, node.level);
        let sure = match (&self.graph.level(level).kind, self.graph.as_const(index)) {
            (LevelKind::Fixed(len), Some(constant)) => within(*len, constant),
            _ => false,
        };
        let missing = !sure || node.missing;
        let level = match list {
            None => self.graph.parent(level),
            Some(list) => self.graph.node(list).level,
        };
        let mut inputs = vec![value, index];
        inputs.extend(list);
        self.graph.add(Node {
            op: Op::At { from_end },
            inputs,
            level,
            ty,
            missing,
        })
    }
}

/// Whether the text of an index is a number.
fn is_constant(index: &Expr) -> bool {
    matches!(index, Expr::Const { .. } | Expr::Unary { .. })
}

/// What picks items.
enum Picked {
    /// A list of constants, which may count from the end.
    Constant(NodeId),
    /// A mask, a number or numbers.
    Computed(NodeId),
}

/// Whether an array of `len` has such an item.
fn within(len: u32, index: &Constant) -> bool {
    match index {
        Constant::Int(x) => (-i64::from(len)..i64::from(len)).contains(x),
        Constant::UInt(x) => *x < u64::from(len),
        _ => false,
    }
}
