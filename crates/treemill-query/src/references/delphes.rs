//! Delphes's trees: `TRef` and `TRefArray` hold the numbers that the objects meant have in `fUniqueID`. Which collection
//! they are in is not said: each number is looked for in all that may be meant. A number stands for one object of
//! the simulation, whichever collections hold it.

use super::{Columns, Indices, Reference, Target};

/// The member that an object's number is in.
const NUMBER: &str = "fUniqueID";

/// Members that refer to others, and by which members those are known.
const MEMBERS: &[(&str, &[&[&str]])] = &[
    ("Particle", GENERATED),
    ("Particles", GENERATED),
    ("Constituents", CONSTITUENTS),
];
const GENERATED: &[&[&str]] = &[&["M1"]];
/// The objects that jets are made of: those of energy flow, before the tracks and towers that these are made of, and
/// generated particles, of which generated jets are made.
const CONSTITUENTS: &[&[&str]] = &[&["Particle.ref"], &["Particles.refs", "Eem"], &["M1"]];

/// The collection that a column of numbers is of.
pub(super) fn owner(column: &str) -> Option<&str> {
    let relation = column
        .strip_suffix(".ref")
        .or_else(|| column.strip_suffix(".refs"))?;
    relation.rsplit_once('.').map(|(collection, _)| collection)
}

/// The members of a column of references.
pub(super) fn within(column: &str) -> &'static [&'static str] {
    let member = column.rsplit_once('.').map(|(_, member)| member);
    match MEMBERS.iter().any(|(name, _)| member == Some(*name)) {
        true => &[".ref", ".refs"],
        false => &[],
    }
}

/// What a collection's references may be called.
pub(super) fn names() -> Vec<String> {
    let names = MEMBERS.iter().map(|(name, _)| (*name).to_owned());
    names.collect()
}

/// What a member of a collection refers to.
pub(super) fn reference(
    collection: &str,
    member: &str,
    columns: &dyn Columns,
) -> Option<Reference> {
    let (_, kinds) = MEMBERS.iter().find(|(name, _)| *name == member)?;
    let mut numbers = ["ref", "refs"].iter().map(|end| format!("{member}.{end}"));
    let numbers = numbers.find(|numbers| columns.has(&format!("{collection}.{numbers}")))?;
    let mut targets: Vec<Target> = Vec::new();
    for known_by in *kinds {
        let Some(first) = known_by.first() else {
            continue;
        };
        for name in columns.with_member(first) {
            let has = |member: &&str| columns.has(&format!("{name}.{member}"));
            let is_new = targets.iter().all(|target| target.collection != name);
            if is_new && known_by.iter().all(has) && columns.has(&format!("{name}.{NUMBER}")) {
                let key = 0;
                targets.push(Target {
                    collection: name,
                    key,
                });
            }
        }
    }
    let is_flow = |target: &Target| target.collection.contains("Flow");
    targets.sort_by_key(|target| !is_flow(target));
    let member = numbers;
    Some(Reference {
        indices: Indices::Numbers { member, of: NUMBER },
        key: None,
        targets,
    })
}
