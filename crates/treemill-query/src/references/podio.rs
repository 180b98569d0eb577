//! podio's files (EDM4hep, FCC): relations lie in columns of their own, `_Jets_tracks.index` and `.collectionID`, of
//! which each object has those from `Jets.tracks_begin` to `Jets.tracks_end`, or one. A collection's ID follows
//! from its name. Before podio 0.17 relations have numbers, `Jets#1.index`, and a table in the file has the IDs.

use super::{Columns, Indices, Reference, Target};

/// Relations by the class that they lead to, and members by which collections of that class are known.
const CLASSES: &[(&[&str], &[&str])] = &[
    (&["tracks", "track"], &["ndf", "trackStates_begin"]),
    (&["clusters", "cluster"], &["energyError", "hits_begin"]),
    (
        &["particles", "associatedParticle"],
        &["goodnessOfPID", "tracks_begin"],
    ),
    (
        &[
            "parents",
            "daughters",
            "MCParticle",
            "signalVertexParticles",
        ],
        &["generatorStatus", "PDG"],
    ),
    (
        &["startVertex", "decayVertex", "vertex"],
        &["chi2", "position.x"],
    ),
    (&["particleIDs", "particleIDUsed"], &["likelihood", "PDG"]),
    (&["trackerHits"], &["eDepError", "quality"]),
    (&["contributions"], &["stepPosition.x", "energy"]),
    (&["hits"], &["energyError", "cellID"]),
];

/// Relations that lead to other classes, by a member of the collection that has them: the class's other relation.
const OTHERS: &[(&str, &str, &str)] = &[
    // A particle's: of a ParticleID the reconstructed one, else the generated one.
    ("particle", "likelihood", "particles"),
    ("particle", "*", "parents"),
];

/// Of files with numbers: by which members the class is known that has the relations, and these in their order.
const NUMBERED: &[(&[&str], &[&str])] = &[
    (&["generatorStatus", "PDG"], &["parents", "daughters"]),
    (
        &["goodnessOfPID", "tracks_begin"],
        &[
            "clusters",
            "tracks",
            "particles",
            "particleIDs",
            "startVertex",
            "particleIDUsed",
        ],
    ),
    (
        &["energyError", "hits_begin"],
        &["clusters", "hits", "particleIDs"],
    ),
    (&["ndf", "trackStates_begin"], &["trackerHits", "tracks"]),
    (&["chi2", "position.x"], &["associatedParticle"]),
];
/// Those of FCC's associations, and what they are like.
const ASSOCIATIONS: (&str, &[(&str, &str)]) = (
    "MCRecoAssociations",
    &[("rec", "particles"), ("sim", "parents")],
);

/// The collection that a column of relations is of.
pub(super) fn owner(column: &str) -> Option<&str> {
    let relation = column.strip_suffix(".collectionID")?;
    let named = relation
        .strip_prefix('_')
        .and_then(|name| name.rsplit_once('_'));
    named
        .or_else(|| relation.rsplit_once('#'))
        .map(|(collection, _)| collection)
}

/// What a member of a collection refers to.
pub(super) fn reference(
    collection: &str,
    member: &str,
    columns: &dyn Columns,
) -> Option<Reference> {
    let relation = format!("_{collection}_{member}");
    let has_it = columns.has(&format!("{relation}.collectionID"));
    let (relation, member, id): (_, _, Id) = match has_it {
        true => (relation, member, &|name: &str| Some(key(name))),
        false => {
            let (relation, alike) = numbered(collection, member, columns)?;
            (relation, alike, &|name: &str| columns.id(name))
        }
    };
    let (begin, end) = (format!("{member}_begin"), format!("{member}_end"));
    let indices = match columns.has(&format!("{collection}.{begin}")) {
        true => Indices::Range {
            begin,
            end,
            column: format!("{relation}.index"),
        },
        false => Indices::Column(format!("{relation}.index")),
    };
    let has = |name: &str| name == "*" || columns.has(&format!("{collection}.{name}"));
    let other = OTHERS
        .iter()
        .find(|(name, of, _)| *name == member && has(of));
    let member = other.map_or(member, |(_, _, alike)| *alike);
    let (_, known_by) = CLASSES
        .iter()
        .find(|(relations, _)| relations.contains(&member))?;
    let (first, rest) = known_by.split_first()?;
    let targets = columns.with_member(first).into_iter().filter(|name| {
        let has = |member: &&str| columns.has(&format!("{name}.{member}"));
        rest.iter().all(has)
    });
    let targets = targets.filter_map(|collection| {
        let key = id(&collection)?;
        Some(Target { collection, key })
    });
    Some(Reference {
        indices,
        key: Some(format!("{relation}.collectionID")),
        targets: targets.collect(),
    })
}

/// What stands for a collection, by its name.
type Id<'a> = &'a dyn Fn(&str) -> Option<i64>;

/// The relation of a file that numbers them, and a relation that leads to the same class.
fn numbered<'a>(
    collection: &str,
    member: &'a str,
    columns: &dyn Columns,
) -> Option<(String, &'a str)> {
    let (name, relations) = ASSOCIATIONS;
    let mut relations = relations.iter().enumerate();
    let found = match relations.find(|(_, (relation, _))| *relation == member) {
        Some((number, (_, alike))) if collection == name => (number, *alike),
        _ => {
            let (_, relations) = NUMBERED.iter().find(|(known_by, _)| {
                let has = |member: &&str| columns.has(&format!("{collection}.{member}"));
                known_by.iter().all(has)
            })?;
            (relations.iter().position(|name| *name == member)?, member)
        }
    };
    let relation = format!("{collection}#{}", found.0);
    columns
        .has(&format!("{relation}.collectionID"))
        .then_some((relation, found.1))
}

/// A collection's ID: its name's MurmurHash3 of 32 bits, with the seed 0.
fn key(name: &str) -> i64 {
    let mixed = |block: u32| {
        block
            .wrapping_mul(0xCC9E_2D51)
            .rotate_left(15)
            .wrapping_mul(0x1B87_3593)
    };
    let little = |bytes: &[u8]| {
        let bytes = bytes.iter().rev();
        bytes.fold(0_u32, |word, byte| word << 8 | u32::from(*byte))
    };
    let mut hash = 0_u32;
    let mut blocks = name.as_bytes().chunks_exact(4);
    for block in &mut blocks {
        hash = (hash ^ mixed(little(block)))
            .rotate_left(13)
            .wrapping_mul(5)
            .wrapping_add(0xE654_6B64);
    }
    hash ^= mixed(little(blocks.remainder()));
    hash ^= name.len() as u32;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85EB_CA6B);
    hash = (hash ^ hash >> 13).wrapping_mul(0xC2B2_AE35);
    i64::from(hash ^ hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_murmurs() {
        // Of the hash's published test vectors, those with the seed 0.
        for (text, expected) in [
            ("", 0),
            ("test", 0xBA6B_D213),
            ("Hello, world!", 0xC036_3E43),
            ("The quick brown fox jumps over the lazy dog", 0x2E4F_F723),
        ] {
            assert_eq!(key(text), expected, "{text}");
        }
    }
}
