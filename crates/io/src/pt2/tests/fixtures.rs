//! Archives that torch wrote.

use std::path::PathBuf;

use modelexport_graph::aten::{Arg, InputSpec, OutputSpec, Program};

use modelexport_graph::SourceId;

use super::super::{read, read_program, read_source};
use super::sample::read_bytes;
use super::zip::{ZipEntry, stored, zip};
use crate::source::Sources;

fn path(case: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(case).join("model.pt2")
}

fn program(case: &str) -> Program {
    read(&path(case)).unwrap_or_else(|error| panic!("{error}")).program
}

fn names(program: &Program) -> (Vec<String>, Vec<Option<String>>) {
    let inputs = program.signature.inputs.iter().filter_map(|input| match input {
        InputSpec::User { name } => Some(name.to_string()),
        _ => None,
    });
    let outputs = program.signature.outputs.iter().filter_map(|output| match output {
        OutputSpec::User { name } => Some(name.as_ref().map(|name| name.to_string())),
        _ => None,
    });
    (inputs.collect(), outputs.collect())
}

#[test]
fn every_fixture_is_read() {
    let folder = path("").parent().unwrap().to_owned();
    let mut count = 0;
    for case in std::fs::read_dir(folder).unwrap() {
        let model = case.unwrap().path().join("model.pt2");
        if model.exists() {
            let archive = read(&model).unwrap_or_else(|error| panic!("{error}"));
            assert!(!archive.program.graph.nodes.is_empty(), "{}", model.display());
            count += 1;
        }
    }
    assert!(count >= 10, "only {count} fixtures");
}

#[test]
fn names_are_those_of_the_user() {
    let (inputs, outputs) = names(&program("bert_tiny"));
    assert_eq!(inputs, ["input_ids", "attention_mask", "token_type_ids"]);
    assert_eq!(outputs, [Some("last_hidden_state".into()), Some("pooler_output".into())]);
}

#[test]
fn weights_are_the_bytes_that_torch_wrote() {
    let archive = read(&path("plain_linear_relu")).unwrap();
    let bytes = std::fs::read(path("plain_linear_relu")).unwrap();
    for weight in &archive.program.weights {
        let span = weight.data.as_ref().unwrap().span;
        let elements: u64 = weight.sizes.iter().product();
        assert_eq!(span.length, weight.dtype.byte_len(elements).unwrap(), "{}", weight.name);
        assert_eq!(span.offset % 64, 0, "torch aligns storages");
        let mut read = vec![0; span.length as usize];
        archive.sources.read_at(span.source, span.offset, &mut read).unwrap();
        assert_eq!(read, bytes[span.offset as usize..][..read.len()]);
        let values = read.chunks(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()));
        assert!(values.into_iter().all(|value| value.is_finite() && value.abs() < 10.0), "{}", weight.name);
    }
}

#[test]
fn a_shared_module_has_several_calls_and_tied_weights_one_storage() {
    let program = program("shared_module");
    let (_, shared) =
        program.modules.iter().find(|(_, module)| module.calls > 1).expect("a module called twice");
    let scopes = program.scopes.iter().filter(|(_, scope)| {
        program.modules.get(scope.module).is_some_and(|module| module.path == shared.path)
    });
    assert_eq!(scopes.count(), shared.calls as usize);
    let mut spans: Vec<_> = program.weights.iter().map(|weight| weight.data.as_ref().unwrap().span).collect();
    spans.sort();
    assert!(spans.windows(2).any(|pair| pair[0] == pair[1]), "tied weights");
}

#[test]
fn modules_that_did_not_run_are_listed() {
    let program = program("not_executed");
    let idle: Vec<_> = program.modules.iter().filter(|(_, module)| module.order.is_none()).collect();
    assert!(!idle.is_empty());
    assert!(idle.iter().all(|(_, module)| module.calls == 0));
    assert!(idle.iter().any(|(_, module)| !module.parameters.is_empty()), "with their parameters");
}

#[test]
fn a_condition_has_two_graphs() {
    let program = program("cond");
    let graphs = program.graph.nodes.iter().flat_map(|node| &node.args);
    assert!(graphs.filter(|arg| matches!(arg.arg, Arg::Graph(_))).count() >= 2);
    assert!(program.graph.nodes.iter().any(|node| &*node.target == "higher_order.cond"));
}

#[test]
fn dynamic_sizes_have_ranges() {
    let program = program("dynamic_batch_seq");
    assert!(program.ranges.iter().any(|(_, range)| range.max.is_some()));
}

