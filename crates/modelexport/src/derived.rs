//! Writing a model that was made from another file: its weights lie where those of that file lie.

use std::path::{Path, PathBuf};

use modelexport_graph::onnx::Model;
use modelexport_io::external_data;
use modelexport_io::output::{Role, Transaction};
use modelexport_io::sidecar::Sidecar;
use modelexport_io::source;
use modelexport_io::weights::{self, WeightsMode};

use crate::Error;
use crate::export::{Files, model_first};
use crate::folders::{folder_of, is_beside};
use crate::sidecar_file;
use crate::tagged_file::TaggedFile;

/// A model made from another, with what is written beside it.
#[derive(Debug)]
pub struct Derived {
    pub model: Model,
    pub sidecar: Option<Sidecar>,
    /// Further files and their contents.
    pub companions: Vec<(PathBuf, Vec<u8>)>,
    /// Weights in data files stay there if the new model is written beside them and no mode is asked for.
    pub keeps_data_files: bool,
}

/// Refuses outputs that are the file `source`, by whatever path or link.
pub fn check_outputs(source: &Path, outputs: &[&Path], command: &'static str) -> Result<(), Error> {
    match outputs.iter().find(|output| source::is_same_file(source, output)) {
        None => Ok(()),
        Some(output) => {
            Err(Error::OwnSource { output: output.to_path_buf(), model: source.to_owned(), command })
        }
    }
}

/// Writes all files or none. `began` was begun before the work, so that a target that may not be written is known then.
pub fn write(
    began: Transaction,
    derived: Derived,
    file: &mut TaggedFile,
    mode: WeightsMode,
    progress: &mut dyn FnMut(weights::Progress),
) -> Result<Files, Error> {
    let mut transaction = began;
    let Derived { mut model, sidecar, companions, keeps_data_files } = derived;
    if let Some(sidecar) = sidecar {
        sidecar_file::stage(&mut transaction, &sidecar)?;
    }
    for (path, bytes) in companions {
        let mut output = transaction.create(&path, Role::Companion)?;
        output.write_all(&bytes)?;
        transaction.stage(output)?;
    }
    let folder = folder_of(&file.path);
    let stays = keeps_data_files && mode == WeightsMode::Auto && is_beside(&file.path, transaction.model());
    let found = match stays {
        true => external_data::check(&mut model, folder),
        false => external_data::resolve(&mut model, folder, &mut file.sources).map(|_| ()),
    };
    found.map_err(|error| Error::ExternalData { path: file.path.clone(), error: Box::new(error) })?;
    let weights = weights::stage(&mut transaction, model, &file.sources, mode, progress)?;
    Ok(Files { weights, files: model_first(transaction.commit()?) })
}
