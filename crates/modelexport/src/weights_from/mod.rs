//! Reads the weights of a program that was captured without them from safetensors files, without copying them.
//!
//! A program on the meta device contains the name, shape and type of every weight, but no bytes. The weights are looked up in
//! a checkpoint by name. All names may differ by a prefix (the model was saved inside another, or captured without its head),
//! and of tied weights a checkpoint contains one.
//!
//! A tensor of the checkpoint is also used if the program has contents for it: a buffer may have been captured as created and
//! not as trained. Tensors that the checkpoint lacks keep their contents. Buffers that are not saved with a model (position
//! tables, masks) are not required if the program contains them, and neither are weights that no node reads.

mod mismatch;
mod names;
mod twins;
mod use_of_weights;

use std::path::Path;

use modelexport_graph::StridedView;
use modelexport_graph::aten::{Program, Weight};
use modelexport_io::safetensors::{self, Entry};
use modelexport_io::source::Sources;

use crate::Error;
pub(crate) use mismatch::{Mismatch, Mismatches, Problem};
pub(crate) use names::{Kinds, Renaming};
use twins::TiedNames;
use use_of_weights::uses_of;

/// How the weights of a program were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Attached {
    /// Weights that got their bytes from the files.
    pub count: usize,
    /// The names of the files are those of the program with this in front.
    pub added_prefix: String,
    /// The names of the files are those of the program without this in front.
    pub removed_prefix: String,
    /// Weights that the files do not name, each with the tensor that it seems to be tied to.
    pub tied: Vec<(String, String)>,
}

impl Attached {
    /// What the user should know, because it was not told but concluded.
    pub(crate) fn notes(&self) -> impl Iterator<Item = String> {
        let tied = self.tied.iter();
        tied.map(|(weight, tensor)| format!("{weight} is not in the files and taken to be tied to {tensor}"))
    }
}

/// Gives a program's weights the bytes of the tensors of their names in `path`: a `.safetensors` file, an index of
/// shards, or a folder that has one of them. Nothing is read but headers. `tied` lists names of one and the same weight,
/// as far as the capture could tell.
pub(crate) fn attach(
    program: &mut Program,
    path: &Path,
    tied: &[Vec<String>],
    sources: &mut Sources,
) -> Result<Attached, Error> {
    // What the capture itself holds is little, and its file need not lie beside the model.
    sources.refer_to_later_ones();
    let tensors = safetensors::read(path, sources)?;
    let uses = uses_of(program);
    let twins = TiedNames::new(&program.weights, &uses, tied);
    let looked_for = |position: usize, weight: &Weight| weight.data.is_none() || uses[position].is_saved;
    let names: Vec<&str> = program
        .weights
        .iter()
        .enumerate()
        .filter(|(position, weight)| looked_for(*position, weight))
        .map(|(_, weight)| &*weight.name)
        .collect();
    let renaming = Renaming::between(&names, &tensors);
    let kinds = Kinds::of(&tensors);
    let mut attached = Attached {
        added_prefix: renaming.added.clone(),
        removed_prefix: renaming.removed.clone(),
        ..Attached::default()
    };
    let mut mismatches = Mismatches::default();
    for (position, weight) in program.weights.iter_mut().enumerate() {
        if !looked_for(position, weight) {
            continue;
        }
        let fits = |name: &str| {
            renaming.find(name, &tensors).filter(|(_, entry)| problem_of(weight, entry).is_none())
        };
        let entry = if let Some((_, entry)) = renaming.find(&weight.name, &tensors) {
            if let Some(problem) = problem_of(weight, entry) {
                mismatches.add(weight, problem);
                continue;
            }
            entry
        } else if weight.data.is_some() || !uses[position].is_read {
            continue;
        } else if let Some((_, entry)) = twins.known(&weight.name).find_map(fits) {
            entry
        } else if let Some((name, entry)) = twins
            .only_unread(weight, &fits)
            .or_else(|| kinds.only_one_like(&weight.name, &weight.sizes, weight.dtype))
        {
            attached.tied.push((weight.name.to_string(), name.to_owned()));
            entry
        } else {
            let is_saved = uses[position].is_saved;
            mismatches.add(weight, if is_saved { Problem::Missing } else { Problem::NotSaved });
            continue;
        };
        weight.data = Some(view_of(entry));
        attached.count += 1;
    }
    if mismatches.0.is_empty() {
        return Ok(attached);
    }
    Err(Error::WeightsDiffer { path: path.into(), count: mismatches.0.len(), mismatches })
}

fn problem_of(weight: &Weight, entry: &Entry) -> Option<Problem> {
    if weight.sizes != entry.shape {
        return Some(Problem::Shape { expected: weight.sizes.clone(), found: entry.shape.clone() });
    }
    let is_same = weight.dtype == entry.dtype;
    (!is_same).then_some(Problem::DType { expected: weight.dtype, found: entry.dtype })
}

/// The whole tensor, in the order of its elements.
pub(crate) fn view_of(entry: &Entry) -> StridedView {
    let mut strides = vec![1; entry.shape.len()];
    let mut stride = 1u64;
    for (place, &size) in strides.iter_mut().zip(&entry.shape).rev() {
        *place = stride;
        stride = stride.saturating_mul(size.max(1));
    }
    StridedView { span: entry.span, offset: 0, sizes: entry.shape.clone(), strides }
}

#[cfg(test)]
mod tests;
