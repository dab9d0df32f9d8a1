//! Programs that are not in an archive.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::{Error, Parts, Problem, read_parts};
use super::sample::Sample;
use crate::source::Sources;
use modelexport_graph::aten::Program;

fn read(sample: &Sample, missing: &str) -> Result<(Program, Sources), Error> {
    let mut sources = Sources::new();
    let mut storages = HashMap::new();
    for (index, bytes) in sample.storages.iter().enumerate() {
        let name = format!("weight_{index}");
        if name != missing {
            let id = sources.add_memory(&name, Arc::new(bytes.clone()));
            storages.insert(name, id);
        }
    }
    let (program, weights, constants) =
        (sample.program.to_string(), sample.weights.to_string(), sample.constants.to_string());
    let parts = Parts {
        name: "live",
        program: program.as_bytes(),
        weights: weights.as_bytes(),
        constants: constants.as_bytes(),
        storages: &storages,
    };
    read_parts(parts, &sources).map(|program| (program, sources))
}

#[test]
fn parts_give_the_program_that_the_archive_gives_but_for_the_place_of_its_bytes() {
    let sample = Sample::default();
    let (mut program, sources) = read(&sample, "").unwrap();
    let mut archived = sample.read().unwrap();
    for (weight, storage) in program.weights.iter_mut().zip([1, 0]) {
        let view = weight.data.take().unwrap();
        let mut bytes = vec![0; view.span.length as usize];
        sources.read_at(view.span.source, view.span.offset, &mut bytes).unwrap();
        assert_eq!(bytes, sample.storages[storage], "{}", weight.name);
    }
    archived.weights.iter_mut().for_each(|weight| weight.data = None);
    let shown = |program: &Program| {
        let modules: Vec<_> = program.modules.iter().collect();
        format!("{:?} {:?} {:?} {modules:?}", program.graph, program.signature, program.weights)
    };
    assert_eq!(shown(&program), shown(&archived));
}

#[test]
fn a_storage_that_is_not_there_is_named() {
    let error = read(&Sample::default(), "weight_1").unwrap_err();
    assert!(
        matches!(&*error.problem, Problem::MissingWeightBytes { weight, entry } if weight == "l.bias" && entry == "weight_1"),
        "{error}"
    );
    assert!(error.to_string().starts_with("live: "), "{error}");
}

#[test]
fn a_storage_without_bytes_is_a_weight_without_data() {
    let mut sample = Sample::default();
    sample.storages[0].clear();
    let (program, _) = read(&sample, "").unwrap();
    let data: Vec<bool> = program.weights.iter().map(|weight| weight.data.is_some()).collect();
    assert_eq!(data, [true, false]);
}
