use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use modelexport::Export;
use modelexport::export::Source;
use modelexport_graph::SourceId;
use modelexport_io::pt2::Parts;
use modelexport_io::source::Sources;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::export;
use crate::mutate::{self, json};
use crate::{Target, Verdict, seeds};

pub static TARGET: Target = Target {
    name: "program_json_exports_or_is_refused",
    property: "The JSON of a program gives a valid model, twice the same, or an error that names it and leaves no file.",
    seeds: || seeds::archives().iter().filter_map(|archive| texts(&archive.0)).collect(),
    mutate: |input, random| mutate::formatted(input, random, json::mutate),
    check,
};

/// The three JSON texts of an archive in one, each behind its name.
#[derive(Deserialize)]
struct Texts<'a> {
    #[serde(borrow)]
    program: &'a RawValue,
    weights: &'a RawValue,
    constants: &'a RawValue,
}

fn texts(entries: &[(String, Vec<u8>)]) -> Option<Vec<u8>> {
    let text = |ending: &str| {
        let (_, content) = entries.iter().find(|(name, _)| name.ends_with(ending))?;
        std::str::from_utf8(content).ok()
    };
    let program = text("models/model.json")?;
    let weights = text("model_weights_config.json")?;
    let constants = text("model_constants_config.json")?;
    Some(format!(r#"{{"program":{program},"weights":{weights},"constants":{constants}}}"#).into_bytes())
}

fn check(input: &[u8]) -> Verdict {
    let Ok(texts) = serde_json::from_slice::<Texts>(input) else { return Verdict::Refused };
    let (sources, storages) = storages();
    let parts = Parts {
        name: "program.json",
        program: texts.program.get().as_bytes(),
        weights: texts.weights.get().as_bytes(),
        constants: texts.constants.get().as_bytes(),
        storages,
    };
    // Any opset, but always the same for the same input.
    let opsets = modelexport_lower::OPSETS;
    let opset = opsets.start() + (input.len() as i64) % (opsets.end() - opsets.start() + 1);
    export::check("program.json", |target| {
        let source = Source::Memory { parts, sources: sources.clone(), tied: &[] };
        Export { opset, ..Export::of(source, target) }
    })
}

/// Storages for all weights that a small program names.
fn storages() -> &'static (Sources, HashMap<String, SourceId>) {
    static STORAGES: OnceLock<(Sources, HashMap<String, SourceId>)> = OnceLock::new();
    STORAGES.get_or_init(|| {
        let mut sources = Sources::new();
        let bytes: Vec<u8> = (0..16_384u32).flat_map(|i| (i as f32).to_le_bytes()).collect();
        let id = sources.add_memory("storage", Arc::new(bytes));
        let names = (0..64).flat_map(|i| [format!("weight_{i}"), format!("tensor_{i}")]);
        let storages = names.map(|name| (name, id)).collect();
        (sources, storages)
    })
}
