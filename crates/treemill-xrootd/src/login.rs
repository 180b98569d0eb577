//! Which authentication to offer a server, and with what credentials. Knows no connection.

use crate::error::trouble;
use crate::wire::{Request, bodies, codes};
use treemill_transfer::credentials::Token;
use treemill_transfer::{Kind, Trouble};

/// What a login may use.
pub struct Means<'a, F> {
    /// The user's name.
    pub user: &'a str,
    /// Whether the connection is encrypted.
    pub is_encrypted: bool,
    /// Finds the user's bearer token. It is asked for only if the server takes one and the connection is encrypted.
    pub token: F,
}

/// The authentications that this client can do, for messages.
const KNOWN: &str = "ztn (a bearer token), unix and host";

/// The user's name as a login has it: 8 bytes, cut or padded with NUL.
#[must_use]
pub fn user_bytes(user: &str) -> [u8; 8] {
    let mut bytes = [0; 8];
    let sound = user.bytes().filter(u8::is_ascii_graphic);
    bytes
        .iter_mut()
        .zip(sound)
        .for_each(|(to, from)| *to = from);
    bytes
}

/// Whether this client may go on without TLS.
///
/// # Errors
/// `TlsRequired` if the server demands TLS.
pub fn check(protocol: bodies::Protocol) -> Result<(), Trouble> {
    let tls = codes::TLS_FOR_LOGIN | codes::TLS_FOR_SESSION | codes::TLS_FOR_DATA;
    if protocol.flags & tls == 0 {
        return Ok(());
    }
    let what = "the server demands TLS";
    Err(trouble(Kind::TlsRequired, what))
}

/// Whether the server goes on by TLS, as it was asked to.
///
/// # Errors
/// `Unsupported` if it does not.
pub fn check_encrypted(protocol: bodies::Protocol) -> Result<(), Trouble> {
    if protocol.flags & codes::TLS_FOLLOWS != 0 {
        return Ok(());
    }
    let what = "the server does not offer TLS: write root:// if a connection without encryption is good enough";
    Err(trouble(Kind::Unsupported, what))
}

/// The requests that would authenticate, in the server's order; none if it wants no authentication.
///
/// # Errors
/// `TlsRequired` if nothing but a token would do, which is not sent in the clear. `Denied` if there is no token, or if
/// the server takes only authentications that this client does not do; it names them and the ways out.
pub fn offers<F>(login: &bodies::Login, means: Means<F>) -> Result<Vec<Request>, Trouble>
where
    F: FnOnce() -> Result<Option<Token>, Trouble>,
{
    let wanted: Vec<&str> = login
        .security
        .split('&')
        .filter_map(|part| part.strip_prefix("P="))
        .map(|part| part.split(',').next().unwrap_or_default())
        .collect();
    let takes_token = wanted.contains(&"ztn");
    let token = match takes_token && means.is_encrypted {
        true => (means.token)()?,
        false => None,
    };
    let offer = |name: &&str| match *name {
        "unix" => Some(auth(*b"unix", unix(means.user))),
        "host" => Some(auth(*b"host", b"host\0".to_vec())),
        "ztn" => Some(auth(*b"ztn\0", bearer(token.as_ref()?)?)),
        _ => None,
    };
    let offers: Vec<Request> = wanted.iter().filter_map(offer).collect();
    if !offers.is_empty() || wanted.is_empty() {
        return Ok(offers);
    }
    if takes_token && !means.is_encrypted {
        let what = "the server asks for a bearer token, which treemill sends only over TLS";
        return Err(trouble(Kind::TlsRequired, what));
    }
    Err(trouble(Kind::Denied, ways_out(&wanted)))
}

/// What to do where no authentication is at hand.
fn ways_out(wanted: &[&str]) -> String {
    let names = wanted.join(", ");
    let mut what =
        format!("the server accepts only authentication by {names}, and treemill supports {KNOWN}");
    if wanted.contains(&"ztn") {
        what.push_str(". No bearer token was found: set BEARER_TOKEN or BEARER_TOKEN_FILE");
    }
    if wanted.contains(&"gsi") {
        what.push_str(
            ". For a certificate or proxy, use the site's davs:// address, which accepts it (X509_USER_PROXY), or write \
             xrootd+root:// for root://, which reads through the official Python package (pip install xrootd)",
        );
    }
    what
}

fn auth(kind: [u8; 4], credentials: Vec<u8>) -> Request {
    Request::Auth { kind, credentials }
}

