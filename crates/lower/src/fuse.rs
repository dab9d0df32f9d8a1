//! Whether patterns of nodes become the one operator that they spell out.

use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fuse {
    /// The graph stays as the model spells it out.
    None,
    /// Patterns become operators of standard ONNX.
    #[default]
    Standard,
}

impl Fuse {
    pub const ALL: [Fuse; 2] = [Fuse::None, Fuse::Standard];

    pub fn name(self) -> &'static str {
        match self {
            Fuse::None => "none",
            Fuse::Standard => "standard",
        }
    }
}

impl fmt::Display for Fuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The text names no choice.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a choice of fusions; there are none and standard")]
pub struct ParseFuseError(String);

impl FromStr for Fuse {
    type Err = ParseFuseError;

    fn from_str(text: &str) -> Result<Self, ParseFuseError> {
        let choice = Fuse::ALL.into_iter().find(|choice| choice.name() == text);
        choice.ok_or_else(|| ParseFuseError(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for choice in Fuse::ALL {
            assert_eq!(choice.to_string().parse(), Ok(choice));
        }
        assert_eq!("all".parse::<Fuse>(), Err(ParseFuseError("all".into())));
    }
}
