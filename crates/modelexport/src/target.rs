//! Where the result of an operation is written.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use modelexport_io::output::{Settings, Transaction};
use modelexport_io::{sidecar, weights};

use crate::Error;
use crate::inputs::{Inputs, Outputs};

/// The ONNX file to write. Its data file and its sidecar are written beside it.
///
/// ```
/// use modelexport::{Export, Target};
///
/// # let folder = tempfile::tempdir()?;
/// # let archive = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/bert_tiny/model.pt2");
/// # let output = folder.path().join("bert.onnx");
/// # Export::new(archive, &output).run(&mut ())?;
/// let mut export = Export::new(archive, &output);
/// export.target = Target::new(output).overwrite(true);
/// export.run(&mut ())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Target {
    /// The ONNX file.
    pub path: PathBuf,
    /// Replace files that exist.
    pub overwrite: bool,
    /// Writing fails, and the old files stay, once this is set.
    pub cancel: Option<Arc<AtomicBool>>,
}

impl Target {
    /// A file that must not exist yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Target { path: path.into(), overwrite: false, cancel: None }
    }

    /// The same, but existing files are replaced if `overwrite` is set.
    #[must_use]
    pub fn overwrite(self, overwrite: bool) -> Self {
        Target { overwrite, ..self }
    }

    /// Refuses a target for which the export of a live model would replace one of `files`, which the model is made of.
    pub fn check_live<'p>(&self, files: impl IntoIterator<Item = &'p PathBuf>) -> Result<(), Error> {
        let mut inputs = Inputs::default();
        files.into_iter().for_each(|path| inputs.add_live(path));
        let (sidecar, data) = (sidecar::path_beside(&self.path), weights::data_beside(&self.path));
        let data = Some(data.as_path());
        inputs.check(&Outputs { data, ..Outputs::of(&self.path, Some(&sidecar)) })
    }

    /// Begins the output. Operations call this first, so that a target that cannot be written is reported before the
    /// work is done.
    pub(crate) fn begin(&self, inputs: &Inputs) -> Result<Transaction, Error> {
        inputs.check(&Outputs::of(&self.path, None))?;
        let settings = Settings { overwrite: self.overwrite, ..Settings::default() };
        let mut transaction = Transaction::begin(&self.path, settings)?;
        if let Some(flag) = &self.cancel {
            transaction.stop_on(flag.clone());
        }
        Ok(transaction)
    }

    /// The same for a result that has a sidecar.
    pub(crate) fn begin_with_sidecar(&self, inputs: &Inputs) -> Result<Transaction, Error> {
        inputs.check(&Outputs::of(&self.path, Some(&sidecar::path_beside(&self.path))))?;
        let transaction = self.begin(inputs)?;
        self.check_sidecar(&transaction)?;
        Ok(transaction)
    }

    /// Checks that the sidecar may be written.
    pub(crate) fn check_sidecar(&self, transaction: &Transaction) -> Result<(), Error> {
        Ok(transaction.check(&sidecar::path_beside(&self.path))?)
    }
}
