//! External data of ONNX files: resolved inside the model's folder only.
