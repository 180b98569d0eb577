//! Selection vectors: the positions of the items that a level is made of, and of the lists that
//! items belong to.

use super::tasks::Made;
use super::{Batch, SelectionId};
use crate::chunk::Wide;
use crate::compile::{LevelId, LevelKind, Type};
use crate::error::QueryError;
use crate::kernel::{arrangements, gather, lists, masks, tuples};
use crate::value::{Buf, Value};

impl Batch<'_> {
    /// Positions (of `n`) at which a condition is true and not missing.
    pub(super) fn kept(&mut self, mask: &Value, n: usize) -> Vec<u32> {
        let mut positions: Vec<u32> = self.pool.take(n);
        let present = mask.valid.as_deref();
        let count = match (u8::direct(mask), present) {
            (Some(mask), None) => masks::positions(&mask[..n], &mut positions),
            _ => {
                let mut bytes: Vec<u8> = self.pool.take(n);
                u8::read(mask, 0, &mut bytes);
                if let Some(present) = present {
                    for (i, byte) in bytes.iter_mut().enumerate() {
                        *byte &= present[if mask.is_scalar() { 0 } else { i }];
                    }
                }
                let count = masks::positions(&bytes, &mut positions);
                self.pool.give_vec(bytes);
                count
            }
        };
        self.pool.first(positions, count)
    }

    /// The selection vector of a level, by its number: positions of the items that the level is made of.
    pub(super) fn make_selection_vector(
        &mut self,
        s: SelectionId,
        level: LevelId,
        which: u8,
    ) -> Made<()> {
        let (of, size, ordered) = match &self.plan.graph.level(level).kind {
            LevelKind::Combinations { of, size } => (*of, *size, None),
            LevelKind::Arrangements { of, size, ordered } => (*of, *size, Some(*ordered)),
            _ => {
                let found = self.single_selection_vector(s, level, which)?;
                self.selections[s]
                    .selection_vectors
                    .insert((level, which), found);
                return Ok(());
            }
        };
        let inner = self.offsets(s, of)?;
        let outer = self.offsets(s, level)?;
        let total = outer.last().map_or(0, |last| *last as usize);
        let mut all: Vec<Vec<u32>> = Vec::with_capacity(usize::from(size));
        for _ in 0..size {
            all.push(self.pool.take(total));
        }
        match ordered {
            None => tuples::combinations(&inner, &mut all),
            Some(ordered) => arrangements::arrange(&inner, ordered, &mut all),
        }
        for (k, selection_vector) in all.into_iter().enumerate() {
            let key = (level, k as u8);
            self.selections[s]
                .selection_vectors
                .insert(key, selection_vector.into());
        }
        Ok(())
    }

    fn single_selection_vector(
        &mut self,
        s: SelectionId,
        level: LevelId,
        which: u8,
    ) -> Made<Buf<u32>> {
        match &self.plan.graph.level(level).kind {
            LevelKind::Product { of, list } => {
                let inner = self.offsets(s, *of)?;
                let lists = self.node(s, *list)?;
                let outer = self.offsets(s, level)?;
                let selection_vector = Self::row_numbers(&lists)?;
                let total = outer.last().map_or(0, |last| *last as usize);
                let mut out: Vec<u32> = self.pool.take(total);
                lists::selected_items(&inner, &selection_vector, &outer, &mut out);
                Ok(out.into())
            }
            LevelKind::Referring { of, index } => {
                let outer = self.offsets(s, level)?;
                self.selection_vector_of_referring(s, *of, *index, &outer)
            }
            LevelKind::Zipped { parts } => {
                let part = parts.get(usize::from(which)).copied().unwrap_or(level);
                let inner = self.offsets(s, part)?;
                let outer = self.offsets(s, level)?;
                let total = outer.last().map_or(0, |last| *last as usize);
                let mut out: Vec<u32> = self.pool.take(total);
                lists::runs(inner.iter().copied(), &outer, &mut out);
                Ok(out.into())
            }
            LevelKind::Joined { parts } => {
                let mut ends = Vec::with_capacity(parts.len());
                for part in parts {
                    ends.push(self.offsets(s, *part)?);
                }
                let outer = self.offsets(s, level)?;
                let total = outer.last().map_or(0, |last| *last as usize);
                let mut out: Vec<u32> = self.pool.take(total);
                let ends: Vec<&[i32]> = ends.iter().map(|ends| &ends[..]).collect();
                lists::joined(&ends, &mut out);
                Ok(out.into())
            }
            LevelKind::Sorted { of, key, reverse } => {
                let offsets = self.offsets(s, *of)?;
                let keys = self.node(s, *key)?;
                let ty = self.plan.graph.node(*key).ty;
                Ok(self.order(&keys, ty, &offsets, *reverse))
            }
            LevelKind::Filtered { of, mask } => {
                let mask = self.node(s, *mask)?;
                let n = if mask.is_scalar() {
                    self.positions(s, *of)?
                } else {
                    mask.len()
                };
                Ok(self.kept(&mask, n).into())
            }
            LevelKind::Sliced {
                of,
                lower,
                upper,
                step,
            } => {
                let inner = self.offsets(s, *of)?;
                let outer = self.offsets(s, level)?;
                let total = outer.last().map_or(0, |last| *last as usize);
                let mut selection_vector: Vec<u32> = self.pool.take(total);
                let mut at = 0;
                for ends in inner.windows(2) {
                    let len = i64::from(ends[1] - ends[0]);
                    let (first, count) = gather::slice(len, *lower, *upper, *step);
                    let mut item = i64::from(ends[0]) + first;
                    for to in &mut selection_vector[at..at + count as usize] {
                        *to = item as u32;
                        item = item.wrapping_add(*step);
                    }
                    at += count as usize;
                }
                Ok(selection_vector.into())
            }
            _ => Err(QueryError::mistake("this level picks nothing").into()),
        }
    }

    /// Positions of each list's items, sorted by their keys, stably. NaN and missing keys come last.
    fn order(&mut self, keys: &Value, ty: Type, offsets: &[i32], reverse: bool) -> Buf<u32> {
        let n = offsets.last().map_or(0, |last| *last as usize);
        let mut out: Vec<u32> = self.pool.take(n);
        let present = self.presence(keys, n);
        let absent = |i: usize| match &present {
            Some(present) if present[i] == 0 => 2,
            _ => 0,
        };
        if ty == Type::Str {
            let before = |a: &[u8], b: &[u8]| if reverse { a > b } else { a < b };
            let string = |i: usize| keys.string(i);
            tuples::order(
                offsets,
                &mut out,
                |a, b| before(string(a), string(b)),
                absent,
            );
        } else if ty == Type::Float {
            let data: Buf<f64> = self.whole(keys, n);
            let before = |a: f64, b: f64| if reverse { a > b } else { a < b };
            let rank = |i: usize| absent(i).max(u8::from(data[i].is_nan()));
            tuples::order(offsets, &mut out, |a, b| before(data[a], data[b]), rank);
        } else {
            let data: Buf<i64> = self.whole(keys, n);
            let turn = if ty == Type::UInt { i64::MIN } else { 0 };
            let before = |a: i64, b: i64| {
                let (a, b) = (a ^ turn, b ^ turn);
                if reverse { a > b } else { a < b }
            };
            tuples::order(offsets, &mut out, |a, b| before(data[a], data[b]), absent);
        }
        out.into()
    }

    pub(super) fn make_parents(&mut self, s: SelectionId, level: LevelId) -> Made<Buf<u32>> {
        let offsets = self.offsets(s, level)?;
        let items = offsets.last().map_or(0, |last| *last as usize);
        let mut parents: Vec<u32> = self.pool.take(items);
        lists::parents(&offsets, &mut parents);
        Ok(parents.into())
    }
}
