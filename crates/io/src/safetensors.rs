//! Headers of safetensors files: where each tensor's bytes are.
