//! Names that the user gives to inputs, outputs and dynamic dimensions.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::path::Path;

use modelexport::interface::{Error, dimension_names, rename_inputs, rename_outputs};
use modelexport_graph::aten::{InputSpec, OutputSpec, Program};
use modelexport_io::pt2;

fn program(fixture: &str) -> Program {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(fixture).join("model.pt2");
    pt2::read(&path).unwrap().program
}

fn texts(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn inputs(program: &Program) -> Vec<&str> {
    let specs = program.signature.inputs.iter();
    specs.filter_map(|spec| if let InputSpec::User { name } = spec { Some(&**name) } else { None }).collect()
}

fn outputs(program: &Program) -> Vec<Option<&str>> {
    let specs = program.signature.outputs.iter();
    specs
        .filter_map(|spec| if let OutputSpec::User { name } = spec { Some(name.as_deref()) } else { None })
        .collect()
}

#[test]
fn the_first_inputs_and_outputs_get_the_names() {
    let mut program = program("bert_tiny");
    rename_inputs(&mut program, &texts(&["ids", "mask"])).unwrap();
    assert_eq!(inputs(&program), ["ids", "mask", "token_type_ids"]);
    let before = outputs(&program)[1].map(str::to_owned);
    rename_outputs(&mut program, &texts(&["hidden"])).unwrap();
    assert_eq!(outputs(&program), [Some("hidden"), before.as_deref()]);
}

#[test]
fn names_that_cannot_be_given_are_refused() {
    let mut program = program("bert_tiny");
    let error = rename_inputs(&mut program, &texts(&["a", "b", "c", "d"])).unwrap_err();
    assert_eq!(
        error,
        Error::TooMany {
            what: "input",
            given: 4,
            names: texts(&["input_ids", "attention_mask", "token_type_ids"])
        }
    );
    let error = rename_outputs(&mut program, &texts(&["a", "a"])).unwrap_err();
    assert_eq!(error, Error::Twice { what: "output", name: "a".to_owned() });
    for name in ["", "a\nb"] {
        let error = rename_inputs(&mut program, &texts(&[name])).unwrap_err();
        assert_eq!(error, Error::BadName { what: "input", name: name.to_owned() });
    }
    assert_eq!(inputs(&program), ["input_ids", "attention_mask", "token_type_ids"]);
}

#[test]
fn a_dimension_is_named_by_its_place_or_its_symbol() {
    let program = program("dynamic_batch_seq");
    let names = dimension_names(&texts(&["tokens:0=batch", "s27=sequence"]), &program).unwrap();
    assert_eq!(names, [("s48".to_owned(), "batch".to_owned()), ("s27".to_owned(), "sequence".to_owned())]);
}

#[test]
fn a_dimension_that_is_not_there_is_an_error_that_lists_those_that_are() {
    let program = program("dynamic_batch_seq");
    for dimension in ["tokens:2", "context:1", "other:0", "s1"] {
        let error = dimension_names(&texts(&[&format!("{dimension}=n")]), &program).unwrap_err();
        let Error::NoDimension { dimension: found, known, .. } = &error else {
            unreachable!("{error}");
        };
        assert_eq!(found, dimension);
        assert_eq!(known, "tokens:0 (s48), tokens:1 (s27), context:0 (s48)");
    }
    let error = dimension_names(&texts(&["tokens"]), &program).unwrap_err();
    assert_eq!(error, Error::DimensionForm { text: "tokens".to_owned() });
}
