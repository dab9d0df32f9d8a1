//! A program that is not in an archive: the same JSON texts, and weights in the caller's memory.

use std::collections::HashMap;

use modelexport_graph::aten::{Program, WeightKind};
use modelexport_graph::{SourceId, Span};

use super::error::{Error, Problem};
use super::{branches, program, values, weights};
use crate::source::Sources;

/// What an archive would hold.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// Stands for the program in messages.
    pub name: &'a str,
    /// `models/<model>.json`.
    pub program: &'a [u8],
    /// `<model>_weights_config.json`.
    pub weights: &'a [u8],
    /// `<model>_constants_config.json`.
    pub constants: &'a [u8],
    /// Where the storages are that the configurations name as `path_name`.
    pub storages: &'a HashMap<String, SourceId>,
}

/// Names of the texts in messages.
const PROGRAM: &str = "program";
const WEIGHTS: &str = "weights";
const CONSTANTS: &str = "constants";

/// Reads a program whose storages are in `sources`.
pub fn read_parts(parts: Parts<'_>, sources: &Sources) -> Result<Program, Error> {
    let read = read(parts, sources).map(branches::placed);
    read.map_err(|problem| Error { path: parts.name.into(), problem: Box::new(problem) })
}

fn read(parts: Parts<'_>, sources: &Sources) -> Result<Program, Problem> {
    let mut shared = values::Interner::default();
    let mut weights = weights::Weights::default();
    let find = |storage: &str| {
        let source = parts.storages.get(storage).copied();
        Ok(source.and_then(|source| Some(Span { source, offset: 0, length: sources.len(source)? })))
    };
    let folders =
        [(WEIGHTS, parts.weights, WeightKind::Buffer), (CONSTANTS, parts.constants, WeightKind::Constant)];
    for (config, bytes, kind) in folders {
        let folder = weights::Folder { path: "", config, bytes, kind };
        weights.read_folder(&folder, &find, &mut shared)?;
    }
    program::read(PROGRAM, parts.program, weights, shared)
}
