//! Many files looked at together: each question waits for a server, so that they are asked on threads side by side. Knows no
//! protocol.

use crate::limits::{LOOK_STACK, MOST_LOOKS, SILENT};
use crate::{Stat, look, stat};
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use treemill_source::{SourceError, server_of};

/// What [`look`], if the files may be opened next (`soon`), or [`stat`] gives of each file, in their order. When a server has
/// let a question wait for seconds, its other files are not asked for any more, and have no answer.
#[must_use]
pub fn stats(urls: &[String], soon: bool) -> Vec<Option<Result<Stat, SourceError>>> {
    let ask = match soon {
        true => look,
        false => stat,
    };
    side_by_side(urls, &|url| ask(url))
}

type Answer = Result<Stat, SourceError>;

fn side_by_side(urls: &[String], ask: &(dyn Fn(&str) -> Answer + Sync)) -> Vec<Option<Answer>> {
    let next = AtomicUsize::new(0);
    let silent = Mutex::new(HashSet::new());
    let silent = || silent.lock().unwrap_or_else(PoisonError::into_inner);
    let answers: Vec<_> = urls.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        while let Some((url, answer)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            urls.get(at).zip(answers.get(at))
        } {
            let server = server_of(url);
            if silent().contains(server) {
                continue;
            }
            let begun = Instant::now();
            let told = ask(url);
            if told.is_err() && begun.elapsed() > SILENT {
                silent().insert(server);
            }
            *answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(told);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..urls.len().min(MOST_LOOKS) {
            let thread = std::thread::Builder::new().stack_size(LOOK_STACK);
            if thread.spawn_scoped(scope, work).is_err() {
                break; // those that there are, and this one, ask for all
            }
        }
        work();
    });
    let taken = answers.into_iter().map(Mutex::into_inner);
    taken
        .map(|answer| answer.unwrap_or_else(PoisonError::into_inner))
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    fn sized(size: u64) -> Stat {
        Stat {
            size,
            is_folder: false,
            identity: None,
        }
    }

    #[test]
    fn answers_are_in_order_and_questions_side_by_side() {
        let urls: Vec<String> = (0..20).map(|i| format!("root://host//{i}")).collect();
        let all = Barrier::new(urls.len());
        let answers = side_by_side(&urls, &|url| {
            all.wait(); // ends only if all are asked at once
            match url.ends_with("//7") {
                true => Err(SourceError::new(url, "gone")),
                false => Ok(sized(url.len() as u64)),
            }
        });
        for (url, answer) in urls.iter().zip(answers) {
            match answer.unwrap() {
                Ok(told) => assert_eq!(told.size, url.len() as u64),
                Err(error) => assert_eq!(
                    (error.name.as_str(), url.ends_with("//7")),
                    (url.as_str(), true)
                ),
            }
        }
        assert!(side_by_side(&[], &|_| Ok(sized(1))).is_empty());
    }
}
