//! A real federation of a test's own: a redirector and two data servers, each in a network namespace, joined by a bridge.
//! A redirector tells its servers apart by their addresses, so that ports of one machine will not do.

#![allow(clippy::unwrap_used, dead_code)]

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Hosts by their names, with the last number of their addresses.
const HOSTS: [(&str, u8); 3] = [("r", 10), ("s1", 11), ("s2", 12)];

const NOBODY: u32 = 65534;

pub struct Federation {
    folder: PathBuf,
    /// The first three numbers of all addresses.
    net: String,
    processes: Vec<(&'static str, &'static str, Child)>,
}

impl Federation {
    /// Starts one whose data servers have a file; `None`, with the reason printed, where that is not possible.
    pub fn start(name: &str, bytes: &[u8]) -> Option<Self> {
        let id = std::process::id();
        let mut federation = Federation {
            folder: std::env::temp_dir().join(format!("xrootd-federation-{id}")),
            net: format!("10.{}.{}", id / 250 % 250, id % 250),
            processes: Vec::new(),
        };
        if let Err(reason) = federation.build(name, bytes) {
            println!("skipped: {reason}");
            return None;
        }
        Some(federation)
    }

    /// The address of a file, as the redirector has it.
    pub fn address(&self, path: &str) -> String {
        format!("root://{}.10/{path}", self.net)
    }

    /// The process of a data server, of those that `File::server` names.
    pub fn data_server(&mut self, server: &str) -> &mut Child {
        let last = server
            .split(':')
            .next()
            .unwrap()
            .rsplit('.')
            .next()
            .unwrap();
        let host = HOSTS
            .iter()
            .find(|host| host.1.to_string() == last)
            .unwrap()
            .0;
        let found = self
            .processes
            .iter_mut()
            .find(|one| (one.0, one.1) == (host, "xrootd"));
        &mut found.unwrap().2
    }

    fn build(&mut self, name: &str, bytes: &[u8]) -> Result<(), String> {
        for program in ["cmsd", "xrootd"] {
            let started = Command::new(program)
                .arg("-v")
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            started.map_err(|_| format!("{program} is not installed (Debian: xrootd-server)"))?;
        }
        self.connect()?;
        for (host, _) in HOSTS {
            self.lay_out(host, name, bytes);
        }
        // A server looks for its cmsd once in ten seconds, so that cmsd comes first.
        for (host, _) in HOSTS {
            self.launch(host, "cmsd")?;
        }
        for (host, _) in HOSTS {
            let socket = if host == "r" {
                "olbd.nimda"
            } else {
                "olbd.admin"
            };
            let socket = self.folder.join(host).join("run/n/.olb").join(socket);
            until(|| socket.exists()).ok_or("cmsd does not start")?;
        }
        for (host, _) in HOSTS {
            self.launch(host, "xrootd")?;
        }
        let log = self.folder.join("r/n/cmsd.log");
        let is_ready = || {
            let log = fs::read_to_string(&log).unwrap_or_default();
            log.matches("logged in.").count() >= 2 && log.contains("service enabled")
        };
        until(is_ready).ok_or("the data servers do not find their manager")?;
        Ok(())
    }

    /// Namespaces and the bridge between them.
    fn connect(&self) -> Result<(), String> {
        let (bridge, net) = (self.bridge(), &self.net);
        run(&format!("ip link add {bridge} type bridge"))?;
        run(&format!("ip addr add {net}.1/24 dev {bridge}"))?;
        run(&format!("ip link set {bridge} up"))?;
        let lines = HOSTS.map(|(host, last)| format!("{net}.{last} {host}.fed.test {host}\n"));
        let names = format!("127.0.0.1 localhost\n{}", lines.concat());
        for (host, last) in HOSTS {
            let space = self.space(host);
            run(&format!("ip netns add {space}"))?;
            run(&format!(
                "ip link add {space} type veth peer name eth0 netns {space}"
            ))?;
            run(&format!("ip link set {space} master {bridge} up"))?;
            run(&format!("ip -n {space} addr add {net}.{last}/24 dev eth0"))?;
            run(&format!("ip -n {space} link set eth0 up"))?;
            run(&format!("ip -n {space} link set lo up"))?;
            let folder = PathBuf::from("/etc/netns").join(&space);
            fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
            fs::write(folder.join("hosts"), &names).map_err(|e| e.to_string())?;
        }
        Ok(())
    }

    fn bridge(&self) -> String {
        format!("tmb{}", std::process::id())
    }

    fn space(&self, host: &str) -> String {
        format!("tm{}{host}", std::process::id())
    }

    fn lay_out(&self, host: &str, name: &str, bytes: &[u8]) {
        let folder = self.folder.join(host);
        let [data, run] = ["data", "run"].map(|part| folder.join(part));
        for each in [&data, &run] {
            fs::create_dir_all(each).unwrap();
        }
        let role = if host == "r" {
            "all.role manager\ncms.delay startup 1 servers 1 lookup 1 qdl 1".to_owned()
        } else {
            fs::write(data.join(name), bytes).unwrap();
            format!("all.role server\noss.localroot {}", data.display())
        };
        let run = run.display();
        let text = format!(
            "all.export /\nall.adminpath {run}\nall.pidpath {run}\nall.manager r.fed.test:1213\nxrd.port 1094\n\
             xrd.network nodnr\n{role}\nif exec cmsd\n  xrd.port any\nfi\n"
        );
        fs::write(folder.join("fed.cfg"), text).unwrap();
        for each in [&self.folder, &folder] {
            fs::set_permissions(each, Permissions::from_mode(0o755)).unwrap();
        }
        for each in [folder.join("run"), folder] {
            chown(each, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }

    /// Each program replaces the one before it, so that the process is the server's own.
    fn launch(&mut self, host: &'static str, program: &'static str) -> Result<(), String> {
        let script =
            r#"hostname "$0"; exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@""#;
        let (space, log) = (self.space(host), format!("{program}.log"));
        let mut command = Command::new("ip");
        command
            .args(["netns", "exec", &space, "unshare", "-u", "sh", "-c", script])
            .args([
                &format!("{host}.fed.test"),
                program,
                "-c",
                "fed.cfg",
                "-n",
                "n",
                "-l",
                &log,
            ])
            .current_dir(self.folder.join(host))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let process = command.spawn().map_err(|e| e.to_string())?;
        self.processes.push((host, program, process));
        Ok(())
    }
}

impl Drop for Federation {
    fn drop(&mut self) {
        for (_, _, process) in &mut self.processes {
            process.kill().ok();
            process.wait().ok();
        }
        for (host, _) in HOSTS {
            let space = self.space(host);
            run(&format!("ip netns del {space}")).ok();
            fs::remove_dir_all(PathBuf::from("/etc/netns").join(space)).ok();
        }
        run(&format!("ip link del {}", self.bridge())).ok();
        fs::remove_dir_all(&self.folder).ok();
    }
}

/// Polls, for servers have no other way to say that they are ready.
pub fn until(is_ready: impl Fn() -> bool) -> Option<()> {
    let end = Instant::now() + Duration::from_secs(60);
    while Instant::now() < end {
        if is_ready() {
            return Some(());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    None
}

fn run(line: &str) -> Result<(), String> {
    let mut words = line.split(' ');
    let mut command = Command::new(words.next().unwrap_or_default());
    let status = command
        .args(words)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let failed = || format!("`{line}` fails: a federation needs root, and namespaces of networks");
    status
        .ok()
        .filter(std::process::ExitStatus::success)
        .map(drop)
        .ok_or_else(failed)
}
