//! DAOD_PHYSLITE: collections in columns `AnalysisElectronsAuxDyn.pt` (or `…AuxDyn:pt`), which are called `Electrons`, and element
//! links: a number and the key of a container, which follows from its name and its class.

use super::{Columns, Indices, Reference, Target};

/// What precedes and what follows a collection's name in the names of columns: those of trees, those of RNTuples.
const CONTAINERS: &[(&str, &str)] = &[
    ("Analysis", "AuxDyn."),
    ("Analysis", "Aux."),
    ("", "AuxDyn."),
    ("", "Aux."),
    ("Analysis", "AuxDyn:"),
    ("Analysis", "Aux:."),
    ("", "AuxDyn:"),
    ("", "Aux:."),
];

/// What follows a link's name in the names of its columns: of the indices, and of the containers' keys.
const INDEX: &str = ".m_persIndex";
const KEY: &str = ".m_persKey";

/// Classes of containers, by the numbers that ATLAS has given them.
const TRACKS: u32 = 1_287_425_431;
const TRUTH: u32 = 1_237_340_765;
const TRUTH_VERTICES: u32 = 1_239_726_567;
const CLUSTERS: u32 = 1_219_821_989;
const VERTICES: u32 = 1_092_961_325;
const JETS: u32 = 1_244_316_195;
const TAU_TRACKS: u32 = 1_306_133_771;
const ELECTRONS: u32 = 1_087_532_415;
const PHOTONS: u32 = 1_105_575_213;
const MUONS: u32 = 1_178_459_224;
const TAUS: u32 = 1_177_172_564;
const BTAGGING: u32 = 1_264_356_158;
const SEGMENTS: u32 = 1_129_401_482;
const FLOW_ELEMENTS: u32 = 1_158_384_067;

