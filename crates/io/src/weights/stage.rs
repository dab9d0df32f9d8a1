//! Stages a model and its weights in a transaction.

use std::path::{Component, Path};
use std::sync::mpsc;

use modelexport_graph::StridedView;
use modelexport_graph::onnx::{Model, TensorData};

use super::data_file::DataFile;
use super::omit::omit;
use super::placing::{mode_for, place};
use super::reference::References;
use super::scaled;
use super::{Counts, Error, Progress, WeightsMode, Written};
use crate::onnx::limits::MAX_MESSAGE;
use crate::onnx::{Chunk, Encoding, NodeTexts};
use crate::output::{Role, Transaction};
use crate::source::Sources;
use crate::stream::{self, Streamer};
use crate::tensors::for_each_tensor_mut;

/// Pieces of a model that may wait to be written.
const WAITING_CHUNKS: usize = 2;

/// Stages the model for which `transaction` was begun, and its data file if there is one.
pub fn stage(
    transaction: &mut Transaction,
    model: Model,
    sources: &Sources,
    mode: WeightsMode,
    progress: &mut dyn FnMut(Progress),
) -> Result<Written, Error> {
    stage_while(transaction, model, None, sources, mode, progress)
}

/// What is done while a model is written.
pub struct ConcurrentWork<'t> {
    /// Makes the texts of its nodes, unless they carry them.
    pub texts: Option<&'t dyn NodeTexts>,
    /// Something else that needs the model. Not done if the model cannot be written.
    pub beside: Box<dyn FnOnce(&Model) + Send + 't>,
}

/// The same for a model of which more is made while it is written.
pub fn stage_while(
    transaction: &mut Transaction,
    mut model: Model,
    while_writing: Option<ConcurrentWork<'_>>,
    sources: &Sources,
    mode: WeightsMode,
    progress: &mut dyn FnMut(Progress),
) -> Result<Written, Error> {
    let (texts, beside) = match while_writing {
        Some(ConcurrentWork { texts, beside }) => (texts, Some(beside)),
        None => (None, None),
    };
    let scaled = scaled::resolve(&mut model, sources);
    let sources = scaled.as_ref().unwrap_or(sources);
    let mode = mode_for(&mut model, mode);
    let mut counts = Counts::default();
    if mode == WeightsMode::None {
        omit(&mut model, &mut counts);
    }
    let mut data_file = DataFile::beside(transaction);
    let names = Names::of(&mut model);
    let unresolved = find_unresolved(&mut model, &data_file.location);
    let mut references = References::new(sources, transaction.model());
    place(&mut model, mode, &mut data_file, &mut references, &mut counts)?;
    counts.shared = data_file.shared;
    references.check_targets(&[transaction.model()])?;
    if !data_file.is_empty() {
        data_file.check_name()?;
        references.check_targets(&[&data_file.path])?;
        if let Some(tensor) = unresolved {
            return Err(Error::Unresolved { tensor, location: data_file.location });
        }
    }
    let mut encoding = Encoding::new(&model, texts)?;
    let model_length = encoding.total();
    if model_length > MAX_MESSAGE {
        let (bytes, limit) = (model_length, MAX_MESSAGE);
        return Err(match mode {
            WeightsMode::Embed => Error::TooLarge { bytes, limit },
            _ => Error::GraphTooLarge { bytes, limit },
        });
    }

    let total = data_file.len() + model_length;
    let mut done = 0;
    let mut report = |bytes: u64| {
        done += bytes;
        progress(Progress { done, total });
    };
    let mut streamer = Streamer::new(sources, &mut report);
    let mut data = None;
    if !data_file.is_empty() {
        let mut output = transaction.create(&data_file.path, Role::Data)?;
        output.reserve(data_file.len())?;
        data_file
            .write(&mut output, &mut streamer)
            .and_then(|()| streamer.finish())
            .map_err(|failure| names.locate(failure.view.as_ref(), failure.error))?;
        data = Some((data_file.path.clone(), output.position()));
        if transaction.needs_bridge() {
            let alias = output.temporary_name().to_str();
            let alias = alias.ok_or_else(|| Error::NotUtf8 { path: data_file.path.clone() })?.to_string();
            rename_location(&mut model, &data_file.location, &alias);
            write_bridge(transaction, &model, texts, &names, sources)?;
            rename_location(&mut model, &alias, &data_file.location);
            encoding = Encoding::new(&model, texts)?;
        }
        transaction.stage(output)?;
    }
    let model_bytes = std::thread::scope(|threads| {
        if let Some(beside) = beside {
            let model = &model;
            threads.spawn(move || beside(model));
        }
        write_model_file(transaction, encoding, Role::Model, &names, &mut streamer)
    })?;
    // Padding between weights is not reported on its own.
    progress(Progress { done: total, total });
    Ok(Written { mode, model_bytes, data, counts })
}

