//! Opens files below the model's folder, and only there.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::path::{Component, Path, PathBuf};

use modelexport_graph::{SourceId, Span};

use super::{Entry, Reason};
use crate::platform::{self, FileType, Folder, OpenError};
use crate::source::{self, Sources};

/// The folder of a model, held open.
#[derive(Debug)]
pub struct ModelFolder {
    folder: Folder,
    path: PathBuf,
    /// Files that went through the checks, by location.
    opened: HashMap<String, SourceId>,
}

impl ModelFolder {
    /// The folder itself is the user's choice: links on the way to it are followed.
    pub fn open(path: &Path) -> Result<ModelFolder, Reason> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let folder = Folder::open(path).map_err(Reason::Open)?;
        Ok(ModelFolder { folder, path: path.into(), opened: HashMap::new() })
    }

    /// The bytes of an entry, which must be `expected` many.
    pub fn find(&mut self, entry: &Entry, expected: u64, sources: &mut Sources) -> Result<Span, Reason> {
        let length = entry.length.unwrap_or(expected);
        if length != expected {
            return Err(Reason::WrongLength { length, expected });
        }
        let source = match self.opened.get(&entry.location) {
            Some(&id) => id,
            None => {
                let file = self.open_file(&entry.location)?;
                check_names(&file)?;
                let path = self.path.join(parts(&entry.location)?.iter().collect::<PathBuf>());
                let id = sources.add_open_file(&path, file).map_err(of_source)?;
                self.opened.insert(entry.location.clone(), id);
                id
            }
        };
        let file_length = sources.len(source).unwrap_or(0);
        let end = u128::from(entry.offset) + u128::from(length);
        if end > file_length.into() {
            return Err(Reason::OutOfRange { offset: entry.offset, end, file_length });
        }
        Ok(Span { source, offset: entry.offset, length })
    }

    /// Opens a file by its location. It may turn out not to be a regular one.
    pub(crate) fn open_file(&self, location: &str) -> Result<File, Reason> {
        let parts = parts(location)?;
        self.folder.open_beneath(&parts).map_err(|error| match error {
            OpenError::NotFound => Reason::NotFound,
            OpenError::Link => Reason::Link,
            OpenError::Outside => Reason::Outside,
            OpenError::BadPath => Reason::BadPath,
            OpenError::NotRegular(file_type) => Reason::NotRegular { what: file_type.describe() },
            OpenError::Other(error) => Reason::Open(error),
        })
    }
}

/// A file with several names may be any of the user's, linked into the folder by whoever unpacked the model; onnx
/// refuses it too.
pub(crate) fn check_names(file: &File) -> Result<(), Reason> {
    let status = platform::status(file).map_err(Reason::Open)?;
    match status.links {
        names if status.file_type == FileType::Regular && names > 1 => Err(Reason::HardLink { names }),
        _ => Ok(()),
    }
}

fn of_source(error: source::Error) -> Reason {
    match error {
        source::Error::Open { source, .. } => Reason::Open(source),
        source::Error::NotRegular { what, .. } => Reason::NotRegular { what },
    }
}

/// The names that a location consists of.
fn parts(location: &str) -> Result<Vec<&OsStr>, Reason> {
    if location.starts_with('/') {
        return Err(Reason::Absolute);
    }
    let parts: Vec<&str> = location.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    if parts.contains(&"..") {
        return Err(Reason::Outside);
    }
    // On Windows, a part may hold backslashes or the name of a drive.
    let is_name = |part: &&str| Path::new(part).components().eq([Component::Normal(OsStr::new(part))]);
    if parts.is_empty() || !parts.iter().all(is_name) || location.contains('\0') || location.ends_with('/') {
        return Err(Reason::BadPath);
    }
    Ok(parts.into_iter().map(OsStr::new).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_and_dot_parts_do_not_matter() {
        let inside = tempfile::tempdir().unwrap();
        std::fs::create_dir(inside.path().join("sub")).unwrap();
        std::fs::write(inside.path().join("sub/w"), "weights").unwrap();
        let folder = ModelFolder::open(inside.path()).unwrap();
        for location in ["sub/w", "./sub//w"] {
            let file = folder.open_file(location).unwrap();
            assert_eq!(std::io::read_to_string(file).unwrap(), "weights", "{location}");
        }
    }
}