/// Containers of one class, or those that a link may lead to.
type Containers = &'static [(u32, &'static [&'static str])];

const ALL_TRUTH: Containers = &[(
    TRUTH,
    &[
        "TruthElectrons",
        "TruthMuons",
        "TruthPhotons",
        "TruthTaus",
        "TruthNeutrinos",
        "TruthBottom",
        "TruthTop",
        "TruthBoson",
        "TruthCharm",
        "TruthBosonsWithDecayParticles",
        "HardScatterParticles",
        "BornLeptons",
        "TruthForwardProtons",
        "TruthParticles",
    ],
)];
const ALL_TRUTH_VERTICES: Containers = &[(
    TRUTH_VERTICES,
    &[
        "TruthBosonsWithDecayVertices",
        "HardScatterVertices",
        "TruthVertices",
    ],
)];
const ALL_TRACKS: Containers = &[(
    TRACKS,
    &[
        "InDetTrackParticles",
        "GSFTrackParticles",
        "InDetForwardTrackParticles",
        "InDetLargeD0TrackParticles",
        "CombinedMuonTrackParticles",
        "ExtrapolatedMuonTrackParticles",
        "MSOnlyExtrapolatedMuonTrackParticles",
        "MuonSpectrometerTrackParticles",
    ],
)];
const INNER_TRACKS: Containers = &[(
    TRACKS,
    &[
        "InDetTrackParticles",
        "InDetForwardTrackParticles",
        "InDetLargeD0TrackParticles",
    ],
)];
const GSF_TRACKS: Containers = &[(TRACKS, &["GSFTrackParticles", "InDetTrackParticles"])];
const PARTICLES: Containers = &[
    (ELECTRONS, &["AnalysisElectrons"]),
    (PHOTONS, &["AnalysisPhotons"]),
    (MUONS, &["AnalysisMuons"]),
    (TAUS, &["AnalysisTauJets"]),
];
const CONSTITUENTS: Containers = &[(TRUTH, &["TruthParticles"]), (FLOW_ELEMENTS, &["UFOCSSK"])];

/// Links: the collection (`*`: any), the member without `Link` or `Links`, and the containers it may lead to.
const LINKS: &[(&str, &str, Containers)] = &[
    ("Electrons", "trackParticle", GSF_TRACKS),
    ("Photons", "trackParticle", GSF_TRACKS),
    ("GSFConversionVertices", "trackParticle", GSF_TRACKS),
    ("PrimaryVertices", "trackParticle", INNER_TRACKS),
    ("*", "trackParticle", ALL_TRACKS),
    ("*", "track", INNER_TRACKS),
    ("*", "inDetTrackParticle", INNER_TRACKS),
    (
        "*",
        "combinedTrackParticle",
        &[(TRACKS, &["CombinedMuonTrackParticles"])],
    ),
    (
        "*",
        "extrapolatedMuonSpectrometerTrackParticle",
        &[(TRACKS, &["ExtrapolatedMuonTrackParticles"])],
    ),
    (
        "*",
        "msOnlyExtrapolatedMuonSpectrometerTrackParticle",
        &[(TRACKS, &["MSOnlyExtrapolatedMuonTrackParticles"])],
    ),
    (
        "*",
        "muonSpectrometerTrackParticle",
        &[(TRACKS, &["MuonSpectrometerTrackParticles"])],
    ),
    ("*", "caloCluster", &[(CLUSTERS, &["egammaClusters"])]),
    (
        "Photons",
        "vertex",
        &[(VERTICES, &["GSFConversionVertices"])],
    ),
    ("*", "vertex", &[(VERTICES, &["PrimaryVertices"])]),
    ("*", "tauTrack", &[(TAU_TRACKS, &["TauTracks"])]),
    ("*", "jet", &[(JETS, &["AnalysisJets"])]),
    ("*", "truthJet", &[(JETS, &["AntiKt4TruthDressedWZJets"])]),
    ("*", "truthParticle", ALL_TRUTH),
    ("*", "Truth", ALL_TRUTH),
    ("*", "firstEgMotherTruthParticle", ALL_TRUTH),
    ("*", "parent", ALL_TRUTH),
    ("*", "child", ALL_TRUTH),
    ("*", "incomingParticle", ALL_TRUTH),
    ("*", "outgoingParticle", ALL_TRUTH),
    ("*", "prodVtx", ALL_TRUTH_VERTICES),
    ("*", "decayVtx", ALL_TRUTH_VERTICES),
    ("*", "object", PARTICLES),
    (
        "*",
        "btagging",
        &[(
            BTAGGING,
            &["BTagging_AntiKt4EMPFlow", "BTagging_AntiKt4EMTopo"],
        )],
    ),
    ("*", "constituent", CONSTITUENTS),
    (
        "*",
        "constituentCluster",
        &[(CLUSTERS, &["CaloCalTopoClusters"])],
    ),
    ("*", "cluster", &[(CLUSTERS, &["MuonClusterCollection"])]),
    ("*", "muonSegment", &[(SEGMENTS, &["MuonSegments"])]),
    (
        "*",
        "hardScatterVertex",
        &[(VERTICES, &["PrimaryVertices"])],
    ),
];

/// Links that lead to containers whose names others have here: the member without `Link`, and why it is not followed.
const UNFOLLOWED: &[(&str, &str)] = &[(
    "ambiguity",
    "leads to the containers Electrons and Photons, whose items need not be those of AnalysisElectrons and \
     AnalysisPhotons",
)];
const UNKNOWN: &str = "leads to a container that treemill's table of links lacks";

/// Names that do not follow from the links': collection (`*`: any), member, the link.
const NAMES: &[(&str, &str, &str)] = &[
    ("*", "children", "childLinks"),
    ("*", "truth", "TruthLink"),
    ("Muons", "trackParticle", "combinedTrackParticleLink"),
];

/// What the names of a collection's columns may begin with, before a member's name.
pub(crate) fn containers(collection: &str) -> impl Iterator<Item = String> {
    let around = CONTAINERS.iter();
    around.map(move |(before, after)| format!("{before}{collection}{after}"))
}

/// Whether a column is one of this format.
pub(crate) fn is_own(column: &str) -> bool {
    let container = column
        .split_once(['.', ':'])
        .map(|(container, _)| container);
    container.is_some_and(|name| name.ends_with("AuxDyn"))
}

/// The collection that a column is of, by the name that expressions use.
pub(crate) fn collection(column: &str) -> Option<&str> {
    is_own(column).then_some(())?;
    let (container, _) = column.split_once(['.', ':'])?;
    Some(plain(container))
}

/// The container that a column of links is of, without what follows its name.
pub(super) fn owner(column: &str) -> Option<&str> {
    let (container, member) = column.split_once(['.', ':'])?;
    member.contains("Link").then_some(stored(container)?)
}

/// What expressions may call the container that a column is of: its name, and those without what surrounds it.
pub(super) fn called(column: &str) -> Vec<String> {
    let container = column.split_once(['.', ':']).map(|(first, _)| first);
    let name = container.and_then(stored);
    let plain = name.and_then(|name| name.strip_prefix("Analysis"));
    let names = [container.filter(|_| name.is_some()), name, plain];
    names.into_iter().flatten().map(str::to_owned).collect()
}

/// A container's name without what follows it in the names of columns.
fn stored(container: &str) -> Option<&str> {
    let name = container.strip_suffix("AuxDyn");
    name.or_else(|| container.strip_suffix("Aux"))
}

/// The members of a column of links that is not split.
pub(super) fn within(column: &str) -> &'static [&'static str] {
    match column.ends_with("Link") || column.ends_with("Links") {
        true => &[INDEX, KEY],
        false => &[],
    }
}

