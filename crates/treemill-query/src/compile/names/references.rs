//! References from objects to objects: `Muon.jet.pt`. What is a reference, and where its indices are, says
//! `crate::references`; here it becomes an index into the collection that it refers to. Indices count the objects
//! that are stored: their members may be defined anew, but not the collection itself.

use crate::compile::names::identities::Stored;
use crate::compile::names::spelling::listed;
use crate::compile::nodes::objects::{Move, Object, RecordSource};
use crate::compile::{
    Binding, Constant, EVENT, Level, LevelKind, Node, NodeId, Op, Resolver, Result, Type,
};
use crate::error::QueryError;
use crate::kernel::{Arithmetic, Compare, Map};
use crate::limits::REFERENCE_TARGETS;
use crate::references;
use crate::references::{Ancestry, Columns, Indices, Reference};
use crate::spec::{Format, Span};

impl Resolver<'_> {
    /// What a member of a record refers to; `None` if it is no reference.
    pub(in crate::compile) fn referred(
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
        let Some((prefix, scope)) = columns(object) else {
            return Ok(None);
        };
        let stored = Stored::of(self);
        let Some(reference) = references::reference(prefix, name, &stored) else {
            return Ok(None);
        };
        let here = std::mem::replace(&mut self.scope, scope);
        let targets = self.targets(&reference, prefix, name, at);
        self.scope = here;
        let targets = targets?;
        self.followed(bound, object, &reference, targets, at)
            .map(Some)
    }

    /// What names of columns may begin with, before a member's name, beside the collection's own name.
    pub(in crate::compile) fn containers(&self, collection: &str) -> Vec<String> {
        let is_physlite = self.is_physlite.get_or_init(|| {
            if !Stored::of(self).follows(Format::Physlite) {
                return false;
            }
            let mut columns = self.nodes.schema.columns();
            columns.any(|(_, field)| references::physlite::is_own(&field.name))
        });
        match is_physlite {
            true => references::physlite::containers(collection).collect(),
            false => Vec::new(),
        }
    }

    /// What each of several concatenated collections refers to.
    pub(in crate::compile) fn referred_by_each(
        &mut self,
        parts: &[Binding],
        object: &Object,
        name: &str,
        at: Span,
    ) -> Result<Option<Binding>> {
        let mut found = Vec::with_capacity(parts.len());
        for part in parts {
            match self.referred(part, name, at)? {
                Some(target) if self.nodes.level_of(&target) == self.nodes.level_of(part) => {
                    found.push(target)
                }
                _ => return Ok(None),
            }
        }
        let joined = self.nodes.joined_bounds(&found, object.base, at)?;
        let moves = object.moves.iter();
        Ok(Some(moves.fold(joined, |found, how| {
            self.nodes.carried(&found, *how)
        })))
    }

    /// The collections that a reference may lead to, with their keys.
    pub(in crate::compile) fn targets(
        &mut self,
        reference: &Reference,
        prefix: &str,
        name: &str,
        at: Span,
    ) -> Result<Vec<(Object, i64)>> {
        let mut found = Vec::new();
        for target in &reference.targets {
            if let Some(object) = self.collection(&target.collection)
                && object.base != EVENT
            {
                self.check_stored(&target.collection, prefix, name, at)?;
                found.push((object, target.key));
            }
        }
        if found.is_empty() {
            let names: Vec<String> = reference
                .targets
                .iter()
                .map(|each| each.collection.clone())
                .collect();
            let of = listed(&names);
            let message = match names.len() {
                0 => format!(
                    "what {prefix}.{name} refers to is not among the columns, or the file's table of \
                     collections' IDs and classes, which podio writes, is missing or names a class that \
                     treemill does not know"
                ),
                1 => format!(
                    "{prefix}.{name} refers to {of}, and there is no collection {of}; {}",
                    reference.indices.in_words(prefix)
                ),
                _ => format!(
                    "{prefix}.{name} refers to one of {of}, and there is none of them; {}",
                    reference.indices.in_words(prefix)
                ),
            };
            return Err(QueryError::at(at, message));
        }
        if found.len() > REFERENCE_TARGETS {
            let message = format!(
                "{prefix}.{name} may refer to {} collections; at most {REFERENCE_TARGETS} are looked through: \
                 index one of them",
                found.len()
            );
            return Err(QueryError::at(at, message));
        }
        Ok(found)
    }

    /// Error: the collection was defined anew, and a reference counts the items that are stored.
    pub(in crate::compile) fn check_stored(
        &self,
        collection: &str,
        prefix: &str,
        name: &str,
        at: Span,
    ) -> Result<()> {
        let short = collection.strip_prefix("Analysis").unwrap_or(collection);
        let defined = [collection, short].into_iter();
        let defined = defined.filter_map(|name| self.defines.named(name, self.scope));
        let Some((_, define)) = defined.max_by_key(|(index, _)| *index) else {
            return Ok(());
        };
        let anew = &define.name;
        Err(QueryError::at(
            at,
            format!(
                "{prefix}.{name} counts the items of {anew} as they are stored, and {anew} was defined \
                 anew: give the new list another name, or define what you need of {prefix}.{name} \
                 before {anew}"
            ),
        ))
    }

    pub(in crate::compile) fn followed(
        &mut self,
        bound: &Binding,
        object: &Object,
        reference: &Reference,
        targets: Vec<(Object, i64)>,
        at: Span,
    ) -> Result<Binding> {
        let mut key = None;
        let index = match &reference.indices {
            Indices::Column(column) => {
                if let Some(column) = &reference.key {
                    key = Some(self.index_beside(object, column, at)?);
                }
                self.index_beside(object, column, at)?
            }
            Indices::Range { begin, end, column } => {
                let place = self.places(bound, begin, end, at)?;
                if let Some(column) = &reference.key {
                    key = Some(self.index_at(column, place, at)?);
                }
                self.index_at(column, place, at)?
            }
            Indices::Member(index) => self.index_in(bound, index, at)?,
            Indices::Members(each) => self.indices_beside(object, each, at)?,
            Indices::Ancestor(ancestry) => {
                let index = self.mothers(object, ancestry, at)?;
                let moves = object.moves.iter();
                moves.fold(index, |index, how| self.nodes.carry(index, *how))
            }
            Indices::Numbers { member, of } => {
                return self.identified(bound, (member, of), targets, at);
            }
            Indices::Reverse(ancestry) => {
                let index = self.mothers(object, ancestry, at)?;
                let found = targets.into_iter().next().map(|(target, _)| target);
                let found = found.map(|target| self.nodes.those_that_refer(object, index, target));
                return found
                    .ok_or_else(|| QueryError::at(at, "the reference names no collection"));
            }
        };
        let key = match &reference.key {
            None => None,
            Some(_) if key.is_some() => key,
            Some(name) => {
                let key = self.index_in(bound, name, at)?;
                let level = self.nodes.graph.node(index).level;
                // It lies beside the index; of lists in columns without a counter the data tells.
                Some(match self.nodes.graph.node(key).level == level {
                    true => key,
                    false => self.nodes.carry(key, Move::Align(level)),
                })
            }
        };
        let mut found = None;
        for (target, number) in targets.into_iter().rev() {
            let is_this = key.map(|key| self.nodes.is_key(key, number));
            let own = is_this.map_or(index, |is_this| self.nodes.only(index, is_this));
            let level = target.level;
            let this = self
                .nodes
                .at_index(Binding::Object(target), level, own, at, at)?;
            found = Some(match (found, is_this) {
                (Some(others), Some(is_this)) => self.nodes.choice(is_this, (this, others), at)?,
                _ => this,
            });
        }
        found.ok_or_else(|| QueryError::at(at, "the reference names no collection"))
    }

    /// A member that holds indices.
    pub(in crate::compile) fn index_in(
        &mut self,
        bound: &Binding,
        name: &str,
        at: Span,
    ) -> Result<NodeId> {
        match self.member(bound, name, at)? {
            Binding::Value(id) if matches!(self.nodes.type_of(id), Type::Int | Type::UInt) => {
                Ok(id)
            }
            other => {
                let message = format!("{name} is {}, and no index", self.nodes.title(&other));
                Err(QueryError::at(at, message))
            }
        }
    }

    /// A column of indices.
    pub(in crate::compile) fn index_column(&mut self, name: &str, at: Span) -> Result<NodeId> {
        match self.stored_column(name, at)? {
            Some(Binding::Value(id))
                if matches!(self.nodes.type_of(id), Type::Int | Type::UInt) =>
            {
                Ok(id)
            }
            _ => Err(QueryError::at(
                at,
                format!("{name} is no column of indices"),
            )),
        }
    }

    /// A column with an item for each object; the data tells whether it has as many.
    pub(in crate::compile) fn index_beside(
        &mut self,
        object: &Object,
        column: &str,
        at: Span,
    ) -> Result<NodeId> {
        let index = self.index_column(column, at)?;
        let index = match self.nodes.graph.node(index).level == object.base {
            true => index,
            false => self.nodes.carry(index, Move::Align(object.base)),
        };
        let moves = object.moves.iter();
        Ok(moves.fold(index, |index, how| self.nodes.carry(index, *how)))
    }

    /// The numbers, for each object, from one that a member holds to before that of another.
    pub(in crate::compile) fn places(
        &mut self,
        bound: &Binding,
        begin: &str,
        end: &str,
        at: Span,
    ) -> Result<NodeId> {
        let begin = self.index_in(bound, begin, at)?;
        let end = self.index_in(bound, end, at)?;
        let both = self.nodes.together(&[begin, end], at)?;
        let (begin, end) = (both[0], both[1]);
        let count = self
            .nodes
            .map(Map::Int(Arithmetic::Sub), &[end, begin], Type::Int);
        let level = self.nodes.graph.add_level(Level {
            parent: self.nodes.graph.node(begin).level,
            kind: LevelKind::Counted { count },
        });
        let place = self.nodes.graph.add(Node {
            op: Op::Position,
            inputs: Vec::new(),
            level,
            ty: Type::Int,
            missing: false,
        });
        let begin = self.nodes.moved(Op::Spread, begin, level);
        Ok(self
            .nodes
            .map(Map::Int(Arithmetic::Add), &[begin, place], Type::Int))
    }

    /// The items of a column that have these numbers in their event.
    pub(in crate::compile) fn index_at(
        &mut self,
        column: &str,
        place: NodeId,
        at: Span,
    ) -> Result<NodeId> {
        let items = self.index_column(column, at)?;
        let level = self.nodes.graph.node(items).level;
        match self
            .nodes
            .at_index(Binding::Value(items), level, place, at, at)?
        {
            Binding::Value(id) => Ok(id),
            other => Err(self.not_a_value(&other, at)),
        }
    }

    /// The indices of several members, as a list for each object; a missing object has an empty one.
    pub(in crate::compile) fn indices_beside(
        &mut self,
        object: &Object,
        names: &[String],
        at: Span,
    ) -> Result<NodeId> {
        let stored = stored(object);
        let list = self.nodes.graph.add_level(Level {
            parent: object.base,
            kind: LevelKind::Fixed(u32::try_from(names.len()).unwrap_or(u32::MAX)),
        });
        let place = self.nodes.graph.add(Node {
            op: Op::Position,
            inputs: Vec::new(),
            level: list,
            ty: Type::Int,
            missing: false,
        });
        let mut found = None;
        for (number, name) in names.iter().enumerate().rev() {
            let index = self.index_in(&stored, name, at)?;
            let index = self.nodes.moved(Op::Spread, index, list);
            found = Some(match found {
                None => index,
                Some(others) => {
                    let number = self.nodes.graph.constant(Constant::Int(number as i64));
                    let is_this = Map::CompareInt(Compare::Eq);
                    let is_this = self.nodes.map(is_this, &[place, number], Type::Bool);
                    self.nodes.select(is_this, index, others, at)?
                }
            });
        }
        let found = found.map(|index| self.nodes.list_member(&Binding::Value(index), list, object));
        match found {
            Some(Binding::Value(index)) => Ok(index),
            _ => Err(QueryError::at(at, "a reference without indices")),
        }
    }

    /// Where the objects are stored: the indices of their mothers.
    pub(in crate::compile) fn mothers(
        &mut self,
        object: &Object,
        ancestry: &Ancestry,
        at: Span,
    ) -> Result<NodeId> {
        let stored = stored(object);
        let mother = self.index_in(&stored, &ancestry.mother, at)?;
        let Some(distinct) = &ancestry.distinct else {
            return Ok(mother);
        };
        let kind = self.index_in(&stored, distinct, at)?;
        if self.nodes.graph.node(kind).missing {
            let message = format!("{distinct} may be missing, and decides which mothers are meant");
            return Err(QueryError::at(at, message));
        }
        Ok(self.nodes.graph.add(Node {
            op: Op::Ancestor,
            inputs: vec![mother, kind],
            level: self.nodes.graph.node(mother).level,
            ty: Type::Int,
            missing: false,
        }))
    }
}

/// All objects that are stored, of which the others are a selection.
pub(in crate::compile) fn stored(object: &Object) -> Binding {
    Binding::Object(Object {
        moves: Vec::new(),
        level: object.base,
        ..object.clone()
    })
}

/// The name of the collection that a record is of, and the definitions that were visible when it was named.
pub(in crate::compile) fn columns(object: &Object) -> Option<(&str, Option<usize>)> {
    match &*object.source {
        RecordSource::Columns { prefix, scope } => Some((prefix, *scope)),
        RecordSource::Amended {
            of: Binding::Object(of),
            ..
        } => columns(of),
        RecordSource::Amended { .. } | RecordSource::Joined(_) | RecordSource::Made(_) => None,
    }
}
