//! Adds tags to a file, or removes them, without changing anything else.
//!
//! A spliced file is the original with other bytes in between. Everything except tags is copied, and only the lengths of the
//! messages around a tag are rewritten. Removing the tags restores the original, byte for byte. [`marks`] defines which
//! bytes are tags. [`record`] stores what cannot be derived from the tagged file.

mod clean;
mod item;
mod marks;
mod pieces;
mod record;
mod retag;
mod walk;

use std::fmt;

use modelexport_graph::SourceId;

use super::error::Error;
use super::limits::MAX_MESSAGE;
use super::read::{find, or_what_it_is};
use crate::source::{Source, Sources};
use crate::stream;

use self::pieces::{Pieces, Plan};
use self::walk::Purpose;

pub use self::marks::{OWN_PREFIX, is_shared_key};
pub use self::pieces::Piece;
pub use self::record::KEY as RECORD_KEY;

/// Which node of a model: of the main graph or of a function, counted as `for_each_node` visits them, with the nodes
/// of subgraphs after the node that holds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeKey {
    /// Index into the functions of the model; `None` for the main graph.
    pub function: Option<usize>,
    pub index: usize,
}

/// A node as it would be without our tags.
#[derive(Clone, Copy, Debug)]
pub struct NodeView<'a> {
    pub key: NodeKey,
    /// `None` if the node has no such field; it may also be there and empty.
    pub doc_string: Option<&'a str>,
    pub metadata: &'a [(String, String)],
}

/// What becomes of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeEdit {
    /// It stays as it is, with tags or without.
    Keep,
    /// Tags are taken out. A record about the messages around the node stays until [`strip`] takes all out.
    Strip,
    /// Tags are put in, instead of those that were there.
    Tag(NodeTags),
}

/// The tags of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeTags {
    /// The new `doc_string`, written as it is; text that stood there before should be inside, as the view showed it
    /// (see [`names`](super::names)).
    pub doc_string: Option<String>,
    /// Entries of `metadata_props`. An entry that the node has already, with the same value, is left as it is; one
    /// with another value is replaced until the tags are taken out.
    pub metadata: Vec<(String, String)>,
}

/// Says what becomes of a node. It is asked for every node twice, each time in the order of the file, and has to give
/// the same answer.
pub type Edit<'e> = dyn FnMut(&NodeView<'_>) -> NodeEdit + 'e;

/// A spliced file that is not written yet.
pub struct Spliced<'a> {
    source: &'a Source,
    purpose: Purpose,
    edit: Box<Edit<'a>>,
    plan: Plan,
}

impl fmt::Debug for Spliced<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spliced").field("purpose", &self.purpose).field("plan", &self.plan).finish()
    }
}

impl Spliced<'_> {
    /// Length of the file in bytes.
    pub fn len(&self) -> u64 {
        self.plan.length
    }

    pub fn is_empty(&self) -> bool {
        self.plan.length == 0
    }

    /// No byte differs from the original.
    pub fn is_original(&self) -> bool {
        self.plan.is_original
    }

    /// Gives the bytes of the file to `target`, in order.
    pub fn copy(
        &mut self,
        target: &mut dyn FnMut(Piece<'_>) -> Result<(), stream::Error>,
    ) -> Result<(), CopyError> {
        let out = Pieces::write(&self.plan, target);
        let (mut reader, out) = walk::model(self.source, self.purpose, &mut *self.edit, out)?;
        match out.finish(&mut reader)? {
            None => Ok(()),
            Some(failure) => Err(failure.into()),
        }
    }

    /// The whole file in memory; for small models.
    pub fn to_vec(&mut self) -> Result<Vec<u8>, CopyError> {
        let mut bytes = Vec::new();
        let source = self.source;
        self.copy(&mut |piece| {
            match piece {
                Piece::New(new) => bytes.extend_from_slice(new),
                Piece::Original { offset, length } => {
                    let start = bytes.len();
                    bytes.resize(start + length as usize, 0);
                    let part = bytes.get_mut(start..).unwrap_or_default();
                    source.read_at(offset, part).map_err(|error| stream::Error::Read {
                        place: source.to_string(),
                        offset,
                        length,
                        source: error,
                    })?;
                }
            }
            Ok(())
        })?;
        Ok(bytes)
    }
}

/// Why a spliced file could not be copied to where it should go.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    #[error(transparent)]
    Onnx(#[from] Error),
    #[error(transparent)]
    Stream(#[from] stream::Error),
}

/// Makes a new file from the model in `sources` by what `edit` says of its nodes.
pub fn splice<'a>(
    sources: &'a Sources,
    id: SourceId,
    edit: impl FnMut(&NodeView<'_>) -> NodeEdit + 'a,
) -> Result<Spliced<'a>, Error> {
    walk_over(sources, id, Purpose::Edit, Box::new(edit))
}

/// The file without our tags: the original, byte for byte.
pub fn strip(sources: &Sources, id: SourceId) -> Result<Spliced<'_>, Error> {
    walk_over(sources, id, Purpose::Strip, Box::new(|_| NodeEdit::Strip))
}

/// The file without our tags and without what other tools noted: every entry of `metadata_props` of nodes, values,
/// tensors, graphs and functions, those of exporters on the model, and every `doc_string` that holds a place in a
/// Python file.
pub fn clean(sources: &Sources, id: SourceId) -> Result<Spliced<'_>, Error> {
    walk_over(sources, id, Purpose::Clean, Box::new(|_| NodeEdit::Strip))
}

fn walk_over<'a>(
    sources: &'a Sources,
    id: SourceId,
    purpose: Purpose,
    mut edit: Box<Edit<'a>>,
) -> Result<Spliced<'a>, Error> {
    let source = find(sources, id)?;
    let measured = walk::model(source, purpose, &mut *edit, Pieces::measure());
    let (_, out) = measured.map_err(|error| or_what_it_is(source, error))?;
    let plan = out.into_plan();
    if plan.length > MAX_MESSAGE && source.len() <= MAX_MESSAGE {
        return Err(Error::TooLarge { length: plan.length, cap: MAX_MESSAGE });
    }
    Ok(Spliced { source, purpose, edit, plan })
}

#[cfg(test)]
mod tests;
