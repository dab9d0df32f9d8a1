//! Limits on untrusted files. Each has its error variant.

/// Levels of messages inside messages; protobuf's own readers stop at 100. Reading, encoding and dropping recurse
/// to this depth, which takes a small part of the two MiB that a thread's stack has at least.
pub const MAX_NESTING: usize = 150;

/// Tensor data up to this many bytes is loaded with the graph; more stays in the file.
pub const MAX_INLINE_DATA: u64 = 1024;

/// The largest field that is loaded into memory; tensor data never is.
pub const MAX_LOADED_FIELD: u64 = 256 << 20;

/// Memory for the graph of a file, besides [`MEMORY_FACTOR`] times the bytes that describe it.
pub const MEMORY_FLOOR: u64 = 32 << 20;

/// See [`MEMORY_FLOOR`]. Real graphs take about five times their bytes.
pub const MEMORY_FACTOR: u64 = 12;

/// The longest message that protobuf libraries read and write.
pub const MAX_MESSAGE: u64 = i32::MAX as u64;
