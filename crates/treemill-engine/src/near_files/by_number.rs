//! What there is of each of many files, by their numbers: where they lie, and values. There may be hundreds of thousands of them,
//! so that each takes what is its own and not much more. Knows nothing of what files are.

/// Files whose values lie together.
const PAGE: usize = 64;

/// Where a file lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'p> {
    /// Its address.
    pub path: &'p str,
    /// The table in it.
    pub table: &'p str,
}

/// Where files lie, one text with all addresses.
#[derive(Debug, Default)]
pub(super) struct Places {
    paths: String,
    /// Where each address ends.
    ends: Vec<usize>,
    /// The first files whose tables have another name than those before them, with the name.
    tables: Vec<(usize, Box<str>)>,
}

impl Places {
    /// `places`: of each file; `None`, or without an address: of one that has none here.
    pub(super) fn of<'p>(places: impl Iterator<Item = Option<Place<'p>>>) -> Self {
        let mut all = Self::default();
        for (number, place) in places.enumerate() {
            if let Some(Place { path, table }) = place {
                all.paths.push_str(path);
                if all.tables.last().is_none_or(|(_, last)| **last != *table) {
                    all.tables.push((number, table.into()));
                }
            }
            all.ends.push(all.paths.len());
        }
        all.paths.shrink_to_fit();
        all.ends.shrink_to_fit();
        all
    }

    /// How many files there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Where a file lies; `None` if it has no place.
    pub(super) fn get(&self, number: usize) -> Option<Place<'_>> {
        let end = *self.ends.get(number)?;
        let before = number.checked_sub(1);
        let start = before.map_or(Some(0), |before| self.ends.get(before).copied())?;
        let path = self.paths.get(start..end).filter(|path| !path.is_empty())?;
        let named = self.tables.partition_point(|&(first, _)| first <= number);
        let (_, table) = self.tables.get(named.checked_sub(1)?)?;
        Some(Place { path, table })
    }
}

/// Values of files. Those of files that follow one another lie together, and take no more than the values themselves.
#[derive(Debug, Clone)]
pub(super) struct ByNumber<V> {
    pages: Vec<Option<Box<[Option<V>]>>>,
    count: usize,
}

impl<V> ByNumber<V> {
    /// `count`: how many files there are. Others get no value.
    pub(super) fn new(count: usize) -> Self {
        Self {
            pages: Vec::new(),
            count,
        }
    }

    /// The value of a file.
    pub(super) fn get(&self, number: usize) -> Option<&V> {
        let page = self.pages.get(number / PAGE)?.as_ref()?;
        page.get(number % PAGE)?.as_ref()
    }

    /// The value of a file.
    pub(super) fn get_mut(&mut self, number: usize) -> Option<&mut V> {
        let page = self.pages.get_mut(number / PAGE)?.as_mut()?;
        page.get_mut(number % PAGE)?.as_mut()
    }

    /// Sets the value of a file.
    pub(super) fn insert(&mut self, number: usize, value: V) {
        if number >= self.count {
            return;
        }
        let page = number / PAGE;
        if self.pages.len() <= page {
            self.pages.resize_with(page.saturating_add(1), || None);
        }
        if let Some(page) = self.pages.get_mut(page) {
            let values = page.get_or_insert_with(|| (0..PAGE).map(|_| None).collect());
            if let Some(place) = values.get_mut(number % PAGE) {
                *place = Some(value);
            }
        }
    }

    /// Takes the value of a file out.
    pub(super) fn remove(&mut self, number: usize) {
        let page = self.pages.get_mut(number / PAGE).and_then(Option::as_mut);
        if let Some(place) = page.and_then(|page| page.get_mut(number % PAGE)) {
            *place = None;
        }
    }

    /// The numbers of the files that have values, in order.
    pub(super) fn numbers(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.count).filter(|&number| self.get(number).is_some())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::restriction)]

    use super::*;

    #[test]
    fn files_lie_where_they_were_said_to_lie() {
        let place = |path, table| Some(Place { path, table });
        let all = [
            None,
            place("/a.root", "t"),
            place("/b.root", "t"),
            place("", "t"),
            place("/c.root", "other"),
            None,
            place("/d.root", "t"),
        ];
        let places = Places::of(all.into_iter());
        assert_eq!(places.len(), 7);
        for (number, expected) in all.into_iter().enumerate() {
            let expected = expected.filter(|at| !at.path.is_empty());
            assert_eq!(places.get(number), expected, "{number}");
        }
        assert_eq!(places.get(7), None);
        assert_eq!(places.get(usize::MAX), None);
    }

    #[test]
    fn files_have_the_values_that_were_set_last() {
        let mut values = ByNumber::new(1000);
        for number in [999, 0, 63, 64, 1000, usize::MAX] {
            values.insert(number, number);
        }
        values.insert(63, 7);
        *values.get_mut(64).unwrap() += 1;
        let found: Vec<_> = values.numbers().map(|n| (n, values.get(n))).collect();
        let expected = [(0, 0), (63, 7), (64, 65), (999, 999)];
        assert_eq!(found, expected.map(|(n, _)| (n, values.get(n))));
        assert!(
            expected
                .iter()
                .all(|(n, value)| values.get(*n) == Some(value))
        );
        values.remove(0);
        values.remove(1);
        values.remove(usize::MAX);
        assert_eq!(values.numbers().collect::<Vec<_>>(), [63, 64, 999]);
        assert_eq!(values.get_mut(usize::MAX), None);
    }

    #[test]
    fn a_value_of_one_file_takes_a_page() {
        let mut values = ByNumber::new(1_000_000);
        values.insert(500_000, 1_u8);
        let pages = values.pages.iter().flatten();
        assert_eq!(pages.map(|page| page.len()).sum::<usize>(), PAGE);
    }
}
