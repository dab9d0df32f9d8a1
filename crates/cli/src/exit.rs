//! Exit statuses, the same for every command.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    Success = 0,
    /// The command worked and the answer is no: unsupported operators, an invalid file, a difference.
    Finding = 1,
    /// Wrong usage or bad input.
    BadInput = 2,
    /// The operating system failed.
    Io = 3,
}
