//! The door's lines, in both directions: `session number name command words…`. Pure: knows no socket.

use crate::limits::{MOST_MESSAGE, OPENING_SECONDS};

/// What a door says of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Status {
    /// Bytes.
    pub size: u64,
    /// When it was changed last, in seconds since 1970; zero if that is not said.
    pub changed: u64,
    /// Whether it is a folder.
    pub is_folder: bool,
}

/// Where a pool waits for its client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pool {
    /// A name or an IP address.
    pub host: String,
    /// The port.
    pub port: u16,
    /// What the client must say there.
    pub challenge: String,
}

/// Why a door does not do what it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Failure {
    /// A number of dCache's own.
    pub code: i64,
    /// What is wrong, in the door's words.
    pub message: String,
    /// The name of an error of POSIX, such as `ENOENT`; often empty.
    pub errno: String,
}

/// What a door answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The greeting is accepted.
    Welcome,
    /// It is done; for an open file: its data connection has ended well.
    Done,
    /// The answer to `stat`.
    Stat(Status),
    /// The answer to `open`.
    Connect(Pool),
    /// It is not done.
    Failed(Failure),
    /// The door does not speak with this client, or no longer.
    Ended(String),
    /// Something else, which was not asked for.
    Other(String),
}

/// The greeting. Doors bound the versions of the library whose language is spoken: its number is said.
#[must_use]
pub fn hello(process: u32) -> String {
    format!("0 0 client hello 0 0 2 47 14 \"treemill\" -pid={process}\n")
}

/// Asks for a file's state.
#[must_use]
pub fn stat(session: u32, url: &str) -> String {
    format!("{session} 0 client stat \"{url}\"\n")
}

/// Opens a file for reading, by a connection that the client makes. The host and the port, of a client that would be
/// connected to, have no meaning then.
#[must_use]
pub fn open(session: u32, url: &str) -> String {
    let wishes = format!("-timeout={OPENING_SECONDS} -onerror=fail -passive");
    format!("{session} 0 client open \"{url}\" r localhost 0 {wishes}\n")
}

/// The session and what is said to it; `None` for a line that is none of this language.
///
/// ```
/// use treemill_dcap::words::{Reply, reply};
///
/// let (session, said) = reply("7 0 client failed 10001 \"No such file\" ENOENT").unwrap();
/// let Reply::Failed(failure) = said else { panic!() };
/// assert_eq!((session, failure.message.as_str(), failure.errno.as_str()), (7, "No such file", "ENOENT"));
/// ```
#[must_use]
pub fn reply(line: &str) -> Option<(u32, Reply)> {
    let words = words(line);
    let [session, _number, _name, command, rest @ ..] = words.as_slice() else {
        return None;
    };
    let session = session.parse().ok()?;
    let said = match command.as_str() {
        "welcome" => Reply::Welcome,
        "ok" => Reply::Done,
        "stat" => Reply::Stat(status(rest)?),
        "connect" => Reply::Connect(pool(rest)?),
        "failed" => Reply::Failed(failure(rest)),
        "rejected" | "reject" | "byebye" | "shutdown" => Reply::Ended(clean(&rest.join(" "))),
        _ => Reply::Other(clean(command)),
    };
    Some((session, said))
}

/// Words of a line; quotes keep spaces within one.
fn words(line: &str) -> Vec<String> {
    let (mut all, mut word, mut is_quoted, mut has_begun) =
        (Vec::new(), String::new(), false, false);
    for c in line.trim_end_matches(['\n', '\r']).chars() {
        match c {
            '"' => (is_quoted, has_begun) = (!is_quoted, true),
            ' ' | '\t' if !is_quoted => {
                if std::mem::take(&mut has_begun) {
                    all.push(std::mem::take(&mut word));
                }
            }
            c => {
                word.push(c);
                has_begun = true;
            }
        }
    }
    if has_begun {
        all.push(word);
    }
    all
}

