//! Which Python runs live models.

use std::path::{Path, PathBuf};

/// Set by the script of the Python package: the interpreter that it runs in.
const OWN: &str = "MODELEXPORT_PYTHON";

/// The folders of active environments.
const ENVIRONMENTS: [&str; 2] = ["VIRTUAL_ENV", "CONDA_PREFIX"];

/// An interpreter and why it was chosen, for messages.
pub struct Interpreter {
    pub path: PathBuf,
    pub reason: &'static str,
}

/// The one that was asked for, the one that the command runs in, that of the active environment, or `python3`.
pub fn find(asked: Option<&Path>) -> Interpreter {
    find_in(asked, &|name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from))
}

fn find_in(asked: Option<&Path>, variable: &dyn Fn(&str) -> Option<PathBuf>) -> Interpreter {
    if let Some(path) = asked {
        return Interpreter { path: path.to_owned(), reason: "given by --python" };
    }
    if let Some(path) = variable(OWN) {
        return Interpreter { path, reason: "the one that modelexport is installed in" };
    }
    let in_environment = |folder: PathBuf| Some(folder.join("bin/python")).filter(|path| path.exists());
    match ENVIRONMENTS.iter().find_map(|name| variable(name).and_then(in_environment)) {
        Some(path) => Interpreter { path, reason: "that of the active environment" },
        None => Interpreter { path: "python3".into(), reason: "no environment is active" },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(asked: Option<&str>, variables: &[(&str, &Path)]) -> PathBuf {
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_path_buf())
        };
        find_in(asked.map(Path::new), &variable).path
    }

    #[test]
    fn the_closest_interpreter_wins() {
        let environment = tempfile::tempdir().unwrap();
        let python = environment.path().join("bin/python");
        std::fs::create_dir(environment.path().join("bin")).unwrap();
        std::fs::write(&python, "").unwrap();
        let active: (&str, &Path) = ("VIRTUAL_ENV", environment.path());
        let own = ("MODELEXPORT_PYTHON", Path::new("/own/python"));
        assert_eq!(chosen(Some("my/python"), &[active, own]), Path::new("my/python"));
        assert_eq!(chosen(None, &[active, own]), Path::new("/own/python"));
        assert_eq!(chosen(None, &[active]), python);
        assert_eq!(chosen(None, &[("VIRTUAL_ENV", Path::new("/nonexistent"))]), Path::new("python3"));
        assert_eq!(chosen(None, &[]), Path::new("python3"));
    }
}
