//! What kind of failure an error is, for exit codes and for the exceptions of the Python package.

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
