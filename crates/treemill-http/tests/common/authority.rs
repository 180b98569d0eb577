//! Certificates of a test's own, made by the program `openssl`.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// A folder with an authority `ca.pem`; a server's `server.pem` and `server.key`, for `localhost` only; a user's
/// certificate, and `proxy.pem` with a proxy of it (RFC 3820), its key and the user's certificate.
pub struct Authority {
    pub folder: PathBuf,
}

impl Authority {
    /// `None`, with the reason printed, where there is no openssl.
    pub fn new(name: &str) -> Option<Self> {
        let folder = std::env::temp_dir().join(format!("tls-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        if Command::new("openssl").arg("version").output().is_err() {
            println!("skipped: openssl is not installed");
            return None;
        }
        let made = Authority { folder };
        made.run("req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=authority");
        made.signed(
            "server",
            "ca",
            "/CN=localhost",
            "subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n",
        );
        made.signed(
            "user",
            "ca",
            "/DC=org/CN=user",
            "basicConstraints=CA:FALSE\n",
        );
        let proxy = "proxyCertInfo=critical,language:id-ppl-inheritAll\nkeyUsage=critical,digitalSignature\n";
        made.signed("one", "user", "/DC=org/CN=user/CN=12345", proxy);
        let read = |file: &str| fs::read_to_string(made.path(file)).unwrap();
        fs::write(
            made.path("proxy.pem"),
            read("one.pem") + &read("one.key") + &read("user.pem"),
        )
        .unwrap();
        // One that ended a day ago.
        made.run("x509 -req -in one.csr -CA user.pem -CAkey user.key -CAcreateserial -out old.pem -days -1 -extfile extensions");
        fs::write(made.path("expired.pem"), read("old.pem") + &read("one.key")).unwrap();
        Some(made)
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    fn signed(&self, name: &str, by: &str, subject: &str, extensions: &str) {
        fs::write(self.path("extensions"), extensions).unwrap();
        self.run(&format!(
            "req -new -newkey rsa:2048 -nodes -keyout {name}.key -out {name}.csr -subj {subject}"
        ));
        self.run(&format!(
            "x509 -req -in {name}.csr -CA {by}.pem -CAkey {by}.key -CAcreateserial -out {name}.pem -days 2 -extfile extensions"
        ));
    }

    fn run(&self, line: &str) {
        let done = Command::new("openssl")
            .args(line.split(' '))
            .current_dir(&self.folder)
            .output()
            .unwrap();
        assert!(
            done.status.success(),
            "openssl {line}: {}",
            String::from_utf8_lossy(&done.stderr)
        );
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}
