//! The cache's policy: which keys are admitted and which are evicted, within a limit. Pure: knows no bytes,
//! files, clocks or threads, only keys, sizes, and the pass that used each last.
//!
//! An analysis goes through the same columns again and again, from the first entry to the last. If they are
//! larger than the limit, the usual policy (evict the least recently used) never has a hit. So what recent
//! passes have used stays, and the rest of what a pass reads is not admitted.

use crate::limits::CACHE_PASSES;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// Values by their keys. Their sizes never add up to more than the limit.
#[derive(Debug)]
pub(super) struct Policy<K, V> {
    limit: u64,
    held: u64,
    /// The newest pass that was heard of.
    pass: u64,
    turn: u64,
    entries: HashMap<K, Entry<V>>,
    /// Keys by the turn in which they were first used by the pass that used them last.
    order: BTreeMap<u64, K>,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    bytes: u64,
    pass: u64,
    turn: u64,
}

impl<K: Copy + Eq + Hash, V> Policy<K, V> {
    pub(super) fn new(limit: u64) -> Self {
        Policy {
            limit,
            held: 0,
            pass: 0,
            turn: 0,
            entries: HashMap::new(),
            order: BTreeMap::new(),
        }
    }

    /// The value of a key that pass `pass` uses; passes are numbered in their order.
    pub(super) fn get(&mut self, key: &K, pass: u64) -> Option<&V> {
        self.pass = self.pass.max(pass);
        let entry = self.entries.get_mut(key)?;
        if entry.pass < self.pass {
            self.turn = self.turn.saturating_add(1);
            self.order.remove(&entry.turn);
            self.order.insert(self.turn, *key);
            entry.turn = self.turn;
            entry.pass = self.pass;
        }
        Some(&entry.value)
    }

    /// The value of a key; this does not count as a use.
    pub(super) fn peek(&self, key: &K) -> Option<&V> {
        self.entries.get(key).map(|entry| &entry.value)
    }

    /// Whether there is room for a number of bytes more; what no recent pass has used makes room, and is put to
    /// `gone`.
    fn make_room(&mut self, bytes: u64, pass: u64, gone: &mut Vec<V>) -> bool {
        self.pass = self.pass.max(pass);
        if bytes > self.limit {
            return false;
        }
        let guarded = self.pass.saturating_sub(CACHE_PASSES);
        while self.held.saturating_add(bytes) > self.limit {
            let oldest = self.order.first_key_value().map(|(_, key)| *key);
            let Some(key) = oldest.filter(|key| self.last_use(key) < guarded) else {
                return false;
            };
            gone.extend(self.remove(&key));
        }
        true
    }

    /// Stores a value of `bytes` bytes in place of the key's last one, if there is room. Evicted values are
    /// appended to `gone`, and so is `value` itself if there is no room.
    pub(super) fn put(&mut self, key: K, value: V, bytes: u64, pass: u64, gone: &mut Vec<V>) {
        gone.extend(self.remove(&key));
        if !self.make_room(bytes, pass, gone) {
            gone.push(value);
            return;
        }
        self.turn = self.turn.saturating_add(1);
        self.held = self.held.saturating_add(bytes);
        self.order.insert(self.turn, key);
        let entry = Entry {
            value,
            bytes,
            pass: self.pass,
            turn: self.turn,
        };
        self.entries.insert(key, entry);
    }

    /// Changes the limit. If the values are too large for it, the oldest are evicted, recent or not.
    pub(super) fn set_limit(&mut self, limit: u64) -> Vec<V> {
        self.limit = limit;
        let mut gone = Vec::new();
        while self.held > self.limit {
            let Some((_, &key)) = self.order.first_key_value() else {
                break;
            };
            gone.extend(self.remove(&key));
        }
        gone
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) -> Vec<V> {
        self.held = 0;
        self.order.clear();
        let entries = std::mem::take(&mut self.entries);
        entries.into_values().map(|entry| entry.value).collect()
    }

    fn last_use(&self, key: &K) -> u64 {
        self.entries.get(key).map_or(0, |entry| entry.pass)
    }

    fn remove(&mut self, key: &K) -> Option<V> {
        let entry = self.entries.remove(key)?;
        self.order.remove(&entry.turn);
        self.held = self.held.saturating_sub(entry.bytes);
        Some(entry.value)
    }
}

#[cfg(test)]
mod tests;
