//! Requests over HTTP: sends them, follows their redirects, hands on their bytes. What answers mean is decided by
//! `answer` and `conversation`.

use crate::address::{Address, server};
use crate::answer::{Accepted, judge, refused};
use crate::conversation::{Conversation, Route, Turn, may_leave_tls};
use crate::engine::{Flight, Line, explained, trouble};
use crate::limits::SERVER_SILENCE;
use crate::links::Links;
use crate::versions::Versions;
use bytes::Bytes;
use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue, IF_MATCH, LINK, LOCATION, RANGE};
use reqwest::{Method, RequestBuilder, Response};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::timeout;
use treemill_transfer::credentials::bearer_token;
use treemill_transfer::{Body, Kind, Trouble};
use url::Url;

/// A file, or a folder, at its server.
pub(crate) struct File {
    pub(crate) address: Address,
    pub(crate) server: String,
    route: Arc<Mutex<Route>>,
    line: Line,
}

/// What is asked of a server.
pub(crate) struct Ask {
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    pub(crate) body: &'static str,
}

/// An answer that has not been judged.
pub(crate) struct Reply {
    pub(crate) response: Response,
    /// The server that has answered, for messages.
    pub(crate) server: String,
    /// Whether another host than the user's has answered.
    is_elsewhere: bool,
    /// The file's other places, by this answer and those that redirected to it.
    pub(crate) links: Links,
    _flight: Flight,
    doubt: Doubt,
}

/// A server that has not yet answered to the end. If it does not, it is forgotten that the file was found there: the
/// file's own server is asked again.
struct Doubt {
    route: Arc<Mutex<Route>>,
    at: Url,
    is_settled: bool,
}

impl Doubt {
    fn new(route: &Arc<Mutex<Route>>, at: &Url) -> Self {
        Doubt {
            route: Arc::clone(route),
            at: at.clone(),
            is_settled: false,
        }
    }
}

impl Drop for Doubt {
    fn drop(&mut self) {
        if !self.is_settled {
            locked(&self.route).failed(&self.at);
        }
    }
}

fn locked(route: &Mutex<Route>) -> std::sync::MutexGuard<'_, Route> {
    route.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a server must do before it is silent for too long.
async fn within<T>(
    server: &str,
    what: impl Future<Output = Result<T, Trouble>>,
) -> Result<T, Trouble> {
    timeout(SERVER_SILENCE, what).await.unwrap_or_else(|_| {
        let seconds = SERVER_SILENCE.as_secs_f64();
        let what = format!("the server {server} has sent nothing for {seconds:.0} s");
        Err(Trouble::new(Kind::Silent, what))
    })
}

impl File {
    pub(crate) fn new(address: Address) -> Self {
        File {
            server: server(&address.url),
            address,
            route: Arc::default(),
            line: Line::default(),
        }
    }

    /// The connections over which ranges are asked for at the same time.
    pub(crate) fn connections(&self) -> usize {
        self.line.connections()
    }

    /// The network's round trip to the server, if it is known.
    pub(crate) fn distance(&self) -> Option<Duration> {
        self.line.distance()
    }

    /// Asks, and follows redirects.
    pub(crate) async fn send(&self, ask: &Ask) -> Result<Reply, Trouble> {
        self.send_for(ask, None).await
    }

