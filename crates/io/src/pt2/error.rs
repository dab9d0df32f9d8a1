//! The errors of a `.pt2` archive.

use std::path::PathBuf;

use modelexport_graph::Name;

use super::versions::{SCHEMA_MAJOR, SCHEMA_MINORS, TORCH};
use crate::ErrorKind;

/// Names come from the file and may hold anything, so messages show them quoted and escaped.
#[derive(Debug, thiserror::Error)]
pub struct Error {
    pub path: PathBuf,
    #[source]
    pub problem: Box<Problem>,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &*self.problem {
            // It begins with the path already.
            Problem::Open(error) => error.fmt(f),
            problem => write!(f, "{}: {problem}", self.path.display()),
        }
    }
}

impl Error {
    pub fn kind(&self) -> ErrorKind {
        match &*self.problem {
            Problem::Open(error) => error.kind(),
            Problem::Read(_) => ErrorKind::Io,
            _ => ErrorKind::BadInput,
        }
    }
}

/// One way in which an archive can be bad.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    // The file.
    #[error(transparent)]
    Open(crate::source::Error),
    #[error("cannot read: {0}")]
    Read(#[source] std::io::Error),

    // The zip container.
    #[error("is not a zip archive; a .pt2 file is written by torch.export.save")]
    NotZip,
    #[error("the zip archive is truncated or damaged ({reason}); copy or save the file again")]
    Truncated { reason: String },
    #[error("the zip archive lists more than {limit} entries")]
    TooManyEntries { limit: usize },
    #[error("the zip entry {entry:?} has a name that is not UTF-8")]
    EntryNameNotUtf8 { entry: String },
    #[error("the zip archive has two entries named {entry:?}")]
    DuplicateEntry { entry: String },
    #[error("the zip entries {first:?} and {second:?} overlap")]
    OverlappingEntries { first: String, second: String },
    #[error("the zip entry {entry:?}: its local header and the central directory disagree about {what}")]
    HeaderMismatch { entry: String, what: &'static str },
    #[error("the zip entry {entry:?} is outside the file (bytes {start} to {end} of {length})")]
    EntryOutside { entry: String, start: u64, end: u64, length: u64 },
    #[error(
        "the zip entry {entry:?} is compressed or encrypted; torch.export.save stores entries uncompressed"
    )]
    NotStored { entry: String },
    #[error("the zip entry {entry:?} does not match its checksum; copy or save the file again")]
    Checksum { entry: String },
    #[error("the zip entry {entry:?} has {length} bytes; the limit is {limit}")]
    EntryTooLarge { entry: String, length: u64, limit: u64 },

    // The layout of the archive.
    #[error("has no models/*.json ({found}); save the program with torch.export.save of torch {} or later", TORCH[0])]
    NoModel { found: &'static str },
    #[error("contains several models ({}); save each in a separate file", names.join(", "))]
    SeveralModels { names: Vec<String> },
    #[error("was written by an old torch ({found}); load it and save it again with torch {} or later", TORCH[0])]
    OldLayout { found: String },
    #[error("has the byte order {found:?}; only \"little\" is supported: save it on a little-endian machine")]
    ByteOrder { found: String },
    #[error(
        "has the archive version {found:?}; only \"0\" is supported: save it with torch {} to {}", TORCH[0], TORCH[1]
    )]
    ArchiveVersion { found: String },
    #[error("lacks the entry {entry:?}; save it again with torch {} or later", TORCH[0])]
    MissingEntry { entry: String },
    #[error(
        "has schema version {major}.{minor} (torch {torch:?}); versions {SCHEMA_MAJOR}.{} to {SCHEMA_MAJOR}.{} \
         are supported: save it with torch {} to {}",
        SCHEMA_MINORS[0], SCHEMA_MINORS[1], TORCH[0], TORCH[1]
    )]
    SchemaVersion { major: i64, minor: i64, torch: String },

    // The JSON text.
    #[error("{entry:?} is not UTF-8 (byte {offset})")]
    JsonNotUtf8 { entry: String, offset: usize },
    #[error("{entry:?} is nested more than {limit} levels deep (byte {offset})")]
    JsonTooDeep { entry: String, limit: usize, offset: usize },
    #[error("{entry:?} has a duplicate key: {message}")]
    JsonDuplicateKey { entry: String, message: String },
    #[error("{entry:?} cannot be read: {message}")]
    Json { entry: String, message: String },

    // The program.
    #[error("{place}: unknown argument kind {kind:?}; it needs a newer modelexport")]
    UnknownArgumentKind { place: ProgramLocation, kind: String },
    #[error("{place}: unknown {what} {code}; it needs a newer modelexport")]
    UnknownCode { place: ProgramLocation, what: &'static str, code: i64 },
    #[error("{place}: the value {name:?} is not defined before its use")]
    DanglingValue { place: ProgramLocation, name: String },
    #[error("{place}: the value {name:?} is used as {used} but is {is}")]
    WrongValueKind { place: ProgramLocation, name: String, used: &'static str, is: &'static str },
    #[error("{place}: the value {name:?} has no entry in {table}")]
    MissingMetadata { place: ProgramLocation, name: String, table: &'static str },
    #[error("{place}: the value {name:?} is defined twice")]
    DuplicateDefinition { place: ProgramLocation, name: String },
    #[error("two nodes of one graph have the name {node:?}")]
    DuplicateNode { node: String },
    #[error("{place}: a result cannot be {kind}")]
    BadResult { place: ProgramLocation, kind: &'static str },
    #[error("{place}: the expression {text:?} cannot be read: {reason}")]
    SymbolicExpression { place: ProgramLocation, text: String, reason: String },
    #[error("{place}: {what} {value} is negative")]
    NegativeDimension { place: ProgramLocation, what: &'static str, value: i64 },
    #[error("{place}: {sizes} sizes but {strides} strides")]
    StrideCount { place: ProgramLocation, sizes: usize, strides: usize },
    #[error("the signature does not match the graph: {reason}")]
    Signature { reason: String },
    #[error("node {node:?}: the module stack {text:?} cannot be read: expected entries `key,path,class`")]
    ModuleStack { node: String, text: String },

    // The weights.
    #[error("weight {weight:?} is stored as a pickle, which is never read: save a model with plain tensors")]
    PickledWeight { weight: String },
    #[error(
        "weight {weight:?} is in the graph but not in the archive's weights or constants{}",
        read_at(reader)
    )]
    MissingWeight { weight: String, reader: Option<ProgramLocation> },
    #[error("weight {weight:?}: its bytes, zip entry {entry:?}, are not in the archive")]
    MissingWeightBytes { weight: String, entry: String },
    #[error("weight {weight:?} has a symbolic shape; stored tensors need a concrete shape")]
    SymbolicWeight { weight: String },
    #[error("weight {weight:?}: the product of its sizes or strides overflows")]
    WeightOverflow { weight: String },
    #[error("weight {weight:?} needs {needed} bytes of {entry:?}, which has {length}")]
    WeightOutside { weight: String, entry: String, needed: u64, length: u64 },
    #[error("weight {weight:?} has the layout {layout}; only strided tensors are supported")]
    WeightLayout { weight: String, layout: &'static str },
    #[error("weight {weight:?} is {stored} in the archive but {graph} in the graph{}", read_at(reader))]
    WeightMismatch { weight: String, stored: String, graph: String, reader: Option<ProgramLocation> },
}

/// The first use of a weight.
fn read_at(reader: &Option<ProgramLocation>) -> String {
    reader.as_ref().map_or_else(String::new, |place| format!("; it is read by {place}"))
}

impl Problem {
    /// Where the problem is, if it has a place in the graph.
    pub(super) fn place_mut(&mut self) -> Option<&mut ProgramLocation> {
        match self {
            Problem::UnknownArgumentKind { place, .. }
            | Problem::UnknownCode { place, .. }
            | Problem::DanglingValue { place, .. }
            | Problem::WrongValueKind { place, .. }
            | Problem::MissingMetadata { place, .. }
            | Problem::DuplicateDefinition { place, .. }
            | Problem::BadResult { place, .. }
            | Problem::SymbolicExpression { place, .. }
            | Problem::NegativeDimension { place, .. }
            | Problem::StrideCount { place, .. } => Some(place),
            _ => None,
        }
    }

    /// Says which node reads the weight that the problem is about.
    pub(super) fn read_by(mut self, place: impl FnOnce() -> Option<ProgramLocation>) -> Self {
        if let Problem::MissingWeight { reader, .. } | Problem::WeightMismatch { reader, .. } = &mut self {
            *reader = place();
        }
        self
    }
}

/// Where in the program something is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramLocation {
    GraphInput {
        index: usize,
    },
    GraphOutput {
        index: usize,
    },
    Argument {
        node: Box<NodePlace>,
        argument: String,
    },
    Result {
        node: Box<NodePlace>,
        index: usize,
    },
    /// An entry of one of the graph's value tables.
    Value {
        name: String,
    },
    Weight {
        name: String,
    },
}

/// A node, what it calls and where it ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodePlace {
    pub name: Name,
    /// `aten.linear.default`.
    pub target: Name,
    /// Path of the module; empty for the root.
    pub module: Name,
}

impl std::fmt::Display for NodePlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let module = if self.module.is_empty() { "(root)" } else { &self.module };
        write!(f, "node {:?} ({}) in module {module:?}", self.name, self.target.escape_debug())
    }
}

impl std::fmt::Display for ProgramLocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ProgramLocation::GraphInput { index } => write!(f, "graph input {index}"),
            ProgramLocation::GraphOutput { index } => write!(f, "graph output {index}"),
            ProgramLocation::Argument { node, argument } => write!(f, "{node}, argument {argument:?}"),
            ProgramLocation::Result { node, index } => write!(f, "{node}, result {index}"),
            ProgramLocation::Value { name } => write!(f, "value {name:?}"),
            ProgramLocation::Weight { name } => write!(f, "weight {name:?}"),
        }
    }
}
