//! All conversions between untrusted bytes and types: the `.pt2` archive, the `.onnx` wire format, safetensors, the
//! sidecar and the trace. Every file that modelexport writes goes through [`output`].
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

pub mod document;
pub mod error;
pub mod external_data;
#[cfg(feature = "faults")]
pub mod faults;
#[cfg(not(feature = "faults"))]
mod faults;
pub mod fingerprint;
pub mod onnx;
pub mod output;
mod platform;
pub mod pt2;
pub mod safetensors;
pub mod sidecar;
pub mod source;
pub mod spliced_file;
pub mod stream;
mod tensors;
pub mod trace;
pub mod weights;

pub use error::ErrorKind;
