"""References between objects of EDM4hep, FCC and PHYSLITE in expressions, beside coffea's schemas:
of real files (tests/files), event by event."""

from pathlib import Path

import awkward as ak
import numpy as np
import pytest
import treemill as tm

nanoevents = pytest.importorskip("coffea.nanoevents", reason="coffea is not installed")

FILES = Path(__file__).parents[1] / "files"
# Names that coffea's own tests leave out, too.
NO_MAPS = {"filter_name": "/^(?!.*(PARAMETERS|_.*Map))/"}


def related(column, name, target, member):
    """A relation as coffea's schema of EDM4hep maps it."""
    return lambda events: events[column].Map_Relation(name, target)[member]


def linked(column, end, target, member):
    """An end of a link, by the numbers that coffea's schema makes."""

    def find(events):
        numbers = events[column][f"Link_{end}_{target}"]["index_Global"]
        return events[target]._apply_global_index(numbers)[member]

    return find


RECOS, MC, TRACKS = "ReconstructedParticleCollection", "MCParticleCollection", "TrackCollection"
EDM4HEP = {
    f"{RECOS}.tracks.chi2": related(RECOS, "tracks", TRACKS, "chi2"),
    f"{RECOS}.clusters.energy": related(RECOS, "clusters", "ClusterCollection", "E"),
    f"{RECOS}.particles.mass": related(RECOS, "particles", RECOS, "mass"),
    f"{RECOS}.decayVertex.chi2": related(RECOS, "decayVertex", "VertexCollection", "chi2"),
    f"{MC}.daughters.PDG": related(MC, "daughters", MC, "PDG"),
    f"{MC}.parents.PDG": related(MC, "parents", MC, "PDG"),
    "ParticleIDCollection.particle.mass": related(
        "ParticleIDCollection", "particle", RECOS, "mass"
    ),
    "RecDqdxCollection.track.ndf": related("RecDqdxCollection", "track", TRACKS, "ndf"),
    "SimTrackerHitCollection.particle.PDG": related(
        "SimTrackerHitCollection", "particle", MC, "PDG"
    ),
    "SimCalorimeterHitCollection.contributions.PDG": related(
        "SimCalorimeterHitCollection", "contributions", "CaloHitContributionCollection", "PDG"
    ),
    "CaloHitContributionCollection.particle.PDG": related(
        "CaloHitContributionCollection", "particle", MC, "PDG"
    ),
    "ClusterCollection.hits.energy": related(
        "ClusterCollection", "hits", "CalorimeterHitCollection", "E"
    ),
    "ClusterCollection.clusters.energy": related(
        "ClusterCollection", "clusters", "ClusterCollection", "E"
    ),
    "VertexCollection.particles.mass": related("VertexCollection", "particles", RECOS, "mass"),
    f"{TRACKS}.tracks.ndf": related(TRACKS, "tracks", TRACKS, "ndf"),
    "RecoMCParticleLinkCollection.from.mass": linked(
        "RecoMCParticleLinkCollection", "from", RECOS, "mass"
    ),
    "RecoMCParticleLinkCollection.to.PDG": linked("RecoMCParticleLinkCollection", "to", MC, "PDG"),
    "TrackMCParticleLinkCollection.from.ndf": linked(
        "TrackMCParticleLinkCollection", "from", TRACKS, "ndf"
    ),
    "ClusterMCParticleLinkCollection.from.energy": linked(
        "ClusterMCParticleLinkCollection", "from", "ClusterCollection", "E"
    ),
    "VertexRecoParticleLinkCollection.from.chi2": linked(
        "VertexRecoParticleLinkCollection", "from", "VertexCollection", "chi2"
    ),
    "CaloHitSimCaloHitLinkCollection.to.energy": linked(
        "CaloHitSimCaloHitLinkCollection", "to", "SimCalorimeterHitCollection", "E"
    ),
    "TrackerHitSimTrackerHitLinkCollection.to.time": linked(
        "TrackerHitSimTrackerHitLinkCollection", "to", "SimTrackerHitCollection", "time"
    ),
}

