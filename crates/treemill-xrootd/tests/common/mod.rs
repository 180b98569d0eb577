//! A real `xrootd` of a test's own: a temporary folder, a free port, an unprivileged user. Knows nothing of the client.

#![allow(clippy::unwrap_used)]

pub mod certificates;
pub mod federation;
pub mod relay;
pub mod scripted;
pub mod tokens;

use std::fs::{self, Permissions};
use std::net::TcpStream;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use treemill_testing::free_port;

/// The user and group `nobody`; xrootd refuses to run as root.
const NOBODY: u32 = 65534;

pub struct Xrootd {
    process: Child,
    folder: PathBuf,
    pub port: u16,
}

/// Starts the program in a folder that is laid out.
fn launch(folder: &Path) -> std::io::Result<Child> {
    let root =
        fs::metadata("/proc/self").is_ok_and(|it| std::os::unix::fs::MetadataExt::uid(&it) == 0);
    let mut command = if root {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "xrootd"]);
        command
    } else {
        Command::new("xrootd")
    };
    command
        .args(["-c", "solo.cfg", "-n", "solo", "-l"])
        .arg(folder.join("log"))
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

impl Xrootd {
    /// Starts a server that exports the files given; `None`, with the reason printed, where there is no xrootd.
    pub fn start(name: &str, files: &[(&str, &[u8])]) -> Option<Self> {
        Self::start_with(name, files, "")
    }

    /// Starts like `start`, with more lines of configuration.
    pub fn start_with(name: &str, files: &[(&str, &[u8])], more: &str) -> Option<Self> {
        Self::start_in(name, files, more, |_| true)
    }

    /// Starts like `start_with`; `FOLDER` in the lines is the server's own folder, into which `install` puts what
    /// they need; `None` if it cannot.
    pub fn start_in(
        name: &str,
        files: &[(&str, &[u8])],
        more: &str,
        install: impl FnOnce(&Path) -> bool,
    ) -> Option<Self> {
        let version = Command::new("xrootd")
            .arg("-v")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        if version.is_err() {
            println!("skipped: xrootd is not installed (Debian: xrootd-server, xrootd-plugins)");
            return None;
        }
        let folder = std::env::temp_dir().join(format!("xrootd-{name}-{}", std::process::id()));
        let port = free_port();
        fs::create_dir_all(&folder).unwrap();
        if !install(&folder) {
            return None;
        }
        let more = more.replace("FOLDER", &folder.display().to_string());
        lay_out(&folder, port, files, &more);
        let started = launch(&folder);
        let process = match started {
            Ok(process) => process,
            Err(error) => {
                println!("skipped: xrootd does not start: {error}");
                return None;
            }
        };
        let mut server = Xrootd {
            process,
            folder,
            port,
        };
        if let Err(reason) = server.accepts() {
            println!("skipped: xrootd does not start: {reason}");
            return None;
        }
        Some(server)
    }

    /// Waits until the server takes connections. Polls, for it has no other way to say so.
    fn accepts(&mut self) -> Result<(), String> {
        let end = Instant::now() + Duration::from_secs(20);
        while Instant::now() < end {
            if let Some(status) = self.process.try_wait().unwrap() {
                return Err(format!("it has ended with {status}"));
            }
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return Ok(());
            }
            std::thread::yield_now();
        }
        Err("it takes no connections within 20 s".to_owned())
    }

    /// Kills the server like `kill -9`.
    #[allow(dead_code)]
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Starts it anew, at the same port.
    #[allow(dead_code)]
    pub fn restart(&mut self) {
        self.kill();
        self.process = launch(&self.folder).unwrap();
        self.accepts().unwrap();
    }

    /// Stops the server like `kill -STOP`: the connections stay, and nothing answers.
    #[allow(dead_code)]
    pub fn freeze(&self) {
        stop(&self.process);
    }

    /// Lets the server go on like `kill -CONT`.
    #[allow(dead_code)]
    pub fn thaw(&self) {
        go_on(&self.process);
    }

    /// Where the server has a file.
    #[allow(dead_code)]
    pub fn data(&self, name: &str) -> PathBuf {
        self.folder.join("data").join(name)
    }

    pub fn address(&self, path: &str) -> String {
        format!("root://127.0.0.1:{}/{path}", self.port)
    }
}

impl Drop for Xrootd {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
        fs::remove_dir_all(&self.folder).ok();
    }
}

/// Stops a process like `kill -STOP`.
#[allow(dead_code)]
pub fn stop(process: &Child) {
    signal(process, "-STOP");
    // The signal reaches the threads one after the other.
    while !is_stopped(process.id()) {
        std::thread::yield_now();
    }
}

/// Lets the server go on like `kill -CONT`.
#[allow(dead_code)]
pub fn go_on(process: &Child) {
    signal(process, "-CONT");
}

/// Whether no thread of a process runs; where there is no `/proc`, it is believed.
#[allow(dead_code)]
fn is_stopped(process: u32) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else {
        return true;
    };
    // The state follows the name, which is in brackets and may hold any sign.
    let state = |text: String| {
        text.rsplit(')')
            .next()
            .is_some_and(|rest| rest.starts_with(" T"))
    };
    threads
        .flatten()
        .filter_map(|thread| fs::read_to_string(thread.path().join("stat")).ok())
        .all(state)
}

fn signal(process: &Child, name: &str) {
    let id = process.id().to_string();
    let status = Command::new("kill").args([name, &id]).status();
    assert!(status.unwrap().success());
}

/// Bytes in which a wrong place is seen: a fixed sequence of a multiplicative generator.
#[allow(dead_code, clippy::cast_possible_truncation)]
pub fn content(size: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let next = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..size).map(next).collect()
}

fn lay_out(folder: &Path, port: u16, files: &[(&str, &[u8])], more: &str) {
    let (data, run) = (folder.join("data"), folder.join("run"));
    for each in [&data, &run] {
        fs::create_dir_all(each).unwrap();
    }
    for (name, bytes) in files {
        fs::write(data.join(name), bytes).unwrap();
    }
    let (data, run_at) = (data.display(), run.display());
    let text = format!(
        "all.export /\noss.localroot {data}\nxrd.port {port}\nall.adminpath {run_at}\nall.pidpath {run_at}\n\
         xrd.network nodnr\n{more}"
    );
    fs::write(folder.join("solo.cfg"), text).unwrap();
    fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
    let installed = fs::read_dir(folder)
        .unwrap()
        .map(|each| each.unwrap().path());
    for each in installed.chain([folder.to_owned()]) {
        // Only root can give files away, and only root needs to.
        chown(each, Some(NOBODY), Some(NOBODY)).ok();
    }
}
