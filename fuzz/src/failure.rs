//! An input for which a property does not hold: saved, told, and tried again.

use std::path::{Path, PathBuf};

use modelexport_fuzz::{Inputs, Target, Verdict};

use crate::arguments::Arguments;

/// What is known of a process that ended too early.
pub struct Failure {
    pub target: &'static str,
    /// What it printed, or why it was stopped.
    pub message: String,
    pub input: PathBuf,
}

/// Lines of a message that are worth showing.
const LINES: usize = 12;

impl Failure {
    /// Saves the input with the number `index`.
    pub fn save(target: &'static Target, seed: u64, index: u64, message: String) -> Result<Failure, String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("failures");
        let input = folder.join(format!("{}-{seed}-{index}", target.name));
        std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::write(&input, Inputs::new(target, seed).get(index)))
            .map_err(|error| format!("{}: {error}", input.display()))?;
        Ok(Failure { target: target.name, message, input })
    }

    pub fn tell(&self) {
        eprintln!("\n{} does not hold:", self.target);
        for line in self.message.lines().take(LINES) {
            eprintln!("  {line}");
        }
        eprintln!("  the input is {}", self.input.display());
        eprintln!("  to see it again: fuzz/run --input {} {}", self.input.display(), self.target);
    }
}

/// Tries an input in this process, which ends if the property does not hold.
pub fn reproduce(arguments: &Arguments, input: &Path) -> Result<bool, String> {
    let target = arguments.target()?;
    let bytes = std::fs::read(input).map_err(|error| format!("{}: {error}", input.display()))?;
    match (target.check)(&bytes) {
        Verdict::Accepted => eprintln!("{} holds; the input was accepted", target.name),
        Verdict::Refused => eprintln!("{} holds; the input was refused", target.name),
    }
    Ok(true)
}
