//! Encodes ONNX types as the bytes of a file.
//!
//! The same code makes two passes over the model: the first adds up the length of every message, the second writes the
//! messages. Known fields are written in the order of their numbers, then the unknown ones.

mod attribute;
mod graph;
mod model;
mod sink;
mod tensor;
mod value_info;

use std::borrow::Cow;

use modelexport_graph::StridedView;
use modelexport_graph::onnx::{Model, Node};

use self::sink::{Sizer, Sizes, Writer};
use super::error::Error;
use super::limits::MAX_MESSAGE;

/// A run of bytes of the encoded model.
#[derive(Clone, Debug)]
pub enum Chunk {
    Bytes(Vec<u8>),
    /// The elements of a stored tensor, `dtype_bits` bits each, packed.
    View {
        view: StridedView,
        dtype_bits: u64,
    },
}

/// Texts that nodes carry in the file but not in memory: they are long, and nodes of one module share most of them.
///
/// Each is asked for twice, once for its length, and must be the same both times. Lengths are added up by two threads.
pub trait NodeTexts: Sync {
    /// The `doc_string` of a node, if it is not the one that the node has.
    fn doc_string(&self, node: &Node) -> Option<Cow<'_, str>>;

    /// Calls `put` with the key of each entry that comes after those of the node, and with the parts of its value.
    fn entries(&self, node: &Node, put: &mut dyn FnMut(&str, &[&str]));
}

/// A model whose lengths are known.
pub struct Encoding<'a> {
    model: &'a Model,
    texts: Option<&'a dyn NodeTexts>,
    sizes: Sizes,
}

impl<'a> Encoding<'a> {
    pub fn new(model: &'a Model, texts: Option<&'a dyn NodeTexts>) -> Result<Self, Error> {
        let mut sizer = Sizer::new(texts);
        model::put(&mut sizer, model);
        Ok(Encoding { model, texts, sizes: sizer.finish()? })
    }

    /// The length of the encoded model with its stored tensors, also where it is more than a file can hold.
    pub fn total(&self) -> u64 {
        self.sizes.total()
    }

    /// Hands over the bytes of the model, in pieces: what is in memory, and what is to be copied from where it is
    /// stored. The first failure of `take` ends it.
    pub fn write<E: From<Error>>(self, take: impl FnMut(Chunk) -> Result<(), E>) -> Result<(), E> {
        if self.total() > MAX_MESSAGE {
            return Err(Error::TooLarge { length: self.total(), cap: MAX_MESSAGE }.into());
        }
        let mut writer = Writer::new(self.sizes, self.texts, take);
        model::put(&mut writer, self.model);
        writer.finish()
    }
}

/// The bytes of a model, all at once.
pub fn encode(model: &Model) -> Result<Vec<Chunk>, Error> {
    let mut chunks: Vec<Chunk> = Vec::new();
    Encoding::new(model, None)?.write(|chunk| {
        match (chunks.last_mut(), chunk) {
            (Some(Chunk::Bytes(before)), Chunk::Bytes(more)) => before.extend(more),
            (_, chunk) => chunks.push(chunk),
        }
        Ok::<(), Error>(())
    })?;
    Ok(chunks)
}

/// The length of the encoded model with its stored tensors, also where it is more than a file can hold.
pub fn encoded_len(model: &Model) -> Result<u64, Error> {
    Ok(Encoding::new(model, None)?.total())
}

#[cfg(test)]
mod tests;
