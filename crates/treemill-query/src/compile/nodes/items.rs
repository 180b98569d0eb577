//! Items of lists by their numbers, and lists of items by masks.

use crate::compile::nodes::objects::Move;
use crate::compile::{
    Binding, Builder, Constant, Level, LevelId, LevelKind, Node, NodeId, Op, Result,
};
use crate::error::QueryError;
use crate::spec::Span;

impl Builder<'_> {
    /// One of a list's lists, by its number. It is empty if there is none.
    pub(in crate::compile) fn list_at(
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
    pub(in crate::compile) fn lists_at(
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
    pub(in crate::compile) fn lists_of_rows(
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

    pub(in crate::compile) fn masked(
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
    pub(in crate::compile) fn lists_beside_mask(
        &self,
        level: LevelId,
        mask: LevelId,
    ) -> Option<LevelId> {
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

    pub(in crate::compile) fn at_index(
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
    pub(in crate::compile) fn check_within(
        &self,
        level: LevelId,
        index: NodeId,
        at: Span,
    ) -> Result<()> {
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
    pub(in crate::compile) fn at_each(
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
    pub(in crate::compile) fn below(
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
    pub(in crate::compile) fn item(
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

/// Whether an array of `len` has such an item.
fn within(len: u32, index: &Constant) -> bool {
    match index {
        Constant::Int(x) => (-i64::from(len)..i64::from(len)).contains(x),
        Constant::UInt(x) => *x < u64::from(len),
        _ => false,
    }
}
