//! Bearer tokens, by the rules of "WLCG Bearer Token Discovery": a token in `BEARER_TOKEN`, else one in the file that
//! `BEARER_TOKEN_FILE` names, else one in `$XDG_RUNTIME_DIR/bt_u$ID`, else one in `/tmp/bt_u$ID`.

use crate::limits;
use std::ffi::OsString;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// A bearer token. It is not shown by its formats.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// The token's characters: for the server only, over TLS only.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Why the token that the environment names is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct TokenError {
    /// Where it should be: a variable or a file.
    pub place: String,
    /// What is wrong with it, without its characters.
    pub what: String,
}

/// Where tokens are looked for; nowhere by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// The value of `BEARER_TOKEN`.
    pub token: Option<OsString>,
    /// The value of `BEARER_TOKEN_FILE`.
    pub file: Option<PathBuf>,
    /// The value of `XDG_RUNTIME_DIR`.
    pub runtime: Option<PathBuf>,
    /// The folder of temporary files, which other users share.
    pub temporary: Option<PathBuf>,
    /// The number of the effective user.
    pub user: u32,
}

impl Places {
    /// The places of this process.
    #[must_use]
    pub fn of_process() -> Self {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        Places {
            token: variable("BEARER_TOKEN"),
            file: variable("BEARER_TOKEN_FILE").map(PathBuf::from),
            runtime: variable("XDG_RUNTIME_DIR").map(PathBuf::from),
            temporary: Some("/tmp".into()),
            user: treemill_source::own::user(),
        }
    }

    /// The first token; `None` if there is none in any place.
    ///
    /// ```
    /// use treemill_transfer::credentials::Places;
    ///
    /// let places = Places { token: Some(" abc.def\n".into()), ..Places::default() };
    /// let token = places.find()?.ok_or("no token")?;
    /// assert_eq!((token.reveal(), format!("{token:?}").as_str()), ("abc.def", "Token(…)"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a variable names a file that cannot be read, or if what is found is no token.
    pub fn find(&self) -> Result<Option<Token>, TokenError> {
        if let Some(token) = &self.token {
            return sound(token.as_encoded_bytes(), "BEARER_TOKEN").map(Some);
        }
        if let Some(path) = &self.file {
            let missing = || {
                wrong(
                    &shown(path),
                    "BEARER_TOKEN_FILE names it, but there is no such file",
                )
            };
            return read(path, None)?.ok_or_else(missing).map(Some);
        }
        let name = format!("bt_u{}", self.user);
        if let Some(runtime) = &self.runtime
            && let Some(token) = read(&runtime.join(&name), None)?
        {
            return Ok(Some(token));
        }
        // All users may write there: the file counts only if it is the user's own.
        match &self.temporary {
            Some(temporary) => read(&temporary.join(&name), Some(self.user)),
            None => Ok(None),
        }
    }
}

/// The token of this process's environment; `None` if there is none. Tokens are renewed: ask for each connection.
///
/// # Errors
/// As [`Places::find`].
pub fn bearer_token() -> Result<Option<Token>, TokenError> {
    Places::of_process().find()
}

/// The token in a file; `None` if there is no such file, or if it is not that `owner`'s.
fn read(path: &Path, owner: Option<u32>) -> Result<Option<Token>, TokenError> {
    let failed = |error: std::io::Error| wrong(&shown(path), &format!("cannot be read: {error}"));
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let metadata = file.metadata().map_err(failed)?;
    if let Some(owner) = owner
        && let Err(why) = treemill_source::own::check(path, &metadata, owner)
    {
        // Anybody can put a file there; that of the user's own must not be another's by now.
        return match why.owner {
            Some(_) => Ok(None),
            None => Err(wrong(
                &shown(path),
                &format!("is not used: {why}; {}", why.advice()),
            )),
        };
    }
    let mut bytes = Vec::new();
    let most = limits::TOKEN.saturating_add(1);
    file.take(most).read_to_end(&mut bytes).map_err(failed)?;
    sound(&bytes, &shown(path)).map(Some)
}

