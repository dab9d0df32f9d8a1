//! Where the weights of a model are stored.

use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WeightsMode {
    /// Into the model file, which can hold 2 GiB.
    Embed,
    /// Into `<name of the model>.data` beside it.
    External,
    /// Nowhere: the model points at the bytes in the files they come from.
    Reference,
    /// Nowhere: they become inputs of the model.
    None,
    /// `Embed` below [`EXTERNAL_FROM`](super::EXTERNAL_FROM), else `External`.
    #[default]
    Auto,
}

impl WeightsMode {
    pub const ALL: [WeightsMode; 5] = [
        WeightsMode::Embed,
        WeightsMode::External,
        WeightsMode::Reference,
        WeightsMode::None,
        WeightsMode::Auto,
    ];

    /// Whether the bytes pass through our hands, so that they can be changed on the way.
    pub fn are_copied(self) -> bool {
        !matches!(self, WeightsMode::Reference | WeightsMode::None)
    }

    /// For weights that lie in files of their own, which `Auto` leaves there.
    pub fn of_files(self) -> WeightsMode {
        if self == WeightsMode::Auto { WeightsMode::Reference } else { self }
    }

    pub fn name(self) -> &'static str {
        match self {
            WeightsMode::Embed => "embed",
            WeightsMode::External => "external",
            WeightsMode::Reference => "reference",
            WeightsMode::None => "none",
            WeightsMode::Auto => "auto",
        }
    }
}

impl fmt::Display for WeightsMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The text names no mode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a weights mode; use embed, external, reference, none or auto")]
pub struct ParseModeError(String);

impl FromStr for WeightsMode {
    type Err = ParseModeError;

    fn from_str(text: &str) -> Result<Self, ParseModeError> {
        let mode = WeightsMode::ALL.into_iter().find(|mode| mode.name() == text);
        mode.ok_or_else(|| ParseModeError(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for mode in WeightsMode::ALL {
            assert_eq!(mode.to_string().parse(), Ok(mode));
        }
        assert_eq!("Embed".parse::<WeightsMode>(), Err(ParseModeError("Embed".into())));
    }
}
