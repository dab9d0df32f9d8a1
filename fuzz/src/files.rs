//! The folder that targets write to. It is the process's own; whoever starts the process sets `TMPDIR` and removes it.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

fn root() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| std::env::temp_dir().join(format!("modelexport-fuzz-{}", std::process::id())))
}

/// Removes the folder of the process.
pub fn remove() {
    // It may never have been made.
    _ = std::fs::remove_dir_all(root());
}

/// A folder below that of the process, made on first use.
pub fn folder(name: &str) -> PathBuf {
    let folder = root().join(name);
    std::fs::create_dir_all(&folder).expect("a temporary folder can be made");
    folder
}

pub fn write(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).expect("a temporary file can be written");
}

pub fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).expect("a file that was just written can be read")
}

/// Removes what is in a folder; the names of what was there.
pub fn clear(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("the folder is there").flatten();
    let names = entries.map(|entry| {
        std::fs::remove_file(entry.path()).expect("a temporary file can be removed");
        entry.file_name().to_string_lossy().into_owned()
    });
    names.collect()
}

/// What users need to know of an error is which file it is about.
pub fn assert_names(message: &str, file: &str) {
    assert!(message.contains(file), "an error that does not name {file:?}: {message}");
}