#[test]
fn every_cut_of_a_fixture_is_an_error() {
    for case in ["plain_linear_relu", "norm_embedding"] {
        let bytes = std::fs::read(path(case)).unwrap();
        for length in 0..bytes.len() {
            assert!(
                read_program(&bytes[..length], length as u64, SourceId(0)).is_err(),
                "{case} cut at {length}"
            );
        }
        assert!(read_program(&bytes[..], bytes.len() as u64, SourceId(0)).is_ok());
    }
}

#[test]
fn an_archive_in_memory_is_read_like_a_file() {
    let mut sources = Sources::new();
    let bytes = std::fs::read(path("cond")).unwrap();
    sources.add_memory("something before it", std::sync::Arc::new(vec![0u8]));
    let id = sources.add_memory("an upload", std::sync::Arc::new(bytes[..bytes.len() - 1].to_vec()));
    let error = read_source(&sources, id).unwrap_err();
    assert!(error.to_string().starts_with("an upload: "), "{error}");
    let id = sources.add_memory("an upload", std::sync::Arc::new(bytes));
    let from_memory = read_source(&sources, id).unwrap();
    assert!(from_memory.weights.iter().all(|weight| weight.data.as_ref().unwrap().span.source == id));
    assert_eq!(format!("{:?}", from_memory.graph), format!("{:?}", program("cond").graph));
}

/// Bytes are overwritten with pieces of JSON, Python and noise. Whatever comes out, nothing panics.
#[test]
fn spoilt_programs_do_not_panic() {
    const ROUNDS: usize = 150;
    const PIECES: [&str; 16] = [
        "null",
        "-1",
        "9223372036854775807",
        "1e999",
        "[]",
        "{}",
        "\"\"",
        "as_graph",
        "as_expr",
        "\\u0000",
        "]]",
        "}}",
        "slice(1, -3, 0)",
        "getattr(",
        ";;",
        "\u{ffff}",
    ];
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below as u64) as usize
    };
    for case in ["cond", "dynamic_batch_seq", "shared_module"] {
        let bytes = std::fs::read(path(case)).unwrap();
        let entries = entries_of(&bytes);
        let model = entries.iter().position(|entry| entry.name.ends_with(b"models/model.json")).unwrap();
        let mut refused = 0;
        for _ in 0..ROUNDS {
            let mut spoilt = entries.clone();
            let text = &mut spoilt[model].data;
            let piece = PIECES[random(PIECES.len())].as_bytes();
            let at = random(text.len() - piece.len());
            text[at..][..piece.len()].copy_from_slice(piece);
            refused += usize::from(read_bytes(&zip(&spoilt)).is_err());
        }
        assert!((1..ROUNDS).contains(&refused), "{case}: {refused} of {ROUNDS} refused");
    }
}

fn entries_of(bytes: &[u8]) -> Vec<ZipEntry> {
    let archive = rawzip::ZipArchive::from_slice(bytes).unwrap();
    let mut records = archive.entries();
    let mut entries = Vec::new();
    while let Some(record) = records.next_entry().unwrap() {
        let name = String::from_utf8(record.file_path().as_bytes().to_vec()).unwrap();
        let entry = archive.get_entry(record.wayfinder()).unwrap();
        entries.push(stored(&name, entry.data()));
    }
    entries
}

/// Expected paths, names and calls are what the generator beside the archive says.
#[test]
fn an_archive_of_the_oldest_torch() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/archives/torch_2_9.pt2");
    let program = read(&path).unwrap_or_else(|error| panic!("{error}")).program;
    assert_eq!((program.schema_version, &*program.torch_version), ((8, 14), "2.9.0+cu128"));
    assert_eq!(names(&program), (vec!["X".into()], vec![Some("values".into()), Some("indices".into())]));
    let ran: Vec<String> = program
        .graph
        .nodes
        .iter()
        .filter(|node| &*node.target == "aten.relu.default")
        .map(|node| program.modules.get(program.scopes.module(node.scope.unwrap())).unwrap().path.to_string())
        .collect();
    let expected =
        ["blocks.1", "blocks.2", "blocks.0", "by_name.a,b", "pipeline.0", "pipeline.1", "again", "again"];
    assert_eq!(ran, expected);
    let module = |path: &str| program.modules.get(program.modules.find(path).unwrap()).unwrap();
    assert_eq!((module("again").calls, &*module("again").class), (2, "__main__.Block"));
    assert_eq!((module("idle.project").order, module("idle.project").parameters.len()), (None, 2));
    assert_eq!(program.modules.len(), 22, "as many as the model has");
    assert_eq!(&*program.graph.nodes.last().unwrap().name, "topk");
    assert_eq!(program.ranges[0].1.max, Some(64));
}
