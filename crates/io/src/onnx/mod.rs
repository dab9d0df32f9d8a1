//! The `.onnx` wire format: reading, encoding, splicing.
//!
//! The code is written by hand because generated protobuf code drops unknown fields and field order, and loads every
//! weight. Here tensor data is skipped, unknown fields are kept, and a file that only gains tags is copied around them.

mod attribute_kind;
mod doc_string;
mod encode;
pub mod error;
mod input;
pub mod limits;
pub mod names;
mod read;
mod reader;
mod schema;
pub mod splice;
#[cfg(test)]
mod test_bytes;
mod wire;

pub use doc_string::DocString;
pub use encode::{Chunk, Encoding, NodeTexts, encode, encoded_len};
pub use error::{Error, Location};
pub use read::{GraphVisitor, OnnxFile, read, read_bytes, read_source, read_visiting};
pub use splice::{
    CopyError, Edit, NodeEdit, NodeKey, NodeTags, NodeView, OWN_PREFIX, Piece, RECORD_KEY, Spliced, clean,
    is_shared_key, splice, strip,
};
