//! `modelexport operators` as users run it.
#![allow(clippy::unwrap_used, clippy::panic)]

use assert_cmd::Command;

/// Exit status and what the command prints.
fn operators(arguments: &[&str]) -> (i32, String) {
    let output =
        Command::cargo_bin("modelexport").unwrap().arg("operators").args(arguments).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

/// The targets that `--format json` lists for a filter.
fn targets(filter: &str) -> Vec<String> {
    let (status, text) = operators(&[filter, "--format", "json"]);
    assert_eq!(status, 0);
    let rows: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    rows.iter().map(|row| row["target"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_filter_chooses_by_any_part_of_the_name() {
    assert_eq!(targets(".layer_norm.default"), ["aten.layer_norm.default"; 2]);
    let (status, text) = operators(&["aten.hardswish.default"]);
    assert_eq!((status, text.lines().count()), (0, 1));
    assert!(text.contains("hardswish(Tensor self) -> Tensor"), "{text}");
}

#[test]
fn an_in_place_operator_is_shown_as_what_it_is_exported_as() {
    assert_eq!(targets("aten.add_.Tensor"), ["aten.add.Tensor"]);
    assert_eq!(targets("aten.zero_.default"), ["aten.fill.Scalar"]);
    assert_eq!(targets("hardswish_"), ["aten.hardswish.default"]);
}

#[test]
fn no_such_operator_is_a_negative_finding() {
    assert_eq!(operators(&["no_such_operator"]), (1, String::new()));
}
