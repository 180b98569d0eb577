//! What addresses lead to keeps the contract of sources at real servers, which are killed and started anew; several of them as
//! one, too. Servers are the ones of the Python tests (`tests/remote/serve.py`). Skipped, with the reason printed, where
//! one cannot be started. Each kind runs in a process of its own, whose environment its server may ask for.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::single_range_in_vec_init,
    clippy::cast_possible_truncation
)]

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use treemill_remote::{open, open_bare, open_replicas};
use treemill_source::Source;
use treemill_testing::contract::{fails, holds, reads};

const KIND: &str = "TREEMILL_CONTRACT_KIND";
const URL: &str = "TREEMILL_CONTRACT_URL";

/// Larger than the edges that are asked for when a file is opened. The server of S3 answers a hundred requests in a second.
fn content(kind: &str) -> Vec<u8> {
    let size: u64 = if kind == "s3" { 200_000 } else { 3 << 20 };
    (0..size)
        .map(|at| (at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8)
        .collect()
}

/// A server of the repository's Python, with one file.
struct Server {
    process: Child,
    orders: Option<ChildStdin>,
    said: Lines<BufReader<ChildStdout>>,
    environment: Vec<(String, String)>,
    url: String,
    file: PathBuf,
}

impl Server {
    /// None, saying why, where it cannot be started.
    fn start(kind: &str) -> Option<Self> {
        let name = format!("treemill-contract-{kind}-{}", std::process::id());
        let file = std::env::temp_dir().join(name);
        std::fs::write(&file, content(kind)).unwrap();
        let started = Command::new("python3")
            .args(["-m", "tests.remote.serve", kind])
            .arg(&file)
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let Ok(mut process) = started else {
            println!("skipped: python3 is not installed");
            return None;
        };
        let mut said = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut environment = Vec::new();
        let url = loop {
            let line = said.next().unwrap().unwrap();
            match line.split_once('=') {
                Some((name, value)) => environment.push((name.to_owned(), value.to_owned())),
                None if line.contains("://") => break line,
                None => {
                    println!("skipped: {line}");
                    assert_eq!(process.wait().unwrap().code(), Some(3), "{line}");
                    return None;
                }
            }
        };
        Some(Server {
            orders: process.stdin.take(),
            process,
            said,
            environment,
            url,
            file,
        })
    }

    /// Gives an order, and returns when it is done.
    fn order(&mut self, order: &str) {
        writeln!(self.orders.as_mut().unwrap(), "{order}").unwrap();
        assert_eq!(self.said.next().unwrap().unwrap(), "done");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.orders.take()); // it ends with its input
        let _ = self.process.wait();
        let _ = std::fs::remove_file(&self.file);
    }
}

/// This test's second half, in a process with the environment that the server's clients need: orders go there and back by its
/// output and input.
fn keeps_the_contract(kind: &str) {
    let Some(mut server) = Server::start(kind) else {
        return;
    };
    let mut client = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_client", "--nocapture"])
        .envs(server.environment.clone())
        .env(KIND, kind)
        .env(URL, &server.url)
        .env("TREEMILL_FIND_REPLICAS", "off")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut answers = client.stdin.take().unwrap();
    for line in BufReader::new(client.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        if let Some(order) = line.strip_prefix("order: ") {
            server.order(order);
            writeln!(answers, "done").unwrap();
        }
    }
    assert!(client.wait().unwrap().success(), "{kind}: see above");
}

fn order(order: &str) {
    // On a line of its own: the harness has begun one.
    println!("\norder: {order}");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    assert_eq!(line.trim(), "done");
}

/// Run by the other tests only.
#[test]
fn a_client() {
    let (Ok(kind), Ok(url)) = (std::env::var(KIND), std::env::var(URL)) else {
        return;
    };
    let bytes = content(&kind);
    let middle = bytes.len() as u64 / 2;
    let server = url.split("//").nth(1).unwrap();
    holds(|| open(&url).unwrap(), &bytes);
    holds(|| open_bare(&url).unwrap(), &bytes);
    let both = || -> Arc<dyn Source> {
        let warn = Box::new(|text: &str| panic!("{text}"));
        open_replicas("/store/file.root", &[url.clone(), url.clone()], warn).unwrap()
    };
    holds(both, &bytes);
    let (bare, several) = (open_bare(&url).unwrap(), both());
    order("kill");
    // All at once, since a server may be waited for by each.
    std::thread::scope(|scope| {
        let is_gone = scope.spawn(|| open_bare(&url).is_err());
        let of_several = scope.spawn(|| fails(&*several, &[middle..middle + 10]));
        let of_one = fails(&*bare, &[middle..middle + 10]);
        for error in of_one.into_iter().chain(of_several.join().unwrap()) {
            let text = error.to_string();
            assert!(
                text.contains(server) && text.contains("/file.root"),
                "{text}"
            );
        }
        assert!(is_gone.join().unwrap());
    });
    let has_connection = ["root", "dcap"].contains(&kind.as_str());
    assert_eq!(bare.costs().is_lost, has_connection);
    order("restart");
    if kind != "s3" {
        // The bucket was in the server's memory.
        reads(&*bare, &bytes);
        assert!(!bare.costs().is_lost);
        reads(&*several, &bytes);
        reads(&*open(&url).unwrap(), &bytes);
    }
}

#[test]
fn files_of_xrootd() {
    keeps_the_contract("root");
}

#[test]
fn files_of_nginx() {
    keeps_the_contract("http");
}

#[test]
fn objects_of_s3() {
    keeps_the_contract("s3");
}

#[test]
fn files_of_ganesha() {
    keeps_the_contract("nfs");
}

#[test]
fn files_of_a_door_of_dcap() {
    keeps_the_contract("dcap");
}
