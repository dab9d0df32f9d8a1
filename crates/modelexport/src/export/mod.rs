//! Native export from end to end: a captured program becomes a tagged ONNX file with its sidecar.

mod lowered;
mod summary;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use modelexport_graph::aten::Program;
use modelexport_graph::onnx::Model;
use modelexport_io::source::Sources;
use modelexport_io::weights::WeightsMode;
use modelexport_io::{pt2, sidecar};
use modelexport_lower::{DEFAULT_OPSET, Fuse, Options as LowerOptions};

use crate::diagnosis::diagnose;
use crate::embedding::Embed;
use crate::functions::{self, Modules};
use crate::inputs::Inputs;
use crate::model_files::{self, ModelFiles};
use crate::observer::{Observer, Step};
use crate::tag_choice::TagChoice;
use crate::target::Target;
use crate::{Error, interface, weights_from};

pub(crate) use lowered::{Lowered, Options, lower, source_of};
pub use summary::{ConstantOutput, Seconds, Summary};

/// What is exported.
pub enum Source<'a> {
    /// An archive that `torch.export.save` wrote.
    Archive(PathBuf),
    /// A program in memory.
    Memory {
        /// The JSON texts of an archive.
        parts: pt2::Parts<'a>,
        /// Where its weights are.
        sources: Sources,
        /// Names of one and the same weight.
        tied: &'a [Vec<String>],
    },
}

/// An export: what is exported, where to, and what a user can choose. [`Export::run`] does it.
pub struct Export<'a> {
    /// The captured program.
    pub source: Source<'a>,
    /// The ONNX file to write.
    pub target: Target,
    /// The ONNX opset to produce, one of [`modelexport_lower::OPSETS`].
    pub opset: i64,
    /// Where the weights go.
    pub weights: WeightsMode,
    /// Safetensors files that hold the weights of a program that was captured without them.
    pub weights_from: Option<PathBuf>,
    /// What is written into the nodes.
    pub embed: Embed,
    /// Which modules show in tags, and how.
    pub tags: TagChoice,
    /// Write the stack traces of the capture, which name local files.
    pub source_info: bool,
    /// Leave batch normalisation as nodes of its own.
    pub keep_batch_norm: bool,
    /// Which patterns of nodes become one node.
    pub fuse: Fuse,
    /// Names for the first inputs.
    pub input_names: Vec<String>,
    /// Names for the first outputs.
    pub output_names: Vec<String>,
    /// Names for dynamic dimensions: `INPUT:AXIS=NAME` or `SYMBOL=NAME`.
    pub dimension_names: Vec<String>,
    /// The modules that become ONNX local functions.
    pub functions: Option<Modules>,
    /// Torch was asked to decompose unsupported operators: why it did not, by operator.
    pub not_decomposed: Option<BTreeMap<String, String>>,
    /// The result holds the sidecar's text, too.
    pub returns_sidecar: bool,
}

/// What [`Export::run`] did.
#[derive(Debug)]
pub struct Exported {
    /// For people and for programs.
    pub summary: Summary,
    /// The text of the sidecar, if [`Export::returns_sidecar`] is set.
    pub sidecar: Vec<u8>,
}

