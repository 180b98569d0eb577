//! TLS, tokens and proxy certificates against a real nginx. What a user trusts and shows comes from the environment,
//! which a test cannot change: it starts itself again with another one. Skipped, saying so, without nginx or openssl.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::single_range_in_vec_init
)]

mod common;

use common::authority::Authority;
use common::bytes;
use common::nginx::Nginx;
use common::scripted::{Scripted, sound};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use treemill_http::open;
use treemill_source::{Source, SourceError};
use treemill_testing::free_port;

const SIZE: usize = 20_000_000;
/// Variables that say what the process of a test trusts and shows.
const TRUST: [&str; 10] = [
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "X509_CERT_DIR",
    "X509_USER_PROXY",
    "X509_USER_CERT",
    "X509_USER_KEY",
    "BEARER_TOKEN",
    "BEARER_TOKEN_FILE",
    "XDG_RUNTIME_DIR",
    "URL",
];

/// Runs a test again with these variables.
fn again(test: &str, variables: &[(&str, &str)]) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]);
    for name in TRUST {
        command.env_remove(name);
    }
    let status = command
        .env("INNER", "1")
        .envs(variables.iter().copied())
        .status()
        .unwrap();
    assert!(status.success(), "{test} with {variables:?}");
}

/// The URL that a process is given which a test has started.
fn inner() -> Option<String> {
    std::env::var("INNER")
        .ok()
        .and_then(|_| std::env::var("URL").ok())
}

fn server(name: &str, authority: &Authority, more: &str) -> Option<Nginx> {
    let read = |file: &str| std::fs::read(authority.path(file)).unwrap();
    let (certificate, key, content) = (read("server.pem"), read("server.key"), bytes(SIZE));
    let files: [(&str, &[u8]); 3] = [
        ("f", &content),
        ("../server.pem", &certificate),
        ("../server.key", &key),
    ];
    let lines = "ssl_certificate HERE/server.pem; ssl_certificate_key HERE/server.key;";
    Nginx::start(name, &files, "ssl http2", &format!("{lines} {more}"))
}

fn refused(error: &SourceError, words: &str) {
    let text = format!("{error} {error:?}");
    assert!(error.what.contains(words), "{error} has no '{words}'");
    assert!(!error.is_transient() && !text.contains("SECRET"), "{text}");
    assert!(
        text.contains("https://localhost") || text.contains("https://127.0.0.1"),
        "{text}"
    );
}

#[test]
fn a_token_is_shown_over_tls() {
    let me = "a_token_is_shown_over_tls";
    let Some(url) = inner() else {
        let Some(authority) = Authority::new("token") else {
            return;
        };
        let check = r#"if ($http_authorization != "Bearer SECRET-good") { return 401; }"#;
        let Some(server) = server("token", &authority, check) else {
            return;
        };
        let url = format!("https://localhost:{}/f", server.port);
        let trust = authority.path("ca.pem");
        for token in ["SECRET-good", "SECRET-expired"] {
            again(
                me,
                &[
                    ("URL", &url),
                    ("SSL_CERT_FILE", trust.to_str().unwrap()),
                    ("BEARER_TOKEN", token),
                ],
            );
        }
        let davs = url.replace("https:", "davs:");
        again(
            me,
            &[
                ("URL", &davs),
                ("X509_CERT_DIR", authority.folder.to_str().unwrap()),
                ("BEARER_TOKEN", "SECRET-good"),
            ],
        );
        let requests = server.requests();
        let other = requests.iter().find(|line| !line.contains("HTTP/2.0"));
        assert!(requests.len() > 1000 && other.is_none(), "{other:?}");
        return;
    };
    if std::env::var("BEARER_TOKEN").unwrap() == "SECRET-expired" {
        return refused(&open(&url).unwrap_err(), "401");
    }
    let (source, content) = (open(&url).unwrap(), bytes(SIZE));
    let mut ranges: Vec<_> = (0..500_u64)
        .map(|i| i * 39_000..i * 39_000 + 7_777)
        .collect();
    ranges.push(0..SIZE as u64);
    for (range, ticket) in ranges.iter().zip(source.submit(ranges.clone())) {
        let expected = &content[range.start as usize..range.end as usize];
        assert!(ticket.wait().unwrap() == expected, "{range:?}");
    }
}

