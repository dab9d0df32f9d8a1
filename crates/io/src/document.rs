//! Reads modelexport's own JSON formats: checks size and version, parses the JSON, then checks that its parts are
//! consistent.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::{ErrorKind, source};

/// A format that carries its version in `schema_version`.
pub trait Document: DeserializeOwned {
    /// What messages call a file of this format.
    const NAME: &'static str;
    /// `major.minor`. Every minor version of the same major one can be read.
    const SCHEMA_VERSION: &'static str;
    /// Larger files are refused.
    const MAX_BYTES: u64;

    fn schema_version(&self) -> &str;

    /// Whether the parts fit together.
    fn check(&self) -> Result<(), Contradiction>;
}

/// Place and reason of the first contradiction.
pub type Contradiction = (String, String);

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Open(#[from] source::Error),
    #[error("{}: cannot read the {what}: {source}", file.display())]
    Read { file: PathBuf, what: &'static str, source: std::io::Error },
    #[error("{}: the {what} has {size} bytes; the limit is {limit}", file.display())]
    TooLarge { file: PathBuf, what: &'static str, size: u64, limit: u64 },
    #[error("{}: line {line}, column {column}: {reason}", file.display())]
    Json { file: PathBuf, line: usize, column: usize, reason: String },
    #[error(
        "{}: schema version {found:?} of the {what} is not supported by this version of modelexport ({expected}); \
         create the file again, or use the version of modelexport that wrote it", file.display()
    )]
    Version { file: PathBuf, what: &'static str, found: String, expected: &'static str },
    #[error("{}: {place}: {reason}", file.display())]
    Contradiction { file: PathBuf, place: String, reason: String },
}

impl Error {
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Open(error) => error.kind(),
            Error::Read { .. } => ErrorKind::Io,
            _ => ErrorKind::BadInput,
        }
    }

    /// Whether there is no such file.
    pub fn is_not_found(&self) -> bool {
        let not_found = std::io::ErrorKind::NotFound;
        matches!(self, Error::Open(source::Error::Open { source, .. }) if source.kind() == not_found)
    }
}

/// Reads and checks a file.
pub fn read<D: Document>(path: &Path) -> Result<D, Error> {
    let mut bytes = Vec::new();
    source::open_regular(path)?
        .take(D::MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|source| Error::Read { file: path.to_owned(), what: D::NAME, source })?;
    parse(&bytes, path)
}

/// Reads and checks bytes in memory; `file` is for messages.
pub fn parse<D: Document>(bytes: &[u8], file: &Path) -> Result<D, Error> {
    let size = bytes.len() as u64;
    if size > D::MAX_BYTES {
        return Err(Error::TooLarge { file: file.to_owned(), what: D::NAME, size, limit: D::MAX_BYTES });
    }
    let document: D = serde_json::from_slice(bytes).map_err(|error| {
        // A file of another version fails somewhere in its body; the version is the better message.
        match serde_json::from_slice::<VersionOnly>(bytes) {
            Ok(VersionOnly { schema_version }) if !is_readable::<D>(&schema_version) => {
                other_version::<D>(file, schema_version)
            }
            _ => Error::Json {
                file: file.to_owned(),
                line: error.line(),
                column: error.column(),
                reason: without_position(&error),
            },
        }
    })?;
    if !is_readable::<D>(document.schema_version()) {
        return Err(other_version::<D>(file, document.schema_version().to_owned()));
    }
    document.check().map_err(|(place, reason)| Error::Contradiction {
        file: file.to_owned(),
        place,
        reason,
    })?;
    Ok(document)
}

#[derive(Deserialize)]
struct VersionOnly {
    schema_version: String,
}

fn is_readable<D: Document>(version: &str) -> bool {
    let major = |text: &str| text.split_once('.').map(|(major, _)| major.to_owned());
    major(version).is_some() && major(version) == major(D::SCHEMA_VERSION)
}

fn other_version<D: Document>(file: &Path, found: String) -> Error {
    Error::Version { file: file.to_owned(), what: D::NAME, found, expected: D::SCHEMA_VERSION }
}

/// serde_json's message without the ` at line … column …` that it ends in.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text.get(..end).unwrap_or(&text).to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct Tiny {
        schema_version: String,
    }

    impl Document for Tiny {
        const NAME: &'static str = "tiny file";
        const SCHEMA_VERSION: &'static str = "1.0";
        const MAX_BYTES: u64 = 64;

        fn schema_version(&self) -> &str {
            &self.schema_version
        }

        fn check(&self) -> Result<(), Contradiction> {
            Ok(())
        }
    }

    fn message(bytes: &[u8]) -> String {
        parse::<Tiny>(bytes, Path::new("t.json")).expect_err("is bad").to_string()
    }

    #[test]
    fn messages_name_file_place_and_what_to_do() {
        assert_eq!(message(&[b' '; 65]), "t.json: the tiny file has 65 bytes; the limit is 64");
        assert_eq!(message(b"{"), "t.json: line 1, column 1: EOF while parsing an object");
        assert_eq!(
            message(br#"{"schema_version":"2.0"}"#),
            "t.json: schema version \"2.0\" of the tiny file is not supported by this version of modelexport \
             (1.0); create the file again, or use the version of modelexport that wrote it"
        );
    }
}
