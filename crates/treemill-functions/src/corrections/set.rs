//! A document: corrections and compounds by their names.

use crate::corrections::correction::Correction;
use crate::corrections::json::{self, Json};
use crate::corrections::reading;
use crate::error::LoadError;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The version of the schema that is read.
const VERSION: i32 = 2;

/// Corrections by name.
#[derive(Debug, Clone, PartialEq)]
pub struct CorrectionSet {
    description: String,
    corrections: BTreeMap<String, Arc<Correction>>,
    compounds: BTreeMap<String, Arc<Correction>>,
}

impl CorrectionSet {
    /// Reads a document of schema version 2, as text that is not compressed.
    ///
    /// # Errors
    /// For anything else.
    pub fn parse(text: &[u8]) -> Result<Self, LoadError> {
        let json = json::parse(text)?;
        if !matches!(json, Json::Object(_)) {
            return Err(LoadError::new("Expected CorrectionSet object"));
        }
        let version = json.int("schema_version")?;
        if version != VERSION {
            let side = if version > VERSION {
                "forward"
            } else {
                "backward"
            };
            return Err(LoadError::new(format!(
                "Evaluator is designed for schema v{VERSION} and is not {side}-compatible: the document has v{version}"
            )));
        }
        let description = json.optional("description", Json::as_text)?.unwrap_or("");
        let mut corrections = BTreeMap::new();
        for item in json.list("corrections")? {
            let made = reading::correction(item)?;
            let name = made.name.clone();
            if corrections.insert(name.clone(), Arc::new(made)).is_some() {
                return Err(LoadError::new(format!("Duplicate Correction name: {name}")));
            }
        }
        let mut compounds = BTreeMap::new();
        let listed = json.optional("compound_corrections", Json::as_list)?;
        for item in listed.unwrap_or_default() {
            let made = reading::compound(item, &corrections)?;
            let name = made.name.clone();
            if compounds.insert(name.clone(), Arc::new(made)).is_some() {
                let message = format!("Duplicate CompoundCorrection name: {name}");
                return Err(LoadError::new(message));
            }
        }
        Ok(Self {
            description: description.to_owned(),
            corrections,
            compounds,
        })
    }

    /// What the document is, in its author's words.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The corrections by name.
    #[must_use]
    pub fn corrections(&self) -> &BTreeMap<String, Arc<Correction>> {
        &self.corrections
    }

    /// The compounds by name.
    #[must_use]
    pub fn compounds(&self) -> &BTreeMap<String, Arc<Correction>> {
        &self.compounds
    }
}
