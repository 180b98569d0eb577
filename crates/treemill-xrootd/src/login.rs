//! Which authentication to offer a server, and with what credentials. Knows no connection.

use crate::error::{Error, ErrorKind};
use crate::wire::{Request, bodies, codes};

/// Makes the credentials of a user.
type Credentials = fn(&str) -> Vec<u8>;

/// Authentications that this client can do, by the server's names for them.
const KNOWN: [(&str, Credentials); 2] = [("unix", unix), ("host", |_| b"host\0".to_vec())];

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
/// `Unsupported` if the server demands TLS.
pub fn check(protocol: bodies::Protocol) -> Result<(), Error> {
    let tls = codes::TLS_FOR_LOGIN | codes::TLS_FOR_SESSION | codes::TLS_FOR_DATA;
    if protocol.flags & tls == 0 {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Unsupported,
        "the server demands TLS, which this client does not do yet",
    ))
}

/// The requests that would authenticate, in the server's order; none if it wants no authentication.
///
/// # Errors
/// `Denied` if the server takes only authentications that this client does not do; it names them.
pub fn offers(login: &bodies::Login, user: &str) -> Result<Vec<Request>, Error> {
    let wanted: Vec<&str> = login
        .security
        .split('&')
        .filter_map(|part| part.strip_prefix("P="))
        .map(|part| part.split(',').next().unwrap_or_default())
        .collect();
    let offers: Vec<Request> = wanted
        .iter()
        .filter_map(|name| KNOWN.iter().find(|known| known.0 == *name))
        .map(|(name, credentials)| {
            let mut kind = [0; 4];
            kind.iter_mut()
                .zip(name.bytes())
                .for_each(|(to, from)| *to = from);
            Request::Auth {
                kind,
                credentials: credentials(user),
            }
        })
        .collect();
    if offers.is_empty() && !wanted.is_empty() {
        let what = format!(
            "the server takes authentication by {} only; this client does unix and host",
            wanted.join(", ")
        );
        return Err(Error::new(ErrorKind::Denied, what));
    }
    Ok(offers)
}

fn unix(user: &str) -> Vec<u8> {
    let name: String = user.chars().filter(char::is_ascii_graphic).collect();
    format!("unix\0{name}\0").into_bytes()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn login(security: &str) -> bodies::Login {
        bodies::Login {
            security: security.to_owned(),
        }
    }

    #[test]
    fn servers_order_is_kept_and_unknown_ones_are_left_out() {
        let offers = offers(&login("&P=gsi,v:10000&P=host&P=unix"), "me").unwrap();
        let expected = [
            Request::Auth {
                kind: *b"host",
                credentials: b"host\0".to_vec(),
            },
            Request::Auth {
                kind: *b"unix",
                credentials: b"unix\0me\0".to_vec(),
            },
        ];
        assert!(offers == expected);
    }

    #[test]
    fn no_authentication_is_wanted_or_none_is_known() {
        assert!(offers(&login(""), "me").unwrap().is_empty());
        let error = offers(&login("&P=gsi,v:1&P=ztn"), "me").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Denied);
        assert!(error.to_string().contains("gsi, ztn"));
    }

    #[test]
    fn tls_is_refused() {
        assert!(
            check(bodies::Protocol {
                version: 0x520,
                flags: 1
            })
            .is_ok()
        );
        let error = check(bodies::Protocol {
            version: 0x520,
            flags: codes::TLS_FOR_SESSION,
        });
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Unsupported);
    }

    #[test]
    fn names_are_cut_to_eight_bytes() {
        assert_eq!(user_bytes("me"), *b"me\0\0\0\0\0\0");
        assert_eq!(user_bytes("long name of one"), *b"longname");
    }
}
