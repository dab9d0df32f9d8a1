//! Writes a model with its weights, its sidecar and further files, all or nothing. Every operation that produces a model
//! uses it.

use std::path::PathBuf;

use modelexport_graph::onnx::Model;
use modelexport_io::output::{CommittedFile, Role, Transaction};
use modelexport_io::sidecar::{self, Sidecar};
use modelexport_io::source::Sources;
use modelexport_io::weights::{self, ConcurrentWork, WeightsMode, Written};

use crate::Error;
use crate::inputs::{Inputs, Outputs};
use crate::observer::Observer;
use crate::sidecar_file;
use crate::tagger::NodeTexts;

/// What is to be written.
#[derive(Default)]
pub(crate) struct ModelFiles<'a> {
    pub model: Model,
    pub sidecar: Option<Sidecar>,
    /// Tags that model and sidecar do not hold: they are made while both are written. A node's texts are longer than
    /// the node, so this takes much less memory.
    pub texts: Option<NodeTexts<'a>>,
    /// Further files and their contents.
    pub companions: Vec<(PathBuf, Vec<u8>)>,
    /// Where a copy of the sidecar's text goes.
    pub sidecar_copy: Option<&'a mut Vec<u8>>,
}

/// What [`write()`] wrote.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    pub weights: Written,
    /// The model first, then its data file and what lies beside them.
    pub files: Vec<CommittedFile>,
}

/// Writes all files or none, and none of `inputs`. `transaction` was begun before the work.
pub(crate) fn write(
    mut transaction: Transaction,
    files: ModelFiles<'_>,
    inputs: &Inputs,
    sources: &Sources,
    mode: WeightsMode,
    observer: &mut dyn Observer,
) -> Result<Files, Error> {
    let ModelFiles { model, sidecar, texts, companions, sidecar_copy } = files;
    let output = sidecar.is_some().then(|| sidecar_file::create(&mut transaction)).transpose()?;
    let mut written = None;
    let texts = texts.as_ref();
    let beside = |model: &Model| {
        let (Some(sidecar), Some(output)) = (&sidecar, output) else { return };
        written = Some(sidecar_file::write(output, sidecar_copy, |text| match texts {
            Some(texts) => sidecar.write_with_nodes(text, &mut |take| texts.sidecar_lines(model, take)),
            None => sidecar.write(text),
        }));
    };
    let work = ConcurrentWork { texts: texts.map(|texts| texts as _), beside: Box::new(beside) };
    let mut progress = |done| observer.progress(done);
    let weights = weights::stage_while(&mut transaction, model, Some(work), sources, mode, &mut progress)
        .map_err(|error| Error::from(error).about(transaction.model()))?;
    if let Some(sidecar) = written {
        transaction.stage(sidecar?)?;
    }
    for (path, bytes) in &companions {
        let mut output = transaction.create(path, Role::Companion)?;
        output.write_all(bytes)?;
        transaction.stage(output)?;
    }
    let beside = sidecar.is_some().then(|| sidecar::path_beside(transaction.model()));
    inputs.check(&Outputs {
        model: transaction.model(),
        sidecar: beside.as_deref(),
        data: weights.data.as_ref().map(|(path, _)| path.as_path()),
        others: companions.iter().map(|(path, _)| path.as_path()).collect(),
    })?;
    Ok(Files { weights, files: commit(transaction)? })
}

/// Puts all files in place. The model comes first, then its data file.
pub(crate) fn commit(transaction: Transaction) -> Result<Vec<CommittedFile>, Error> {
    let mut files = transaction.commit()?;
    files.sort_by_key(|file| match file.role {
        Role::Model => 0,
        Role::Data => 1,
        _ => 2,
    });
    Ok(files)
}
