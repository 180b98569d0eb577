//! Against a real server, nfs-ganesha, which is killed and started anew while a file is read. Skipped, with the reason, where
//! it cannot be started.

#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing
)]

use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use treemill_source::Source;
use treemill_testing::free_port;

struct Ganesha {
    folder: tempfile::TempDir,
    port: u16,
    process: Child,
}

impl Ganesha {
    /// Exports a folder as `/export`, with seconds of grace after each start; with none it knows of no former clients.
    fn start(grace: u32) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: ganesha.nfsd needs root");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        fs::create_dir(folder.path().join("data")).unwrap();
        fs::create_dir(folder.path().join("recovery")).unwrap();
        let at = folder.path().display();
        let (graceless, grace) = (grace == 0, grace.max(1));
        let configuration = format!(
            "NFS_CORE_PARAM {{ Protocols = 4; Bind_addr = 127.0.0.1; NFS_Port = {port}; Enable_NLM = false;
                Enable_RQUOTA = false; Enable_UDP = false; }}
            NFSv4 {{ Minor_Versions = 1, 2; Graceless = {graceless}; Grace_Period = {grace}; Lease_Lifetime = 60;
                RecoveryBackend = fs; RecoveryRoot = {at}/recovery; }}
            EXPORT {{ Export_Id = 1; Path = {at}/data; Pseudo = /export; Access_Type = RO; SecType = sys;
                Squash = No_Root_Squash; Attr_Expiration_Time = 0; FSAL {{ Name = VFS; }} }}"
        );
        fs::write(folder.path().join("it.conf"), configuration).unwrap();
        let process = run(folder.path()).or_else(|| {
            println!("skipped: nfs-ganesha is not installed");
            None
        })?;
        let mut server = Ganesha {
            folder,
            port,
            process,
        };
        server.wait();
        Some(server)
    }

    fn wait(&mut self) {
        let end = Instant::now() + Duration::from_secs(30);
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let gone = self.process.try_wait().unwrap();
            assert!(
                gone.is_none() && Instant::now() < end,
                "no server: {gone:?}"
            );
        }
    }

    fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    fn restart(&mut self) {
        self.process = run(self.folder.path()).unwrap();
        self.wait();
    }

    fn put(&self, name: &str, bytes: &[u8]) -> String {
        fs::write(self.folder.path().join("data").join(name), bytes).unwrap();
        format!("nfs://127.0.0.1:{}/export/{name}", self.port)
    }
}

impl Drop for Ganesha {
    fn drop(&mut self) {
        self.kill();
    }
}

fn run(folder: &Path) -> Option<Child> {
    let file = |name: &str| folder.join(name).display().to_string();
    let words = [
        "-F".to_owned(),
        "-f".to_owned(),
        file("it.conf"),
        "-L".to_owned(),
        file("log"),
        "-p".to_owned(),
        file("pid"),
    ];
    let mut command = Command::new("ganesha.nfsd");
    command
        .args(words)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().ok()
}

/// Bytes that tell where they are.
fn bytes(count: u64) -> Vec<u8> {
    (0..count / 8).flat_map(u64::to_be_bytes).collect()
}

#[test]
fn ranges_in_any_order_are_what_they_should_be() {
    let Some(server) = Ganesha::start(0) else {
        return;
    };
    let all = bytes(24 << 20);
    let source = treemill_nfs::open(&server.put("f", &all)).unwrap();
    let mut ranges: Vec<_> = (0..3000_u64)
        .map(|i| (i * 7919 % 20_000) * 1000..(i * 7919 % 20_000) * 1000 + i)
        .collect();
    ranges.push(0..24 << 20);
    for (ticket, range) in source.submit(ranges.clone()).into_iter().zip(ranges) {
        assert!(ticket.wait().unwrap() == all[range.start as usize..range.end as usize]);
    }
    let beyond = source.submit(std::iter::once((24 << 20) - 1..(24 << 20) + 1).collect());
    assert!(beyond[0].wait().is_err());
}

/// The server is killed while reads are in flight, and takes nothing new for 60 s after its start: all bytes come, and they
/// come before that, since the file is claimed back.
#[test]
fn a_server_that_is_killed_and_comes_back_is_read_on_from() {
    let Some(mut server) = Ganesha::start(60) else {
        return;
    };
    let all = bytes(64 << 20);
    fs::write(server.folder.path().join("data/f"), &all).unwrap();
    let url = format!("nfs://127.0.0.1:{}/export/f", server.port);
    // The first start knows of no former client: its grace ends at once.
    let source = treemill_nfs::open(&url).unwrap();
    let parts: Vec<_> = (0..64_u64).map(|i| i << 20..(i + 1) << 20).collect();
    for round in 0..3 {
        let tickets = source.submit(parts.clone());
        tickets[round].wait().unwrap();
        server.kill();
        server.restart();
        for (ticket, range) in tickets.into_iter().zip(&parts) {
            let found = ticket.wait().unwrap();
            assert!(
                found == all[range.start as usize..range.end as usize],
                "{range:?}"
            );
        }
    }
}

/// Another file under the same name is not read on from.
#[test]
fn a_file_that_was_replaced_is_an_error() {
    let Some(mut server) = Ganesha::start(0) else {
        return;
    };
    let url = server.put("f", &bytes(4 << 20));
    let source = treemill_nfs::open(&url).unwrap();
    server.kill();
    fs::remove_file(server.folder.path().join("data/f")).unwrap();
    server.put("other", b"takes the number");
    server.put("f", &bytes(4 << 20));
    server.restart();
    let tickets = source.submit(std::iter::once(1 << 20..2 << 20).collect());
    let error = tickets[0].wait().unwrap_err();
    assert!(error.what.contains("changed"), "{error}");
}