#[test]
fn a_server_that_cannot_be_trusted_gets_no_request() {
    let me = "a_server_that_cannot_be_trusted_gets_no_request";
    let Some(url) = inner() else {
        let Some(authority) = Authority::new("trust") else {
            return;
        };
        let Some(server) = server("trust", &authority, "") else {
            return;
        };
        let trust = authority.path("ca.pem");
        // Its certificate is for localhost.
        let other = format!("https://127.0.0.1:{}/f", server.port);
        again(
            me,
            &[
                ("URL", &other),
                ("SSL_CERT_FILE", trust.to_str().unwrap()),
                ("BEARER_TOKEN", "SECRET"),
            ],
        );
        // A certificate of an authority that is not known.
        let unknown = format!("https://localhost:{}/f", server.port);
        again(me, &[("URL", &unknown), ("BEARER_TOKEN", "SECRET")]);
        assert_eq!(server.requests().len(), 0);
        return;
    };
    refused(&open(&url).unwrap_err(), "no connection with TLS");
}

/// OpenSSL's own server, which takes proxies for valid if it is told so, asks for a certificate and checks it.
struct Checking(Child);

impl Checking {
    fn start(authority: &Authority, port: u16) -> Self {
        std::fs::write(authority.path("f"), bytes(1000)).unwrap();
        let line = format!(
            "s_server -accept {port} -cert server.pem -key server.key -CAfile ca.pem -Verify 5 -verify_return_error \
             -allow_proxy_certs -WWW"
        );
        let mut process = Command::new("openssl")
            .args(line.split_whitespace())
            .current_dir(&authority.folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(
                process.try_wait().unwrap().is_none(),
                "openssl s_server does not start"
            );
            std::thread::yield_now();
        }
        Checking(process)
    }
}

impl Drop for Checking {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_proxy_certificate_is_shown_to_servers_that_ask() {
    let me = "a_proxy_certificate_is_shown_to_servers_that_ask";
    let Some(url) = inner() else {
        let Some(authority) = Authority::new("proxy") else {
            return;
        };
        let port = free_port();
        let _server = Checking::start(&authority, port);
        let url = format!("davs://localhost:{port}/f");
        let path = |file: &str| authority.path(file).to_str().unwrap().to_owned();
        let (trust, proxy, chain, key) = (
            path("ca.pem"),
            path("proxy.pem"),
            path("user.pem"),
            path("user.key"),
        );
        let base = [("URL", url.as_str()), ("SSL_CERT_FILE", &trust)];
        again(me, &[base[0], base[1], ("X509_USER_PROXY", &proxy)]);
        again(
            me,
            &[
                base[0],
                base[1],
                ("X509_USER_CERT", &chain),
                ("X509_USER_KEY", &key),
            ],
        );
        let (expired, none) = (path("expired.pem"), path("f"));
        for (file, words) in [
            ("/no/such/file", "cannot be read"),
            (&none, "no usable certificate"),
            (&expired, "expired on "),
        ] {
            again(
                me,
                &[
                    base[0],
                    base[1],
                    ("X509_USER_PROXY", file),
                    ("WORDS", words),
                ],
            );
        }
        return;
    };
    if let Ok(words) = std::env::var("WORDS") {
        let error = open(&url).unwrap_err();
        let file = std::env::var("X509_USER_PROXY").unwrap();
        for words in [&words, &file, "no connection with TLS"] {
            assert!(error.what.contains(words), "{error:?}");
        }
        assert!(!error.is_transient(), "{error:?}");
        return;
    }
    // It does no ranges and no keep-alive: the file comes whole.
    assert_eq!(
        open(&url).unwrap().submit(vec![0..1000])[0].wait().unwrap(),
        bytes(1000)
    );
}

#[test]
fn a_token_is_not_sent_in_the_clear() {
    if std::env::var("INNER").is_err() {
        return again(
            "a_token_is_not_sent_in_the_clear",
            &[("BEARER_TOKEN", "SECRET")],
        );
    }
    let content = bytes(100);
    let server = Scripted::start(move |request| sound(request, &content));
    open(&server.url("/f")).unwrap();
    assert!(server.seen()[0].header("authorization").is_none());
}
