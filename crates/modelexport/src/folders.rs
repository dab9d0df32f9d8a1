//! The folders that files are in.

use std::path::Path;

/// Where a file is, as a path that can be opened.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether two files are, or will be, in one folder, which exists.
pub(crate) fn is_beside(one: &Path, other: &Path) -> bool {
    let real = |path| folder_of(path).canonicalize().ok();
    real(one).is_some() && real(one) == real(other)
}
