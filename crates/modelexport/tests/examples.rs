//! The programs in `examples` do what they say.
#![allow(clippy::unwrap_used, reason = "this is test code")]

use std::path::Path;
use std::process::Command;

/// Runs an example and gives what it prints, or what it reports as an error.
///
/// Cargo builds examples when it builds all targets for a test run, but not for `--test examples` alone.
fn run(example: &str, arguments: &[&Path]) -> Result<String, String> {
    // Tests are in `target/PROFILE/deps`, examples in `target/PROFILE/examples`.
    let test = std::env::current_exe().unwrap();
    let program = test.ancestors().nth(2).unwrap().join("examples").join(example);
    let program = program.with_extension(std::env::consts::EXE_EXTENSION);
    assert!(program.exists(), "no {}: run `cargo build -p modelexport --examples`", program.display());
    let output = Command::new(program).args(arguments).output().unwrap();
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout).unwrap()),
        false => Err(String::from_utf8(output.stderr).unwrap()),
    }
}

#[test]
fn a_file_is_exported_its_tags_are_walked_and_a_module_is_extracted() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/bert_tiny/model.pt2");
    let (model, part) = (folder.path().join("model.onnx"), folder.path().join("part.onnx"));

    let exported = run("export_a_file", &[&archive, &model]).unwrap();
    assert!(exported.starts_with(&format!("wrote {} (", model.display())), "{exported}");
    let nodes = exported.lines().last().unwrap().split(' ').next().unwrap().parse::<usize>().unwrap();

    let walked = run("walk_the_tags", &[&model]).unwrap();
    assert_eq!(walked.lines().count(), nodes);
    assert!(walked.lines().any(|line| line.ends_with("\tpooler.dense\t/BertModel/BertPooler")), "{walked}");

    let extracted = run("extract_a_module", &[&model, Path::new("encoder.layer.0"), &part]).unwrap();
    assert!(extracted.starts_with("input "), "{extracted}");
    assert!(extracted.lines().any(|line| line.starts_with("output ")), "{extracted}");
    assert!(part.exists());
}

#[test]
fn without_arguments_the_usage_is_shown() {
    for example in ["export_a_file", "walk_the_tags", "extract_a_module"] {
        let error = run(example, &[]).unwrap_err();
        assert!(error.contains(&format!("usage: {example} ")), "{error}");
    }
}
