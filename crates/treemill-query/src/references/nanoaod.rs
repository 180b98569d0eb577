//! NanoAOD's cross references: columns `Muon_jetIdx` (one) or `Jet_muonIdx1`, `Jet_muonIdx2` (two) hold
//! indices; members of records are `Muon.jetIdx`. A reference has the name of its index (`Muon.jet`,
//! `Jet.muons`), and coffea's (`matched_jet`).

use super::{Ancestry, Columns, Indices, Reference};

/// Names that do not follow from the columns': collection (`*`: any), member, the index's name.
const NAMES: &[(&str, &str, &str)] = &[
    ("Jet", "matched_gen", "genJet"),
    ("FatJet", "matched_gen", "genJetAK8"),
    ("SubJet", "matched_gen", "subGenJetAK8"),
    ("*", "matched_gen", "genPart"),
    ("FatJet", "subjets", "subJets"),
    ("*", "pf", "pFCands"),
];

/// Collections that do not follow from the index's name: collection (`*`: any), index, target.
const TARGETS: &[(&str, &str, &str)] = &[
    ("FatJetPFCands", "jet", "FatJet"),
    ("FatJetSVs", "jet", "FatJet"),
    ("GenFatJetCands", "jet", "GenJetAK8"),
    ("GenFatJetCands", "pFCands", "GenCands"),
    ("GenFatJetSVs", "jet", "GenJetAK8"),
    ("GenJetCands", "jet", "GenJet"),
    ("GenJetCands", "pFCands", "GenCands"),
    ("GenJetSVs", "jet", "GenJet"),
    ("*", "ele", "Electron"),
    ("*", "pFCands", "PFCands"),
    ("*", "sv", "SV"),
    ("*", "sV", "SV"),
];

/// Generated particles and their mothers.
const PARTICLES: &str = "GenPart";
const MOTHER: &str = "genPartIdxMother";
const KIND: &str = "pdgId";
/// What they refer to by their mothers.
const FAMILY: [&str; 4] = [PARENT, DISTINCT_PARENT, CHILDREN, DISTINCT_CHILDREN];
const PARENT: &str = "parent";
const DISTINCT_PARENT: &str = "distinctParent";
const CHILDREN: &str = "children";
const DISTINCT_CHILDREN: &str = "distinctChildren";

/// What all names of indices have.
const INDEX: &str = "Idx";
/// What coffea's names of references begin with.
const MATCHED: &str = "matched_";
/// What joins the names of a collection and of its member, in columns' names and in those of records' fields.
const JOINTS: [char; 2] = ['_', '.'];

/// The collection that a column of indices is of.
pub(super) fn owner(column: &str) -> Option<&str> {
    let (collection, member) = column.rsplit_once(JOINTS)?;
    member.contains(INDEX).then_some(collection)
}

/// What a collection's references may be called, coffea's names last.
pub(super) fn names(collection: &str, columns: &dyn Columns) -> Vec<String> {
    let indices = columns.names().filter_map(|column| {
        let member = column.strip_prefix(collection)?.strip_prefix(JOINTS)?;
        let (name, number) = member.split_once(INDEX)?;
        match number.parse::<u8>() {
            Ok(_) => Some(format!("{name}s")),
            Err(_) => number.is_empty().then(|| name.to_owned()),
        }
    });
    let mut found: Vec<String> = indices.collect();
    found.extend(FAMILY.map(str::to_owned));
    let listed = NAMES.iter().map(|(_, name, _)| (*name).to_owned());
    let matched: Vec<String> = found
        .iter()
        .map(|name| format!("{MATCHED}{name}"))
        .collect();
    found.extend(listed.chain(matched));
    found
}

/// What a member of a collection refers to.
pub(super) fn reference(
    collection: &str,
    member: &str,
    has: &dyn Fn(&str) -> bool,
) -> Option<Reference> {
    ancestry(collection, member, has).or_else(|| index(collection, member, has))
}

/// Whether the collection has a column of this name.
fn has_member(collection: &str, name: &str, has: &dyn Fn(&str) -> bool) -> bool {
    let mut joints = JOINTS.iter();
    joints.any(|joint| has(&format!("{collection}{joint}{name}")))
}

