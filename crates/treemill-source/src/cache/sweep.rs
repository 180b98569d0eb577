//! Keeps the folder within its limit: segments that were used longest ago are removed first, and those that are in use last
//! of all, the newest of them first. Passes go through files from the first to the last: if the oldest made room for the newest
//! and all files together were larger than the limit, the next pass would find nothing. Knows no records.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The ending of segments' names. Nothing else in the folder is touched.
pub(crate) const ENDING: &str = ".treemill";

/// The beginning of the names of files' folders.
pub(crate) const START: &str = "file";

/// A segment as it lies in the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lying {
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    pub(crate) used: SystemTime,
}

/// The segments to remove, so that the others have nine tenths of the limit at most, or all of it if nothing goes but what is
/// in use. Those that were used `since` then are in use. Pure.
pub(crate) fn doomed(mut all: Vec<Lying>, limit: u64, since: SystemTime) -> Doomed {
    let mut held = all.iter().map(|s| s.bytes).fold(0, u64::saturating_add);
    let mut doomed = Doomed::default();
    if held <= limit {
        return doomed;
    }
    all.sort_by(|a, b| (a.used, &a.path).cmp(&(b.used, &b.path)));
    let goal = limit.saturating_sub(limit / 10);
    let in_use = all.split_off(all.partition_point(|segment| segment.used < since));
    let newest_first = in_use.into_iter().rev().map(|segment| (segment, limit));
    for (segment, goal) in all.into_iter().map(|s| (s, goal)).chain(newest_first) {
        if held <= goal {
            continue;
        }
        doomed.is_full = segment.used >= since;
        held = held.saturating_sub(segment.bytes);
        doomed.gone.push(segment.path);
    }
    doomed
}

/// What is removed.
#[derive(Debug, Default)]
pub(crate) struct Doomed {
    pub(crate) gone: Vec<PathBuf>,
    /// Whether some of it is in use: there is no room for more.
    pub(crate) is_full: bool,
}

/// Whether a path has the name of a segment.
pub(crate) fn is_segment(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.ends_with(ENDING))
}

/// The segments in a folder, and in the files' folders below it.
fn lying(folder: &Path) -> Vec<Lying> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let name = entry.file_name();
        if is_folder && name.to_str().is_some_and(|name| name.starts_with(START)) {
            found.append(&mut lying(&path));
        }
        let metadata = path.metadata().ok().filter(|_| is_segment(&path));
        if let Some((bytes, Ok(used))) = metadata.map(|m| (m.len(), m.modified())) {
            found.push(Lying { path, bytes, used });
        }
    }
    found
}

/// Removes what is too much, and folders of files that are empty then. Processes that have a segment open go on reading
/// it. Gives whether there is no room for more.
pub(crate) fn sweep(folder: &Path, limit: u64, since: SystemTime) -> bool {
    let doomed = doomed(lying(folder), limit, since);
    for path in doomed.gone {
        let _ = std::fs::remove_file(&path); // another process may have been faster
        let parent = path.parent().filter(|parent| *parent != folder);
        parent.map(std::fs::remove_dir); // it stays while something is in it
    }
    doomed.is_full
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    proptest! {
        #[test]
        fn what_stays_is_within_the_limit_and_in_use_or_newer_than_what_goes(
            sizes in prop::collection::vec((0_u64..1000, 0_u64..50), 0..30), limit in 0_u64..5000, since in 0_u64..60,
        ) {
            let since = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(since)).unwrap_or(SystemTime::UNIX_EPOCH);
            let all: Vec<Lying> = (0..).zip(&sizes).map(|(i, (bytes, used)): (u32, _)| Lying {
                path: PathBuf::from(i.to_string()),
                bytes: *bytes,
                used: SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(*used)).unwrap_or(SystemTime::UNIX_EPOCH),
            }).collect();
            let Doomed { gone, is_full } = doomed(all.clone(), limit, since);
            let stays: Vec<_> = all.iter().filter(|s| !gone.contains(&s.path)).collect();
            let held: u64 = stays.iter().map(|s| s.bytes).sum();
            prop_assert!(held <= limit);
            for removed in all.iter().filter(|s| gone.contains(&s.path)) {
                match removed.used < since {
                    true => prop_assert!(stays.iter().all(|s| s.used >= removed.used)),
                    false => {
                        prop_assert!(is_full);
                        prop_assert!(stays.iter().all(|s| s.used >= since && s.used <= removed.used));
                    }
                }
            }
            let all_fit = sizes.iter().map(|(bytes, _)| bytes).sum::<u64>() <= limit;
            prop_assert!(!all_fit || gone.is_empty());
        }
    }
}
