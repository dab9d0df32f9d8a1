//! Converts modules to functions, and back, from file to file.

use std::path::PathBuf;

use modelexport_io::weights::WeightsMode;
use serde::Serialize;

use super::{Inlined, Modules, Options, Report, convert, inline, sidecar_for};
use crate::Error;
use crate::derived::{self, Derived};
use crate::inputs::Inputs;
use crate::observer::{Observer, Step};
use crate::summary::{self, File, Weights};
use crate::tagged_file::TaggedFile;
use crate::target::Target;
use crate::tensors::external_locations;

/// Which way modules are converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Modules become functions.
    ToFunctions(Modules),
    /// Functions that modelexport made become nodes again.
    Inline,
}

/// A conversion of modules to functions, or back. [`Functions::run`] does it.
///
/// ```
/// use modelexport::functions::{Direction, Modules};
/// use modelexport::{Export, Functions};
///
/// # let folder = tempfile::tempdir()?;
/// # let archive = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/bert_tiny/model.pt2");
/// # let (model, output) = (folder.path().join("bert.onnx"), folder.path().join("functions.onnx"));
/// # Export::new(archive, &model).run(&mut ())?;
/// let direction = Direction::ToFunctions(Modules::Selected("encoder.layer.*".to_owned()));
/// let summary = Functions::new(&model, direction, &output).run(&mut ())?;
/// println!("{} files", summary.files.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Functions {
    /// The tagged ONNX file.
    pub file: PathBuf,
    /// What is converted.
    pub direction: Direction,
    /// The ONNX file to write.
    pub target: Target,
    /// What is chosen about the functions.
    pub options: Options,
    /// Where the weights go.
    pub weights: WeightsMode,
}

/// What became of the modules.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Outcome {
    /// Modules became functions.
    Converted(Report),
    /// Functions became nodes.
    Inlined(Inlined),
}

/// What [`Functions::run`] did.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The model first, then what is beside it.
    pub files: Vec<File>,
    /// Where the weights are.
    pub weights: Weights,
    /// Bytes of the file that was read.
    pub bytes_before: u64,
    /// What became of the modules.
    #[serde(flatten)]
    pub outcome: Outcome,
}

impl Functions {
    /// The conversion of a file with all defaults.
    pub fn new(file: impl Into<PathBuf>, direction: Direction, output: impl Into<PathBuf>) -> Self {
        Functions {
            file: file.into(),
            direction,
            target: Target::new(output),
            options: Options::default(),
            weights: WeightsMode::default(),
        }
    }

    /// Reads, converts and writes. After an error nothing is written.
    pub fn run(&self, observer: &mut dyn Observer) -> Result<Summary, Error> {
        self.write(observer).map_err(|error| error.about(&self.file))
    }

    fn write(&self, observer: &mut dyn Observer) -> Result<Summary, Error> {
        let mut inputs = Inputs::default();
        inputs.add_model(&self.file);
        let transaction = self.target.begin(&inputs)?;
        observer.step(Step::Read, &self.file);
        let mut file = match self.direction {
            Direction::Inline => TaggedFile::open_any(&self.file)?,
            Direction::ToFunctions(_) => TaggedFile::open(&self.file)?,
        };
        inputs.add_data(&self.file, &external_locations(&file.model));
        derived::warn_of_sidecar(&file, observer);
        if file.sidecar.is_some() {
            self.target.check_sidecar(&transaction)?;
        }
        let (mut model, outcome) = match &self.direction {
            Direction::Inline => {
                let mut model = std::mem::take(&mut file.model);
                let inlined = inline(&mut model)?;
                (model, Outcome::Inlined(inlined))
            }
            Direction::ToFunctions(modules) => {
                let converted = convert(&file, &modules.of(&file)?, &self.options)?;
                (converted.model, Outcome::Converted(converted.report))
            }
        };

        observer.step(Step::Write, &self.target.path);
        let sidecar = sidecar_for(&mut model, &file);
        let derived = Derived { model, sidecar, companions: Vec::new(), keeps_data_files: true };
        let written = derived::write(transaction, derived, &inputs, &mut file, self.weights, observer)?;
        Ok(Summary {
            files: summary::files(&written.files),
            weights: (&written.weights).into(),
            bytes_before: std::fs::metadata(&self.file).map_or(0, |found| found.len()),
            outcome,
        })
    }
}
