//! Tags a model from file to file.

use std::path::{Path, PathBuf};
use std::time::Instant;

use modelexport_io::external_data::{self, Reason};
use modelexport_io::sidecar::{self, Fit, Statistics};
use serde::Serialize;

use super::{Choice, ForeignFile, StrategyTrial, candidates, describe, write};
use crate::Error;
use crate::diagnosis::{Diagnosis, diagnose};
use crate::embedding::Embed;
use crate::inputs::Inputs;
use crate::observer::Observer;
use crate::strategies::{Evidence, Strategy, evidence};
use crate::summary::{self, File};
use crate::tag_choice::TagChoice;
use crate::tags::Tags;
use crate::target::Target;

/// Tagging of an ONNX file that another program wrote. [`Tag::run`] does it.
///
/// ```
/// use modelexport::tag::Outcome;
/// use modelexport::{Export, Tag};
///
/// # let folder = tempfile::tempdir()?;
/// # let archive = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/bert_tiny/model.pt2");
/// # let (model, tagged) = (folder.path().join("bert.onnx"), folder.path().join("tagged.onnx"));
/// # Export::new(archive, &model).run(&mut ())?;
/// let mut tag = Tag::new(&model, &tagged);
/// tag.evidence = Some(archive.into());
/// match tag.run(&mut ())? {
///     Outcome::Tagged(summary) => println!("tagged by {}", summary.strategy),
///     Outcome::Refused(_) => println!("the archive is of another model"),
/// }
/// # assert!(tagged.exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tag {
    /// The ONNX file.
    pub file: PathBuf,
    /// The tagged file to write; may be the same.
    pub target: Target,
    /// What tells about the model: a trace, a `.pt2`, a sidecar or a tagged ONNX file. `None` for the file itself.
    pub evidence: Option<PathBuf>,
    /// The evidence is the tagged file, or its sidecar, that `file` was made from.
    pub is_made_from_evidence: bool,
    /// How to find the modules; `None` for the strategy that places most nodes.
    pub strategy: Option<Strategy>,
    /// Write although the evidence does not fit, with low confidence.
    pub force: bool,
    /// What is written into the nodes.
    pub embed: Embed,
    /// Which modules show in tags, and how.
    pub tags: TagChoice,
}

/// What [`Tag::run`] came to.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The file was written.
    Tagged(Box<Summary>),
    /// The evidence does not fit; nothing was written.
    Refused(Box<Refusal>),
}

/// What tagging did.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Always true; a [`Refusal`] says false.
    pub tagged: bool,
    /// The ONNX file.
    pub source: String,
    /// The file that told the modules; absent if that was the source itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// The name of the [`EvidenceFormat`](evidence::EvidenceFormat).
    pub evidence_kind: &'static str,
    /// The strategy that was used.
    pub strategy: String,
    /// What each strategy placed that was tried.
    pub tried: Vec<StrategyTrial>,
    /// How well evidence and graph fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit: Option<Fit>,
    /// The model first, then what is beside it.
    pub files: Vec<File>,
    /// The statistics of the sidecar.
    pub statistics: Statistics,
    /// How much of the model its tags tell.
    pub diagnosis: Diagnosis,
    /// How long each step took.
    pub seconds: Seconds,
}

/// How long the steps of tagging took.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Seconds {
    /// Reading the evidence and the file.
    pub read: f64,
    /// Assigning nodes to modules.
    pub tag: f64,
    /// Writing the files.
    pub write: f64,
    /// All of it.
    pub total: f64,
}

/// Evidence that does not fit the graph.
#[derive(Clone, Debug, Serialize)]
pub struct Refusal {
    /// Always false.
    pub tagged: bool,
    /// The ONNX file.
    pub source: String,
    /// The file that told the modules; absent if that was the source itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// The name of the [`EvidenceFormat`](evidence::EvidenceFormat).
    pub evidence_kind: &'static str,
    /// The strategy that came nearest.
    pub strategy: &'static str,
    /// What does not fit.
    pub fit: Fit,
}

impl Tag {
    /// Tagging of a file that is its own evidence, with all defaults.
    pub fn new(file: impl Into<PathBuf>, output: impl Into<PathBuf>) -> Self {
        Tag {
            file: file.into(),
            target: Target::new(output),
            evidence: None,
            is_made_from_evidence: false,
            strategy: None,
            force: false,
            embed: Embed::default(),
            tags: TagChoice::default(),
        }
    }

