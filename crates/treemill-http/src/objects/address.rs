//! Addresses of objects: `s3://bucket/key`. Knows no network.

use object_store::path::Path;
use treemill_source::SourceError;

/// The service that a bucket belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Service {
    S3,
    Google,
    Azure,
}

const SCHEMES: [(&str, Service); 5] = [
    ("s3", Service::S3),
    ("gs", Service::Google),
    ("gcs", Service::Google),
    ("az", Service::Azure),
    ("azure", Service::Azure),
];

/// The address of an object or folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) service: Service,
    /// A bucket, which Azure calls a container.
    pub(crate) bucket: String,
    /// The object's key; empty for the whole bucket.
    pub(crate) key: Path,
    /// The address in messages, without anything secret.
    pub(crate) name: String,
}

impl Address {
    /// Reads `s3://bucket/key`: what follows the bucket is the key as it is, without an encoding of its own.
    pub(crate) fn parse(text: &str) -> Result<Self, SourceError> {
        let (scheme, rest) = text.split_once("://").unwrap_or((text, ""));
        // A login is none of a bucket's, and is not shown.
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        let shown = bucket.rsplit('@').next().unwrap_or_default();
        let name = format!("{scheme}://{shown}/{key}");
        let wrong = |what: String| SourceError::new(&name, what);
        let own = scheme.to_ascii_lowercase();
        let known = SCHEMES.iter().find(|(scheme, _)| *scheme == own);
        let (_, service) =
            known.ok_or_else(|| wrong("it is not a URL with s3, gs or az".to_owned()))?;
        let sound = |c: char| c.is_ascii_alphanumeric() || "-._$".contains(c);
        if bucket.is_empty() || !bucket.chars().all(sound) {
            let what = match shown {
                "" => "the address names no bucket".to_owned(),
                shown => format!("{shown} is not the name of a bucket"),
            };
            return Err(wrong(format!("{what}: write {own}://bucket/key")));
        }
        let key =
            Path::parse(key).map_err(|e| wrong(format!("it is not the key of an object: {e}")))?;
        Ok(Address {
            service: *service,
            bucket: bucket.to_owned(),
            key,
            name,
        })
    }

    /// The bucket, for messages and for what its objects share.
    pub(crate) fn server(&self) -> String {
        let scheme = self.name.split("://").next().unwrap_or_default();
        format!("{scheme}://{}", self.bucket)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn buckets_and_keys_are_told_apart() {
        let address = Address::parse("s3://my-bucket/a/b c?=1.root").unwrap();
        assert_eq!(
            (address.service, address.bucket.as_str()),
            (Service::S3, "my-bucket")
        );
        assert_eq!(
            (address.key.as_ref(), address.server().as_str()),
            ("a/b c?=1.root", "s3://my-bucket")
        );
        assert_eq!(Address::parse("gs://b").unwrap().key.as_ref(), "");
        for text in [
            "s3:///key",
            "s3://key:secret@bucket/file",
            "ftp://bucket/key",
            "bucket/key",
            "s3://b/a//b",
        ] {
            let error = Address::parse(text).unwrap_err();
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(s3|gs|az)?(://)?.{0,30}") {
            let _ = Address::parse(&text);
        }
    }
}
