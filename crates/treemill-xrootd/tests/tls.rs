//! TLS and bearer tokens against a real `xrootd`. Skipped, with the reason printed, where there is none.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::single_range_in_vec_init
)]

#[allow(dead_code)]
mod common;

use common::certificates::Certificates;
use common::relay::Relay;
use common::{Xrootd, content, tokens};
use std::sync::Arc;
use std::time::Duration;
use treemill_credentials::Places;
use treemill_source::{Source, SourceError};
use treemill_xrootd::stream::Deadlines;
use treemill_xrootd::{Client, Options, XrootdSource};

const SIZE: usize = 8 << 20;

const TLS: &str = "xrd.tls FOLDER/server.pem FOLDER/server.key\nxrd.tlsca noverify\n";

fn server(name: &str, certificates: &Certificates, more: &str) -> Option<(Xrootd, Vec<u8>)> {
    let bytes = content(SIZE);
    let config = format!("{TLS}{more}");
    let install = |folder: &std::path::Path| {
        certificates.install(folder);
        !more.contains("tokenlib") || tokens::install(folder)
    };
    let server = Xrootd::start_in(name, &[("a.root", &bytes)], &config, install)?;
    Some((server, bytes))
}

fn client(certificates: &Certificates, token: Option<&str>) -> Arc<Client> {
    let tokens = Places {
        token: token.map(Into::into),
        ..Places::default()
    };
    let deadlines = Deadlines {
        silence: Duration::from_secs(30),
        ..Deadlines::default()
    };
    Arc::new(Client::new(Options {
        deadlines,
        trusted: Some(certificates.trusted()),
        tokens: Some(tokens),
        ..Options::default()
    }))
}

fn open(client: &Arc<Client>, scheme: &str, port: u16) -> Result<XrootdSource, SourceError> {
    XrootdSource::open(client, &format!("{scheme}://127.0.0.1:{port}//a.root"))
}

fn check(source: &XrootdSource, bytes: &[u8]) {
    let small = (0..1500).map(|i| i * 5000..i * 5000 + 100 + i % 50);
    let ranges: Vec<_> = small.chain([0..SIZE as u64, 5..3 << 20]).collect();
    for (range, ticket) in ranges.iter().zip(source.submit(ranges.clone())) {
        let (start, end) = (
            usize::try_from(range.start).unwrap(),
            usize::try_from(range.end).unwrap(),
        );
        assert!(ticket.wait().unwrap() == bytes[start..end], "{range:?}");
    }
}

#[test]
fn reads_by_tls_are_the_files_bytes() {
    let Some(certificates) = Certificates::make("IP:127.0.0.1") else {
        return;
    };
    let Some((server, bytes)) = server("tls", &certificates, "") else {
        return;
    };
    let source = open(&client(&certificates, None), "roots", server.port).unwrap();
    assert!(source.name().starts_with("roots://"));
    check(&source, &bytes);
}

#[test]
fn a_server_that_demands_tls_gets_it() {
    let Some(certificates) = Certificates::make("IP:127.0.0.1") else {
        return;
    };
    for demand in ["xrootd.tls login\n", "xrootd.tls session\n"] {
        let Some((server, bytes)) = server("demand", &certificates, demand) else {
            return;
        };
        check(
            &open(&client(&certificates, None), "root", server.port).unwrap(),
            &bytes,
        );
    }
}

#[test]
fn a_token_is_shown_by_tls_only() {
    let Some(certificates) = Certificates::make("IP:127.0.0.1") else {
        return;
    };
    let Some((server, bytes)) = server("token", &certificates, tokens::CONFIG) else {
        return;
    };
    // Of a root address as well: the server lists nothing that could be done in the clear.
    for scheme in ["roots", "root"] {
        check(
            &open(
                &client(&certificates, Some(tokens::TOKEN)),
                scheme,
                server.port,
            )
            .unwrap(),
            &bytes,
        );
    }
    let error = open(&client(&certificates, None), "roots", server.port)
        .err()
        .unwrap();
    assert!(error.to_string().contains("BEARER_TOKEN_FILE"), "{error}");
    assert!(!error.is_transient() && !error.is_missing());
    let wrong = open(&client(&certificates, Some("secret")), "roots", server.port)
        .err()
        .unwrap();
    assert!(
        !wrong.is_transient() && !wrong.to_string().contains("secret"),
        "{wrong}"
    );
    assert!(wrong.to_string().contains("another token"), "{wrong}");
}

#[test]
fn a_certificate_that_does_not_match_is_refused() {
    let (Some(theirs), Some(others)) = (
        Certificates::make("DNS:elsewhere.test"),
        Certificates::make("IP:127.0.0.1"),
    ) else {
        return;
    };
    let Some((server, _)) = server("mismatch", &theirs, "") else {
        return;
    };
    // Another name, and an authority that is not trusted.
    for trusted in [&theirs, &others] {
        let error = open(&client(trusted, Some("secret")), "roots", server.port)
            .err()
            .unwrap();
        let text = error.to_string();
        assert!(text.contains("certificate is not trusted"), "{text}");
        assert!(
            text.contains(&format!("127.0.0.1:{}", server.port)),
            "{text}"
        );
        assert!(!error.is_transient() && !text.contains("secret"));
    }
}

#[test]
fn a_server_without_tls_is_refused_by_roots() {
    let Some(certificates) = Certificates::make("IP:127.0.0.1") else {
        return;
    };
    let Some(server) = Xrootd::start("clear", &[("a.root", b"abc")]) else {
        return;
    };
    let error = open(&client(&certificates, None), "roots", server.port)
        .err()
        .unwrap();
    assert!(error.to_string().contains("does no TLS"), "{error}");
}

#[test]
fn encrypted_connections_that_break_are_made_anew() {
    let Some(certificates) = Certificates::make("IP:127.0.0.1") else {
        return;
    };
    let Some((server, bytes)) = server("tls-cut", &certificates, tokens::CONFIG) else {
        return;
    };
    let relay = Relay::start(server.port, 5 << 20);
    let source = open(
        &client(&certificates, Some(tokens::TOKEN)),
        "roots",
        relay.port,
    )
    .unwrap();
    check(&source, &bytes);
    assert!(relay.connections() > 1);
}
