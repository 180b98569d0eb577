//! Requests for ranges of an object.

use crate::engine::Line;
use crate::objects::failure::trouble;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, GetResult, ObjectMeta, ObjectStore};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use treemill_transfer::{Body, Carrier, IN_FLIGHT, Kind, Part, Trouble};

/// An object that is open.
pub(crate) struct Object {
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) line: Arc<Line>,
    pub(crate) key: Path,
    pub(crate) server: String,
    pub(crate) known: ObjectMeta,
}

/// The bytes of an answer.
pub(crate) struct Stream(BoxStream<'static, object_store::Result<Bytes>>);

/// Asks for a range of an object, of the version with this tag if one is given.
pub(crate) async fn get(
    store: &dyn ObjectStore,
    key: &Path,
    range: Range<u64>,
    tag: Option<String>,
) -> Result<GetResult, Trouble> {
    let options = GetOptions {
        range: Some(GetRange::Bounded(range)),
        if_match: tag,
        ..GetOptions::default()
    };
    store
        .get_opts(key, options)
        .await
        .map_err(|error| trouble(&error))
}

impl Stream {
    pub(crate) fn of(result: GetResult) -> Self {
        Stream(result.into_stream())
    }
}

impl Body for Stream {
    async fn chunk(&mut self) -> Result<Option<Bytes>, Trouble> {
        let next = self.0.next().await.transpose();
        // The answer was good so far: the connection has failed.
        next.map_err(|error| match trouble(&error) {
            failed if failed.kind.is_final() => Trouble {
                kind: Kind::Transient,
                ..failed
            },
            failed => failed,
        })
    }
}

impl Carrier for Object {
    type Body = Stream;

    fn server(&self) -> &str {
        &self.server
    }

    fn connections(&self) -> usize {
        IN_FLIGHT
    }

    fn distance(&self) -> Option<Duration> {
        self.line.distance()
    }

    async fn ask(&self, range: Range<u64>) -> Result<Part<Stream>, Trouble> {
        let tag = self.known.e_tag.clone();
        let result = get(&*self.store, &self.key, range.clone(), tag).await?;
        let now = &result.meta;
        let same = now.size == self.known.size
            && now.e_tag == self.known.e_tag
            && now.last_modified == self.known.last_modified;
        if !same {
            return Err(Trouble::new(
                Kind::Permanent,
                "the object changed while treemill read it",
            ));
        }
        if result.range.start != range.start || result.range.end > range.end {
            return Err(Trouble::new(
                Kind::Permanent,
                "the server sends other bytes than treemill asked for",
            ));
        }
        Ok(Part {
            start: result.range.start,
            body: Stream::of(result),
        })
    }
}
