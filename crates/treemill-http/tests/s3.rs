//! Against a real server of S3: `versitygw` or `moto_server`, whichever is installed. Skipped, saying so, where neither
//! is. Credentials come from the environment, which a test cannot change: it starts itself again with another one.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::single_range_in_vec_init
)]

use object_store::ObjectStoreExt;
use object_store::aws::AmazonS3Builder;
use object_store::path::Path;
use std::fs;
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use treemill_http::objects::{Entry, exists, list, open, stat};
use treemill_source::{Request, Source};
use treemill_testing::free_port;

const KEY: &str = "testkey-not-secret";
const SECRET: &str = "S3CRETS3CRETS3CRET";

struct Server {
    process: Child,
    folder: PathBuf,
    port: u16,
}

impl Server {
    fn start(name: &str) -> Option<Self> {
        let folder = std::env::temp_dir().join(format!("s3-{name}-{}", std::process::id()));
        fs::create_dir_all(folder.join("data")).unwrap();
        let port = free_port();
        let address = format!("127.0.0.1:{port}");
        let versity: [&str; 4] = [
            "--port",
            &address,
            "posix",
            folder.join("data").to_str().unwrap(),
        ]
        .map(|s| s.to_owned().leak() as &str);
        let moto: [String; 4] = [
            "-H".into(),
            "127.0.0.1".into(),
            "-p".into(),
            port.to_string(),
        ];
        let started =
            spawn("versitygw", &versity.map(str::to_owned)).or_else(|| spawn("moto_server", &moto));
        let Some(mut process) = started else {
            println!(
                "skipped: no server of S3 is installed (go install github.com/versity/versitygw/cmd/versitygw@v1.8.0, or pip install 'moto[server]')"
            );
            return None;
        };
        let end = Instant::now() + Duration::from_secs(60);
        while TcpStream::connect(&address).is_err() {
            let ended = process.try_wait().unwrap();
            assert!(
                ended.is_none() && Instant::now() < end,
                "the server of S3 does not start: {ended:?}"
            );
            std::thread::yield_now();
        }
        Some(Server {
            process,
            folder,
            port,
        })
    }

    /// This test again, in a process with these variables.
    fn again(&self, test: &str, variables: &[(&str, &str)]) {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", test, "--nocapture"]);
        for (name, _) in std::env::vars() {
            if name.starts_with("AWS_") {
                command.env_remove(name);
            }
        }
        let endpoint = format!("http://127.0.0.1:{}", self.port);
        command
            .env("AWS_ENDPOINT_URL", endpoint)
            .envs(variables.iter().copied());
        assert!(command.status().unwrap().success());
    }
}

fn spawn(program: &str, arguments: &[String]) -> Option<Child> {
    let started = Command::new(program)
        .args(arguments)
        .env("ROOT_ACCESS_KEY", KEY)
        .env("ROOT_SECRET_KEY", SECRET)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    started.ok()
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn bytes(len: usize) -> Vec<u8> {
    (0..len as u64)
        .map(|i| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8)
        .collect()
}

/// Writes objects with object_store itself; the bucket is a folder or made by a plain request.
fn fill(endpoint: &str, objects: &[(&str, Vec<u8>)]) {
    // Its own connections are none of treemill's.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = AmazonS3Builder::from_env()
        .with_bucket_name("bucket")
        .with_endpoint(endpoint)
        .with_allow_http(true);
    let store = builder.build().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        for (key, content) in objects {
            store
                .put(&Path::parse(key).unwrap(), content.clone().into())
                .await
                .unwrap();
        }
    });
}

/// Whether this is the process that the test has started, and where its server is.
fn inner() -> Option<String> {
    std::env::var("AWS_ENDPOINT_URL")
        .ok()
        .filter(|_| std::env::var("TREEMILL_INNER").is_ok())
}

