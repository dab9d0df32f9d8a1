//! What a model shows to those who run it: names of inputs, outputs and dynamic dimensions, as the user wants them.

mod dimensions;
mod names;

pub use dimensions::dimension_names;
pub use names::{rename_inputs, rename_outputs};

/// Why names cannot be given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("{given} names are given for {} {what}s ({})", names.len(), names.join(", "))]
    TooMany { what: &'static str, given: usize, names: Vec<String> },
    #[error("the {what} name {name:?} is given twice")]
    Twice { what: &'static str, name: String },
    #[error("the {what} name {name:?} is empty or has control characters")]
    BadName { what: &'static str, name: String },
    #[error("dimension name {text:?}: expected INPUT:AXIS=NAME or SYMBOL=NAME")]
    DimensionForm { text: String },
    #[error(
        "dimension name {text:?}: there is no dynamic dimension {dimension:?}; dynamic dimensions of this program: {known}"
    )]
    NoDimension { text: String, dimension: String, known: String },
}

/// A name that a file can carry and a person can read.
fn check(what: &'static str, name: &str) -> Result<(), Error> {
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(Error::BadName { what, name: name.to_owned() });
    }
    Ok(())
}
