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
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{Read, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;
use treemill_source::{Source, SourceError};
use treemill_transfer::credentials::Places;
use treemill_xrootd::stream::Deadlines;
use treemill_xrootd::wire::codes;
use treemill_xrootd::{Client, Kind, Options, Url, XrootdSource};

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

fn open(
    client: &Arc<Client>,
    scheme: &str,
    port: u16,
) -> std::result::Result<XrootdSource, SourceError> {
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
    assert!(error.to_string().contains("does not offer TLS"), "{error}");
}

/// A server by TLS that sends some bytes before it, as one on the way could, and leaves them out after it.
fn early(certificates: &Certificates, sends: &'static [u8]) -> u16 {
    let folder = tempfile::tempdir().unwrap();
    certificates.install(folder.path());
    let pem = |name| folder.path().join(name);
    let chain = vec![CertificateDer::from_pem_file(pem("server.pem")).unwrap()];
    let key = PrivateKeyDer::from_pem_file(pem("server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            drop(serve_early(socket.unwrap(), &config, sends)); // the client ends it
        }
    });
    port
}

fn serve_early(mut socket: TcpStream, tls: &Arc<ServerConfig>, sends: &[u8]) -> Result<()> {
    let asked = |from: &mut dyn Read| {
        let mut request = [0; 24];
        from.read_exact(&mut request)?;
        let more = u32::from_be_bytes([request[20], request[21], request[22], request[23]]);
        from.read_exact(&mut vec![0; more as usize])?;
        Ok::<_, std::io::Error>([request[0], request[1]])
    };
    let answer = |id: [u8; 2], body: &[u8]| {
        let length = u32::try_from(body.len()).unwrap().to_be_bytes();
        [&id[..], &[0, 0], &length, body].concat()
    };
    let protocol = [
        &0x0520_u32.to_be_bytes()[..],
        &(codes::TLS_FOLLOWS | 1).to_be_bytes(),
    ]
    .concat();
    socket.read_exact(&mut [0; 20])?;
    socket.write_all(&answer([0; 2], &protocol))?;
    let id = asked(&mut socket)?;
    socket.write_all(&[answer(id, &protocol), sends.to_vec()].concat())?;
    let connection = ServerConnection::new(Arc::clone(tls)).unwrap();
    let mut sealed = StreamOwned::new(connection, socket);
    let id = asked(&mut sealed)?;
    sealed.write_all(&answer(id, &[0; 16])[sends.len()..])?;
    loop {
        let id = asked(&mut sealed)?;
        sealed.write_all(&answer(id, b"1 42 16 0\0"))?;
    }
}

#[test]
fn bytes_that_came_in_the_clear_are_no_part_of_what_comes_by_tls() {
    let Some(certificates) = Certificates::make("IP:127.0.0.1") else {
        return;
    };
    // The beginning of the login's answer.
    for (sends, is_fine) in [(&[][..], true), (&[0, 2, 0, 0], false), (&[0], false)] {
        let port = early(&certificates, sends);
        let url = Url::parse(&format!("roots://127.0.0.1:{port}//a.root")).unwrap();
        let found = client(&certificates, None).stat(&url);
        match is_fine {
            true => assert_eq!(found.unwrap().size, 42),
            false => assert_eq!(found.unwrap_err().kind, Kind::Malformed),
        }
    }
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
