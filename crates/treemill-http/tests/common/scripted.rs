//! A server that does what a test's function says with each request: faults that real servers do not show on demand.

use rustix::net::sockopt::set_socket_linger;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What to do with one request.
pub enum Act {
    /// Status line and headers, then the body. The length is told by the headers given.
    Say(String, Vec<u8>),
    /// Status line and headers, then the body; the connection is closed after it.
    SayAndClose(String, Vec<u8>),
    /// The connection is closed without a word.
    Close,
    /// Nothing is sent, ever; the connection stays.
    Hang,
    /// Headers and some bytes are sent, and then nothing.
    SayAndHang(String, Vec<u8>),
}

/// One request as it came.
#[derive(Clone, Debug)]
pub struct Seen {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    /// How many requests the server has had before.
    pub before: usize,
    /// How many of those were for a range with the same end: earlier attempts at the same part of a file, however the
    /// requests for other parts come in between.
    pub attempts: usize,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self
            .headers
            .iter()
            .find(|(own, _)| own.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The range that is asked for.
    pub fn range(&self) -> Range<usize> {
        self.asked().unwrap()
    }

    fn asked(&self) -> Option<Range<usize>> {
        let (first, last) = self
            .header("range")?
            .strip_prefix("bytes=")?
            .split_once('-')?;
        Some(first.parse().ok()?..last.parse::<usize>().ok()? + 1)
    }

    /// Whether both ask for the same part of a file. A part that is continued keeps its end.
    fn is_same_part(&self, other: &Seen) -> bool {
        self.path == other.path
            && self.asked().map(|range| range.end) == other.asked().map(|range| range.end)
    }
}

pub struct Scripted {
    pub port: u16,
    seen: Arc<Mutex<Vec<Seen>>>,
    refused: Arc<AtomicUsize>,
    open: Arc<()>,
}

impl Scripted {
    pub fn start(act: impl Fn(&Seen) -> Act + Send + Sync + 'static) -> Self {
        Scripted::limited(usize::MAX, act)
    }

    /// Has this number of connections at once, at most, and resets the others.
    pub fn limited(most: usize, act: impl Fn(&Seen) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let refused = Arc::new(AtomicUsize::new(0));
        let (act, log, count) = (Arc::new(act), Arc::clone(&seen), Arc::clone(&refused));
        let open = Arc::new(());
        let held = Arc::clone(&open);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if Arc::strong_count(&held) > most.saturating_add(1) {
                    count.fetch_add(1, Ordering::SeqCst);
                    // Nothing lingers: that is a reset, and no end.
                    set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
                    continue;
                }
                let (act, log, open) = (Arc::clone(&act), Arc::clone(&log), Arc::clone(&held));
                thread::spawn(move || {
                    serve(stream, &*act, &log);
                    drop(open);
                });
            }
        });
        Scripted {
            port,
            seen,
            refused,
            open,
        }
    }

    /// Connections that are open.
    pub fn open(&self) -> usize {
        Arc::strong_count(&self.open) - 2
    }

    /// Connections that were reset.
    pub fn refused(&self) -> usize {
        self.refused.load(Ordering::SeqCst)
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, act: &(dyn Fn(&Seen) -> Act + Send + Sync), log: &Mutex<Vec<Seen>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    stream.set_nodelay(true).unwrap(); // head and body are sent one after the other
    let mut writer = stream;
    while let Some(request) = request(&mut reader, log) {
        let (text, body, then) = match act(&request) {
            Act::Say(text, body) => (text, body, "on"),
            Act::SayAndClose(text, body) => (text, body, "close"),
            Act::SayAndHang(text, body) => (text, body, "hang"),
            Act::Close => (String::new(), Vec::new(), "close"),
            Act::Hang => (String::new(), Vec::new(), "hang"),
        };
        if !text.is_empty()
            && writer
                .write_all(format!("HTTP/1.1 {text}\r\n\r\n").as_bytes())
                .is_err()
        {
            return;
        }
        if writer.write_all(&body).is_err() {
            return;
        }
        match then {
            "close" => {
                let _ = writer.shutdown(Shutdown::Both);
                return;
            }
            "hang" => {
                // Until the client gives up.
                let _ = reader.read(&mut [0; 1]);
                return;
            }
            _ => {}
        }
    }
}

fn request(reader: &mut BufReader<TcpStream>, log: &Mutex<Vec<Seen>>) -> Option<Seen> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|&n| n > 0)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|&n| n > 0)?;
        let Some((name, value)) = line.trim().split_once(": ") else {
            break;
        };
        headers.push((name.to_owned(), value.to_owned()));
    }
    let mut seen = Seen {
        method,
        path,
        headers,
        before: 0,
        attempts: 0,
    };
    let length: usize = seen
        .header("content-length")
        .map_or(0, |n| n.parse().unwrap());
    reader.read_exact(&mut vec![0; length]).ok()?;
    let mut log = log.lock().unwrap();
    seen.before = log.len();
    seen.attempts = log.iter().filter(|other| other.is_same_part(&seen)).count();
    log.push(seen.clone());
    Some(seen)
}

/// Status line and headers of a range, as a sound server sends them.
pub fn part(range: &Range<usize>, size: usize) -> String {
    format!(
        "206 Partial Content\r\nContent-Range: bytes {}-{}/{size}\r\nContent-Length: {}\r\nETag: \"one\"",
        range.start,
        range.end - 1,
        range.len()
    )
}

/// The answer of a sound server: the range that was asked for, as far as there is one.
pub fn sound(request: &Seen, content: &[u8]) -> Act {
    let range = request.range();
    let range = range.start.min(content.len())..range.end.min(content.len());
    Act::Say(part(&range, content.len()), content[range].to_vec())
}
