//! From the ONNX types to the bytes of a file.
//!
//! Two passes over the model with the same code: the first adds up the length of every message, the second writes
//! them. Known fields come in the order of their numbers, then the unknown ones.

mod attribute;
mod graph;
mod model;
mod sink;
mod tensor;
mod value_info;

use modelexport_graph::StridedView;
use modelexport_graph::onnx::Model;

use self::sink::{Sizer, Writer};
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

/// The bytes of a model, in pieces: what is in memory, and what is to be copied from where it is stored.
pub fn encode(model: &Model) -> Result<Vec<Chunk>, Error> {
    let mut sizer = Sizer::default();
    model::put(&mut sizer, model);
    let sizes = sizer.finish()?;
    if sizes.total() > MAX_MESSAGE {
        return Err(Error::TooLarge { length: sizes.total(), cap: MAX_MESSAGE });
    }
    let mut writer = Writer::new(sizes);
    model::put(&mut writer, model);
    Ok(writer.finish())
}

/// The length of the encoded model with its stored tensors, also where it is more than a file can hold.
pub fn encoded_len(model: &Model) -> Result<u64, Error> {
    let mut sizer = Sizer::default();
    model::put(&mut sizer, model);
    Ok(sizer.finish()?.total())
}

#[cfg(test)]
mod tests;
