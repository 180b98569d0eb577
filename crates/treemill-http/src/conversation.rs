//! The redirects of one request, and what of them is remembered for a file. Pure: URLs and statuses in, URLs out.

use crate::address::server;
use crate::limits::MOST_REDIRECTS;
use reqwest::StatusCode;
use treemill_transfer::{Kind, Trouble};
use url::Url;

/// The variable by which users allow redirects from https to http, and its value.
const LEAVE_TLS: &str = "TREEMILL_HTTPS_TO_HTTP";
const ALLOW: &str = "allow";

/// Whether the user allows what was asked for by TLS to come from a server without it.
pub(crate) fn may_leave_tls() -> bool {
    std::env::var(LEAVE_TLS).is_ok_and(|value| value == ALLOW)
}

/// Where a file's bytes are, if another server has them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Route {
    target: Option<Url>,
}

impl Route {
    pub(crate) fn target(&self) -> Option<Url> {
        self.target.clone()
    }

    /// A redirect has led to `url`, which has answered well.
    pub(crate) fn found(&mut self, url: &Url) {
        self.target = Some(url.clone());
    }

    /// `url` has failed. What was found since stays.
    pub(crate) fn failed(&mut self, url: &Url) {
        if self.target.as_ref() == Some(url) {
            self.target = None;
        }
    }
}

/// What to do with an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It is the answer.
    Take,
    /// The request is sent to the URL that the conversation now has.
    Again,
    /// The redirect leads nowhere.
    Fail(Trouble),
}

/// One request, from the file's own URL or from where it was found before.
#[derive(Debug, Clone)]
pub(crate) struct Conversation {
    home: Url,
    at: Url,
    hops: usize,
    is_remembered: bool,
    may_leave_tls: bool,
}

impl Conversation {
    /// `may_leave_tls`: what was asked for by TLS may come from a server without it.
    pub(crate) fn new(home: &Url, remembered: Option<Url>, may_leave_tls: bool) -> Self {
        Conversation {
            home: home.clone(),
            is_remembered: remembered.is_some(),
            at: remembered.unwrap_or_else(|| home.clone()),
            hops: 0,
            may_leave_tls,
        }
    }

    /// The address to ask now.
    pub(crate) fn url(&self) -> &Url {
        &self.at
    }

    /// Whether the user's credentials may be sent along: to the scheme, host and port that the user has named only.
    pub(crate) fn is_at_home(&self) -> bool {
        self.at.origin() == self.home.origin()
    }

    /// Whether another URL than the user's answers.
    pub(crate) fn is_redirected(&self) -> bool {
        self.at != self.home
    }

    /// An answer has come from the URL.
    pub(crate) fn answered(&mut self, status: StatusCode, location: Option<&str>) -> Turn {
        match status.as_u16() {
            301 | 302 | 303 | 307 | 308 => self.redirected(location),
            401 | 403 | 404 | 410 if self.is_remembered => {
                self.at = self.home.clone();
                self.is_remembered = false;
                Turn::Again
            }
            _ => Turn::Take,
        }
    }

