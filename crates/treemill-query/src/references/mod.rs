//! References from objects to others, as experiments' formats write them: which members of which collection
//! are references, and in which columns their indices are. Each format is a table of its own. Pure: these
//! files know names of columns, and neither data nor expressions.

use crate::spec::Format;
use std::collections::{BTreeSet, HashSet};

mod delphes;
mod nanoaod;
pub(crate) mod physlite;
mod podio;

/// A reference: where its indices are, and the collections that they may count in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reference {
    /// How many there are, and where.
    pub indices: Indices,
    /// The member that tells the collection, by its key.
    pub key: Option<String>,
    /// The collections, those first that are more likely meant.
    pub targets: Vec<Target>,
}

/// A collection that a reference may lead to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    /// The collection's name.
    pub collection: String,
    /// What stands for it in files.
    pub key: i64,
}

impl Reference {
    /// A reference into one collection, which has no key.
    fn into(collection: String, indices: Indices) -> Self {
        let key = 0;
        Self {
            indices,
            key: None,
            targets: vec![Target { collection, key }],
        }
    }
}

/// Where a reference's indices are, as names of members beside it. A negative index refers to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Indices {
    /// One index.
    Member(String),
    /// An index in each of these members: always as many references.
    Members(Vec<String>),
    /// One index in a column of its own, with an item for each object. So is the key.
    Column(String),
    /// The indices in a column of its own, from the place that one member says to before the one that another
    /// says. So are the keys.
    Range {
        begin: String,
        end: String,
        column: String,
    },
    /// The other way round: this member of the target's items is the index of the object that refers.
    Reverse(Ancestry),
    /// The ancestor that an item has by its mothers' indices.
    Ancestor(Ancestry),
    /// This member has no indices, but numbers: those of the targets' member of the second name.
    Numbers { member: String, of: &'static str },
}

impl Indices {
    /// The members that they are in, or that say where they are.
    pub fn members(&self) -> Vec<&str> {
        match self {
            Self::Member(name) | Self::Numbers { member: name, .. } => vec![name],
            Self::Reverse(ancestry) | Self::Ancestor(ancestry) => vec![&ancestry.mother],
            Self::Members(names) => names.iter().map(String::as_str).collect(),
            Self::Range { begin, end, .. } => vec![begin, end],
            Self::Column(_) => Vec::new(),
        }
    }

    /// Where they are, for messages about the collection's references.
    pub fn in_words(&self, collection: &str) -> String {
        let names = match self {
            Self::Column(name) | Self::Range { column: name, .. } => name.clone(),
            _ => {
                let names = self.members().into_iter();
                let names = names.map(|name| format!("{collection}.{name}"));
                names.collect::<Vec<_>>().join(" and ")
            }
        };
        format!("its indices are {names}")
    }
}

/// How mothers are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ancestry {
    /// The member with a mother's index.
    pub mother: String,
    /// The member whose value mothers must not share, if those that do are passed over.
    pub distinct: Option<String>,
}

/// The columns that there are.
pub(crate) trait Columns {
    /// Whether there is one of this name.
    fn has(&self, name: &str) -> bool;
    /// All their names.
    fn names(&self) -> Box<dyn Iterator<Item = &str> + '_>;
    /// The names before the dots of those that have this name after it.
    fn with_member(&self, member: &str) -> Vec<String> {
        let names = self.names();
        let names = names.filter_map(|name| name.strip_suffix(member)?.strip_suffix('.'));
        names.map(str::to_owned).collect()
    }
    /// Whether references of this format are followed.
    fn follows(&self, format: Format) -> bool;
    /// What a table in the file says that stands for the collection.
    fn id(&self, collection: &str) -> Option<i64>;
    /// What class the file says that the collection's items are of.
    fn class(&self, collection: &str) -> Class<'_>;
}

/// The class of a collection's items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class<'a> {
    /// Only names are known: it may be any.
    Any,
    /// Its name; empty if the file does not say it.
    Named(&'a str),
}

