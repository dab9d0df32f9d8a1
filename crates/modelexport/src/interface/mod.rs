//! The interface of a model: names of inputs, outputs and dynamic dimensions, as the user chooses them.

mod dimensions;
mod names;

pub use dimensions::dimension_names;
pub use names::{rename_inputs, rename_outputs};

/// Why names cannot be given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// More names are given than there are values.
    #[error("{given} names for {} {what}s ({})", names.len(), names.join(", "))]
    TooMany {
        /// `input` or `output`.
        what: &'static str,
        /// How many names are given.
        given: usize,
        /// The names of the values that exist.
        names: Vec<String>,
    },
    /// Two values would have one name.
    #[error("the {what} name {name:?} is given twice")]
    Twice {
        /// `input` or `output`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A name is empty or has control characters.
    #[error("the {what} name {name:?} is empty or has control characters")]
    BadName {
        /// `input` or `output`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// The text does not name a dimension.
    #[error("dimension name {text:?}: expected INPUT:AXIS=NAME or SYMBOL=NAME")]
    DimensionForm {
        /// The text.
        text: String,
    },
    /// The program has no such dynamic dimension.
    #[error(
        "dimension name {text:?}: there is no dynamic dimension {dimension:?}; dynamic dimensions of this program: {known}"
    )]
    NoDimension {
        /// The text.
        text: String,
        /// The dimension that it names.
        dimension: String,
        /// The dimensions that exist.
        known: String,
    },
}

/// A name that a file can carry and a person can read.
fn check(what: &'static str, name: &str) -> Result<(), Error> {
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(Error::BadName { what, name: name.to_owned() });
    }
    Ok(())
}
