//! A real `xrootd` with its HTTP plug-in: a temporary folder, free ports, an unprivileged user.

use super::nginx::{folder, open_to_all};
use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use treemill_testing::free_port;

const PLUG_INS: [&str; 4] = [
    "/usr/lib/x86_64-linux-gnu/libXrdHttp-5.so",
    "/usr/lib/aarch64-linux-gnu/libXrdHttp-5.so",
    "/usr/lib64/libXrdHttp-5.so",
    "/usr/lib/libXrdHttp-5.so",
];

pub struct Xrootd {
    process: Child,
    folder: PathBuf,
    pub port: u16,
}

impl Xrootd {
    /// Starts a server that exports the files given; `None`, with the reason printed, where there is no xrootd.
    pub fn start(name: &str, files: &[(&str, &[u8])]) -> Option<Self> {
        let plug_in = PLUG_INS.iter().find(|path| Path::new(path).exists());
        let (Some(plug_in), true) = (plug_in, Command::new("xrootd").arg("-v").output().is_ok())
        else {
            println!(
                "skipped: xrootd or its HTTP plug-in is not installed (Debian: xrootd-server, xrootd-plugins)"
            );
            return None;
        };
        let folder = folder(&format!("xrootd-{name}"));
        for (path, content) in files {
            let path = folder.join("data").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let (port, other) = (free_port(), free_port());
        let here = folder.display();
        let config = format!(
            "all.export /\noss.localroot {here}/data\nxrd.port {other}\nxrd.protocol http:{port} {plug_in}\n\
             http.listingdeny no\nall.adminpath {here}\nall.pidpath {here}\nxrd.network nodnr\n"
        );
        fs::write(folder.join("cfg"), config).unwrap();
        open_to_all(&folder);
        let root = fs::metadata("/proc/self")
            .is_ok_and(|it| std::os::unix::fs::MetadataExt::uid(&it) == 0);
        let mut command = if root {
            chown(&folder, Some(65534), Some(65534)).unwrap();
            let mut command = Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "xrootd"]);
            command
        } else {
            Command::new("xrootd")
        };
        let mut process = command
            .args(["-c", "cfg", "-n", "solo", "-l", "log"])
            .current_dir(&folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let end = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if let Ok(Some(status)) = process.try_wait() {
                println!("skipped: xrootd does not start ({status})");
                return None;
            }
            assert!(Instant::now() < end, "xrootd takes no connections");
            std::thread::yield_now();
        }
        Some(Xrootd {
            process,
            folder,
            port,
        })
    }
}

impl Drop for Xrootd {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}
