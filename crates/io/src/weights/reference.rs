//! References the bytes of a source from the model's folder.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use modelexport_graph::SourceId;

use super::Error;
use crate::external_data::{ModelFolder, check_names};
use crate::platform;
use crate::source::Sources;

/// Locations of sources, as a model in `folder` names them.
pub(super) struct References<'a> {
    sources: &'a Sources,
    folder: PathBuf,
    known: HashMap<SourceId, String>,
}

impl<'a> References<'a> {
    /// For a model at `model`.
    pub(super) fn new(sources: &'a Sources, model: &Path) -> References<'a> {
        let folder = model.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        References { sources, folder: folder.into(), known: HashMap::new() }
    }

    pub(super) fn may_refer_to(&self, id: SourceId) -> bool {
        self.sources.may_refer_to(id)
    }

    /// The location of a source that holds `tensor`.
    pub(super) fn location(&mut self, tensor: &str, id: SourceId) -> Result<String, Error> {
        if let Some(location) = self.known.get(&id) {
            return Ok(location.clone());
        }
        let location = self.find(tensor, id)?;
        self.known.insert(id, location.clone());
        Ok(location)
    }

    fn find(&self, tensor: &str, id: SourceId) -> Result<String, Error> {
        let source = self.sources.get(id);
        let place = || source.map_or_else(|| format!("source {}", id.0), ToString::to_string);
        let (Some(path), Some(file)) = (source.and_then(|s| s.path()), source.and_then(|s| s.file())) else {
            return Err(Error::NotAFile { tensor: tensor.into(), place: place() });
        };
        let outside = || Error::OutsideFolder { path: path.into(), folder: self.folder.clone() };
        // Links on the way are resolved here, once; the location that comes out goes through none.
        let real = path.canonicalize().map_err(|_| Error::Replaced { path: path.into() })?;
        let folder = self.folder.canonicalize().map_err(|_| outside())?;
        let relative = real.strip_prefix(&folder).map_err(|_| outside())?;
        let parts: Option<Vec<&str>> = relative.iter().map(OsStr::to_str).collect();
        let location = parts.ok_or_else(|| Error::NotUtf8 { path: path.into() })?.join("/");
        let refused = |reason| Error::Refused { path: path.into(), reason };
        let found =
            ModelFolder::open(&folder).and_then(|folder| folder.open_file(&location)).map_err(refused)?;
        check_names(&found).map_err(refused)?;
        match (platform::status(&found), platform::status(file)) {
            (Ok(found), Ok(own)) if found.id == own.id => {}
            _ => return Err(Error::Replaced { path: path.into() }),
        }
        Ok(location)
    }

    /// No file that is referred to may be replaced by one of `targets`.
    pub(super) fn check_targets(&self, targets: &[&Path]) -> Result<(), Error> {
        for (_, source) in self.sources.iter().filter(|(id, _)| self.known.contains_key(id)) {
            let own = source.file().map(platform::status);
            let is_own = |target: &&Path| match (&own, platform::status_at(target)) {
                (Some(Ok(own)), Ok(target)) => own.id == target.id,
                _ => false,
            };
            if targets.iter().any(is_own) {
                return Err(Error::OwnTarget { path: source.path().unwrap_or(Path::new("")).into() });
            }
        }
        Ok(())
    }
}
