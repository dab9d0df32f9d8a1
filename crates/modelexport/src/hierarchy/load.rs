//! The hierarchy of a model file.

use std::io::Read;
use std::path::Path;

use modelexport_io::source::Sources;
use modelexport_io::{pt2, sidecar, source};

use super::{Hierarchy, from_program, read_onnx};
use crate::Error;
use crate::tagged_file::{producer, read_sidecar};

/// What kind of file a hierarchy came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A captured program.
    Pt2 {
        /// The version of torch that wrote it.
        torch_version: String,
    },
    /// An ONNX file.
    Onnx {
        /// The exporter that the file names.
        producer: String,
    },
}

/// A hierarchy with what is worth telling about its file.
#[derive(Debug)]
pub struct Loaded {
    /// The kind of file, and who wrote it.
    pub kind: FileKind,
    /// The modules of the file and their nodes.
    pub hierarchy: Hierarchy,
    /// The policy that the sidecar records.
    pub sidecar_policy: Option<sidecar::Policy>,
    /// Why the sidecar beside the file could not be used.
    pub sidecar_problem: Option<sidecar::Error>,
}

/// Reads a `.pt2` or `.onnx` file, with the sidecar beside it if there is one. A file with another ending is taken
/// for what it begins like.
pub fn load(path: &Path) -> Result<Loaded, Error> {
    if is_archive(path)? { load_pt2(path) } else { load_onnx(path) }
}

fn is_archive(path: &Path) -> Result<bool, Error> {
    let has_ending = |ending| path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending));
    if has_ending("pt2") || has_ending("onnx") {
        return Ok(has_ending("pt2"));
    }
    let mut start = Vec::new();
    let file = source::open_regular(path)?;
    file.take(4)
        .read_to_end(&mut start)
        .map_err(|error| Error::Read { path: path.to_owned(), source: error })?;
    Ok(start == b"PK\x03\x04")
}

fn load_pt2(path: &Path) -> Result<Loaded, Error> {
    let archive = pt2::read(path)?;
    let kind = FileKind::Pt2 { torch_version: archive.program.torch_version.clone() };
    let hierarchy = from_program(archive.program);
    Ok(Loaded { kind, hierarchy, sidecar_policy: None, sidecar_problem: None })
}

fn load_onnx(path: &Path) -> Result<Loaded, Error> {
    let mut sources = Sources::new();
    let source = sources.add_file(path)?;
    let (mut sidecar, sidecar_problem) = read_sidecar(path);
    let (placed, hierarchy) = read_onnx(&sources, source, sidecar.as_mut())?;
    if hierarchy.records_no_modules() && sidecar.is_none() {
        return Err(Error::NoHierarchy { path: path.to_owned(), sidecar: sidecar::path_beside(path) });
    }
    let kind = FileKind::Onnx { producer: producer(&placed.model) };
    Ok(Loaded { kind, hierarchy, sidecar_policy: sidecar.map(|sidecar| sidecar.policy), sidecar_problem })
}
