//! External data of ONNX files: tensors whose bytes are in another file, resolved only inside the model's folder.
//!
//! The model is untrusted and must not reach other files. Absolute paths, `..`, symbolic links anywhere in the path, hard
//! links and everything except regular files are rejected. The path is opened component by component, so no link can be
//! inserted meanwhile.

mod entry;
mod error;
mod folder;

use std::path::Path;

use modelexport_graph::onnx::{Model, Tensor, TensorData};
use modelexport_graph::{Span, StridedView, element_count, row_major_strides};

use crate::source::Sources;
use crate::tensors::for_each_tensor_mut;

pub use entry::{Entry, checksum};
pub use error::{Error, Reason};
pub use folder::ModelFolder;
pub(crate) use folder::check_names;

/// Turns every external tensor of `model` into a stored one. `folder` is where the model file is. Returns how many
/// there were.
pub fn resolve(model: &mut Model, folder: &Path, sources: &mut Sources) -> Result<usize, Error> {
    let mut opened = None;
    let mut count = 0;
    let mut outcome = Ok(());
    for_each_tensor_mut(model, &mut |tensor| {
        if outcome.is_err() || !matches!(tensor.data, TensorData::External(_)) {
            return;
        }
        count += 1;
        outcome = resolve_tensor(tensor, folder, &mut opened, sources);
    });
    outcome.map(|()| count)
}

/// Looks whether every external tensor of `model` is where it says. `folder` is where the model file is.
pub fn check(model: &mut Model, folder: &Path) -> Result<(), Error> {
    let mut checker = Checker::new(folder);
    let mut outcome = Ok(());
    for_each_tensor_mut(model, &mut |tensor| {
        if outcome.is_ok() {
            outcome = checker.check(tensor);
        }
    });
    outcome
}

/// Looks whether external tensors are where a model says.
pub struct Checker<'a> {
    folder: &'a Path,
    opened: Option<ModelFolder>,
    sources: Sources,
}

impl<'a> Checker<'a> {
    /// `folder` is where the model file is.
    pub fn new(folder: &'a Path) -> Self {
        Checker { folder, opened: None, sources: Sources::new() }
    }

    /// Whether the bytes of a tensor are there. Those of a tensor that is not external always are.
    pub fn check(&mut self, tensor: &Tensor) -> Result<(), Error> {
        self.find(tensor).map(|_| ())
    }

    /// Where the bytes of an external tensor are, in [`Checker::sources`]; `None` for another one.
    pub fn find(&mut self, tensor: &Tensor) -> Result<Option<Span>, Error> {
        let TensorData::External(entries) = &tensor.data else { return Ok(None) };
        locate(tensor, entries, self.folder, &mut self.opened, &mut self.sources).map(Some)
    }

    /// The data files that were found.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }
}

/// Turns one external tensor into a stored one. `opened` keeps the folder open from tensor to tensor.
pub fn resolve_tensor(
    tensor: &mut Tensor,
    folder: &Path,
    opened: &mut Option<ModelFolder>,
    sources: &mut Sources,
) -> Result<(), Error> {
    let TensorData::External(entries) = &tensor.data else { return Ok(()) };
    let span = locate(tensor, entries, folder, opened, sources)?;
    tensor.data = TensorData::Stored(contiguous(span, &tensor.dims));
    Ok(())
}

fn locate(
    tensor: &Tensor,
    entries: &[(String, String)],
    folder: &Path,
    opened: &mut Option<ModelFolder>,
    sources: &mut Sources,
) -> Result<Span, Error> {
    let entry = Entry::parse(entries);
    let location = entry.as_ref().map(|entry| entry.location.clone()).unwrap_or_default();
    let located =
        |reason: Reason| Error { tensor: tensor.name.to_string(), location: location.clone(), reason };
    let entry = entry.map_err(&located)?;
    let folder = match opened {
        Some(folder) => folder,
        None => opened.insert(ModelFolder::open(folder).map_err(&located)?),
    };
    folder.find(&entry, expected_length(tensor).map_err(&located)?, sources).map_err(&located)
}

/// Bytes that the tensor's type and dimensions ask for.
fn expected_length(tensor: &Tensor) -> Result<u64, Reason> {
    let dtype = tensor.dtype().filter(|dtype| dtype.bits().is_some());
    let dtype = dtype.ok_or(Reason::NoWidth { data_type: tensor.data_type })?;
    let bad = || Reason::BadDims { dims: tensor.dims.clone() };
    let sizes: Vec<u64> =
        tensor.dims.iter().map(|&dim| u64::try_from(dim).map_err(|_| bad())).collect::<Result<_, _>>()?;
    element_count(&sizes).and_then(|count| dtype.byte_len(count)).ok_or_else(bad)
}

fn contiguous(span: Span, dims: &[i64]) -> StridedView {
    let sizes: Vec<u64> = dims.iter().map(|&dim| dim.unsigned_abs()).collect();
    StridedView { span, offset: 0, strides: row_major_strides(&sizes), sizes }
}

#[cfg(test)]
mod tests;
