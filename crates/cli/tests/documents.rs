//! The commands on modules that the documents show run as they stand there.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{Folder, repository};

const COMMANDS: [&str; 6] = ["analyze", "validate", "compare", "extract", "functions", "strip"];

/// The arguments of every such command in the shell examples of a document.
fn examples(document: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(repository().join(document)).unwrap();
    let mut is_example = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            is_example = line == "```sh";
        } else if is_example && let Some(command) = line.strip_prefix("modelexport ") {
            let command = command.split(" #").next().unwrap_or_default();
            let words = command.split_whitespace().map(|word| word.trim_matches('\'').to_owned());
            found.push(words.collect::<Vec<_>>());
        }
    }
    found.retain(|words| COMMANDS.contains(&words[0].as_str()));
    found
}

#[test]
fn examples_run_as_they_stand_there() {
    let folder = Folder::with(&["bert_tiny"]);
    for name in ["model", "before", "after"] {
        for (from, to) in [("bert_tiny.onnx", ".onnx"), ("bert_tiny_hierarchy.json", "_hierarchy.json")] {
            std::fs::copy(folder.path(from), folder.path(&format!("{name}{to}"))).unwrap();
        }
    }
    for (document, least) in [("README.md", 6), ("docs/analyze.md", 1), ("docs/tools.md", 4)] {
        let examples = examples(document);
        assert!(examples.len() >= least, "{document}: {examples:?}");
        for example in examples {
            let mut words: Vec<&str> = example.iter().map(String::as_str).collect();
            // One example may write what another wrote.
            if words.contains(&"-o") {
                words.push("--overwrite");
            }
            folder.run(&words).assert().success();
        }
    }
}
