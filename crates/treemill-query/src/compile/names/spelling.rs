//! Names that are joined from others by `_` or `.`, which are the same here: `Jet_pt` is `pt` of `Jet`. Lists of names in
//! messages.

use crate::compile::Binding;
use crate::limits::LISTED_NAMES;

/// What C++ calls the members of a pair, and their names.
pub(in crate::compile) const PAIR: [(&str, &str); 2] = [("first", "0"), ("second", "1")];

/// Members by name, newest first.
pub(in crate::compile) type Members = Vec<(String, Binding)>;

/// The rest of a member's name: `x` of `p4.x`, for `p4`.
pub(in crate::compile) fn below(members: &[(String, Binding)], name: &str) -> Members {
    let inner = members
        .iter()
        .filter_map(|(member, value)| Some((rest(member, name)?.to_owned(), value.clone())));
    inner.collect()
}

/// Whether two names are the same but for `.` and `_`, either of which joins names.
pub(in crate::compile) fn alike(a: &str, b: &str) -> bool {
    let joined = |byte: u8| if byte == b'.' { b'_' } else { byte };
    a.len() == b.len() && a.bytes().map(joined).eq(b.bytes().map(joined))
}

/// The rest of a name after `prefix_` or `prefix.`.
pub(in crate::compile) fn rest<'a>(name: &'a str, prefix: &str) -> Option<&'a str> {
    let (start, rest) = name.split_at_checked(prefix.len())?;
    let rest = rest.strip_prefix(['_', '.'])?;
    (alike(start, prefix) && !rest.is_empty()).then_some(rest)
}

/// The first of many names, for a message.
pub(in crate::compile) fn listed(names: &[String]) -> String {
    if names.is_empty() {
        return "none of its own".to_owned();
    }
    if names.iter().eq(PAIR.iter().map(|(_, place)| place)) {
        return PAIR.map(|(word, _)| word).join(", ");
    }
    let mut text = names
        .iter()
        .take(LISTED_NAMES)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > LISTED_NAMES {
        text.push_str(", …");
    }
    text
}
