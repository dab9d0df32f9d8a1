//! The kind of an error, which decides the exit status and the Python exception.

/// Every error enum of this crate answers `kind()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The bytes of a file are not what they should be.
    BadInput,
    /// The operating system failed: not found, no permission, disk full.
    Io,
    /// The target exists and may not be replaced.
    Exists,
}
