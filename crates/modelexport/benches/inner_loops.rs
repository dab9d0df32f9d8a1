//! The loops that an export spends its time in, each alone: `cargo bench -p modelexport`.
//!
//! A chain of additions has nothing but nodes, a small BERT has what models have. Times of nodes are given for one.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on should stop")]

#[path = "../../io/tests/common/mod.rs"]
mod archives;

use std::path::{Path, PathBuf};

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use modelexport::Export;
use modelexport_graph::onnx::{Graph, Model, Tensor, TensorData};
use modelexport_graph::{DType, Span, StridedView};
use modelexport_io::output::Settings;
use modelexport_io::source::Sources;
use modelexport_io::weights::{self, WeightsMode};
use modelexport_io::{onnx, pt2};
use modelexport_lower as lower;
use tempfile::TempDir;

const NODES: usize = 2_000;

fn main() {
    divan::main();
}

/// A folder that goes with what is in it.
fn chain() -> (TempDir, PathBuf, u64) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chain.pt2");
    let bytes = archives::write_chain(&path, NODES, 4096);
    (folder, path, bytes)
}

fn bert() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/bert_tiny/model.pt2")
}

/// Exports an archive to `m.onnx` beside it.
fn exported(archive: &Path) -> PathBuf {
    let target = archive.with_file_name("m.onnx");
    let mut export = Export::new(archive, &target);
    export.target.overwrite = true;
    export.run(&mut ()).unwrap();
    target
}

#[divan::bench]
fn read_graph_json(bencher: Bencher<'_, '_>) {
    let (_folder, path, bytes) = chain();
    bencher.counter(BytesCount::new(bytes)).bench_local(|| pt2::read(&path).unwrap());
}

#[divan::bench]
fn lower_chain(bencher: Bencher<'_, '_>) {
    let (_folder, path, _) = chain();
    let archive = pt2::read(&path).unwrap();
    bencher
        .counter(ItemsCount::new(NODES))
        .with_inputs(|| archive.program.clone())
        .bench_local_values(|program| lower::lower(program, &lower::Options::default(), &|_| None).unwrap());
}

#[divan::bench]
fn lower_bert(bencher: Bencher<'_, '_>) {
    let archive = pt2::read(&bert()).unwrap();
    bencher
        .with_inputs(|| archive.program.clone())
        .bench_local_values(|program| lower::lower(program, &lower::Options::default(), &|_| None).unwrap());
}

/// From the archive to the files.
#[divan::bench]
fn export_chain(bencher: Bencher<'_, '_>) {
    let (_folder, path, _) = chain();
    bencher.counter(ItemsCount::new(NODES)).bench_local(|| exported(&path));
}

#[divan::bench]
fn encode(bencher: Bencher<'_, '_>) {
    let (_folder, path) = tagged();
    let model = onnx::read(&path).unwrap().model;
    bencher.counter(ItemsCount::new(NODES)).bench_local(|| onnx::encode(&model).unwrap());
}

/// An ONNX file with tags.
fn tagged() -> (TempDir, PathBuf) {
    let (folder, path, _) = chain();
    let target = exported(&path);
    (folder, target)
}

#[divan::bench]
fn read_onnx(bencher: Bencher<'_, '_>) {
    let (_folder, path) = tagged();
    bencher.counter(ItemsCount::new(NODES)).bench_local(|| onnx::read(&path).unwrap());
}

/// The walk over the bytes of a file that finds and drops its tags.
#[divan::bench]
fn splice(bencher: Bencher<'_, '_>) {
    let (_folder, path) = tagged();
    let mut sources = Sources::new();
    let id = sources.add_file(&path).unwrap();
    bencher.counter(ItemsCount::new(NODES)).bench_local(|| onnx::strip(&sources, id).unwrap());
}

/// Rows and columns of a weight that is written, in elements of four bytes.
const SIDE: u64 = 1024;

/// Weights on their way from file to file, as they lie or transposed.
#[divan::bench(args = [false, true])]
fn stream(bencher: Bencher<'_, '_>, is_transposed: bool) {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from"), folder.path().join("m.onnx"));
    std::fs::write(&from, vec![1; (SIDE * SIDE * 4) as usize]).unwrap();
    let mut sources = Sources::new();
    let source = sources.add_file(&from).unwrap();
    let strides = if is_transposed { vec![1, SIDE] } else { vec![SIDE, 1] };
    let view = StridedView {
        span: Span { source, offset: 0, length: SIDE * SIDE * 4 },
        offset: 0,
        sizes: vec![SIDE, SIDE],
        strides,
    };
    let tensor = Tensor {
        name: "w".into(),
        dims: vec![SIDE as i64; 2],
        data_type: DType::F32.onnx_code().unwrap(),
        data: TensorData::Stored(view),
        ..Tensor::default()
    };
    let graph = Graph { name: "g".into(), initializers: vec![tensor], ..Graph::default() };
    let model = Model { graph, ..Model::default() };
    bencher.counter(BytesCount::new(SIDE * SIDE * 4)).with_inputs(|| model.clone()).bench_local_values(
        |model| {
            let settings = Settings { overwrite: true, ..Settings::default() };
            weights::write_model(model, &sources, &to, WeightsMode::External, settings, &mut |_| {}).unwrap()
        },
    );
}