#[test]
fn objects_are_read_and_listed() {
    let Some(endpoint) = inner() else {
        let Some(server) = Server::start("read") else {
            return;
        };
        let user = [
            ("AWS_ACCESS_KEY_ID", KEY),
            ("AWS_SECRET_ACCESS_KEY", SECRET),
            ("AWS_REGION", "us-east-1"),
            ("TREEMILL_INNER", "1"),
        ];
        make_bucket(&server);
        server.again("objects_are_read_and_listed", &user);
        return;
    };
    let content = bytes(20_000_000);
    fill(
        &endpoint,
        &[
            ("d/f.root", content.clone()),
            ("d/empty", vec![]),
            ("d/sub/x y", vec![1]),
            ("small", b"0123456789".to_vec()),
        ],
    );
    let source = open("s3://bucket/d/f.root").unwrap();
    assert_eq!(
        (source.size(), source.name()),
        (20_000_000, "s3://bucket/d/f.root")
    );
    assert!(source.identity().is_some());
    assert_eq!(
        source.identity(),
        stat("s3://bucket/d/f.root").unwrap().identity
    );
    let mut ranges: Vec<_> = (0..200_u64).map(|i| i * 99_000..i * 99_000 + 77).collect();
    ranges.extend([0..20_000_000, 5..5, 19_999_999..20_000_000]);
    for (range, ticket) in ranges.iter().zip(source.submit(ranges.clone())) {
        let expected = &content[range.start as usize..range.end as usize];
        assert!(ticket.wait().unwrap() == expected, "{range:?}");
    }
    let error = source.read(&mut [Request::new(0..20_000_001)]).unwrap_err();
    assert!(error.to_string().contains("20000000 bytes"), "{error}");
    assert_eq!(open("s3://bucket/d/empty").unwrap().size(), 0);
    assert_eq!(
        open("s3://bucket/small").unwrap().submit(vec![2..10])[0]
            .wait()
            .unwrap(),
        "23456789"
    );

    let entry = |name: &str, is_folder| Entry {
        name: name.into(),
        is_folder,
    };
    let expected = [
        entry("empty", false),
        entry("f.root", false),
        entry("sub", true),
    ];
    assert_eq!(list("s3://bucket/d/").unwrap(), expected);
    assert_eq!(list("s3://bucket/d").unwrap(), expected);
    assert_eq!(
        list("s3://bucket").unwrap(),
        [entry("d", true), entry("small", false)]
    );
    assert!(exists("s3://bucket/small").unwrap() && !exists("s3://bucket/none").unwrap());
    let error = open("s3://bucket/none").unwrap_err();
    assert!(
        error.is_missing()
            && error
                .to_string()
                .starts_with("s3://bucket/none: no such object"),
        "{error}"
    );

    fill(&endpoint, &[("d/f.root", bytes(20_000_001))]);
    let error = source.submit(vec![10_000_000..10_000_010])[0]
        .wait()
        .unwrap_err();
    assert!(error.what.contains("changed"), "{error}");
}

#[test]
fn a_wrong_key_is_an_error_without_the_key() {
    if inner().is_none() {
        let Some(server) = Server::start("key") else {
            return;
        };
        let user = [
            ("AWS_ACCESS_KEY_ID", "another"),
            ("AWS_SECRET_ACCESS_KEY", SECRET),
            ("AWS_REGION", "us-east-1"),
            ("TREEMILL_INNER", "1"),
        ];
        make_bucket(&server);
        server.again("a_wrong_key_is_an_error_without_the_key", &user);
        return;
    }
    // moto asks for no credentials.
    let error = open("s3://bucket/none").unwrap_err();
    let text = format!("{error} {error:?}");
    assert!(
        text.contains("s3://bucket/none") && !text.contains(SECRET),
        "{text}"
    );
}

#[test]
fn without_credentials_requests_are_not_signed() {
    if inner().is_none() {
        let Some(server) = Server::start("anonymous") else {
            return;
        };
        make_bucket(&server);
        server.again(
            "without_credentials_requests_are_not_signed",
            &[("TREEMILL_INNER", "1")],
        );
        return;
    }
    let begun = Instant::now();
    assert!(open("s3://bucket/none").is_err());
    assert!(
        begun.elapsed() < Duration::from_secs(30),
        "credentials are not looked for"
    );
}

#[test]
fn a_server_that_is_gone_is_named() {
    if inner().is_none() {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "a_server_that_is_gone_is_named", "--nocapture"]);
        let endpoint = [
            ("AWS_ENDPOINT_URL", "http://127.0.0.1:1"),
            ("TREEMILL_INNER", "1"),
            ("AWS_ACCESS_KEY_ID", KEY),
            ("AWS_SECRET_ACCESS_KEY", SECRET),
        ];
        assert!(command.envs(endpoint).status().unwrap().success());
        return;
    }
    let begun = Instant::now();
    let error = open("s3://bucket/none").unwrap_err();
    assert!(begun.elapsed() < Duration::from_secs(30));
    assert!(
        error.is_transient() && !error.to_string().contains(SECRET),
        "{error:?}"
    );
    assert!(
        error
            .to_string()
            .contains("s3://bucket cannot be reached: "),
        "{error}"
    );
}

/// A folder is a bucket to versitygw; moto takes an unsigned request.
fn make_bucket(server: &Server) {
    use std::io::{Read, Write};
    fs::create_dir_all(server.folder.join("data/bucket")).unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let request =
        "PUT /bucket HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
}