/// The collections that members of these names may refer to, whichever collection of these columns has them.
#[must_use]
pub fn referred(columns: &[String], members: &[String]) -> BTreeSet<String> {
    let within: Vec<String> = columns.iter().flat_map(|name| within(name)).collect();
    let columns = || columns.iter().chain(&within).map(String::as_str);
    let known = Names(columns().collect());
    let owners: BTreeSet<&str> = columns().filter_map(owner).collect();
    let found = owners.iter().flat_map(|owner| {
        let all = members.iter();
        all.filter_map(|member| reference(owner, member, &known))
    });
    let targets = found.flat_map(|reference| reference.targets);
    targets.map(|target| target.collection).collect()
}

/// What expressions may call the collection that a column is of, where that does not follow from the rules for
/// all columns.
#[must_use]
pub fn called(column: &str) -> Vec<String> {
    physlite::called(column)
}

/// The members of a column that references are known by, if its values are records: lists of columns do not have
/// these members.
fn within(column: &str) -> impl Iterator<Item = String> {
    let ends = physlite::within(column).iter();
    let ends = ends.chain(delphes::within(column));
    ends.map(move |end| format!("{column}{end}"))
}

/// The collection that a column is of, if it is one of those that references are known by.
fn owner(column: &str) -> Option<&str> {
    nanoaod::owner(column)
        .or_else(|| physlite::owner(column))
        .or_else(|| podio::owner(column))
        .or_else(|| delphes::owner(column))
}

/// Columns of which only the names are known.
struct Names<'a>(HashSet<&'a str>);

impl Columns for Names<'_> {
    fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    fn names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(self.0.iter().copied())
    }

    fn follows(&self, _format: Format) -> bool {
        true
    }

    fn id(&self, _collection: &str) -> Option<i64> {
        Some(0)
    }

    fn class(&self, _collection: &str) -> Class<'_> {
        Class::Any
    }
}

/// What a member of a collection refers to; `None` if it is no reference.
pub(crate) fn reference(
    collection: &str,
    member: &str,
    columns: &dyn Columns,
) -> Option<Reference> {
    let has = |name: &str| columns.has(name);
    let found = |format: Format| match format {
        _ if !columns.follows(format) => None,
        Format::Nanoaod => nanoaod::reference(collection, member, &has),
        Format::Physlite => physlite::reference(collection, member, &has),
        Format::Podio => podio::reference(collection, member, columns),
        Format::Delphes => delphes::reference(collection, member, columns),
    };
    FORMATS.iter().copied().find_map(found)
}

/// The references of a collection, by their names; those that have several come first with their own.
pub(crate) fn all(collection: &str, columns: &dyn Columns) -> Vec<(String, Reference)> {
    let candidates = FORMATS.iter().flat_map(|format| match format {
        Format::Nanoaod => nanoaod::names(collection, columns),
        Format::Physlite => physlite::names(collection, columns),
        Format::Podio => podio::names(collection, columns),
        Format::Delphes => delphes::names(),
    });
    let mut known = HashSet::new();
    let candidates = candidates.filter(|name| known.insert(name.clone()));
    let found = candidates.filter_map(|name| {
        let reference = reference(collection, &name, columns)?;
        Some((name, reference))
    });
    found.collect()
}

/// Why a member that the file does have as a reference is not followed; `None` if it has no such one.
pub(crate) fn unfollowed(collection: &str, member: &str, columns: &dyn Columns) -> Option<String> {
    let has = |name: &str| columns.has(name);
    let is_followed = columns.follows(Format::Physlite);
    is_followed.then(|| physlite::unfollowed(collection, member, &has))?
}

