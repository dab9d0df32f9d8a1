//! Tags in and out of a file that is otherwise left alone.
//!
//! A spliced file is the original with other bytes in between: everything that is no tag is copied from where it
//! stands, and only the lengths of the messages around a tag are written anew. Taking the tags out again gives the
//! original, byte for byte. [`marks`] says which bytes are ours, [`record`] how the rare things are remembered that
//! the tagged file alone would not tell.

mod clean;
mod item;
mod marks;
mod pieces;
mod record;
mod retag;
mod walk;
mod write;

use modelexport_graph::SourceId;

use super::error::Error;
use super::limits::MAX_MESSAGE;
use super::read::{find, or_what_it_is};
use crate::source::Sources;

use self::walk::Purpose;

pub use self::marks::{OWN_PREFIX, is_shared_key};
pub use self::pieces::{Piece, Spliced};
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

/// Makes a new file from the model in `sources`: `edit` is asked for every node once, in the order of the file.
pub fn splice(
    sources: &Sources,
    id: SourceId,
    edit: &mut dyn FnMut(&NodeView<'_>) -> NodeEdit,
) -> Result<Spliced, Error> {
    walk_over(sources, id, Purpose::Edit, edit)
}

/// The file without our tags: the original, byte for byte.
pub fn strip(sources: &Sources, id: SourceId) -> Result<Spliced, Error> {
    walk_over(sources, id, Purpose::Strip, &mut |_| NodeEdit::Strip)
}

/// The file without our tags and without what other tools noted: every entry of `metadata_props` of nodes, values,
/// tensors, graphs and functions, those of exporters on the model, and every `doc_string` that holds a place in a
/// Python file.
pub fn clean(sources: &Sources, id: SourceId) -> Result<Spliced, Error> {
    walk_over(sources, id, Purpose::Clean, &mut |_| NodeEdit::Strip)
}

fn walk_over(
    sources: &Sources,
    id: SourceId,
    purpose: Purpose,
    edit: &mut dyn FnMut(&NodeView<'_>) -> NodeEdit,
) -> Result<Spliced, Error> {
    let source = find(sources, id)?;
    let spliced = walk::model(source, purpose, edit).map_err(|error| or_what_it_is(source, error))?;
    if spliced.len() > MAX_MESSAGE && source.len() <= MAX_MESSAGE {
        return Err(Error::TooLarge { length: spliced.len(), cap: MAX_MESSAGE });
    }
    Ok(spliced)
}

#[cfg(test)]
mod tests;
