//! What TLS has against a server's certificate, in words: rustls's own are names of its types for most reasons.

use rustls::CertificateError;

/// Why TLS refused a server, or a server this client.
#[must_use]
pub fn in_words(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidCertificate(why) => {
            format!("the server's certificate is not trusted: {}", reason(why))
        }
        rustls::Error::NoCertificatesPresented => "the server shows no certificate".to_owned(),
        rustls::Error::AlertReceived(alert) => {
            format!("the server ended TLS: {alert:?}")
        }
        other => format!("TLS failed: {other}"),
    }
}

fn reason(why: &CertificateError) -> String {
    match why {
        CertificateError::BadEncoding => "it is damaged".to_owned(),
        CertificateError::Expired => "it has expired".to_owned(),
        CertificateError::ExpiredContext { time, not_after } => {
            let ago = time.as_secs().saturating_sub(not_after.as_secs());
            format!("it expired {} ago", long(ago))
        }
        CertificateError::NotValidYet => "it is not valid yet".to_owned(),
        CertificateError::NotValidYetContext { time, not_before } => {
            let ahead = not_before.as_secs().saturating_sub(time.as_secs());
            format!(
                "it will be valid in {}; is this machine's clock right?",
                long(ahead)
            )
        }
        CertificateError::Revoked => "it was revoked".to_owned(),
        CertificateError::UnknownIssuer => {
            "it comes from an authority that this machine does not trust".to_owned()
        }
        CertificateError::BadSignature => "its signature is wrong".to_owned(),
        CertificateError::NotValidForName => "it is another server's".to_owned(),
        CertificateError::NotValidForNameContext {
            expected,
            presented,
        } => {
            let expected = expected.to_str();
            match presented.is_empty() {
                true => format!("it names no server, and not {expected}"),
                false => {
                    let names: Vec<&str> = presented.iter().map(|name| called(name)).collect();
                    format!("it is for {}, and not for {expected}", names.join(", "))
                }
            }
        }
        CertificateError::UnhandledCriticalExtension => {
            "it has a critical extension that treemill does not know".to_owned()
        }
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "it is for another purpose than a server's".to_owned()
        }
        CertificateError::Other(other) => {
            let name = format!("{other:?}");
            // webpki's errors are known here by their names only.
            match name.contains("CaUsedAsEndEntity") {
                true => "it is an authority's own (as self-signed ones are), and not a server's"
                    .to_owned(),
                false => inner(&name).to_owned(),
            }
        }
        other => other.to_string(),
    }
}

/// A name as certificates have it, `DnsName("host")`, without the words of its type.
fn called(name: &str) -> &str {
    let inside = name.split('"').nth(1);
    inside.unwrap_or(name)
}

/// The innermost name of what Rust shows of nested types.
fn inner(shown: &str) -> &str {
    let last = shown.rsplit('(').next().unwrap_or(shown);
    last.trim_end_matches(')')
}

/// A time in its largest unit.
fn long(seconds: u64) -> String {
    let units = [(86_400, "days"), (3_600, "hours"), (60, "minutes")];
    let unit = units
        .iter()
        .find(|(size, _)| seconds.checked_div(*size) >= Some(2));
    let (size, name) = unit.copied().unwrap_or((1, "seconds"));
    format!("{} {name}", seconds.checked_div(size).unwrap_or(seconds))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use rustls::OtherError;
    use rustls::pki_types::{ServerName, UnixTime};
    use std::sync::Arc;
    use std::time::Duration;

    #[derive(Debug, thiserror::Error)]
    #[error("{self:?}")]
    enum Webpki {
        CaUsedAsEndEntity,
        PathLenConstraintViolated,
    }

    #[test]
    fn no_reason_is_a_name_of_rust_s() {
        let at = |seconds| UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        let (time, day) = (at(10_000_000), 86_400);
        let other = |error| CertificateError::Other(OtherError(Arc::new(error)));
        let reasons = [
            (CertificateError::UnknownIssuer, "authority"),
            (CertificateError::BadEncoding, "damaged"),
            (
                CertificateError::ExpiredContext {
                    time,
                    not_after: at(10_000_000 - 9 * day),
                },
                "9 days",
            ),
            (
                CertificateError::NotValidYetContext {
                    time,
                    not_before: at(10_000_000 + 7_200),
                },
                "2 hours",
            ),
            (
                CertificateError::NotValidForNameContext {
                    expected: ServerName::try_from("h.example").unwrap(),
                    presented: vec!["DnsName(\"other.example\")".to_owned()],
                },
                "for other.example, and not for h.example",
            ),
            (other(Webpki::CaUsedAsEndEntity), "self-signed"),
            (
                other(Webpki::PathLenConstraintViolated),
                "PathLenConstraintViolated",
            ),
        ];
        for (why, words) in reasons {
            let text = in_words(&rustls::Error::InvalidCertificate(why));
            assert!(text.contains(words) && !text.contains("Other"), "{text}");
        }
        let alert = rustls::Error::AlertReceived(rustls::AlertDescription::HandshakeFailure);
        assert!(in_words(&alert).contains("HandshakeFailure"));
    }
}
