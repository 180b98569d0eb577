//! What object_store sends its requests with: this process's connections. What answers mean is decided by treemill-http.

use crate::answer::refused;
use crate::engine::Line;
use crate::objects::failure::Passed;
use async_trait::async_trait;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};
use reqwest::StatusCode;
use std::sync::Arc;
use treemill_transfer::{Kind, Trouble};

/// Gives every store a line of its own.
#[derive(Debug)]
pub(crate) struct Connector {
    /// The server's name in messages.
    pub(crate) server: String,
    pub(crate) line: Arc<Line>,
}

impl HttpConnector for Connector {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        let server = self.server.clone();
        let line = Arc::clone(&self.line);
        Ok(HttpClient::new(Sender { server, line }))
    }
}

/// Sends requests. It holds no connection: those are the process's own, also after a fork.
#[derive(Debug)]
struct Sender {
    server: String,
    line: Arc<Line>,
}

#[async_trait]
impl HttpService for Sender {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (client, _flight) = self.line.client().map_err(passed)?;
        let to = request.uri().to_string().parse();
        let call = HttpService::call(&client, request);
        let response = match to {
            Ok(to) => self.line.sent(&to, call).await,
            Err(_) => call.await, // it says itself what is wrong with the address
        };
        let response = response.map_err(|error| passed(self.failure(&error)))?;
        self.line.answered(response.version());
        match response.status() {
            // object_store knows these.
            StatusCode::NOT_FOUND | StatusCode::PRECONDITION_FAILED | StatusCode::NOT_MODIFIED => {
                Ok(response)
            }
            status if status.is_success() => Ok(response),
            status => Err(passed(self.refusal(status, &response))),
        }
    }
}

impl Sender {
    /// What it means that no answer has come.
    fn failure(&self, error: &HttpError) -> Trouble {
        let server = format!("of {}", self.server);
        let mut at = std::error::Error::source(error);
        let mut text = "no connection could be made".to_owned();
        while let Some(cause) = at {
            if let Some(error) = cause.downcast_ref() {
                return self.line.trouble(error, &server);
            }
            text = cause.to_string();
            at = cause.source();
        }
        let what = format!("the server {server} cannot be reached: {text}");
        Trouble::new(Kind::Transient, what)
    }

    fn refusal(&self, status: StatusCode, response: &HttpResponse) -> Trouble {
        let mut trouble = refused(status, response.headers(), &self.server);
        let region = response.headers().get("x-amz-bucket-region");
        if let Some(region) = region.and_then(|region| region.to_str().ok())
            && (status.is_redirection() || status == StatusCode::BAD_REQUEST)
        {
            trouble.what = format!("the bucket is in the region {region}: set AWS_REGION={region}");
        }
        trouble
    }
}

fn passed(trouble: Trouble) -> HttpError {
    HttpError::new(HttpErrorKind::Unknown, Passed(trouble))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use object_store::client::HttpRequestBody;
    use treemill_transfer::wait;

    #[test]
    fn a_server_that_takes_no_connections_is_told_from_one_that_breaks_them() {
        let sender = Sender {
            server: "s3://b".to_owned(),
            line: Arc::default(),
        };
        let mut request = HttpRequest::new(HttpRequestBody::empty());
        *request.uri_mut() = "http://127.0.0.1:1/b/k".parse().unwrap();
        let failed = wait(async move {
            let failed = sender.call(request).await.map(drop).unwrap_err();
            let below = std::error::Error::source(&failed).unwrap();
            let Passed(trouble) = below.downcast_ref().unwrap();
            Err::<(), Trouble>(trouble.clone())
        });
        let trouble = failed.unwrap_err();
        assert_eq!(trouble.kind, Kind::Unreachable, "{trouble:?}");
        assert!(trouble.what.contains("s3://b"), "{trouble:?}");
    }
}