/// Mothers and daughters of generated particles.
fn ancestry(collection: &str, member: &str, has: &dyn Fn(&str) -> bool) -> Option<Reference> {
    if !has_member(collection, MOTHER, has) {
        return None;
    }
    let by = |distinct: bool| Ancestry {
        mother: MOTHER.to_owned(),
        distinct: distinct.then(|| KIND.to_owned()),
    };
    let indices = match (member, collection) {
        (PARENT, _) => Indices::Member(MOTHER.to_owned()),
        (DISTINCT_PARENT, PARTICLES) => Indices::Ancestor(by(true)),
        (CHILDREN, PARTICLES) => Indices::Reverse(by(false)),
        (DISTINCT_CHILDREN, PARTICLES) => Indices::Reverse(by(true)),
        _ => return None,
    };
    Some(Reference::into(PARTICLES.to_owned(), indices))
}

fn index(collection: &str, member: &str, has: &dyn Fn(&str) -> bool) -> Option<Reference> {
    let plain = member.strip_prefix(MATCHED).unwrap_or(member);
    let name = listed(NAMES, collection, member).unwrap_or(plain);
    let has_member = |name: &str| has_member(collection, name, has);
    let one = format!("{name}{INDEX}");
    if has_member(&one) {
        let target = target(collection, name);
        return Some(Reference::into(target, Indices::Member(one)));
    }
    let singular = name.strip_suffix('s')?;
    let each: Vec<String> = (1..)
        .map(|number| format!("{singular}{INDEX}{number}"))
        .take_while(|name| has_member(name))
        .collect();
    if each.is_empty() {
        return None;
    }
    let target = target(collection, singular);
    Some(Reference::into(target, Indices::Members(each)))
}

/// `Jet` of `jet`, unless the table knows better.
fn target(collection: &str, index: &str) -> String {
    if let Some(known) = listed(TARGETS, collection, index) {
        return known.to_owned();
    }
    let mut letters = index.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// The first row for a collection and a name.
fn listed(
    table: &'static [(&str, &str, &str)],
    collection: &str,
    name: &str,
) -> Option<&'static str> {
    let row = |row: &&(&str, &str, &str)| (row.0 == "*" || row.0 == collection) && row.1 == name;
    table.iter().find(row).map(|(_, _, found)| *found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(collection: &str, member: &str) -> Option<(Indices, String)> {
        let columns = [
            "Muon_jetIdx",
            "Muon_genPartIdx",
            "Jet_genJetIdx",
            "Jet_muonIdx1",
            "Jet_muonIdx2",
            "Tau_eleIdx",
            "FatJetPFCands_jetIdx",
            "FatJet_subJetIdx1",
            "FatJet_subJetIdx2",
            "GenPart_genPartIdxMother",
            "GenVisTau_genPartIdxMother",
        ];
        let has = |name: &str| columns.contains(&name);
        let found = reference(collection, member, &has)?;
        let target = found.targets.into_iter().next()?;
        Some((found.indices, target.collection))
    }

    fn one(index: &str, target: &str) -> Option<(Indices, String)> {
        Some((Indices::Member(index.to_owned()), target.to_owned()))
    }

    #[test]
    fn references_have_the_names_of_their_indices_and_coffeas() {
        assert_eq!(found("Muon", "jet"), one("jetIdx", "Jet"));
        assert_eq!(found("Muon", "matched_jet"), one("jetIdx", "Jet"));
        assert_eq!(found("Muon", "matched_gen"), one("genPartIdx", "GenPart"));
        assert_eq!(found("Jet", "matched_gen"), one("genJetIdx", "GenJet"));
        assert_eq!(found("Tau", "ele"), one("eleIdx", "Electron"));
        assert_eq!(found("FatJetPFCands", "jet"), one("jetIdx", "FatJet"));
        assert_eq!(
            found("GenVisTau", "parent"),
            one("genPartIdxMother", "GenPart")
        );
        assert_eq!(found("Muon", "pt"), None);
        assert_eq!(found("Muon", "parent"), None);
        assert_eq!(found("GenVisTau", "children"), None);
    }

    #[test]
    fn numbered_indices_are_a_list() {
        let two = |name: &str, target: &str| {
            let each = vec![format!("{name}Idx1"), format!("{name}Idx2")];
            Some((Indices::Members(each), target.to_owned()))
        };
        assert_eq!(found("Jet", "muons"), two("muon", "Muon"));
        assert_eq!(found("Jet", "matched_muons"), two("muon", "Muon"));
        assert_eq!(found("FatJet", "subjets"), two("subJet", "SubJet"));
        assert_eq!(found("Jet", "electrons"), None);
    }
}
