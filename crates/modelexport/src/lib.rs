//! Export PyTorch models to ONNX and keep, on every node, which `nn.Module` instance it came from.

pub mod analyze;
pub mod compare;
pub mod cut;
pub mod derived;
pub mod diagnosis;
pub mod embedding;
pub mod error;
pub mod export;
pub mod export_summary;
pub mod extract;
mod folders;
pub mod functions;
pub mod hierarchy;
pub mod interface;
mod node_lines;
pub mod numbers;
pub mod parameter_counts;
pub mod pattern;
pub mod policy;
pub mod python_repr;
pub mod rules;
pub mod selector;
pub mod shapes;
mod sidecar_file;
pub mod strategies;
pub mod strategy_comparison;
pub mod strip;
pub mod tag;
pub mod tagged_file;
pub mod tagger;
pub mod tags;
pub mod tensors;
#[cfg(test)]
mod test_export;
pub mod torch_scopes;
pub mod tree_view;
pub mod validate;
pub mod value_types;
pub mod weight_places;
pub mod weights_from;

pub use error::Error;
