//! Why something cannot be described: words for the user, and a kind for callers that can do without it. Knows
//! no classes.

/// A layout, or what stands against it.
pub(crate) type Known<T> = Result<T, Refusal>;

/// The reason against a layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub kind: Kind,
    /// The reason, in words for the user.
    pub what: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The words name the class that it is about.
    Class,
    /// A member of a class that the words do not name yet.
    Member,
    /// The file does not describe the class.
    NotDescribed,
    /// More than may be described. Nothing can do without what was not looked at.
    Exhausted,
}

impl Refusal {
    pub fn member(what: String) -> Self {
        Refusal {
            kind: Kind::Member,
            what,
        }
    }

    /// Said of a class by these words.
    pub fn not_described(class: &str) -> Self {
        Refusal {
            kind: Kind::NotDescribed,
            what: format!("{class}, which the file does not describe"),
        }
    }

    pub fn exhausted() -> Self {
        Refusal {
            kind: Kind::Exhausted,
            what: "more members than a tree may have".to_owned(),
        }
    }

    /// The innermost class says what stands against all around it.
    pub fn within(self, class: &str) -> Self {
        match self.kind {
            Kind::Member => Refusal::from(format!("objects of class {class} ({})", self.what)),
            _ => self,
        }
    }

    /// The same refusal with more words around its own.
    pub fn map(self, words: impl FnOnce(String) -> String) -> Self {
        Refusal {
            what: words(self.what),
            ..self
        }
    }
}

impl From<String> for Refusal {
    fn from(what: String) -> Self {
        Refusal {
            kind: Kind::Class,
            what,
        }
    }
}

impl From<&str> for Refusal {
    fn from(what: &str) -> Self {
        Refusal::from(what.to_owned())
    }
}

impl From<Refusal> for String {
    fn from(refusal: Refusal) -> Self {
        refusal.what
    }
}
