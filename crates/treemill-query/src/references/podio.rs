//! podio's files (EDM4hep, FCC): relations lie in columns of their own, `_Jets_tracks.index` and `.collectionID`, of
//! which each object has those from `Jets.tracks_begin` to `Jets.tracks_end`, or one. A collection's ID follows
//! from its name. Before podio 0.17 relations have numbers, `Jets#1.index`, and a table in the file has the IDs.
//! Links have two ends, `_Links_from.index` and `_Links_to.index`; to which classes they lead tells the links' class.

use super::{Class, Columns, Indices, Reference, Target};

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
            "signalVertex",
            "signalVertexParticles",
            "MCParticle",
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
    (&["SimCalorimeterHit"], &["contributions_begin", "cellID"]),
    (&["SimTrackerHit"], &["pathLength", "cellID"]),
];

/// Classes at the ends of links, and relations that lead to the same class. Those that are their own class's name are
/// left out.
const ENDS: &[(&str, &str)] = &[
    ("ReconstructedParticle", "particles"),
    ("Track", "tracks"),
    ("Cluster", "clusters"),
    ("Vertex", "vertex"),
    ("CalorimeterHit", "hits"),
    ("TrackerHit", "trackerHits"),
    ("TrackerHit3D", "trackerHits"),
    ("TrackerHitPlane", "trackerHits"),
    ("ParticleID", "particleIDs"),
];

/// The names of links' ends, since podio has links and before. The first two are those that a link begins at.
const ENDS_OF_LINKS: [&str; 4] = ["from", "rec", "to", "sim"];

/// EDM4hep's classes of links, and those at their ends. Before podio had links they were associations.
const LINKS: &[(&str, &str, &str)] = &[
    ("RecoMCParticleLink", "ReconstructedParticle", "MCParticle"),
    ("CaloHitMCParticleLink", "CalorimeterHit", "MCParticle"),
    (
        "CaloHitSimCaloHitLink",
        "CalorimeterHit",
        "SimCalorimeterHit",
    ),
    ("TrackerHitSimTrackerHitLink", "TrackerHit", "SimTrackerHit"),
    ("ClusterMCParticleLink", "Cluster", "MCParticle"),
    ("TrackMCParticleLink", "Track", "MCParticle"),
    ("VertexRecoParticleLink", "Vertex", "ReconstructedParticle"),
    (
        "MCRecoParticleAssociation",
        "ReconstructedParticle",
        "MCParticle",
    ),
    (
        "MCRecoCaloAssociation",
        "CalorimeterHit",
        "SimCalorimeterHit",
    ),
    (
        "MCRecoCaloParticleAssociation",
        "CalorimeterHit",
        "MCParticle",
    ),
    ("MCRecoTrackerAssociation", "TrackerHit", "SimTrackerHit"),
    (
        "MCRecoTrackerHitPlaneAssociation",
        "TrackerHitPlane",
        "SimTrackerHit",
    ),
    ("MCRecoClusterParticleAssociation", "Cluster", "MCParticle"),
    ("MCRecoTrackParticleAssociation", "Track", "MCParticle"),
    (
        "RecoParticleVertexAssociation",
        "ReconstructedParticle",
        "Vertex",
    ),
];

/// Relations that lead to other classes, by a member of the collection that has them: the class's other relation.
const OTHERS: &[(&str, &str, &str)] = &[
    // A particle's: of a ParticleID the reconstructed one, else the generated one.
    ("particle", "likelihood", "particles"),
    ("particle", "*", "parents"),
];

/// The members by which a class with relations is known in files with numbers, and its relations in their order.
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
/// The members of FCC's associations, and the relations that they are like.
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