/// What a collection's references may be called.
pub(super) fn names(collection: &str, columns: &dyn Columns) -> Vec<String> {
    let stems: Vec<String> = stems(collection).collect();
    let links = columns.names().filter_map(|column| {
        let link = column.strip_suffix(INDEX)?;
        let link = stems.iter().find_map(|stem| link.strip_prefix(stem))?;
        let several = link.strip_suffix("Links").map(|name| format!("{name}s"));
        several.or_else(|| link.strip_suffix("Link").map(str::to_owned))
    });
    let listed = NAMES.iter().map(|(_, name, _)| (*name).to_owned());
    links.chain(listed).collect()
}

/// What a member of a collection refers to.
pub(super) fn reference(
    collection: &str,
    member: &str,
    has: &dyn Fn(&str) -> bool,
) -> Option<Reference> {
    let (_, link) = link(collection, member, has)?;
    let plain = plain(collection);
    let single = single(&link)?;
    let (_, _, all) = LINKS
        .iter()
        .find(|(of, name, _)| (*of == "*" || *of == plain) && *name == single)?;
    let targets = all.iter().flat_map(|(class, names)| {
        names.iter().map(|name| Target {
            collection: (*name).to_owned(),
            key: key(name, *class),
        })
    });
    Some(Reference {
        indices: Indices::Member(format!("{link}{INDEX}")),
        key: Some(format!("{link}{KEY}")),
        targets: targets.collect(),
    })
}

/// Why a link that the collection has is not followed.
pub(super) fn unfollowed(
    collection: &str,
    member: &str,
    has: &dyn Fn(&str) -> bool,
) -> Option<String> {
    let (stem, link) = link(collection, member, has)?;
    let single = single(&link)?;
    let known = UNFOLLOWED.iter().find(|(name, _)| *name == single);
    let why = known.map_or(UNKNOWN, |(_, why)| *why);
    Some(format!(
        "{collection}.{member} is not followed: the ElementLink {stem}{link} {why}; its indices are \
         {collection}.{link}{INDEX}"
    ))
}

/// The column of links that a member stands for, and what precedes its name in the file.
fn link(collection: &str, member: &str, has: &dyn Fn(&str) -> bool) -> Option<(String, String)> {
    let plain = plain(collection);
    let named = NAMES
        .iter()
        .find(|(of, name, _)| (*of == "*" || *of == plain) && *name == member);
    let (link, links) = (format!("{member}Link"), member.strip_suffix('s'));
    let links = links.map(|single| format!("{single}Links"));
    let candidates = match named {
        Some((_, _, link)) => vec![(*link).to_owned()],
        None => std::iter::once(link).chain(links).collect(),
    };
    candidates.into_iter().find_map(|link| {
        let mut stems = stems(collection);
        let stem = stems.find(|stem| has(&format!("{stem}{link}{INDEX}")))?;
        Some((stem, link))
    })
}

/// The name of a link without `Link` or `Links`.
fn single(link: &str) -> Option<&str> {
    link.trim_end_matches('s').strip_suffix("Link")
}

