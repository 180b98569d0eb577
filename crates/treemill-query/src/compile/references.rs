//! References from objects to objects: `Muon.jet.pt`. What is a reference, and where its indices are, says
//! `crate::references`; here it becomes an index into the collection that it refers to. A reference leads to
//! objects as they are stored, whatever definitions have made of their collection: indices count those.

use super::objects::{Move, Object, RecordSource};
use super::{Binding, Compiler, EVENT, Level, LevelKind, Node, NodeId, Op, Result, Type};
use crate::error::QueryError;
use crate::kernel::{Compare, Map};
use crate::references::{self, Ancestry, Indices, Reference};
use crate::spec::Span;

impl Compiler<'_> {
    /// What a member of a record refers to; `None` if it is no reference.
    pub(super) fn referred(
        &mut self,
        bound: &Binding,
        name: &str,
        at: Span,
    ) -> Result<Option<Binding>> {
        let Binding::Object(object) = bound else {
            return Ok(None);
        };
        if let RecordSource::Joined(parts) = &*object.source {
            return self.referred_by_each(parts, object, name, at);
        }
        let Some(prefix) = prefix(object) else {
            return Ok(None);
        };
        let has = |column: &str| self.by_name.contains_key(column);
        let Some(reference) = references::reference(prefix, name, &has) else {
            return Ok(None);
        };
        let target = self.target(&reference, prefix, name, at)?;
        self.followed(bound, object, &reference.indices, target, at)
            .map(Some)
    }

    /// Of concatenated collections: what each refers to.
    fn referred_by_each(
        &mut self,
        parts: &[Binding],
        object: &Object,
        name: &str,
        at: Span,
    ) -> Result<Option<Binding>> {
        let mut found = Vec::with_capacity(parts.len());
        for part in parts {
            match self.referred(part, name, at)? {
                Some(target) if self.level_of(&target) == self.level_of(part) => found.push(target),
                _ => return Ok(None),
            }
        }
        let joined = self.joined_bounds(&found, object.base, at)?;
        let moves = object.moves.iter();
        Ok(Some(
            moves.fold(joined, |found, how| self.carried(&found, *how)),
        ))
    }

    /// The collection that a reference leads to, as it is stored.
    fn target(
        &mut self,
        reference: &Reference,
        prefix: &str,
        name: &str,
        at: Span,
    ) -> Result<Object> {
        let here = self.scope.take();
        let target = self.collection(&reference.target);
        self.scope = here;
        target.filter(|found| found.base != EVENT).ok_or_else(|| {
            let of = &reference.target;
            let message =
                format!("{prefix}.{name} refers to {of}, and there is no collection {of}");
            QueryError::at(at, message)
        })
    }

    fn followed(
        &mut self,
        bound: &Binding,
        object: &Object,
        indices: &Indices,
        target: Object,
        at: Span,
    ) -> Result<Binding> {
        let level = target.level;
        let index = match indices {
            Indices::Member(index) => self.index_in(bound, index, at)?,
            Indices::Members(each) => self.indices_beside(bound, each, at)?,
            Indices::Ancestor(ancestry) => {
                let index = self.mothers(object, ancestry, at)?;
                let moves = object.moves.iter();
                moves.fold(index, |index, how| self.carry(index, *how))
            }
            Indices::Reverse(ancestry) => {
                let index = self.mothers(object, ancestry, at)?;
                return Ok(self.those_that_refer(object, index, target));
            }
        };
        self.at_index(Binding::Object(target), level, index, at, at)
    }

    /// A member that holds indices.
    fn index_in(&mut self, bound: &Binding, name: &str, at: Span) -> Result<NodeId> {
        match self.member(bound, name, at)? {
            Binding::Value(id) if matches!(self.type_of(id), Type::Int | Type::UInt) => Ok(id),
            other => {
                let message = format!("{name} is {}, and no index", self.title(&other));
                Err(QueryError::at(at, message))
            }
        }
    }

    /// The indices of several members, as a list for each object.
    fn indices_beside(&mut self, bound: &Binding, names: &[String], at: Span) -> Result<NodeId> {
        let level = self.level_of(bound);
        let list = self.graph.add_level(Level {
            parent: level,
            kind: LevelKind::Fixed(u32::try_from(names.len()).unwrap_or(u32::MAX)),
        });
        let place = self.graph.add(Node {
            op: Op::Position,
            inputs: Vec::new(),
            level: list,
            ty: Type::Int,
            missing: false,
        });
        let mut found = None;
        for (number, name) in names.iter().enumerate().rev() {
            let index = self.index_in(bound, name, at)?;
            let index = self.moved(Op::Spread, index, list);
            found = Some(match found {
                None => index,
                Some(others) => {
                    let number = self.graph.constant(super::Constant::Int(number as i64));
                    let is_this = Map::CompareInt(Compare::Eq);
                    let is_this = self.map(is_this, &[place, number], Type::Bool);
                    self.select(is_this, index, others, at)?
                }
            });
        }
        found.ok_or_else(|| QueryError::at(at, "a reference without indices"))
    }

    /// Where the objects are stored: the indices of their mothers.
    fn mothers(&mut self, object: &Object, ancestry: &Ancestry, at: Span) -> Result<NodeId> {
        let stored = Binding::Object(Object {
            moves: Vec::new(),
            level: object.base,
            ..object.clone()
        });
        let mother = self.index_in(&stored, &ancestry.mother, at)?;
        let Some(distinct) = &ancestry.distinct else {
            return Ok(mother);
        };
        let kind = self.index_in(&stored, distinct, at)?;
        if self.graph.node(kind).missing {
            let message = format!("{distinct} may be missing, and decides which mothers are meant");
            return Err(QueryError::at(at, message));
        }
        Ok(self.graph.add(Node {
            op: Op::Ancestor,
            inputs: vec![mother, kind],
            level: self.graph.node(mother).level,
            ty: Type::Int,
            missing: false,
        }))
    }

    /// A list for each object: the items of the target whose index is the object's own.
    fn those_that_refer(&mut self, object: &Object, index: NodeId, target: Object) -> Binding {
        let of = self.graph.node(index).level;
        let list = self.graph.add_level(Level {
            parent: of,
            kind: LevelKind::Referring { of, index },
        });
        let found = self.carried(&Binding::Object(target), Move::Pick(list, 0));
        self.list_member(&found, list, object)
    }
}

/// The name of the collection that a record is of.
fn prefix(object: &Object) -> Option<&str> {
    match &*object.source {
        RecordSource::Columns { prefix, .. } => Some(prefix),
        RecordSource::Amended {
            of: Binding::Object(of),
            ..
        } => prefix(of),
        RecordSource::Amended { .. } | RecordSource::Joined(_) | RecordSource::Made(_) => None,
    }
}
