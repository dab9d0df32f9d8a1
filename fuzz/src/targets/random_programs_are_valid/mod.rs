//! Programs of calls that PyTorch captured, of every operator of the registry, that read what others give.

mod program;

use std::path::Path;
use std::sync::Arc;

use modelexport::embedding::Embed;
use modelexport::policy::Policy;
use modelexport::tagger;
use modelexport::tags::{TagFormat, Tags};
use modelexport_graph::aten::{Program, Weight};
use modelexport_graph::onnx::Model;
use modelexport_io::output::{Durability, Settings, Transaction};
use modelexport_io::sidecar::{self, Source};
use modelexport_io::source::Sources;
use modelexport_io::weights::{self, WeightsMode};
use modelexport_lower::{OPSETS, Options, lower};

use super::export::assert_valid;
use crate::mutate::bytes::mutate;
use crate::random::Random;
use crate::{Target, Verdict, files};
use program::Choices;

pub static TARGET: Target = Target {
    name: "random_programs_are_valid",
    property: "A program of captured calls, of any operators, becomes a valid model, twice the same, or is refused with the \
               node that is not supported.",
    seeds: || vec![Vec::new()],
    mutate: |input, random| {
        // A program is what its choices say: any bytes are one.
        if input.is_empty() || random.once_in(2) {
            *input = fresh(random);
        } else {
            mutate(input, random);
        }
    },
    check,
};

fn fresh(random: &mut Random) -> Vec<u8> {
    let most = if random.once_in(8) { 256 } else { 48 };
    let length = 8 + random.below(most);
    (0..length).map(|_| random.number() as u8).collect()
}

fn check(input: &[u8]) -> Verdict {
    let mut choices = Choices::new(input);
    let opset = OPSETS.start() + i64::from(choices.next()) % (OPSETS.end() - OPSETS.start() + 1);
    let mut sources = Sources::new();
    let storage: Vec<u8> = (0..4096u32).flat_map(|i| (i as f32 / 8.0).to_le_bytes()).collect();
    let source = sources.add_memory("weights", Arc::new(storage));
    let program = program::make(&mut choices, source);
    let options = Options { opset, ..Options::default() };
    let load = |weight: &Weight| load(weight, &sources);
    let lowered = |program: Program| lower(program, &options, &load).map_err(|error| error.to_string());
    let first = lowered(program.clone());
    let second = lowered(program);
    let (first, second) = match (first, second) {
        (Ok(first), Ok(second)) => (first, second),
        (first, second) => {
            assert_eq!(first.err(), second.err(), "a program is refused once, or for two reasons");
            return Verdict::Refused;
        }
    };
    let mut unplaced = 0;
    first.0.for_each_node(&mut |node| unplaced += usize::from(node.origin.is_none()));
    assert_eq!(unplaced, 0, "nodes without an origin");
    let output = files::folder("out").join("program.onnx");
    write(first, &sources, &output);
    let file = files::read(&output);
    assert_valid(&output);
    write(second, &sources, &output);
    assert!(file == files::read(&output), "a program is lowered in two ways");
    Verdict::Accepted
}

/// Writes the model with its tags, its weights and its sidecar.
fn write((mut model, program): (Model, Program), sources: &Sources, output: &Path) {
    let tags = Tags::new(&program.modules, &Policy::default(), TagFormat::Instance);
    let source = Source { kind: "pt2".into(), file: None, torch_version: None };
    let options = tagger::Options { embed: Embed::BOTH, strategy: "native".into(), source };
    let sidecar = tagger::annotate(&mut model, &program.modules, &program.scopes, &tags, &options);
    let settings = Settings { overwrite: true, durability: Durability::ProcessCrash };
    let mut transaction = Transaction::begin(output, settings).expect("the output can be written");
    weights::stage(&mut transaction, model, sources, WeightsMode::Embed, &mut |_| ())
        .expect("a model that was lowered can be written");
    transaction.commit().expect("the output can be written");
    files::write(&sidecar::path_beside(output), &sidecar.to_bytes().expect("a sidecar can be written"));
}

/// The bytes of a weight, as an export reads them to fold constants.
fn load(weight: &Weight, sources: &Sources) -> Option<Vec<u8>> {
    let data = weight.data.as_ref()?;
    let mut bytes = vec![0; data.span.length as usize];
    sources.read_at(data.span.source, data.span.offset, &mut bytes).ok()?;
    Some(bytes)
}