/// Stages what stands in for `model` while its data files are replaced: the same model, which knows each of them by
/// another name. `renames` holds pairs of a location and the one until then.
pub fn stage_bridge(
    transaction: &mut Transaction,
    mut model: Model,
    sources: &Sources,
    renames: &[(String, String)],
) -> Result<(), Error> {
    let names = Names::of(&mut model);
    for (from, to) in renames {
        rename_location(&mut model, from, to);
    }
    write_bridge(transaction, &model, None, &names, sources)
}

fn write_bridge(
    transaction: &mut Transaction,
    model: &Model,
    texts: Option<&dyn NodeTexts>,
    names: &Names,
    sources: &Sources,
) -> Result<(), Error> {
    let mut silent = |_| {};
    let mut streamer = Streamer::new(sources, &mut silent);
    let bridge = Encoding::new(model, texts)?;
    write_model_file(transaction, bridge, Role::Bridge, names, &mut streamer).map(|_| ())
}

fn write_model_file(
    transaction: &mut Transaction,
    encoding: Encoding<'_>,
    role: Role,
    names: &Names,
    streamer: &mut Streamer<'_>,
) -> Result<u64, Error> {
    let target = transaction.model().to_path_buf();
    let mut output = transaction.create(&target, role)?;
    output.reserve(encoding.total())?;
    let mut write = |chunk| match chunk {
        Chunk::Bytes(bytes) => {
            streamer.append_bytes(&mut output, &bytes).map_err(|error| names.locate(None, error))
        }
        Chunk::View { view, dtype_bits } => {
            let streamed = streamer.append(&mut output, &view, dtype_bits);
            streamed.map_err(|error| names.locate(Some(&view), error))
        }
    };
    // One piece is made while another is copied into the page cache.
    std::thread::scope(|threads| {
        let (sender, receiver) = mpsc::sync_channel(WAITING_CHUNKS);
        let encoded = threads.spawn(move || {
            // One that takes no more has failed, and tells why itself.
            encoding
                .write(|chunk| sender.send(chunk).map_err(|_| None))
                .or_else(|error| error.map_or(Ok(()), Err))
        });
        receiver.into_iter().try_for_each(&mut write)?;
        encoded.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)).map_err(Error::from)
    })?;
    streamer.finish().map_err(|failure| names.locate(failure.view.as_ref(), failure.error))?;
    let bytes = output.position();
    transaction.stage(output)?;
    Ok(bytes)
}

/// A tensor that still points at the data file: were that replaced, the tensor would have other bytes.
fn find_unresolved(model: &mut Model, data_location: &str) -> Option<String> {
    let mut found = None;
    for_each_tensor_mut(model, &mut |tensor| {
        let TensorData::External(entries) = &tensor.data else { return };
        let location = entries.iter().find(|(key, _)| key == "location").map(|(_, value)| Path::new(value));
        let is_data_file = |path: &Path| {
            let names = path.components().filter(|part| *part != Component::CurDir);
            names.eq(Path::new(data_location).components())
        };
        if location.is_some_and(is_data_file) && found.is_none() {
            found = Some(tensor.name.to_string());
        }
    });
    found
}

fn rename_location(model: &mut Model, from: &str, to: &str) {
    for_each_tensor_mut(model, &mut |tensor| {
        let TensorData::External(entries) = &mut tensor.data else { return };
        for (key, value) in entries {
            if key == "location" && value == from {
                *value = to.into();
            }
        }
    });
}

/// Names of stored tensors, to say in an error which one it was about.
struct Names(Vec<(StridedView, String)>);

impl Names {
    fn of(model: &mut Model) -> Names {
        let mut names = Vec::new();
        for_each_tensor_mut(model, &mut |tensor| {
            if let TensorData::Stored(view) = &tensor.data {
                names.push((view.clone(), tensor.name.to_string()));
            }
        });
        Names(names)
    }

    fn locate(&self, view: Option<&StridedView>, error: stream::Error) -> Error {
        if let stream::Error::Output(error) = error {
            return Error::Output(error);
        }
        match view.and_then(|view| self.0.iter().find(|(other, _)| other == view)) {
            Some((_, tensor)) => Error::Tensor { tensor: tensor.clone(), source: error },
            None => Error::Stream(error),
        }
    }
}