impl<'a> Export<'a> {
    /// The export of an archive with all defaults.
    ///
    /// ```
    /// use modelexport::Export;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let output = folder.path().join("bert.onnx");
    /// # let archive = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/bert_tiny/model.pt2");
    /// let exported = Export::new(archive, output).run(&mut ())?;
    /// println!("{} nodes", exported.summary.statistics.nodes);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(archive: impl Into<PathBuf>, output: impl Into<PathBuf>) -> Self {
        Export::of(Source::Archive(archive.into()), Target::new(output))
    }

    /// The export of `source` with all defaults.
    pub fn of(source: Source<'a>, target: Target) -> Self {
        Export {
            source,
            target,
            opset: DEFAULT_OPSET,
            weights: WeightsMode::default(),
            weights_from: None,
            embed: Embed::default(),
            tags: TagChoice::default(),
            source_info: false,
            keep_batch_norm: false,
            fuse: Fuse::default(),
            input_names: Vec::new(),
            output_names: Vec::new(),
            dimension_names: Vec::new(),
            functions: None,
            not_decomposed: None,
            returns_sidecar: false,
        }
    }

    /// Reads, lowers, tags and writes. After an error nothing is written.
    pub fn run(self, observer: &mut dyn Observer) -> Result<Exported, Error> {
        let name = self.source.name().to_owned();
        self.write(&name, observer).map_err(|error| error.about(&name))
    }

    fn write(self, name: &Path, observer: &mut dyn Observer) -> Result<Exported, Error> {
        let began = Instant::now();
        let mut inputs = Inputs::default();
        if let Source::Archive(path) = &self.source {
            check_archive(path, &self.target.path)?;
            inputs.add_program(path);
        }
        inputs.add_rules(self.tags.rules.as_deref());
        let (policy, tag_format) = self.tags.resolve(None)?;
        let transaction = self.target.begin_with_sidecar(&inputs)?;

        observer.step(Step::Read, name);
        let Captured { mut program, mut sources, tied, source } = self.source.read()?;
        let mut weights = self.weights;
        if let Some(folder) = &self.weights_from {
            let attached = weights_from::attach(&mut program, folder, tied, &mut sources)?;
            attached.notes().for_each(|note| observer.warning(&note));
            inputs.add_weights(folder, &sources);
            weights = weights.of_files();
        }
        let dimension_names = interface::dimension_names(&self.dimension_names, &program)?;
        interface::rename_inputs(&mut program, &self.input_names)?;
        interface::rename_outputs(&mut program, &self.output_names)?;
        let constant_outputs = summary::constant_outputs(&program);
        let read = began.elapsed();

        observer.step(Step::Lower, name);
        let options = Options {
            lower: LowerOptions {
                opset: self.opset,
                weights_can_move: weights != WeightsMode::Reference,
                fold_batch_norm: !self.keep_batch_norm && weights.are_copied(),
                fuse: self.fuse,
                fold_parameters: weights.are_copied(),
                dimension_names,
                custom_operators: policy.rules().operators.clone(),
                not_decomposed: self.not_decomposed,
                keep_graph: self.source_info,
                ..LowerOptions::default()
            },
            policy,
            tag_format,
            embed: self.embed,
            source_info: self.source_info,
        };
        let Lowered { mut model, mut sidecar, context } = lower(program, &sources, source, &options)
            .map_err(|error| Error::Export { path: name.to_owned(), error })?;
        observer.step(Step::Tag, name);
        check_data(&model, weights)?;
        let mut texts = Some(context.texts());
        if let Some(modules) = &self.functions {
            // Functions are made of nodes that carry their tags.
            context.embed(&mut model, &mut sidecar);
            (model, sidecar) = functions::convert_exported(model, &sidecar, modules, &self.target.path)?;
            texts = None;
        }
        let (statistics, diagnosis) = (sidecar.statistics.clone(), diagnose(&sidecar));
        let mut sidecar_copy = Vec::new();
        let files = ModelFiles {
            model,
            sidecar: Some(sidecar),
            texts,
            companions: Vec::new(),
            sidecar_copy: self.returns_sidecar.then_some(&mut sidecar_copy),
        };
        let tagged = began.elapsed();

        observer.step(Step::Write, &self.target.path);
        let written = model_files::write(transaction, files, &inputs, &sources, weights, observer)?;
        let total = began.elapsed();
        let seconds = Seconds {
            read: read.as_secs_f64(),
            lower: (tagged - read).as_secs_f64(),
            write: (total - tagged).as_secs_f64(),
            total: total.as_secs_f64(),
        };
        let summary = Summary {
            exported: true,
            source: name.display().to_string(),
            opset: self.opset,
            files: crate::summary::files(&written.files),
            weights: (&written.weights).into(),
            constant_outputs,
            statistics,
            diagnosis,
            seconds,
        };
        Ok(Exported { summary, sidecar: sidecar_copy })
    }
}

/// A program that was read.
struct Captured<'a> {
    program: Program,
    sources: Sources,
    tied: &'a [Vec<String>],
    source: sidecar::Source,
}

impl<'a> Source<'a> {
    /// What it is called in messages.
    fn name(&self) -> &Path {
        match self {
            Source::Archive(path) => path,
            Source::Memory { parts, .. } => Path::new(parts.name),
        }
    }

    fn read(self) -> Result<Captured<'a>, Error> {
        match self {
            Source::Archive(path) => {
                let pt2::Archive { program, sources, .. } = pt2::read(&path)?;
                let source = source_of(&path, &program);
                Ok(Captured { program, sources, tied: &[], source })
            }
            Source::Memory { parts, sources, tied } => {
                let program = pt2::read_parts(parts, &sources)?;
                let torch_version = Some(program.torch_version.clone());
                let source = sidecar::Source { kind: "module".to_owned(), file: None, torch_version };
                Ok(Captured { program, sources, tied, source })
            }
        }
    }
}

/// Refuses a source that needs no export.
fn check_archive(source: &Path, output: &Path) -> Result<(), Error> {
    let is_onnx = source.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("onnx"));
    match is_onnx && source.is_file() {
        true => Err(Error::OnnxSource { path: source.to_owned(), output: output.to_owned() }),
        false => Ok(()),
    }
}

/// Weights of a program that was captured without them can only be left out.
fn check_data(model: &Model, mode: WeightsMode) -> Result<(), Error> {
    if mode == WeightsMode::None {
        return Ok(());
    }
    let initializers = model.graph.initializers.iter();
    let missing: Vec<&str> =
        initializers.filter(|tensor| tensor.lacks_data()).map(|tensor| &*tensor.name).collect();
    match missing.first() {
        None => Ok(()),
        Some(first) => Err(Error::NoData { count: missing.len(), first: (*first).to_owned() }),
    }
}
