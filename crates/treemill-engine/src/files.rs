//! Whole small files, one after another, in one call: what opening, binding and one packet cost each is then all that they
//! cost. What is unusual about a file is the caller's: the files before it are done, and it is left alone.

use crate::{Bound, Catalog, Control, EngineError, Specification};
use std::sync::Arc;
use std::time::{Duration, Instant};
use treemill_query::Partial;
use treemill_read::{File, ReadError, Table};
use treemill_source::{Identity, Source, SourceError};

/// The files that a caller has, as it opens them.
pub trait Files {
    /// Opens the file of this address.
    ///
    /// # Errors
    /// What opening it brings.
    fn open(&self, path: &str) -> Result<Arc<dyn Source>, SourceError>;

    /// What the file of this address is now; `None` if that is not known.
    fn identity(&self, path: &str) -> Option<Identity>;
}

/// In the year 2255.
const LAST_SECOND: i64 = 9_000_000_000;

/// How much one call does.
#[derive(Debug, Clone, Copy)]
pub struct Turn {
    /// Entries of a file that is small, at most.
    pub most_entries: u64,
    /// After this time no further file is begun.
    pub time: Duration,
}

/// A file that was run.
#[derive(Debug, Clone)]
pub struct Done {
    /// The entries of its table.
    pub entries: u64,
    /// The entry before which it ended: the last one, or an earlier one after `control.stop()`.
    pub reached: u64,
    /// First entries of its clusters.
    pub clusters: Vec<u64>,
    /// What the file was when it was opened, and when it was read.
    pub identity: Identity,
    /// The number that the file got when it was made.
    pub uuid: Option<[u8; 16]>,
}

/// Why a call has ended.
#[derive(Debug)]
pub enum Ended {
    /// All files are done, or the time is over, or the control was stopped.
    Well,
    /// The next file is not one that is run here: it is large, or far, or unusual, or cannot be opened.
    Refused,
    /// The next file failed: the partial holds an unknown part of it and must be thrown away.
    Failed(EngineError),
}

/// What a call has done.
#[derive(Debug)]
pub struct Run {
    /// The partial, if there was none before and a file was run.
    pub made: Option<Partial>,
    /// The files that were run.
    pub done: Vec<Done>,
    /// Why it has ended.
    pub ended: Ended,
}

/// Runs a query over all entries of files, one after another, and adds them to the partial, which is made if there is none.
/// Files that need more than the query and their own tables are refused: distant ones, those with friends or aliases, and those
/// that may still be written to.
pub fn run_files<'p>(
    specification: &Specification,
    files: &dyn Files,
    paths: impl IntoIterator<Item = (&'p str, &'p str)>,
    turn: Turn,
    mut partial: Option<&mut Partial>,
    control: &Control,
) -> Run {
    let began = Instant::now();
    let (mut made, mut done) = (None, Vec::new());
    let mut ended = Ended::Well;
    for (path, table) in paths {
        if control.stopped() || (!done.is_empty() && began.elapsed() >= turn.time) {
            break;
        }
        let Ok(Some((table, identity, uuid))) = plain(files, path, table, turn.most_entries) else {
            ended = Ended::Refused;
            break;
        };
        let clusters = table.clusters();
        let entries = table.entries();
        let catalog = Catalog::new(table);
        let Ok(bound) = Bound::new(specification, &catalog, None, None) else {
            ended = Ended::Refused;
            break;
        };
        let partial = match &mut partial {
            Some(partial) => &mut **partial,
            None => made.get_or_insert_with(|| bound.query().partial()),
        };
        let reached = match bound.run(0..entries, partial, control) {
            Ok(reached) => reached,
            Err(error) => {
                ended = Ended::Failed(error);
                break;
            }
        };
        if files.identity(path) != Some(identity) {
            let what = format!("{path} was written to while it was read");
            ended = Ended::Failed(EngineError::Misfit(what));
            break;
        }
        done.push(Done {
            entries,
            reached,
            clusters,
            identity,
            uuid,
        });
    }
    Run { made, done, ended }
}

/// The table of a file, if it is a small one and there is nothing unusual about it, with what the file is, and its number.
#[expect(clippy::type_complexity)]
fn plain(
    files: &dyn Files,
    path: &str,
    table: &str,
    most: u64,
) -> Result<Option<(Table, Identity, Option<[u8; 16]>)>, ReadError> {
    let source = files.open(path).map_err(ReadError::source)?;
    let is_usual = |known: &Identity| source.costs().is_near() && has_usual_times(known);
    let Some(identity) = source.identity().filter(is_usual) else {
        return Ok(None);
    };
    let file = File::open(source)?;
    let table = file.table(table)?;
    let is_plain = match &table {
        Table::Tree(tree) => tree.tree().friends.is_empty() && tree.tree().aliases.is_empty(),
        Table::NTuple(_) => true,
    };
    let is_small = table.entries() <= most;
    Ok((is_plain && is_small).then(|| (table, identity, file.uuid())))
}

/// Whether a file was changed in the years in which callers count nanoseconds in 64 bits.
fn has_usual_times(identity: &Identity) -> bool {
    let [modified, _, changed, _] = identity.state;
    [modified, changed]
        .iter()
        .all(|seconds| (0..=LAST_SECOND).contains(&seconds.cast_signed()))
}
