//! Functions in a model that was just exported, before it is written.

use std::path::Path;

use modelexport_graph::ModuleId;

use super::sidecar::sidecar_after;
use super::{Options, convert};
use crate::Error;
use crate::export::Exported;
use crate::tagged_file::TaggedFile;

/// Which modules become functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Modules {
    /// All but the root.
    All,
    /// Those that a selector chooses.
    Selected(String),
}

/// Makes functions of `modules`. `path` is where the model will be.
pub fn convert_exported(exported: Exported, modules: &Modules, path: &Path) -> Result<Exported, Error> {
    let Exported { model, sidecar } = exported;
    let file = TaggedFile::of_export(model, &sidecar, path);
    let tree = &file.hierarchy.tree;
    let chosen: Vec<ModuleId> = match modules {
        Modules::All => tree.iter().map(|(id, _)| id).filter(|id| *id != ModuleId::ROOT).collect(),
        Modules::Selected(selector) => file.select(selector)?,
    };
    let mut model = convert(&file, &chosen, &Options::default())?.model;
    let sidecar = sidecar_after(&mut model, &sidecar, &file.tags);
    Ok(Exported { model, sidecar })
}