fn status(fields: &[String]) -> Option<Status> {
    let field = |name: &str| {
        let mut all = fields.iter().filter_map(|field| field.split_once('='));
        all.find(|(key, _)| key.trim_start_matches('-') == name)
            .map(|(_, value)| value)
    };
    Some(Status {
        size: field("st_size")?.parse().ok()?,
        changed: field("st_mtime").map_or(Some(0), |time| time.parse().ok())?,
        is_folder: field("st_mode").is_some_and(|mode| mode.starts_with('d')),
    })
}

fn pool(words: &[String]) -> Option<Pool> {
    let [host, port, challenge, ..] = words else {
        return None;
    };
    Some(Pool {
        host: host.trim_start_matches('/').to_owned(),
        port: port.parse().ok().filter(|&port| port > 0)?,
        challenge: challenge.clone(),
    })
}

fn failure(words: &[String]) -> Failure {
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    Failure {
        code: word(0).parse().unwrap_or(-1),
        message: clean(word(1)),
        errno: clean(word(2)),
    }
}

/// A message without control characters, of bounded length.
pub(crate) fn clean(message: &str) -> String {
    let shown = message.chars().filter(|c| !c.is_control());
    shown.take(MOST_MESSAGE).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn answers_of_doors_are_read() {
        let stat = "3 0 client stat -st_size=42 -st_uid=0 -st_mtime=1600000000 -st_mode=-rw-r--r-- -st_ino=7";
        let status = Status {
            size: 42,
            changed: 1_600_000_000,
            is_folder: false,
        };
        let pool = Pool {
            host: "pool1.site.org".to_owned(),
            port: 33115,
            challenge: "YWJj".to_owned(),
        };
        let refused = Failure {
            code: 33,
            message: "No pools available".to_owned(),
            errno: String::new(),
        };
        for (line, session, said) in [
            ("0 0 client welcome 2 47", 0, Reply::Welcome),
            (stat, 3, Reply::Stat(status)),
            ("3 0 client stat -st_size=0 -st_mode=drwx", 3, {
                let is_folder = true;
                Reply::Stat(Status {
                    is_folder,
                    ..Status::default()
                })
            }),
            (
                "4 0 client connect pool1.site.org 33115 YWJj\r\n",
                4,
                Reply::Connect(pool),
            ),
            (
                "4 0 client failed 33 \"No pools available\" ",
                4,
                Reply::Failed(refused),
            ),
            ("4 0 client ok", 4, Reply::Done),
            (
                "0 0 server rejected 1 \"Client version rejected\"",
                0,
                Reply::Ended("1 Client version rejected".to_owned()),
            ),
            ("0 0 server pong", 0, Reply::Other("pong".to_owned())),
        ] {
            assert_eq!(reply(line), Some((session, said)), "{line}");
        }
    }

    #[test]
    fn lines_of_no_sense_are_none() {
        for line in [
            "",
            "welcome",
            "x 0 client ok",
            "1 0 client stat -st_mtime=1",
            "1 0 client stat -st_size=-1",
            "1 0 client connect host",
            "1 0 client connect host 0 abc",
            "1 0 client connect host 99999 abc",
        ] {
            assert_eq!(reply(line), None, "{line}");
        }
    }

    proptest! {
        #[test]
        fn no_line_panics(line in ".{0,200}") {
            let _ = reply(&line);
        }

        #[test]
        fn words_are_what_was_written(all in prop::collection::vec("[a-z =]{0,6}", 0..6)) {
            let line = all.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" ");
            prop_assert_eq!(words(&line), all);
        }

        #[test]
        fn messages_are_bounded(message in "[^\"]{0,2000}") {
            if let Some((_, Reply::Failed(failure))) = reply(&format!("1 0 c failed 5 \"{message}\"")) {
                prop_assert!(failure.message.chars().count() <= MOST_MESSAGE);
                prop_assert!(!failure.message.chars().any(char::is_control));
            }
        }
    }
}
