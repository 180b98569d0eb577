//! Small files, or small parts of them, one after another, in one call: what opening, binding and one packet cost each is
//! then all that they cost. What is unusual about a file is the caller's: the files before it are done, and it is left alone.

use crate::beside::{Beside, OpenPiece};
use crate::near_files::{Files, Is, Looked, NearFiles, Place, plain};
use crate::{Bound, Catalog, Constant, Control, EngineError, Specification};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};
use treemill_query::{NamedArray, Partial};
use treemill_read::Table;

/// A file that a caller wants, or the part of it.
#[derive(Debug, Clone, Copy)]
pub struct Part<'p> {
    /// The file's number.
    pub number: usize,
    /// The first entry.
    pub first: u64,
    /// The entry before which it ends; `None`: the last one.
    pub stop: Option<u64>,
    /// What all its entries have in columns that the table has not.
    pub constants: &'p [(String, Constant)],
}

/// Rows of bookings, by their numbers, that were selected from one entry on.
pub type Rows = (u64, Vec<(usize, Vec<NamedArray>)>);

/// Where the entries of files are added.
#[derive(Debug)]
pub enum Sum<'p> {
    /// To this partial, or to one that is made.
    One(Option<&'p mut Partial>),
    /// To one for each part.
    Each,
}

/// How much one call does.
#[derive(Debug, Clone, Copy)]
pub struct Turn {
    /// Entries of a file that is small, at most.
    pub most_entries: u64,
    /// After this time no further file is begun.
    pub time: Duration,
}

/// A part that was run.
#[derive(Debug, Clone)]
pub struct Done {
    /// Its entries.
    pub entries: u64,
    /// How many of them were run: all, or fewer after `control.stop()`.
    pub reached: u64,
    /// The rows of bookings that want some, in order.
    pub rows: Vec<Rows>,
}

/// Why a call has ended.
#[derive(Debug)]
pub enum Ended {
    /// All files are done, or the time is over, or the control was stopped.
    Well,
    /// The next file is not one that is run here: it is large, or far, or unusual, or cannot be opened, or has rows of other
    /// types than those before it.
    Refused,
    /// The partial is full: it is to be merged before more is added. The last file may be done in part.
    Full,
    /// The next file failed: the partial holds an unknown part of it and must be thrown away.
    Failed(EngineError),
}

/// What a call has done.
#[derive(Debug)]
pub struct Run {
    /// The partials that were made: one, or one for each part that was run.
    pub made: Vec<Partial>,
    /// The files that were run.
    pub done: Vec<Done>,
    /// Why it has ended.
    pub ended: Ended,
}

/// Runs a query over files, one after another, and adds them up.
/// Files that need more than the query, their own tables and what is `beside` these are refused: distant ones, those that
/// record friends or aliases, those whose tables have columns of their constants' names, and those that may still be written to.
/// What is found of the others is noted in `near`, and what the files of friends were in theirs.
pub fn run_files<'p>(
    specification: &Specification,
    (files, near): (&dyn Files, &NearFiles),
    parts: impl IntoIterator<Item = Part<'p>>,
    beside: &Beside,
    turn: Turn,
    mut sum: Sum<'_>,
    control: &Control,
) -> Run {
    let began = Instant::now();
    let (mut made, mut done) = (Vec::new(), Vec::new());
    let mut own = None; // the partial that is made, or that of the last part
    let mut ended = Ended::Well;
    let mut last = None;
    for part in parts {
        if control.stopped() || (!done.is_empty() && began.elapsed() >= turn.time) {
            break;
        }
        let place = near.place(part.number).map(|place| (part, place));
        let prepared =
            place.and_then(|of| prepared(specification, files, of, beside, turn, &mut last));
        let Some(prepared) = prepared else {
            ended = Ended::Refused;
            break;
        };
        let Prepared {
            bound,
            path,
            table,
            is,
            ..
        } = prepared;
        let partial = match &mut sum {
            Sum::One(Some(partial)) => &mut **partial,
            Sum::One(None) => own.get_or_insert_with(|| bound.query().partial()),
            Sum::Each => {
                made.extend(own.take());
                own.insert(bound.query().partial())
            }
        };
        // A partial keeps the types that its first file has, and would force other values into them.
        let has_rows = partial.wants_rows();
        if has_rows && !partial.has_row_types_of(&bound.query().partial()) {
            ended = Ended::Refused;
            break;
        }
        let span = part.first..part.first.saturating_add(prepared.entries);
        let (reached, rows) = match run(&bound, span, partial, control, has_rows) {
            Ok(run) => run,
            Err(error) => {
                ended = Ended::Failed(error);
                break;
            }
        };
        let friends = || prepared.friends.iter();
        let paths = [(path, is)].into_iter();
        let mut looked = paths.chain(friends().map(|friend| (friend.path, friend.is)));
        let has_changed = |&(path, is): &(&str, Is)| files.identity(path) != Some(is.identity);
        if let Some((path, _)) = looked.find(has_changed) {
            let what = format!("{path} was written to while it was read");
            ended = Ended::Failed(EngineError::Misfit(what));
            break;
        }
        let is_other = |friend: &&Friend<'_>| !friend.files.opened(friend.number, friend.is);
        let other = match near.found(part.number, is, &table, false) {
            true => friends().find(is_other).map(|friend| friend.path),
            false => Some(path),
        };
        if let Some(path) = other {
            let what = format!("{path} was written to since the pass has seen it");
            ended = Ended::Failed(EngineError::Misfit(what));
            break;
        }
        done.push(Done {
            entries: prepared.entries,
            reached: reached.saturating_sub(part.first),
            rows,
        });
        if partial.is_full() {
            ended = Ended::Full;
            break;
        }
    }
    made.extend(own);
    if matches!(sum, Sum::Each) {
        made.truncate(done.len()); // without that of a file that has failed
    }
    Run { made, done, ended }
}

