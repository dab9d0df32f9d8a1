//! What holds for every export.

use std::path::Path;

use modelexport::validate::{Severity, validate};
use modelexport::{Export, Target};
use modelexport_io::sidecar;

use crate::Verdict;
use crate::files;

/// Exports twice. An export that fails names `file` and leaves nothing; one that does not is valid, and the same each time.
pub fn check<'a>(file: &str, export: impl Fn(Target) -> Export<'a>) -> Verdict {
    let folder = files::folder("out");
    files::clear(&folder);
    let output = folder.join("out.onnx");
    if let Err(error) = export(Target::new(&output)).run(&mut ()) {
        files::assert_names(&error.to_string(), file);
        let left = files::clear(&folder);
        assert!(left.is_empty(), "{left:?} left behind by the error: {error}");
        return Verdict::Refused;
    }
    assert_valid(&output);
    let first = both_files(&output);
    files::clear(&folder);
    export(Target::new(&output)).run(&mut ()).expect("a second export succeeds like the first");
    assert!(first == both_files(&output), "a second export differs from the first");
    Verdict::Accepted
}

fn both_files(output: &Path) -> (Vec<u8>, Vec<u8>) {
    (files::read(output), files::read(&sidecar::path_beside(output)))
}

/// The file has no errors by our own judgement.
pub fn assert_valid(output: &Path) {
    let report = validate(output).expect("what was written can be read");
    let errors: Vec<String> = (report.findings.iter())
        .filter(|finding| finding.severity == Severity::Error)
        .map(|finding| format!("{} [{}]: {}", finding.place, finding.check, finding.message))
        .collect();
    assert!(errors.is_empty(), "an export is not valid:\n{}", errors.join("\n"));
}