    /// Sends like [`File::send`], for bytes of a version that is known: each server is told the tag that is its own.
    async fn send_for(&self, ask: &Ask, versions: Option<&Versions>) -> Result<Reply, Trouble> {
        let mut links = Links::default();
        let home = &self.address.url;
        let may_leave = home.scheme() == "https" && may_leave_tls();
        let mut talk = Conversation::new(home, locked(&self.route).target(), may_leave);
        loop {
            let at = talk.url().clone();
            let name = server(&at);
            let (client, flight) = self.line.client()?;
            let mut request = client
                .request(ask.method.clone(), at.clone())
                .headers(ask.headers.clone())
                .body(ask.body);
            if let Some(tag) = versions.and_then(|versions| versions.tag(&name)) {
                request = request.header(IF_MATCH, tag);
            }
            if talk.is_at_home() && self.address.is_named {
                request = self.authorized(request)?;
            }
            let doubt = Doubt::new(&self.route, &at);
            let sent = async {
                request
                    .send()
                    .await
                    .map_err(|e| self.line.trouble(&e, &name))
            };
            let response = within(&name, self.line.sent(&at, sent)).await?;
            self.line.answered(response.version());
            for header in response.headers().get_all(LINK) {
                header.to_str().into_iter().for_each(|h| links.add(h, &at));
            }
            let location = response
                .headers()
                .get(LOCATION)
                .and_then(|l| l.to_str().ok());
            match talk.answered(response.status(), location) {
                Turn::Fail(trouble) => return Err(trouble),
                Turn::Again => drop(doubt),
                Turn::Take => {
                    if response.status().is_success() && talk.is_redirected() {
                        locked(&self.route).found(&at);
                    }
                    return Ok(Reply {
                        doubt,
                        links,
                        response,
                        server: name,
                        is_elsewhere: at.host() != self.address.url.host(),
                        _flight: flight,
                    });
                }
            }
        }
    }

    /// Adds the user's login or token to a request. A token is never sent in the clear.
    fn authorized(&self, request: RequestBuilder) -> Result<RequestBuilder, Trouble> {
        if let Some((user, password)) = &self.address.login {
            return Ok(request.basic_auth(user, Some(password)));
        }
        if self.address.url.scheme() != "https" {
            return Ok(request);
        }
        let token =
            bearer_token().map_err(|e| Trouble::new(Kind::Denied, e.to_string()).with_cause(e))?;
        Ok(match token {
            Some(token) => request.bearer_auth(token.reveal()),
            None => request,
        })
    }

    /// Asks for a range of the file.
    pub(crate) async fn range(
        &self,
        range: &Range<u64>,
        versions: Option<&Versions>,
        most_whole: u64,
    ) -> Result<(Reply, Accepted), Trouble> {
        let reply = self.send_for(&ask_range(range), versions).await?;
        let (status, headers) = (reply.response.status(), reply.response.headers());
        let known = versions.map(|versions| versions.known(&reply.server));
        let known = known.as_ref();
        match judge(status, headers, range, known, most_whole, &reply.server) {
            Ok(accepted) => Ok((reply, accepted)),
            Err(trouble) => Err(reply.placed(trouble)),
        }
    }
}

fn ask_range(range: &Range<u64>) -> Ask {
    let mut headers = HeaderMap::new();
    let text = format!("bytes={}-{}", range.start, range.end.saturating_sub(1));
    let mut set = |name, text: &str| {
        if let Ok(value) = HeaderValue::from_str(text) {
            headers.insert(name, value);
        }
    };
    set(RANGE, &text);
    set(ACCEPT_ENCODING, "identity");
    Ask {
        method: Method::GET,
        headers,
        body: "",
    }
}

impl Reply {
    /// Why the answer is no good.
    pub(crate) fn refusal(&self) -> Trouble {
        let (status, headers) = (self.response.status(), self.response.headers());
        self.placed(refused(status, headers, &self.server))
    }

    /// A server to which the file's own server redirects may have lost a file that there is.
    fn placed(&self, trouble: Trouble) -> Trouble {
        let is_refused = matches!(self.response.status().as_u16(), 400 | 401 | 403);
        if is_refused && self.response.url().scheme() == "https" {
            return explained(trouble);
        }
        if trouble.kind == Kind::Missing && self.is_elsewhere {
            let what = format!("{}, to which the file's own server redirects", trouble.what);
            return Trouble::new(Kind::Elsewhere, what);
        }
        trouble
    }

    /// The next bytes of the body.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Trouble> {
        let chunk = async {
            let chunk = self.response.chunk().await;
            chunk.map_err(|error| trouble(&error, &self.server))
        };
        let chunk = within(&self.server, chunk).await?;
        if chunk.is_none() && self.response.status().is_success() {
            self.doubt.is_settled = true;
        }
        Ok(chunk)
    }
}

impl Body for Reply {
    async fn chunk(&mut self) -> Result<Option<Bytes>, Trouble> {
        self.next().await
    }

    fn satisfied(&mut self) {
        self.doubt.is_settled = true;
    }
}