/// A part that can be run.
struct Prepared<'n> {
    bound: Bound,
    path: &'n str,
    table: Table,
    entries: u64,
    is: Is,
    friends: Vec<Friend<'n>>,
}

/// A file of a friend that entries of a part come from.
struct Friend<'n> {
    files: &'n NearFiles,
    number: usize,
    path: &'n str,
    is: Is,
}

/// The file of a piece that was opened last, by the friend and the file's number.
type Last = Option<(usize, usize, Table, Is)>;

/// The query bound to the file of a part; `None` if the part is the caller's.
fn prepared<'n>(
    specification: &Specification,
    files: &dyn Files,
    (part, place): (Part<'_>, Place<'n>),
    beside: &'n Beside,
    turn: Turn,
    last: &mut Last,
) -> Option<Prepared<'n>> {
    let Looked { table, is } = plain(files, place.path, place.table).ok()??;
    let stop = part.stop.unwrap_or(table.entries()).min(table.entries());
    let entries = stop.saturating_sub(part.first);
    if entries > turn.most_entries {
        return None;
    }
    let mut friends = Vec::new();
    let mut pieces = Vec::with_capacity(beside.joined.len());
    let span = part.first..part.first.max(stop);
    for (index, joined) in beside.joined.iter().enumerate() {
        let mut open = Vec::with_capacity(1);
        for piece in joined.pieces(part.number, &span, table.entries())? {
            let (number, near) = (piece.number, joined.files());
            let place = near.place(number)?;
            let (table, is) = opened(files, place, (index, number), last)?;
            friends.push(Friend {
                files: near,
                number,
                path: place.path,
                is,
            });
            open.push(OpenPiece {
                table,
                first: piece.first,
                entries: piece.entries,
            });
        }
        pieces.push(open.into());
    }
    let catalog = Catalog::new(table.clone());
    let has = |name: &String| {
        let mut fields = catalog.schema().fields.iter();
        fields.any(|field| field.name == *name || field.also.contains(name))
    };
    if part.constants.iter().any(|(name, _)| has(name)) {
        return None;
    }
    let columns = Arc::new(beside.columns(&table, part.constants, pieces)?);
    let bound = Bound::new(specification, &catalog, columns.foreign(), None).ok()?;
    columns.fits(bound.query()).then_some(Prepared {
        bound,
        path: place.path,
        table,
        entries,
        is,
        friends,
    })
}

/// The table of a piece, of which `at` says the friend and the file. Those of files that follow one another often lie in one.
fn opened(
    files: &dyn Files,
    place: Place<'_>,
    at: (usize, usize),
    last: &mut Last,
) -> Option<(Table, Is)> {
    if let Some((friend, number, table, is)) = last
        && (*friend, *number) == at
    {
        return Some((table.clone(), *is));
    }
    let Looked { table, is } = plain(files, place.path, place.table).ok()??;
    *last = Some((at.0, at.1, table.clone(), is));
    Some((table, is))
}

/// Runs entries until the last one, or until the control is stopped: where it ends because rows have filled their room, these
/// are taken and it goes on. Gives the entry that was reached.
fn run(
    bound: &Bound,
    span: Range<u64>,
    partial: &mut Partial,
    control: &Control,
    has_rows: bool,
) -> Result<(u64, Vec<Rows>), EngineError> {
    let (mut at, mut taken) = (span.start, Vec::new());
    while at < span.end {
        let reached = bound.run(at..span.end, partial, control)?;
        if has_rows {
            let rows = partial.take_rows()?;
            if !rows.is_empty() {
                taken.push((at, rows));
            }
        }
        let is_stuck = reached == at || control.stopped() || !has_rows || partial.is_full();
        at = reached;
        if is_stuck {
            break;
        }
    }
    Ok((at, taken))
}