/// A token as `ztn` has it: name, version, kind, length, characters, NUL. None if it is too long for its length.
fn bearer(token: &Token) -> Option<Vec<u8>> {
    let token = token.reveal().as_bytes();
    let length = u16::try_from(token.len()).ok()?.checked_add(1)?;
    let mut bytes = b"ztn\0\0T\0\0".to_vec();
    bytes.extend(length.to_be_bytes());
    bytes.extend(token);
    bytes.push(0);
    Some(bytes)
}

fn unix(user: &str) -> Vec<u8> {
    let name: String = user.chars().filter(char::is_ascii_graphic).collect();
    format!("unix\0{name}\0").into_bytes()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;
    use treemill_transfer::credentials::Places;

    fn login(security: &str) -> bodies::Login {
        bodies::Login {
            security: security.to_owned(),
        }
    }

    /// Offers to a server, with a token if there is one.
    fn offered(
        security: &str,
        is_encrypted: bool,
        token: Option<&str>,
    ) -> Result<Vec<Request>, Trouble> {
        let places = Places {
            token: token.map(Into::into),
            ..Places::default()
        };
        let token = || {
            assert!(is_encrypted, "a token is asked for in the clear");
            Ok(token.and_then(|_| places.find().unwrap()))
        };
        offers(
            &login(security),
            Means {
                user: "me",
                is_encrypted,
                token,
            },
        )
    }

    fn kinds(offers: &[Request]) -> Vec<[u8; 4]> {
        let kind = |offer: &Request| match offer {
            Request::Auth { kind, .. } => *kind,
            _ => [0; 4],
        };
        offers.iter().map(kind).collect()
    }

    #[test]
    fn servers_order_is_kept_and_unknown_ones_are_left_out() {
        let offers = offered("&P=gsi,v:10000&P=host&P=unix", false, None).unwrap();
        let credentials = [b"host\0".to_vec(), b"unix\0me\0".to_vec()];
        let [host, unix] = credentials;
        assert!(offers == [auth(*b"host", host), auth(*b"unix", unix)]);
    }

    #[test]
    fn tokens_are_offered_by_tls_only() {
        let both = "&P=ztn,0:4096:&P=unix";
        assert_eq!(
            kinds(&offered(both, true, Some("abc")).unwrap()),
            [*b"ztn\0", *b"unix"]
        );
        assert_eq!(
            kinds(&offered(both, false, Some("abc")).unwrap()),
            [*b"unix"]
        );
        assert_eq!(kinds(&offered(both, true, None).unwrap()), [*b"unix"]);
        let only = "&P=ztn,0:4096:";
        let error = offered(only, false, Some("abc")).unwrap_err();
        assert_eq!(error.kind, Kind::TlsRequired);
        let error = offered(only, true, None).unwrap_err();
        assert_eq!(error.kind, Kind::Denied);
        assert!(error.to_string().contains("BEARER_TOKEN_FILE"), "{error}");
        let Request::Auth { credentials, .. } = offered(only, true, Some("abc")).unwrap().remove(0)
        else {
            panic!("no authentication");
        };
        assert_eq!(credentials, b"ztn\0\0T\0\0\0\x04abc\0");
    }

    #[test]
    fn sites_that_need_certificates_get_both_ways_out() {
        assert!(offered("", false, None).unwrap().is_empty());
        let error = offered("&P=gsi,v:1&P=krb5", true, None).unwrap_err();
        assert_eq!(error.kind, Kind::Denied);
        let text = error.to_string();
        assert!(
            ["gsi, krb5", "davs://", "xrootd+root://"]
                .iter()
                .all(|part| text.contains(part)),
            "{text}"
        );
    }

    #[test]
    fn tls_is_seen() {
        let protocol = |flags| bodies::Protocol {
            version: 0x520,
            flags,
        };
        assert!(check(protocol(1)).is_ok());
        let error = check(protocol(codes::TLS_FOR_SESSION)).unwrap_err();
        assert_eq!(error.kind, Kind::TlsRequired);
        assert!(check_encrypted(protocol(1)).is_err());
        assert!(check_encrypted(protocol(codes::TLS_FOLLOWS)).is_ok());
    }

    #[test]
    fn names_are_cut_to_eight_bytes() {
        assert_eq!(user_bytes("me"), *b"me\0\0\0\0\0\0");
        assert_eq!(user_bytes("long name of one"), *b"longname");
    }
}
