//! Brings values to one level, which operations position by position need.

use crate::compile::nodes::objects::Move;
use crate::compile::{Builder, EVENT, Level, LevelId, LevelKind, Node, NodeId, Op, Result, Type};
use crate::error::QueryError;
use crate::spec::Span;
use std::collections::HashMap;

impl Builder<'_> {
    /// Brings values to the deepest of their levels. Values of outer levels are repeated for every item, constants stay
    /// as they are. A list beside a variable of a `for` becomes a list for each of the variable's values.
    pub(crate) fn together(&mut self, ids: &[NodeId], at: Span) -> Result<Vec<NodeId>> {
        let levels: Vec<LevelId> = ids
            .iter()
            .filter(|id| self.graph.as_const(**id).is_none())
            .map(|id| self.graph.node(*id).level)
            .collect();
        let Some(target) = self.common_level(&levels, at)? else {
            return Ok(ids.to_vec());
        };
        ids.iter().map(|id| self.bring(*id, target, at)).collect()
    }

    /// The common level of these levels, or `None` if there are none.
    pub(in crate::compile) fn common_level(
        &mut self,
        levels: &[LevelId],
        at: Span,
    ) -> Result<Option<LevelId>> {
        let (single, lists): (Vec<LevelId>, Vec<LevelId>) =
            levels.iter().partition(|level| self.is_single(**level));
        let mut target: Option<LevelId> = None;
        for level in single.into_iter().chain(lists) {
            target = Some(match target {
                None => level,
                Some(found) => self.meeting(found, level, at)?,
            });
        }
        Ok(target)
    }

    pub(in crate::compile) fn meeting(
        &mut self,
        found: LevelId,
        level: LevelId,
        at: Span,
    ) -> Result<LevelId> {
        if self.graph.encloses(level, found) || self.way(level, found, at).is_ok() {
            return Ok(found);
        }
        if self.graph.encloses(found, level) || self.way(found, level, at).is_ok() {
            return Ok(level);
        }
        if self.is_single(found)
            && !self.is_single(level)
            && self
                .graph
                .encloses(self.graph.parent(self.outermost(level)), found)
        {
            return self.nested(level, found, at);
        }
        Err(self.different(found, level, at))
    }

    /// The level of the outermost of lists in lists.
    pub(in crate::compile) fn outermost(&self, level: LevelId) -> LevelId {
        let mut level = level;
        while !self.is_single(self.graph.parent(level)) {
            level = self.graph.parent(level);
        }
        level
    }

    /// All items of a level's lists for each position of a level that lies below theirs.
    pub(in crate::compile) fn nested(
        &mut self,
        of: LevelId,
        under: LevelId,
        at: Span,
    ) -> Result<LevelId> {
        let above = self.graph.parent(of);
        if above == under {
            return Ok(of);
        }
        if !self.graph.encloses(above, under) {
            // Lists in lists: the outer ones first.
            let outer = self.nested(above, under, at)?;
            return Ok(self.lists_under(of, above, outer));
        }
        let row = self.row(above);
        let list = self.bring(row, under, at)?;
        Ok(self.graph.add_level(Level {
            parent: under,
            kind: LevelKind::Product { of, list },
        }))
    }

    /// The level of what is in lists below `outer`, for each position of a level that selects some positions of
    /// `outer` (by selection vector 0). Values get there from `level` by `Move::Take`.
    pub(in crate::compile) fn lists_under(
        &mut self,
        level: LevelId,
        outer: LevelId,
        selected: LevelId,
    ) -> LevelId {
        if level == outer {
            return selected;
        }
        let above = self.graph.parent(level);
        let parent = self.lists_under(above, outer, selected);
        let row = self.row(above);
        let list = self.carry(row, Move::Take(parent, 0));
        self.graph.add_level(Level {
            parent,
            kind: LevelKind::Product { of: level, list },
        })
    }

    /// The number of every position of a level.
    pub(in crate::compile) fn row(&mut self, level: LevelId) -> NodeId {
        self.graph.add(Node {
            op: Op::Row,
            inputs: Vec::new(),
            level,
            ty: Type::Int,
            missing: false,
        })
    }

    /// A value at a level.
    pub(in crate::compile) fn bring(
        &mut self,
        id: NodeId,
        target: LevelId,
        at: Span,
    ) -> Result<NodeId> {
        let level = self.graph.node(id).level;
        if level == target || self.graph.as_const(id).is_some() {
            return Ok(id);
        }
        let way = self.way(level, target, at)?;
        Ok(way.into_iter().fold(id, |node, how| self.carry(node, how)))
    }

    /// A value for each position of a level. A constant is repeated, a value of that level is unchanged.
    pub(in crate::compile) fn at_each_of(&mut self, id: NodeId, level: LevelId) -> NodeId {
        match self.graph.as_const(id) {
            Some(_) if !self.is_single(level) => self.moved(Op::Spread, id, level),
            _ => id,
        }
    }

    /// How values get from one level to another.
    pub(in crate::compile) fn way(
        &self,
        level: LevelId,
        target: LevelId,
        at: Span,
    ) -> Result<Vec<Move>> {
        // Walks up from the target to a level that can be reached in one step. A level further up is repeated.
        let mut below = Vec::new();
        let mut walk = target;
        loop {
            if let Some(mut way) = self.across(level, walk) {
                way.extend(below.into_iter().rev());
                return Ok(way);
            }
            if walk == EVENT {
                return Err(self.different(target, level, at));
            }
            below.push(Move::Spread(walk));
            walk = self.graph.parent(walk);
        }
    }

    /// How values get to the same items at another level, or to a product whose other side they are.
    pub(in crate::compile) fn across(&self, level: LevelId, target: LevelId) -> Option<Vec<Move>> {
        if level == target {
            return Some(Vec::new());
        }
        if self.may_be_equal(target, level) {
            return Some(vec![Move::Align(target)]);
        }
        match &self.graph.level(target).kind {
            LevelKind::Product { of, .. }
                if !self.graph.encloses(level, target) && self.has_own_lists(target) =>
            {
                let mut way = self.across(level, *of)?;
                way.push(Move::Take(target, 0));
                Some(way)
            }
            _ => None,
        }
    }

    /// Whether every position above a product has the list that lies below it, and none that was picked.
    pub(in crate::compile) fn has_own_lists(&self, product: LevelId) -> bool {
        let LevelKind::Product { of, list } = &self.graph.level(product).kind else {
            return false;
        };
        let mut walk = *list;
        loop {
            let node = self.graph.node(walk);
            match (&node.op, node.inputs.first()) {
                (Op::Row, _) => return node.level == self.graph.parent(*of),
                (Op::Spread | Op::Align, Some(input)) => walk = *input,
                (Op::Take(_), Some(input)) if self.has_all_items(node.level) => walk = *input,
                _ => return false,
            }
        }
    }

    /// Whether what is taken at a level from the one that it is made of are all of its items, in their order.
    pub(in crate::compile) fn has_all_items(&self, level: LevelId) -> bool {
        match &self.graph.level(level).kind {
            LevelKind::Same { .. } => !self.is_single(level),
            _ => self.has_own_lists(level),
        }
    }

    /// The value of a node at another level.
    pub(in crate::compile) fn moved(&mut self, op: Op, id: NodeId, level: LevelId) -> NodeId {
        let node = self.graph.node(id);
        let node = Node {
            op,
            inputs: vec![id],
            level,
            ty: node.ty,
            missing: node.missing,
        };
        self.graph.add(node)
    }

    /// Whether two different levels may have the same items: one is the other under another name, or comes from a
    /// column without a shared counter. The data decides when they are read.
    pub(in crate::compile) fn may_be_equal(&self, a: LevelId, b: LevelId) -> bool {
        // What a `for` goes through item by item is not set beside a whole list.
        if self.is_single(a) || self.is_single(b) {
            return false;
        }
        let (mut a, mut b) = (a, b);
        // Equal steps from roots that may be equal.
        loop {
            if self.graph.parent(a) != self.graph.parent(b) {
                return false;
            }
            if a == b {
                return true;
            }
            match (&self.graph.level(a).kind, &self.graph.level(b).kind) {
                (LevelKind::Same { of, .. }, _) => a = *of,
                (_, LevelKind::Same { of, .. }) => b = *of,
                (LevelKind::Filtered { of: of_a, .. }, LevelKind::Filtered { of: of_b, .. }) => {
                    (a, b) = (*of_a, *of_b);
                    // Only roots that may differ are compared.
                    if a == b {
                        return false;
                    }
                }
                (
                    LevelKind::Sliced {
                        of: of_a,
                        lower: lower_a,
                        upper: upper_a,
                        step: step_a,
                    },
                    LevelKind::Sliced {
                        of: of_b,
                        lower: lower_b,
                        upper: upper_b,
                        step: step_b,
                    },
                ) if (lower_a, upper_a, step_a) == (lower_b, upper_b, step_b) => {
                    (a, b) = (*of_a, *of_b);
                }
                (LevelKind::Items { counter: a, .. }, LevelKind::Items { counter: b, .. }) => {
                    return self.counters_may_agree(a.as_deref(), b.as_deref());
                }
                // What a function gives has any lengths.
                (LevelKind::Returned { .. }, LevelKind::Returned { .. })
                | (
                    LevelKind::Returned { .. },
                    LevelKind::Items { .. } | LevelKind::Inner { .. } | LevelKind::Fixed(_),
                )
                | (
                    LevelKind::Items { .. } | LevelKind::Inner { .. } | LevelKind::Fixed(_),
                    LevelKind::Returned { .. },
                ) => return true,
                (LevelKind::Items { counter, .. }, LevelKind::Fixed(_))
                | (LevelKind::Fixed(_), LevelKind::Items { counter, .. }) => {
                    return !self.ties(counter.as_deref());
                }
                _ => return false,
            }
        }
    }

    /// Whether lists of two counters may have the same lengths: one of them counts a single column, or is a friend's
    /// counter of the same name. Two counters of several columns each count different things.
    pub(in crate::compile) fn counters_may_agree(&self, a: Option<&str>, b: Option<&str>) -> bool {
        let (Some(a), Some(b)) = (a, b) else {
            return true;
        };
        let is_friends = |a: &str, b: &str| a.strip_suffix(b).is_some_and(|of| of.ends_with('.'));
        a == b || is_friends(a, b) || is_friends(b, a) || !self.ties(Some(a)) || !self.ties(Some(b))
    }

    /// Whether several list columns have the counter.
    pub(in crate::compile) fn ties(&self, counter: Option<&str>) -> bool {
        let Some(counter) = counter else {
            return false;
        };
        self.counted_by(counter).len() > 1
    }

    /// The places of the list columns that have a counter of this name. Of thousands of columns each
    /// may be asked about.
    pub(in crate::compile) fn counted_by(&self, counter: &str) -> &[usize] {
        let counted = self.counted.get_or_init(|| {
            let mut counted: HashMap<&str, Vec<usize>> = HashMap::new();
            for (place, field) in self.schema.columns() {
                if let Some(counter) = field.column_type.counter() {
                    counted.entry(counter).or_default().push(place);
                }
            }
            counted
        });
        counted.get(counter).map_or(&[], Vec::as_slice)
    }

    pub(in crate::compile) fn different(&self, a: LevelId, b: LevelId, at: Span) -> QueryError {
        QueryError::at(
            at,
            format!(
                "values of different lists do not go together: {} and {}; loop over both, [… for a in A for b in B], \
                 or over pairs of items, zip(A, B)",
                self.describe(a),
                self.describe(b)
            ),
        )
    }

    /// A level in words.
    pub(in crate::compile) fn describe(&self, level: LevelId) -> String {
        let mut walk = level;
        let mut narrowed = "";
        loop {
            match &self.graph.level(walk).kind {
                LevelKind::Event => return "one per event".to_owned(),
                LevelKind::Items {
                    counter: Some(counter),
                    ..
                } => return format!("{narrowed}the items counted by {counter}"),
                LevelKind::Items { column, .. } => {
                    let name = self.schema.fields.get(*column);
                    let name = name.map_or("a column", |field| field.name.as_str());
                    return format!("{narrowed}the items of {name}");
                }
                LevelKind::Inner { column } => {
                    let name = self.schema.fields.get(*column);
                    let name = name.map_or("a column", |field| field.name.as_str());
                    return format!("{narrowed}the lists in {name}");
                }
                LevelKind::Fixed(len) => return format!("{narrowed}arrays of {len}"),
                LevelKind::Returned { lengths } => {
                    let title = match self.graph.node(*lengths).op {
                        Op::Returned { callee, .. } => self.callees.get(callee),
                        _ => None,
                    };
                    let title = title.map_or("a function", |callee| callee.title.as_str());
                    return format!("{narrowed}what {title}(…) gives");
                }
                LevelKind::Filtered { of, .. } | LevelKind::Sliced { of, .. } => {
                    narrowed = "some of ";
                    walk = *of;
                }
                LevelKind::Counted { .. } => return format!("{narrowed}what each refers to"),
                LevelKind::Referring { of, .. } => {
                    return format!("{narrowed}{} that refer to each", self.describe(*of));
                }
                LevelKind::Same { of, .. }
                | LevelKind::Product { of, .. }
                | LevelKind::Flat { of }
                | LevelKind::Sorted { of, .. } => walk = *of,
                LevelKind::Combinations { of, size }
                | LevelKind::Arrangements {
                    of,
                    size,
                    ordered: false,
                } => {
                    return format!("{narrowed}combinations of {size} of {}", self.describe(*of));
                }
                LevelKind::Arrangements { of, size, .. } => {
                    return format!("{narrowed}permutations of {size} of {}", self.describe(*of));
                }
                LevelKind::Joined { parts } => {
                    let parts: Vec<String> = parts.iter().map(|of| self.describe(*of)).collect();
                    return format!("{narrowed}{} one after another", parts.join(" and "));
                }
                LevelKind::Zipped { parts } => {
                    let parts: Vec<String> = parts.iter().map(|of| self.describe(*of)).collect();
                    return format!("{narrowed}{} side by side", parts.join(" and "));
                }
            }
        }
    }

    /// The items that a mask keeps.
    pub(in crate::compile) fn filtered(&mut self, of: LevelId, mask: NodeId) -> LevelId {
        let parent = self.graph.parent(of);
        self.graph.add_level(Level {
            parent,
            kind: LevelKind::Filtered { of, mask },
        })
    }

    /// The level of the items of arrays at another level: those of all columns whose arrays are as long.
    pub(in crate::compile) fn arrays_level(&mut self, parent: LevelId, len: u32) -> LevelId {
        let kind = LevelKind::Fixed(len);
        self.graph.add_level(Level { parent, kind })
    }

    /// The level of the items of a column's lists and arrays at another level.
    pub(in crate::compile) fn levels_below(
        &mut self,
        outer: LevelId,
        below: &[Option<u32>],
        column: usize,
    ) -> LevelId {
        below.iter().fold(outer, |parent, len| match len {
            Some(len) => self.arrays_level(parent, *len),
            None => {
                let kind = LevelKind::Inner { column };
                self.graph.add_level(Level { parent, kind })
            }
        })
    }

    pub(in crate::compile) fn items_level(
        &mut self,
        counter: Option<&str>,
        column: usize,
    ) -> LevelId {
        // Columns with one counter are one level, named by its first column.
        let same = counter.and_then(|counter| self.counted_by(counter).first());
        let column = same.copied().unwrap_or(column);
        self.graph.add_level(Level {
            parent: EVENT,
            kind: LevelKind::Items {
                counter: counter.map(str::to_owned),
                column,
            },
        })
    }
}