/// What a collection's references may be called.
pub(super) fn names(collection: &str, columns: &dyn Columns) -> Vec<String> {
    let named = columns.names().filter_map(|column| {
        let relation = column.strip_suffix(".collectionID")?;
        let relation = relation.strip_prefix('_')?.strip_prefix(collection)?;
        relation.strip_prefix('_')
    });
    let numbered = NUMBERED.iter().flat_map(|(_, relations)| *relations);
    let ends = ASSOCIATIONS.1.iter().map(|(end, _)| *end);
    let all = named.chain(numbered.copied()).chain(ends);
    all.map(str::to_owned).collect()
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
    let classes = match CLASSES.iter().find(|(names, _)| names.contains(&member)) {
        Some((_, known_by)) => vec![*known_by],
        None if ENDS_OF_LINKS.contains(&member) => ends(columns.class(collection), member),
        None => return None,
    };
    let targets = classes
        .into_iter()
        .flat_map(|known_by| of(known_by, columns));
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

/// The collections that have all of these members.
fn of(known_by: &[&str], columns: &dyn Columns) -> Vec<String> {
    let Some((first, rest)) = known_by.split_first() else {
        return Vec::new();
    };
    let names = columns.with_member(first).into_iter().filter(|name| {
        let has = |member: &&str| columns.has(&format!("{name}.{member}"));
        rest.iter().all(has)
    });
    names.collect()
}

/// The members by which a class is known that links of another class have at this end: none for classes that are
/// not known here, and all if nothing is known of the links.
fn ends(class: Class<'_>, member: &str) -> Vec<&'static [&'static str]> {
    let class = match class {
        Class::Any => return CLASSES.iter().map(|(_, known_by)| *known_by).collect(),
        Class::Named(class) => class,
    };
    let end = || {
        let generic = class.strip_prefix("podio::LinkCollection<");
        let (from, to) = match generic.and_then(|ends| ends.strip_suffix('>')) {
            Some(ends) => ends.split_once(',')?,
            None => {
                let (_, from, to) = LINKS.iter().find(|(name, _, _)| *name == short(class))?;
                (*from, *to)
            }
        };
        let is_first = ENDS_OF_LINKS.iter().take(2).any(|name| *name == member);
        let name = short(if is_first { from } else { to });
        let alike = ENDS.iter().find(|(class, _)| *class == name);
        let alike = alike.map_or(name, |(_, alike)| *alike);
        let known = CLASSES.iter().find(|(names, _)| names.contains(&alike));
        known.map(|(_, known_by)| *known_by)
    };
    end().into_iter().collect()
}

/// The name of a class of EDM4hep, or of EDM4eic which extends it, without what is around it.
fn short(class: &str) -> &str {
    let class = class.trim();
    let class = class
        .strip_prefix("edm4hep::")
        .or_else(|| class.strip_prefix("edm4eic::"))
        .unwrap_or(class);
    ["Collection", "Data"]
        .iter()
        .find_map(|end| class.strip_suffix(end))
        .unwrap_or(class)
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
    fn classes_at_the_ends_of_links() {
        let found = |class, member| ends(Class::Named(class), member);
        let mc: &[&str] = &["generatorStatus", "PDG"];
        let reco: &[&str] = &["goodnessOfPID", "tracks_begin"];
        for class in [
            "edm4hep::RecoMCParticleLinkData",
            "edm4hep::RecoMCParticleLinkCollection",
            "edm4eic::MCRecoParticleAssociationData",
            "podio::LinkCollection<edm4hep::ReconstructedParticle, edm4hep::MCParticle>",
        ] {
            assert_eq!(found(class, "from"), [reco], "{class}");
            assert_eq!(found(class, "rec"), [reco], "{class}");
            assert_eq!(found(class, "to"), [mc], "{class}");
            assert_eq!(found(class, "sim"), [mc], "{class}");
        }
        let mine = "podio::LinkCollection<mine::Hit,edm4hep::MCParticle>";
        assert!(found(mine, "from").is_empty());
        assert_eq!(found(mine, "to"), [mc]);
        assert!(found("", "to").is_empty());
        assert!(found("podio::LinkData", "to").is_empty());
    }

    #[test]
    fn all_ends_of_links_are_known_by_members() {
        for (name, from, to) in LINKS {
            for (member, class) in [("from", from), ("to", to)] {
                let name = format!("edm4hep::{name}Data");
                assert_eq!(ends(Class::Named(&name), member).len(), 1, "{class}");
            }
        }
    }

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
