//! Converts modules of a newly exported model to functions, before it is written.

use std::path::Path;

use modelexport_graph::ModuleId;
use modelexport_graph::onnx::Model;
use modelexport_io::sidecar::Sidecar;

use super::sidecar::sidecar_after;
use super::{Options, convert};
use crate::Error;
use crate::tagged_file::TaggedFile;

/// Which modules become functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Modules {
    /// All but the root.
    All,
    /// Those that a selector chooses.
    Selected(String),
}

impl Modules {
    /// The modules of `file` that are chosen, in the order of the tree.
    pub(crate) fn of(&self, file: &TaggedFile) -> Result<Vec<ModuleId>, Error> {
        let all = file.hierarchy.tree.iter().map(|(id, _)| id);
        match self {
            Modules::All => Ok(all.filter(|id| *id != ModuleId::ROOT).collect()),
            Modules::Selected(selector) => file.select(selector),
        }
    }
}

/// Makes functions of `modules` in a tagged model. `path` is where the model will be.
pub(crate) fn convert_exported(
    model: Model,
    sidecar: &Sidecar,
    modules: &Modules,
    path: &Path,
) -> Result<(Model, Sidecar), Error> {
    let file = TaggedFile::of_export(model, sidecar, path);
    let mut model = convert(&file, &modules.of(&file)?, &Options::default())?.model;
    let sidecar = sidecar_after(&mut model, sidecar, &file.tags);
    Ok((model, sidecar))
}
