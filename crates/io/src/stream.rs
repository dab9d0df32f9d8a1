//! Weights from source to output, in bounded memory.
