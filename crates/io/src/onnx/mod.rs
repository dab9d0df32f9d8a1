//! The `.onnx` wire format: reading, encoding, splicing.
