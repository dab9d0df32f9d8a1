//! The files that a live model is made of, which its export must not replace.

use std::path::{Path, PathBuf};

use super::super::Arguments;
use super::source::{Kind, LiveModel};

/// All of them, as far as they can be known before Python runs.
pub fn of(model: &LiveModel, arguments: &Arguments) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = arguments.live.inputs_from.iter().cloned().collect();
    files.extend(arguments.policy.choice().rules);
    match model.kind {
        Kind::HuggingFace => {
            let folder = Path::new(&model.text);
            let output = arguments.output.parent().filter(|parent| !parent.as_os_str().is_empty());
            let folders = [Some(folder), output.filter(|output| is_inside(output, folder))];
            folders.into_iter().flatten().for_each(|folder| files.extend(files_in(folder)));
        }
        Kind::Factory => {
            let module = model.text.split(':').next().unwrap_or_default().replace('.', "/");
            let folders = std::iter::once(Path::new("."));
            for folder in folders.chain(arguments.live.python_path.iter().map(PathBuf::as_path)) {
                let ways = [format!("{module}.py"), format!("{module}/__init__.py")];
                files.extend(ways.iter().map(|way| folder.join(way)).filter(|file| file.exists()));
            }
        }
    }
    files
}

fn is_inside(folder: &Path, outer: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    real(folder).zip(real(outer)).is_some_and(|(folder, outer)| folder.starts_with(outer))
}

/// The files in a folder, but for what an earlier export wrote there.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_exported = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        [".onnx", ".onnx.data", "_hierarchy.json"].iter().any(|ending| name.ends_with(ending))
    };
    entries.map(|entry| entry.path()).filter(|path| path.is_file() && !is_exported(path)).collect()
}