FCC = {
    "Particle.daughters.PDG": related("Particle", "daughters", "Particle", "PDG"),
    "Particle.parents.PDG": related("Particle", "parents", "Particle", "PDG"),
    "ReconstructedParticles.tracks.chi2": related(
        "ReconstructedParticles", "tracks", "EFlowTrack", "chi2"
    ),
    "Jet.particles.mass": related("Jet", "particles", "ReconstructedParticles", "mass"),
    "EFlowTrack_dNdx.track.ndf": related("EFlowTrack_dNdx", "track", "EFlowTrack", "ndf"),
    "EFlowPhoton.hits.energy": related("EFlowPhoton", "hits", "CalorimeterHits", "E"),
    "EFlowNeutralHadron.hits.energy": related("EFlowNeutralHadron", "hits", "CalorimeterHits", "E"),
    "MCRecoAssociations.from.mass": linked(
        "MCRecoAssociations", "from", "ReconstructedParticles", "mass"
    ),
    "MCRecoAssociations.to.PDG": linked("MCRecoAssociations", "to", "Particle", "PDG"),
}

NUMBERED = {
    "Particle.daughters.PDG": lambda e: e.Particle.get_daughters.PDG,
    "Particle.parents.PDG": lambda e: e.Particle.get_parents.PDG,
    "MCRecoAssociations.sim.PDG": lambda e: e.Particle[e.MCRecoAssociations.mc.index].PDG,
    "MCRecoAssociations.rec.mass": lambda e: (
        e.ReconstructedParticles[e.MCRecoAssociations.reco.index].mass
    ),
}

INDET = 0x1D3890DB  # the key of the container InDetTrackParticles
PHYSLITE = {
    "Electrons.trackParticles.z0": lambda e: e.Electrons.trackParticles.z0,
    # An electron that is missing has no tracks.
    "Electrons.trackParticles[0].phi": lambda e: ak.fill_none(
        ak.firsts(e.Electrons.trackParticles.phi), [], axis=0
    ),
    "[e.trackParticles[0].z0 for e in Electrons]": lambda e: e.Electrons.trackParticle.z0,
    "Electrons.caloClusters.calE": lambda e: e.Electrons.caloClusters.calE,
    "Muons.trackParticle.d0": lambda e: e.Muons.trackParticle.d0,
    # coffea takes every key for that of InDetTrackParticles; one muon's is of forward tracks.
    "Muons.inDetTrackParticle.d0": lambda e: ak.mask(
        e.Muons.inDetTrackParticle.d0, e.Muons.inDetTrackParticleLink.m_persKey == INDET
    ),
    "Muons.extrapolatedMuonSpectrometerTrackParticle.d0": lambda e: (
        e.Muons.extrapolatedMuonSpectrometerTrackParticle.d0
    ),
}


def as_lists(values):
    return ak.to_list(ak.values_astype(values, np.float64))


def both(name, tree, schema, **options):
    """A file's dataset and coffea's events of it."""
    path = str(FILES / name)
    factory = nanoevents.NanoEventsFactory.from_root(
        {path: tree}, schemaclass=schema, mode="eager", iteritems_options=options
    )
    return tm.dataset(path, tree=tree), factory.events()


def compared(events, theirs, references, least):
    """Each reference is coffea's, and is not empty: `least` objects are found."""
    found = events.arrays({text: text for text in references})
    for text, reference in references.items():
        assert as_lists(found[text]) == as_lists(reference(theirs)), text
        assert ak.count(found[text]) >= least, text


@pytest.mark.slow
def test_edm4hep():
    schema = nanoevents.EDM4HEPSchema.version("00.99.02")
    compared(*both("edm4hep.root", "events", schema, **NO_MAPS), EDM4HEP, 3)


@pytest.mark.slow
def test_fcc():
    schema = nanoevents.FCC.get_schema(version="latest")
    compared(*both("fcc_edm4hep.root", "events", schema, **NO_MAPS), FCC, 40)


@pytest.mark.slow
def test_fcc_with_numbered_relations():
    schema = nanoevents.FCC.get_schema(version="pre-edm4hep1")
    compared(*both("fcc_spring2021.root", "events", schema), NUMBERED, 100)


def test_physlite():
    compared(
        *both("physlite.root", "CollectionTree", nanoevents.PHYSLITESchema, filter_name="*AuxDyn*"),
        PHYSLITE,
        4,
    )
