//! Writes a model that was made from another file, with references to the weights of that file.

use std::path::PathBuf;

use modelexport_graph::onnx::Model;
use modelexport_io::external_data;
use modelexport_io::output::Transaction;
use modelexport_io::sidecar::Sidecar;
use modelexport_io::weights::WeightsMode;

use crate::Error;
use crate::folders::{folder_of, is_beside};
use crate::inputs::{Inputs, Outputs};
use crate::model_files::{self, Files, ModelFiles};
use crate::observer::Observer;
use crate::tagged_file::TaggedFile;

/// A model made from another, with what is written beside it.
pub(crate) struct Derived {
    pub model: Model,
    pub sidecar: Option<Sidecar>,
    /// Further files and their contents.
    pub companions: Vec<(PathBuf, Vec<u8>)>,
    /// Weights in data files stay there if the new model is written beside them and no mode is asked for.
    pub keeps_data_files: bool,
}

/// Writes all files or none. `transaction` was begun before the work.
pub(crate) fn write(
    transaction: Transaction,
    derived: Derived,
    inputs: &Inputs,
    file: &mut TaggedFile,
    mode: WeightsMode,
    observer: &mut dyn Observer,
) -> Result<Files, Error> {
    inputs.check(&Outputs::of(transaction.model(), None))?;
    let Derived { mut model, sidecar, companions, keeps_data_files } = derived;
    let folder = folder_of(&file.path);
    let stays = keeps_data_files && mode == WeightsMode::Auto && is_beside(&file.path, transaction.model());
    let found = match stays {
        true => external_data::check(&mut model, folder),
        false => external_data::resolve(&mut model, folder, &mut file.sources).map(|_| ()),
    };
    found.map_err(|error| Error::ExternalData { path: file.path.clone(), error: Box::new(error) })?;
    let files = ModelFiles { model, sidecar, companions, ..ModelFiles::default() };
    model_files::write(transaction, files, inputs, &file.sources, mode, observer)
}

/// Reports a sidecar that cannot be read, and goes on without it.
pub(crate) fn warn_of_sidecar(file: &TaggedFile, observer: &mut dyn Observer) {
    if let Some(problem) = &file.sidecar_problem {
        observer.warning(&format!("{problem}; the sidecar is left aside"));
    }
}
