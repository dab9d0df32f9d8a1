//! Extracts a module from file to file.

use std::path::PathBuf;

use modelexport_io::weights::WeightsMode;
use serde::Serialize;

use super::{Extracted, Manifest, Options, extract};
use crate::Error;
use crate::derived::{self, Derived};
use crate::inputs::Inputs;
use crate::observer::{Observer, Step};
use crate::summary::{self, File, Weights};
use crate::tagged_file::TaggedFile;
use crate::target::Target;
use crate::tensors::external_locations;

/// An extraction: which modules of which file, and where to. [`Extract::run`] does it.
#[derive(Clone, Debug)]
pub struct Extract {
    /// The tagged ONNX file.
    pub file: PathBuf,
    /// The modules, as a selector such as `encoder.layer.*`.
    pub selector: String,
    /// The ONNX file to write.
    pub target: Target,
    /// What is chosen about the cut.
    pub options: Options,
    /// Where the weights go.
    pub weights: WeightsMode,
    /// Where the list of boundary values is written as JSON.
    pub manifest: Option<PathBuf>,
}

/// What [`Extract::run`] did.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The model first, then what is beside it.
    pub files: Vec<File>,
    /// Where the weights are.
    pub weights: Weights,
    /// What was cut out.
    pub manifest: Manifest,
}

impl Extract {
    /// The extraction of what `selector` chooses, with all defaults.
    ///
    /// ```
    /// use modelexport::{Export, Extract};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let (model, layer) = (folder.path().join("bert.onnx"), folder.path().join("layer.onnx"));
    /// # let archive = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/bert_tiny/model.pt2");
    /// Export::new(archive, &model).run(&mut ())?;
    /// let summary = Extract::new(&model, "encoder.layer.0", &layer).run(&mut ())?;
    /// println!("{} inputs", summary.manifest.inputs.len());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(file: impl Into<PathBuf>, selector: impl Into<String>, output: impl Into<PathBuf>) -> Self {
        Extract {
            file: file.into(),
            selector: selector.into(),
            target: Target::new(output),
            options: Options::default(),
            weights: WeightsMode::default(),
            manifest: None,
        }
    }

    /// Reads, cuts and writes. After an error nothing is written.
    pub fn run(&self, observer: &mut dyn Observer) -> Result<Summary, Error> {
        self.write(observer).map_err(|error| error.about(&self.file))
    }

    fn write(&self, observer: &mut dyn Observer) -> Result<Summary, Error> {
        let mut inputs = Inputs::default();
        inputs.add_model(&self.file);
        let transaction = self.target.begin(&inputs)?;
        if let Some(path) = &self.manifest {
            transaction.check(path)?;
        }
        observer.step(Step::Read, &self.file);
        let mut file = TaggedFile::open(&self.file)?;
        inputs.add_data(&self.file, &external_locations(&file.model));
        derived::warn_of_sidecar(&file, observer);
        if file.sidecar.is_some() {
            self.target.check_sidecar(&transaction)?;
        }
        let modules = file.select(&self.selector)?;
        let Extracted { model, sidecar, manifest } = extract(&file, &modules, &self.options)?;

        observer.step(Step::Write, &self.target.path);
        let mut companions = Vec::new();
        if let Some(path) = &self.manifest {
            companions.push((path.clone(), manifest.to_json(path)?));
        }
        let derived = Derived { model, sidecar, companions, keeps_data_files: false };
        let written = derived::write(transaction, derived, &inputs, &mut file, self.weights, observer)?;
        Ok(Summary { files: summary::files(&written.files), weights: (&written.weights).into(), manifest })
    }
}
