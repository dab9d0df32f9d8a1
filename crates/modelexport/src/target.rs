//! Where the result of an operation is written.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use modelexport_io::output::{Settings, Transaction};
use modelexport_io::{sidecar, source};

use crate::Error;

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

    /// Begins the output. Operations call this first, so that a target that cannot be written is reported before the
    /// work is done.
    pub(crate) fn begin(&self) -> Result<Transaction, Error> {
        let settings = Settings { overwrite: self.overwrite, ..Settings::default() };
        let mut transaction = Transaction::begin(&self.path, settings)?;
        if let Some(flag) = &self.cancel {
            transaction.stop_on(flag.clone());
        }
        Ok(transaction)
    }

    /// The same for a result that has a sidecar.
    pub(crate) fn begin_with_sidecar(&self) -> Result<Transaction, Error> {
        let transaction = self.begin()?;
        self.check_sidecar(&transaction)?;
        Ok(transaction)
    }

    /// Checks that the sidecar may be written.
    pub(crate) fn check_sidecar(&self, transaction: &Transaction) -> Result<(), Error> {
        Ok(transaction.check(&sidecar::path_beside(&self.path))?)
    }
}

/// Refuses outputs that are the file `source`, by whatever path or link.
pub(crate) fn check_outputs(source: &Path, outputs: &[&Path], command: &'static str) -> Result<(), Error> {
    match outputs.iter().find(|output| source::is_same_file(source, output)) {
        None => Ok(()),
        Some(output) => {
            Err(Error::OwnSource { output: output.to_path_buf(), model: source.to_owned(), command })
        }
    }
}