const FORMATS: [Format; 4] = [
    Format::Nanoaod,
    Format::Physlite,
    Format::Podio,
    Format::Delphes,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn found(columns: &[&str], members: &[&str]) -> Vec<String> {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let (columns, members): (Vec<String>, Vec<String>) = (owned(columns), owned(members));
        referred(&columns, &members).into_iter().collect()
    }

    #[test]
    fn every_format_tells_what_members_may_refer_to() {
        let nano = [
            "Muon_jetIdx",
            "Jet_muonIdx1",
            "Jet_pt",
            "GenPart_genPartIdxMother",
        ];
        assert_eq!(found(&nano, &["jet", "pt"]), ["Jet"]);
        assert_eq!(found(&nano, &["muons", "parent"]), ["GenPart", "Muon"]);
        assert!(found(&nano, &["pt", "genPart"]).is_empty());
        assert_eq!(found(&["Muon.jetIdx", "Jet.pt"], &["jet"]), ["Jet"]);
        let link = "AnalysisMuonsAuxDyn.inDetTrackParticleLink";
        let lite = [format!("{link}.m_persIndex"), format!("{link}.m_persKey")];
        let lite = [lite[0].as_str(), lite[1].as_str()];
        assert!(found(&lite, &["inDetTrackParticle"]).contains(&"InDetTrackParticles".to_owned()));
        let podio = [
            "_Reco_tracks.index",
            "_Reco_tracks.collectionID",
            "Reco.tracks_begin",
        ];
        let podio = [&podio[..], &["Tracks.ndf", "Tracks.trackStates_begin"]].concat();
        assert_eq!(found(&podio, &["tracks"]), ["Tracks"]);
        let old = [
            "Reco#1.collectionID",
            "Reco.goodnessOfPID",
            "Reco.tracks_begin",
        ];
        let old = [&old[..], &["Tracks.ndf", "Tracks.trackStates_begin"]].concat();
        assert_eq!(found(&old, &["tracks"]), ["Tracks"]);
        let delphes = ["Muon.Particle.ref", "Particle.fUniqueID", "Particle.M1"];
        assert_eq!(found(&delphes, &["Particle"]), ["Particle"]);
    }

    #[test]
    fn columns_of_records_are_references_without_their_members() {
        let lite = ["AnalysisElectronsAuxDyn.trackParticleLinks"];
        let tracks = ["GSFTrackParticles", "InDetTrackParticles"];
        assert_eq!(found(&lite, &["trackParticles"]), tracks);
        let tracks = ["Track.Particle", "Track.fUniqueID", "Track.Eta"];
        let delphes = [&tracks[..], &["Jet.Constituents", "Jet.fUniqueID"]].concat();
        let delphes = [&delphes[..], &["Particle.fUniqueID", "Particle.M1"]].concat();
        assert_eq!(found(&delphes, &["Particle"]), ["Particle"]);
        assert_eq!(found(&delphes, &["Constituents"]), ["Particle", "Track"]);
        assert!(found(&delphes, &["Eta"]).is_empty());
    }

    #[test]
    fn collections_have_shorter_names() {
        let names = ["AnalysisJetsAuxDyn", "AnalysisJets", "Jets"];
        assert_eq!(called("AnalysisJetsAuxDyn.pt"), names);
        assert_eq!(called("AnalysisJetsAuxDyn:pt"), names);
        assert_eq!(called("xAODAux.m"), ["xAODAux", "xAOD"]);
        assert!(called("Jet_pt").is_empty() && called("Jet.pt").is_empty());
    }

    #[test]
    fn every_format_tells_the_names_of_a_collection_s_references() {
        let names = |collection: &str, columns: &[&str]| -> Vec<String> {
            let columns = Names(columns.iter().copied().collect());
            let found = all(collection, &columns).into_iter();
            found.map(|(name, _)| name).collect()
        };
        assert_eq!(names("Muon", &["Muon_jetIdx"]), ["jet", "matched_jet"]);
        let jet = ["Jet.muonIdx1", "Jet.muonIdx2"];
        assert_eq!(names("Jet", &jet), ["muons", "matched_muons"]);
        let particles = names("GenPart", &["GenPart_genPartIdxMother"]);
        let family = ["parent", "distinctParent", "children", "distinctChildren"];
        assert_eq!(particles, family);
        let link = "AnalysisMuonsAuxDyn.combinedTrackParticleLink.m_persIndex";
        let links = ["combinedTrackParticle", "trackParticle"];
        assert_eq!(names("Muons", &[link]), links);
        let links = ["AnalysisMuonsAuxDyn:clusterLinks.m_persIndex"];
        assert_eq!(names("Muons", &links), ["clusters"]);
        let relation = ["_Reco_tracks.index", "_Reco_tracks.collectionID"];
        assert_eq!(names("Reco", &relation), ["tracks"]);
        assert_eq!(names("Jet", &["Jet.Constituents.refs"]), ["Constituents"]);
        assert!(names("Jet", &["Jet.PT", "Jet_pt"]).is_empty());
    }
}