/// `Electrons` of any of its longer names.
fn plain(collection: &str) -> &str {
    let name = collection.strip_prefix("Analysis").unwrap_or(collection);
    let name = name.strip_suffix("AuxDyn").unwrap_or(name);
    name.strip_suffix("Aux").unwrap_or(name)
}

/// What precedes the names of a collection's columns.
fn stems(collection: &str) -> impl Iterator<Item = String> {
    let itself = std::iter::once(format!("{collection}."));
    itself.chain(containers(collection))
}

/// The polynomial of the checksum, with its bits reversed.
const POLYNOMIAL: u64 = 0x95AC_9329_AC4B_C9B5;
/// The bits of a key.
const BITS: u64 = (1 << 30) - 1;

/// The key of a container: the last bits of the CRC-64 of its name and its class's number.
fn key(name: &str, class: u32) -> i64 {
    let class = class.to_le_bytes();
    let class = class
        .iter()
        .take(class.len() - class.iter().rev().take_while(|byte| **byte == 0).count());
    let bytes = name.as_bytes().iter().chain(class);
    let sum = bytes.fold(u64::MAX, |sum, byte| {
        (0..8).fold(sum ^ u64::from(*byte), |sum, _| match sum & 1 {
            1 => (sum >> 1) ^ POLYNOMIAL,
            _ => sum >> 1,
        })
    });
    (sum & BITS) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_real_files() {
        for (name, class, expected) in [
            ("TruthPhotons", TRUTH, 13_267_281),
            ("TruthElectrons", TRUTH, 394_100_163),
            ("GSFTrackParticles", TRACKS, 0x2E42_DB0B),
            ("InDetTrackParticles", TRACKS, 0x1D38_90DB),
            ("egammaClusters", CLUSTERS, 0x1578_8D1F),
            ("GSFConversionVertices", VERTICES, 0x1F3E_85C9),
            ("AnalysisJets", JETS, 0x1AFD_1919),
            ("AnalysisMuons", MUONS, 0x3A6B_126F),
            ("AnalysisElectrons", ELECTRONS, 0x3902_FEC0),
            ("AnalysisPhotons", PHOTONS, 0x35D1_472F),
            ("BTagging_AntiKt4EMPFlow", BTAGGING, 0x22B5_2F7B),
            ("MuonSegments", SEGMENTS, 0x025D_6C54),
            ("MuonClusterCollection", CLUSTERS, 0x2B99_A782),
            ("CaloCalTopoClusters", CLUSTERS, 0x39B4_4AB4),
            ("TruthParticles", TRUTH, 0x2784_318B),
            ("UFOCSSK", FLOW_ELEMENTS, 0x3DC9_0A28),
            ("PrimaryVertices", VERTICES, 0x37D1_4597),
        ] {
            assert_eq!(key(name, class), expected, "{name}");
        }
    }

    #[test]
    fn links_have_the_names_of_what_they_lead_to() {
        let columns = [
            "AnalysisElectronsAuxDyn.trackParticleLinks.m_persIndex",
            "AnalysisMuonsAuxDyn.combinedTrackParticleLink.m_persIndex",
            "TruthMuonsAuxDyn.childLinks.m_persIndex",
        ];
        let has = |name: &str| columns.contains(&name);
        let found = |collection, member| {
            let found = reference(collection, member, &has)?;
            let first = found.targets.into_iter().next()?;
            match found.indices {
                Indices::Member(index) => Some((index, first.collection)),
                _ => None,
            }
        };
        let expected =
            |index: &str, of: &str| Some((format!("{index}.m_persIndex"), of.to_owned()));
        let tracks = expected("trackParticleLinks", "GSFTrackParticles");
        assert_eq!(found("Electrons", "trackParticles"), tracks);
        assert_eq!(found("AnalysisElectronsAuxDyn", "trackParticles"), tracks);
        let track = expected("combinedTrackParticleLink", "CombinedMuonTrackParticles");
        assert_eq!(found("Muons", "combinedTrackParticle"), track);
        assert_eq!(found("Muons", "trackParticle"), track);
        let children = expected("childLinks", "TruthElectrons");
        assert_eq!(found("TruthMuons", "children"), children);
        assert_eq!(found("Electrons", "pt"), None);
        assert_eq!(found("Electrons", "caloClusters"), None);
    }
}
