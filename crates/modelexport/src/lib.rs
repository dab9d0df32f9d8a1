//! Export PyTorch models to ONNX and keep, on every node, which `nn.Module` instance it came from.

pub mod embedding;
pub mod export;
pub mod pattern;
pub mod policy;
pub mod python_repr;
pub mod rules;
pub mod tagger;
pub mod tags;
pub mod torch_scopes;