/// Bytes as a token: visible ASCII after white space at both ends is gone.
fn sound(bytes: &[u8], place: &str) -> Result<Token, TokenError> {
    let token = bytes.trim_ascii();
    if token.is_empty() {
        return Err(wrong(place, "is empty where a bearer token should be"));
    }
    let is_long = u64::try_from(token.len()).is_ok_and(|size| size > limits::TOKEN);
    match std::str::from_utf8(token) {
        Ok(text) if !is_long && token.iter().all(u8::is_ascii_graphic) => {
            Ok(Token(text.to_owned()))
        }
        _ => Err(wrong(
            place,
            "holds no bearer token: it is too long, or has other characters",
        )),
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn wrong(place: &str, what: &str) -> TokenError {
    TokenError {
        place: place.to_owned(),
        what: what.to_owned(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn found(places: &Places) -> Option<String> {
        let token = places.find().unwrap();
        token.map(|token| token.reveal().to_owned())
    }

    #[test]
    fn places_are_looked_at_in_their_order() {
        let [named, runtime, temporary] = [(); 3].map(|()| tempfile::tempdir().unwrap());
        let user = treemill_source::own::user();
        let default = format!("bt_u{user}");
        let mut places = Places {
            runtime: Some(runtime.path().into()),
            temporary: Some(temporary.path().into()),
            user,
            ..Places::default()
        };
        assert_eq!(found(&places), None);
        let write = |folder: &Path, name: &str, token: &str| {
            std::fs::write(folder.join(name), token).unwrap()
        };
        write(temporary.path(), &default, "temporary\n");
        assert_eq!(found(&places).as_deref(), Some("temporary"));
        write(runtime.path(), &default, " runtime ");
        assert_eq!(found(&places).as_deref(), Some("runtime"));
        write(named.path(), "token", "named");
        places.file = Some(named.path().join("token"));
        assert_eq!(found(&places).as_deref(), Some("named"));
        places.token = Some("value".into());
        assert_eq!(found(&places).as_deref(), Some("value"));
    }

    #[test]
    fn what_others_have_put_into_the_shared_folder_is_no_token() {
        let folder = tempfile::tempdir().unwrap();
        let user = treemill_source::own::user().wrapping_add(1);
        std::fs::write(folder.path().join(format!("bt_u{user}")), "theirs").unwrap();
        let temporary = Some(folder.path().into());
        let places = Places {
            temporary,
            user,
            ..Places::default()
        };
        assert_eq!(found(&places), None);
    }

    #[test]
    fn a_token_in_the_shared_folder_that_others_may_write_is_an_error() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let user = treemill_source::own::user();
        let path = folder.path().join(format!("bt_u{user}"));
        std::fs::write(&path, "secret").unwrap();
        let mode = |bits| std::fs::set_permissions(&path, PermissionsExt::from_mode(bits)).unwrap();
        let places = Places {
            temporary: Some(folder.path().into()),
            user,
            ..Places::default()
        };
        mode(0o600);
        assert_eq!(found(&places).as_deref(), Some("secret"));
        mode(0o620);
        let error = places.find().unwrap_err().to_string();
        assert!(
            error.contains("chmod go-w") && !error.contains("secret"),
            "{error}"
        );
    }

    #[test]
    fn errors_name_the_place_and_not_the_token() {
        let folder = tempfile::tempdir().unwrap();
        let missing = Places {
            file: Some(folder.path().join("none")),
            ..Places::default()
        };
        let error = missing.find().unwrap_err().to_string();
        assert!(
            error.contains("none") && error.contains("BEARER_TOKEN_FILE"),
            "{error}"
        );
        for token in ["sec\nret", "sec ret", "", " \n"] {
            let places = Places {
                token: Some(token.into()),
                ..Places::default()
            };
            let error = places.find().unwrap_err().to_string();
            assert!(
                error.contains("BEARER_TOKEN") && !error.contains("sec"),
                "{error}"
            );
        }
        let large = folder.path().join("large");
        std::fs::write(&large, "x".repeat(100_000)).unwrap();
        assert!(
            Places {
                file: Some(large),
                ..Places::default()
            }
            .find()
            .is_err()
        );
    }
}
