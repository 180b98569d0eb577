//! Many files looked at together: each question waits for a server, so that they are asked on threads side by side. Knows no
//! protocol.

use crate::limits::{MOST_LOOKS, SILENT};
use crate::{Stat, look, stat};
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use treemill_source::{SourceError, server_of};
use treemill_transfer::{Job, Threads};

/// Each call has threads of its own, so that a silent server keeps no others waiting.
static LOOKING: Threads = Threads::new("treemill-look", usize::MAX);

/// What [`look`], if the files may be opened next (`soon`), or [`stat`] gives of each file, in their order. When a server has
/// let a question wait for seconds, its other files are not asked for any more, and have no answer.
#[must_use]
pub fn stats(urls: &[String], soon: bool) -> Vec<Option<Result<Stat, SourceError>>> {
    let ask = match soon {
        true => look,
        false => stat,
    };
    side_by_side(urls, ask)
}

type Answer = Result<Stat, SourceError>;

/// Files that are asked for, each by the next thread that is free.
struct Questions<A> {
    urls: Vec<String>,
    ask: A,
    next: AtomicUsize,
    silent: Mutex<HashSet<String>>,
}

impl<A: Fn(&str) -> Answer> Questions<A> {
    fn is_silent(&self, server: &str) -> bool {
        let silent = self.silent.lock().unwrap_or_else(PoisonError::into_inner);
        silent.contains(server)
    }

    /// Asks for what no thread has asked for yet, and tells the answers with the files' places.
    fn work(&self, answers: &Sender<(usize, Option<Answer>)>) {
        loop {
            let place = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(url) = self.urls.get(place) else {
                return;
            };
            let answer = (!self.is_silent(server_of(url))).then(|| self.answer(url));
            if answers.send((place, answer)).is_err() {
                return;
            }
        }
    }

    fn answer(&self, url: &str) -> Answer {
        let begun = Instant::now();
        let told = (self.ask)(url);
        if told.is_err() && begun.elapsed() > SILENT {
            let mut silent = self.silent.lock().unwrap_or_else(PoisonError::into_inner);
            silent.insert(server_of(url).to_owned());
        }
        told
    }
}

fn side_by_side<A>(urls: &[String], ask: A) -> Vec<Option<Answer>>
where
    A: Fn(&str) -> Answer + Send + Sync + 'static,
{
    let questions = Arc::new(Questions {
        urls: urls.to_vec(),
        ask,
        next: AtomicUsize::new(0),
        silent: Mutex::default(),
    });
    let (sender, receiver) = channel();
    let beside = |_| -> Job {
        let (questions, sender) = (Arc::clone(&questions), sender.clone());
        Box::new(move || questions.work(&sender))
    };
    let mut others = (1..urls.len().min(MOST_LOOKS)).map(beside);
    if let Some(first) = others.next() {
        LOOKING.perform(first, others.collect());
    }
    // Without threads this one asks for all.
    questions.work(&sender);
    drop(sender);
    let mut answers: Vec<Option<Answer>> = urls.iter().map(|_| None).collect();
    // Threads that come too late have no question to ask, and are not waited for.
    for (place, answer) in receiver.iter().take(urls.len()) {
        if let Some(to) = answers.get_mut(place) {
            *to = answer;
        }
    }
    answers
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
        let answers = side_by_side(&urls, move |url: &str| {
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
        assert!(side_by_side(&[], |_: &str| Ok(sized(1))).is_empty());
    }
}