    fn redirected(&mut self, location: Option<&str>) -> Turn {
        let fail = |what: &str| Turn::Fail(Trouble::new(Kind::Permanent, what));
        self.hops = self.hops.saturating_add(1);
        if self.hops > MOST_REDIRECTS {
            return fail("the server redirects in a circle");
        }
        let target = location.and_then(|location| self.at.join(location).ok());
        let Some(mut target) = target.filter(|url| matches!(url.scheme(), "http" | "https")) else {
            return fail("the server redirects to an address that is not a URL with http or https");
        };
        if self.home.scheme() == "https" && target.scheme() == "http" && !self.may_leave_tls {
            let what = format!(
                "the server redirects from https to {}, where whoever is on the way could change the file. If that is \
                 the site's wish, as with dCache's doors that have pools without TLS, set {LEAVE_TLS}={ALLOW}",
                server(&target)
            );
            return fail(&what);
        }
        // A login in a redirect is not the user's. Neither call can fail: the URL has a host.
        let _ = target.set_username("");
        let _ = target.set_password(None);
        target.set_fragment(None);
        self.at = target;
        Turn::Again
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn credentials_stay_at_home() {
        let home = url("https://door:8443/store/f.root");
        let mut talk = Conversation::new(&home, None, true);
        assert!(talk.is_at_home() && !talk.is_redirected());
        for (location, at_home) in [
            ("/other/f.root", true),
            ("https://door:8444/f.root", false),
            ("http://door:8443/f.root", false),
            ("//pool/f.root", false),
            ("https://door:8443/again", true),
        ] {
            assert_eq!(
                talk.answered(StatusCode::FOUND, Some(location)),
                Turn::Again
            );
            assert_eq!(talk.is_at_home(), at_home, "{location}");
            assert!(talk.is_redirected());
        }
        assert_eq!(talk.answered(StatusCode::PARTIAL_CONTENT, None), Turn::Take);
    }

    #[test]
    fn a_target_that_refuses_is_asked_for_again_once() {
        let (home, pool) = (url("http://door/f"), url("http://pool/f?ticket=1"));
        let mut route = Route::default();
        route.found(&pool);
        for status in [401, 403, 404, 410] {
            let status = StatusCode::from_u16(status).unwrap();
            let mut talk = Conversation::new(&home, route.target(), false);
            assert_eq!(talk.url(), &pool);
            assert_eq!(talk.answered(status, None), Turn::Again);
            assert_eq!(talk.url(), &home);
            assert_eq!(talk.answered(status, None), Turn::Take);
        }
        route.failed(&url("http://other/f"));
        assert!(route.target().is_some());
        route.failed(&pool);
        assert!(route.target().is_none());
    }

    #[test]
    fn a_redirect_to_something_else_fails() {
        let mut talk = Conversation::new(&url("http://door/f"), None, false);
        for location in [
            None,
            Some("file:///etc/passwd"),
            Some("http://"),
            Some("ftp://host/f"),
        ] {
            let turn = talk.answered(StatusCode::FOUND, location);
            assert!(matches!(turn, Turn::Fail(_)), "{location:?}");
        }
        let turn = talk.answered(StatusCode::FOUND, Some("http://me:secret@pool/f"));
        assert_eq!((turn, talk.url().as_str()), (Turn::Again, "http://pool/f"));
    }

    #[test]
    fn what_is_asked_for_by_tls_comes_without_it_only_if_that_is_allowed() {
        let turn = |home: &str, target: &str, may_leave_tls| {
            let mut talk = Conversation::new(&url(home), None, may_leave_tls);
            talk.answered(StatusCode::FOUND, Some("https://between/f"));
            talk.answered(StatusCode::FOUND, Some(target))
        };
        let is_refused = |turn| matches!(turn, Turn::Fail(_));
        assert!(is_refused(turn("https://door/f", "http://pool/f", false)));
        assert!(!is_refused(turn("https://door/f", "http://pool/f", true)));
        assert!(!is_refused(turn("https://door/f", "https://pool/f", false)));
        assert!(!is_refused(turn("http://door/f", "http://pool/f", false)));
    }

    proptest! {
        /// However servers answer, a request ends, and its credentials stay where they belong.
        #[test]
        fn every_conversation_ends(
            answers in proptest::collection::vec((prop::sample::select(vec![206_u16, 301, 302, 307, 403, 404, 503]), ".{0,12}"), 40),
            remembered in any::<bool>(),
        ) {
            let home = url("https://door/f");
            let mut talk = Conversation::new(&home, remembered.then(|| url("https://pool/f")), false);
            let mut taken = None;
            for (place, (status, location)) in answers.iter().enumerate() {
                prop_assert_eq!(talk.is_at_home(), talk.url().host_str() == Some("door")
                    && talk.url().scheme() == "https" && talk.url().port().is_none());
                let status = StatusCode::from_u16(*status).unwrap();
                if talk.answered(status, Some(location)) != Turn::Again {
                    taken = Some(place);
                    break;
                }
            }
            prop_assert!(taken.is_some_and(|place| place <= MOST_REDIRECTS + 1));
        }
    }
}
