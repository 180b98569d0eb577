//! A real `nginx`: a temporary folder, a free port, an unprivileged user, TLS where it is asked for.

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use treemill_testing::free_port;

pub struct Nginx {
    process: Child,
    pub folder: PathBuf,
    pub port: u16,
}

impl Nginx {
    /// Starts a server of the files given; `None`, with the reason printed, where there is no nginx. `more` are lines of
    /// configuration for the server; those of TLS say `PORT ssl` themselves.
    pub fn start(name: &str, files: &[(&str, &[u8])], listen: &str, more: &str) -> Option<Self> {
        let folder = folder(name);
        for (path, content) in files {
            let path = folder.join("data").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let port = free_port();
        let here = folder.display();
        let config = format!(
            "daemon off; master_process off; worker_processes 1; pid {here}/pid; error_log {here}/log;
             events {{ worker_connections 256; }}
             http {{
               access_log {here}/access; keepalive_requests 100000;
               client_body_temp_path {here}/t1; proxy_temp_path {here}/t2; fastcgi_temp_path {here}/t3;
               uwsgi_temp_path {here}/t4; scgi_temp_path {here}/t5;
               server {{ listen 127.0.0.1:{port} {listen}; root {here}/data; {more} }}
               server {{ listen unix:{here}/settled; access_log off; return 204; }}
             }}"
        );
        fs::write(
            folder.join("conf"),
            config.replace("HERE", &here.to_string()),
        )
        .unwrap();
        open_to_all(&folder);
        let root = fs::metadata("/proc/self")
            .is_ok_and(|it| std::os::unix::fs::MetadataExt::uid(&it) == 0);
        let program = if Path::new("/usr/sbin/nginx").exists() {
            "/usr/sbin/nginx"
        } else {
            "nginx"
        };
        let mut command = if root {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups", program]);
            command
        } else {
            Command::new(program)
        };
        let started = command
            .arg("-c")
            .arg(folder.join("conf"))
            .arg("-e")
            .arg(folder.join("log"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut process) = started else {
            println!("skipped: nginx is not installed (Debian: nginx-light)");
            return None;
        };
        let end = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if let Ok(Some(status)) = process.try_wait() {
                let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
                println!("skipped: nginx is not installed or does not start ({status}): {log}");
                return None;
            }
            assert!(Instant::now() < end, "nginx takes no connections");
            std::thread::yield_now();
        }
        Some(Nginx {
            process,
            folder,
            port,
        })
    }

    /// What the server has answered so far, one line a request. An answer is here before its line is in the log, so one
    /// more answer is waited for: the server's only thread has written the lines of those before it by then.
    pub fn requests(&self) -> Vec<String> {
        let mut settled = UnixStream::connect(self.folder.join("settled")).unwrap();
        settled.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
        settled.read_to_end(&mut Vec::new()).unwrap();
        let log = fs::read_to_string(self.folder.join("access")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A new folder in which a server of another user may write.
pub fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("http-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("data")).unwrap();
    folder
}

pub fn open_to_all(folder: &Path) {
    fs::set_permissions(folder, Permissions::from_mode(0o777)).unwrap();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let is_folder = entry.file_type().unwrap().is_dir();
        if is_folder {
            open_to_all(&entry.path());
        } else {
            fs::set_permissions(entry.path(), Permissions::from_mode(0o644)).unwrap();
        }
    }
}
