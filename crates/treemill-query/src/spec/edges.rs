//! Edges as JSON has them: numbers, and for those beyond all numbers, which JSON does not have, the
//! words "inf" and "-inf".

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Edge {
    Number(f64),
    Word(Word),
}

#[derive(Serialize, Deserialize)]
enum Word {
    #[serde(rename = "inf")]
    Inf,
    #[serde(rename = "-inf")]
    MinusInf,
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
    let edges = Vec::<Edge>::deserialize(from)?;
    Ok(edges.into_iter().map(number).collect())
}

pub(super) fn serialize<S: Serializer>(edges: &[f64], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(edges.iter().map(|edge| match *edge {
        f64::INFINITY => Edge::Word(Word::Inf),
        f64::NEG_INFINITY => Edge::Word(Word::MinusInf),
        number => Edge::Number(number),
    }))
}

fn number(edge: Edge) -> f64 {
    match edge {
        Edge::Number(number) => number,
        Edge::Word(Word::Inf) => f64::INFINITY,
        Edge::Word(Word::MinusInf) => f64::NEG_INFINITY,
    }
}
