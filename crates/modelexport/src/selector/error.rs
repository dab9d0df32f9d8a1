//! Why a selector is invalid or matches nothing.

use modelexport_io::ErrorKind;

use crate::pattern::PatternError;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("selector {selector:?}: {reason}")]
    Pattern { selector: String, reason: PatternError },
    #[error("selector {selector:?}: a depth is a number, such as depth:2")]
    BadDepth { selector: String },
    #[error("selector {selector:?}: a tag {reason}")]
    BadTag { selector: String, reason: &'static str },
    #[error("selector {selector:?}: no module is that deep; the deepest is at depth {deepest}")]
    TooDeep { selector: String, deepest: usize },
    #[error("selector {selector:?}: no module matches{}", listed(near))]
    NoMatch {
        selector: String,
        /// Selectors that would choose something, the nearest first.
        near: Vec<String>,
    },
}

fn listed(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!("; near matches: {}", near.join(", ")) }
}

impl Error {
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::BadInput
    }
}
