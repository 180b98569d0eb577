//! References from objects to others, as experiments' formats write them: which members of which collection
//! are references, and in which columns their indices are. Each format is a table of its own. Pure: these
//! files know names of columns, and neither data nor expressions.

mod nanoaod;

/// A reference: where its indices are, and the collection that they count in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reference {
    /// How many there are, and where.
    pub indices: Indices,
    /// The collection's name.
    pub target: String,
}

/// Where a reference's indices are, as names of members beside it. A negative index refers to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Indices {
    /// One index.
    Member(String),
    /// An index in each of these members: always as many references.
    Members(Vec<String>),
    /// The other way round: this member of the target's items is the index of the object that refers.
    Reverse(Ancestry),
    /// The ancestor that an item has by its mothers' indices.
    Ancestor(Ancestry),
}

/// How mothers are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ancestry {
    /// The member with a mother's index.
    pub mother: String,
    /// The member whose value mothers must not share, if those that do are passed over.
    pub distinct: Option<String>,
}

/// What a member of a collection refers to; `None` if it is no reference. `has` tells whether there is a
/// column.
pub(crate) fn reference(
    collection: &str,
    member: &str,
    has: &dyn Fn(&str) -> bool,
) -> Option<Reference> {
    nanoaod::reference(collection, member, has)
}