    /// Reads, assigns nodes to modules and writes. After an error or a refusal nothing is written.
    pub fn run(&self, observer: &mut dyn Observer) -> Result<Outcome, Error> {
        self.write(observer).map_err(|error| error.about(self.evidence.as_deref().unwrap_or(&self.file)))
    }

    fn write(&self, observer: &mut dyn Observer) -> Result<Outcome, Error> {
        let began = Instant::now();
        let mut inputs = Inputs::in_place();
        inputs.add_model(&self.file);
        inputs.add_rules(self.tags.rules.as_deref());
        self.evidence.iter().for_each(|path| inputs.add_evidence(path, &[]));
        let transaction = self.target.begin_with_sidecar(&inputs)?;
        // Evidence is large while it is read and small afterwards, so it is read before the model.
        let (mut file, mut evidence) = match &self.evidence {
            Some(path) => {
                let evidence = evidence::load(path)?;
                (ForeignFile::open(&self.file)?, evidence)
            }
            None => open_as_evidence(&self.file)?,
        };
        inputs.add_data(&self.file, file.data_locations());
        self.evidence.iter().for_each(|path| inputs.add_evidence(path, &evidence.data_locations));
        let candidates = self.candidates(&evidence);
        let is_failure = |problem: &mut external_data::Error| matches!(problem.reason, Reason::Open(_));
        if let Some(error) = file.data_problem.take_if(is_failure) {
            return Err(Error::ExternalData { path: self.file.clone(), error: Box::new(error) });
        }
        if let Some(problem) = &file.data_problem {
            observer.detail(&format!("{problem}; parameters are known by their names only"));
        }
        let read = began.elapsed();

        let (policy, tag_format) = self.tags.resolve(evidence.policy.as_ref())?;
        let Choice { strategy, mut fit, tried } = file.attribute(&evidence, &candidates, &policy)?;
        let source = self.file.display().to_string();
        let evidence_path = self.evidence.as_ref().map(|path| path.display().to_string());
        let evidence_kind = evidence.format.name();
        if !fit.is_enough() {
            if !self.force {
                let strategy = strategy.name();
                let evidence = evidence_path;
                let refusal = Refusal { tagged: false, source, evidence, evidence_kind, strategy, fit };
                return Ok(Outcome::Refused(Box::new(refusal)));
            }
            fit.forced = true;
            file.doubt();
        }
        let tags = match &evidence.tags_only {
            Some(tags) => tags.clone(),
            None => Tags::new(&evidence.modules, &policy, tag_format),
        };
        evidence.keep_modules();
        let mut sidecar = describe(&file, &evidence, &tags, self.embed, strategy);
        sidecar.statistics.fit = Some(fit);
        let attributed = began.elapsed();

        let files = write(transaction, &inputs, &file, &evidence, &tags, self.embed, &mut sidecar)?;
        let total = began.elapsed();
        let diagnosis = diagnose(&sidecar);
        Ok(Outcome::Tagged(Box::new(Summary {
            tagged: true,
            source,
            evidence: evidence_path,
            evidence_kind,
            strategy: sidecar.strategy,
            tried,
            fit: sidecar.statistics.fit.take(),
            files: summary::files(&files),
            statistics: sidecar.statistics,
            diagnosis,
            seconds: Seconds {
                read: read.as_secs_f64(),
                tag: (attributed - read).as_secs_f64(),
                write: (total - attributed).as_secs_f64(),
                total: total.as_secs_f64(),
            },
        })))
    }

    /// The strategy that was asked for, else those of which the one is taken that places most nodes.
    fn candidates(&self, evidence: &Evidence) -> Vec<Strategy> {
        match self.strategy {
            Some(strategy) => vec![strategy],
            None if self.evidence.is_none() => vec![Strategy::EnhancedSemantic],
            None if self.is_made_from_evidence && Strategy::Retag.is_allowed_by(evidence) => {
                vec![Strategy::Retag]
            }
            None => candidates(evidence),
        }
    }
}

/// Opens a file that is its own evidence, together with the sidecar beside it.
fn open_as_evidence(path: &Path) -> Result<(ForeignFile, Evidence), Error> {
    let beside = sidecar::path_beside(path);
    let sidecar = match sidecar::read(&beside) {
        Ok(sidecar) => Some(sidecar),
        Err(error) if error.is_not_found() => None,
        Err(error) => return Err(error.into()),
    };
    let (file, evidence) = ForeignFile::open_as_evidence(path, sidecar)?;
    let evidence = evidence.ok_or(Error::NoHierarchy { path: path.to_owned(), sidecar: beside })?;
    Ok((file, evidence))
}
