//! The captured models of the repository.

use std::path::{Path, PathBuf};

use modelexport::hierarchy::{Hierarchy, load};

/// The folder that holds `crates` and `fixtures`.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub fn hierarchy(name: &str) -> Hierarchy {
    let path = repository().join("fixtures").join(name).join("model.pt2");
    load(&path).unwrap_or_else(|error| panic!("{error}")).hierarchy
}

/// Every fixture with its name, sorted.
pub fn all() -> Vec<(String, Hierarchy)> {
    let folder = repository().join("fixtures");
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .expect("fixtures are there")
        .map(|entry| entry.expect("can be listed").path())
        .filter(|path| path.join("model.pt2").exists())
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    assert!(names.len() >= 10, "only {} fixtures in {}", names.len(), folder.display());
    names.into_iter().map(|name| (name.clone(), hierarchy(&name))).collect()
}
