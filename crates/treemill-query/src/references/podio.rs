//! podio's files (EDM4hep, FCC): relations lie in columns of their own, `_Jets_tracks.index` and `.collectionID`, of
//! which each object has those from `Jets.tracks_begin` to `Jets.tracks_end`, or one. A collection's ID follows
//! from its name.

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

/// The collection that a column of relations is of.
pub(super) fn owner(column: &str) -> Option<&str> {
    let relation = column.strip_suffix(".collectionID")?;
    let (collection, _) = relation.strip_prefix('_')?.rsplit_once('_')?;
    Some(collection)
}

/// What a member of a collection refers to.
pub(super) fn reference(
    collection: &str,
    member: &str,
    columns: &dyn Columns,
) -> Option<Reference> {
    let relation = format!("_{collection}_{member}");
    if !columns.has(&format!("{relation}.collectionID")) {
        return None;
    }
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
    let targets = targets.map(|collection| Target {
        key: key(&collection),
        collection,
    });
    Some(Reference {
        indices,
        key: Some(format!("{relation}.collectionID")),
        targets: targets.collect(),
    })
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
