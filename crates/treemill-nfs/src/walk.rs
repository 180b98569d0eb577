//! Goes to a path, in as few requests as the server's limit of operations allows, and through symbolic links.

use crate::address::names;
use crate::client::Client;
use crate::limits::{AT_THE_END, MOST_LINKS, PATIENCE};
use crate::session::{Session, trouble};
use crate::wire::compound::{Failure, Operations, Results};
use crate::wire::status::{Meaning, meaning};
use bytes::Bytes;
use std::sync::Arc;
use treemill_transfer::{Kind, Trouble};

/// Goes to a path and does there what `last` adds; `read` reads the results of that. Waits as long as the server wants to be
/// asked later.
pub(crate) async fn walk<T>(
    client: &Arc<Client>,
    path: &[String],
    last: impl Fn(&Session, Operations) -> Operations,
    read: impl Fn(&mut Results) -> Result<T, Failure>,
) -> Result<T, Trouble> {
    let mut path = path.to_vec();
    for _ in 0..MOST_LINKS {
        let (failure, passed) = match straight(client, &path, &last, &read).await? {
            Ok(done) => return Ok(done),
            Err(failed) => failed,
        };
        if failure.status().map(meaning) != Some(Meaning::Link) || passed == 0 {
            return Err(named(&failure, &path, passed));
        }
        path = through(client, &path, passed).await?;
    }
    Err(Trouble::new(
        Kind::Permanent,
        format!("the path leads through more than {MOST_LINKS} symbolic links"),
    ))
}

/// A failure, and how many names of the path were passed before it.
type Failed = (Failure, usize);

async fn straight<T>(
    client: &Arc<Client>,
    path: &[String],
    last: impl Fn(&Session, Operations) -> Operations,
    read: impl Fn(&mut Results) -> Result<T, Failure>,
) -> Result<Result<T, Failed>, Trouble> {
    let (mut left, mut done, mut from) = (path, 0_usize, None);
    let operations = client.session().await?.operations;
    let room = usize::try_from(operations.saturating_sub(AT_THE_END))
        .unwrap_or(1)
        .max(1);
    while let Some((front, rest)) = left
        .split_at_checked(room)
        .filter(|(_, rest)| !rest.is_empty())
    {
        let ask = |_: &Session| start(from.as_ref()).lookup(front).get_handle();
        let read = |results: &mut Results| {
            started(results, from.is_some())?;
            results.lookup(front.len())?;
            results.got_handle()
        };
        match client.settled(PATIENCE, ask, read).await? {
            Ok(handle) => from = Some(handle),
            Err(failure) => return Ok(Err(failed(failure, done, front.len()))),
        }
        (left, done) = (rest, done.saturating_add(front.len()));
    }
    let ask = |session: &Session| last(session, start(from.as_ref()).lookup(left));
    let read = |results: &mut Results| {
        started(results, from.is_some())?;
        results.lookup(left.len())?;
        read(results)
    };
    let found = client.settled(PATIENCE, ask, read).await?;
    Ok(found.map_err(|failure| failed(failure, done, left.len())))
}

fn start(from: Option<&Bytes>) -> Operations {
    let operations = Operations::default();
    match from {
        None => operations.root(),
        Some(handle) => operations.handle(handle),
    }
}

fn started(results: &mut Results, is_handle: bool) -> Result<(), Failure> {
    match is_handle {
        true => results.handle(),
        false => results.root(),
    }
}

/// A walk's failure, with the number of names that were passed before it. SEQUENCE and what the walk starts at come before
/// the names.
fn failed(failure: Failure, before: usize, names: usize) -> Failed {
    let place = match &failure {
        Failure::Status { place, .. } => usize::try_from(*place).unwrap_or(0),
        Failure::Malformed(_) => 0,
    };
    let passed = before.saturating_add(place.saturating_sub(2).min(names));
    (failure, passed)
}

/// The failure of a path, which says where it ends.
fn named(failure: &Failure, path: &[String], passed: usize) -> Trouble {
    let mut found = trouble(failure);
    let is_the_folder = passed.saturating_add(1) < path.len();
    if found.kind == Kind::Missing && is_the_folder {
        let there: Vec<&str> = path
            .iter()
            .take(passed.saturating_add(1))
            .map(String::as_str)
            .collect();
        found.what = format!("{}: /{}", found.what, there.join("/"));
    }
    found
}

/// The path behind the link that its first names are.
async fn through(
    client: &Arc<Client>,
    path: &[String],
    passed: usize,
) -> Result<Vec<String>, Trouble> {
    let (link, rest) = path.split_at_checked(passed).unwrap_or((path, &[]));
    let last = |_: &Session, operations: Operations| operations.read_link();
    let target = match straight(client, link, last, Results::link).await? {
        Ok(target) => target,
        Err((failure, _)) => return Err(trouble(&failure)),
    };
    Ok(joined(link, &target, rest))
}

/// A link's target in place of the link; a relative one begins at its folder.
fn joined(link: &[String], target: &str, rest: &[String]) -> Vec<String> {
    let folder = match target.starts_with('/') {
        true => &[],
        false => link.split_last().map_or(link, |(_, folder)| folder),
    };
    let before = folder.iter().map(String::as_str);
    let behind = rest.iter().map(String::as_str);
    names(before.chain(target.split('/')).chain(behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_followed_as_a_shell_does() {
        let path = |text: &str| names(text.split('/'));
        let (link, rest) = (path("a/b/link"), path("c/f"));
        assert_eq!(joined(&link, "../x", &rest), path("a/x/c/f"));
        assert_eq!(joined(&link, "/y", &rest), path("y/c/f"));
        assert_eq!(joined(&link, "z", &[]), path("a/b/z"));
    }
}
