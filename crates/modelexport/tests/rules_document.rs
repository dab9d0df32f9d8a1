//! The examples of `docs/rules.md` are rules files.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;

use modelexport::policy::Preset;
use modelexport::rules;

fn examples() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules.md");
    let text = std::fs::read_to_string(path).unwrap();
    let blocks = text.split("```toml\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn every_example_can_be_read() {
    let examples = examples();
    assert_eq!(examples.len(), 3);
    for example in &examples {
        rules::parse(example, Path::new("docs/rules.md")).unwrap();
    }
}

#[test]
fn the_first_example_shows_every_key() {
    let rules = rules::parse(&examples()[0], Path::new("docs/rules.md")).unwrap();
    assert_eq!(rules.extends, Some(Preset::Model));
    assert_eq!(rules.torch_nn_exceptions.unwrap().len(), 2);
    assert_eq!((rules.include.len(), rules.exclude.len()), (2, 2));
    assert_eq!(rules.boundaries.unwrap().len(), 3);
    assert_eq!((rules.renames.len(), rules.domain.len()), (1, 1));
}

#[test]
fn the_last_example_maps_an_operator() {
    let rules = rules::parse(&examples()[2], Path::new("docs/rules.md")).unwrap();
    let [operator] = rules.operators.as_slice() else { panic!("{:?}", rules.operators) };
    assert_eq!((operator.op_type.as_str(), operator.version), ("FusedNorm", 1));
}
