//! The levels that a `for` goes through, and the lists that it makes.

use crate::compile::nodes::objects::Move;
use crate::compile::{Binding, Builder, EVENT, Level, LevelId, LevelKind, Result, Role};
use crate::error::QueryError;
use crate::spec::Span;

/// Something evaluated inside of loops: it stands at `level`, directly below where the loops began.
pub(in crate::compile) struct Looped {
    pub element: Binding,
    pub level: LevelId,
}

impl Builder<'_> {
    /// What loops have made, as a list of its own.
    pub(in crate::compile) fn listed(&mut self, looped: Looped) -> Binding {
        let parent = self.graph.parent(looped.level);
        let of = looped.level;
        let list = self.graph.add_level(Level {
            parent,
            kind: LevelKind::Same {
                of,
                role: Role::List,
            },
        });
        // Lists of lists stay at their own level.
        if self.level_of(&looped.element) != of {
            return looped.element;
        }
        self.carried(&looped.element, Move::Take(list, 0))
    }

    /// The items of a list, one by one.
    pub(in crate::compile) fn entered(&mut self, items: Binding, at: Span) -> Result<Binding> {
        let level = self.level_of(&items);
        if self.is_single(level) {
            let message = match &items {
                Binding::Value(_) => "for goes through lists, and this is one value".to_owned(),
                other => format!(
                    "for goes through lists, and {} is one record",
                    self.title(other)
                ),
            };
            return Err(QueryError::at(at, message));
        }
        // Lists in lists: the outermost ones, one by one.
        let outer = self.outermost(level);
        let each = self.loop_level(outer);
        let lists = self.lists_under(level, outer, each);
        Ok(self.carried(&items, Move::Take(lists, 0)))
    }

    pub(in crate::compile) fn loop_level(&mut self, of: LevelId) -> LevelId {
        let parent = self.graph.parent(of);
        self.graph.add_level(Level {
            parent,
            kind: LevelKind::Same {
                of,
                role: Role::Loop,
            },
        })
    }

    /// The level that a loop over such an element goes through.
    pub(in crate::compile) fn loop_of(&self, element: &Binding) -> LevelId {
        let mut level = self.level_of(element);
        // Lists: the level above.
        while !matches!(
            self.graph.level(level).kind,
            LevelKind::Same {
                role: Role::Loop,
                ..
            }
        ) && level != EVENT
        {
            level = self.graph.parent(level);
        }
        level
    }

    /// An element at a level that selects some items of the element's level. Lists stay whole.
    pub(in crate::compile) fn kept_below(
        &mut self,
        element: &Binding,
        level: LevelId,
        selected: LevelId,
    ) -> Binding {
        let own = self.level_of(element);
        let lists = self.lists_under(own, level, selected);
        self.carried(element, Move::Take(lists, 0))
    }
}
