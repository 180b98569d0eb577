//! RNTuple, ROOT's columnar format after TTree: from its bytes to metadata, and from pages to
//! numbers. Pure: the caller finds the anchor's key, brings bytes and decompresses them.
//!
//! The way in: [`Anchor::parse`] says where header and footer lie, [`Metadata::parse`] reads them
//! and says where the page lists lie, [`NTuple::new`] reads those. A field's [`Shape`] says which
//! columns it is made of, [`NTuple::locate`] where their pages are, and [`decode`] reads pages.
//!
//! Source: RNTuple binary format specification 1.0 (ROOT 6.34 and later).

mod anchor;
mod cursor;
pub mod decode;
mod element;
mod envelope;
mod locator;
mod metadata;
mod names;
mod ntuple;
mod page_list;
mod paths;
mod schema;
mod shape;
mod tree;

pub use anchor::{Anchor, CLASS};
pub use element::{Element, Encoding};
pub use locator::{EnvelopeLink, Locator};
pub use metadata::{ClusterGroup, Metadata};
pub use ntuple::{Located, NTuple};
pub use page_list::{Cluster, ColumnRange, PAGE_CHECKSUM, Page, check_page};
pub use paths::NamedField;
pub use schema::{Alias, Column, Field, Role, Schema};
pub use shape::{Columns, Native, Shape};
pub use tree::Tree;
