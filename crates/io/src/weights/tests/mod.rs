use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use modelexport_graph::onnx::{
    Attribute, AttributeValue, DimensionValue, Graph, Model, Node, OpsetImport, Tensor, TensorData, TypeKind,
};
use modelexport_graph::{DType, SourceId, Span, StridedView};

use super::*;
use crate::ErrorKind;
use crate::external_data;
use crate::onnx;
use crate::output::{Durability, Role};
use crate::stream;

mod references;

const SETTINGS: Settings = Settings { overwrite: true, durability: Durability::ProcessCrash };

/// A folder with weights in it and, beside those, the sources that a model would be made from.
struct Bench {
    folder: tempfile::TempDir,
    sources: Sources,
    file: SourceId,
    memory: SourceId,
}

const WEIGHTS: usize = 100_000;

fn weight_bytes() -> Vec<u8> {
    (0..WEIGHTS).map(|i| (i * 7 + i / 251) as u8).collect()
}

impl Bench {
    fn new() -> Bench {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("sub")).unwrap();
        let path = folder.path().join("sub/weights.bin");
        fs::write(&path, weight_bytes()).unwrap();
        let mut sources = Sources::new();
        let file = sources.add_file(&path).unwrap();
        let memory = sources.add_memory("a tensor in memory", Arc::new(weight_bytes()));
        Bench { folder, sources, file, memory }
    }

    fn target(&self) -> PathBuf {
        self.folder.path().join("m.onnx")
    }

    fn write(&self, model: Model, mode: WeightsMode) -> Result<Written, Error> {
        let mut last = Progress { done: 0, total: 0 };
        let mut progress = |progress: Progress| {
            assert!(progress.done >= last.done && progress.done <= progress.total, "{last:?} {progress:?}");
            last = progress;
        };
        let (written, files) =
            write_model(model, &self.sources, &self.target(), mode, SETTINGS, &mut progress)?;
        assert_eq!(last.done, last.total);
        let sizes: u64 = files.iter().map(|file| fs::metadata(&file.path).unwrap().len()).sum();
        let data = written.data.as_ref().map_or(0, |(_, bytes)| *bytes);
        assert_eq!(sizes, written.model_bytes + data);
        assert_eq!(last.total, sizes);
        Ok(written)
    }

    /// The bytes of each initializer of the written model, through the reader and the resolver.
    fn read_back(&self) -> Vec<(String, Vec<u8>)> {
        let mut file = onnx::read(&self.target()).unwrap();
        external_data::resolve(&mut file.model, self.folder.path(), &mut file.sources).unwrap();
        let tensors = file.model.graph.initializers.iter();
        tensors.map(|tensor| (tensor.name.to_string(), bytes_of(tensor, &file.sources))).collect()
    }
}

fn bytes_of(tensor: &Tensor, sources: &Sources) -> Vec<u8> {
    match &tensor.data {
        TensorData::Raw(bytes) => bytes.clone(),
        TensorData::Stored(view) => {
            let (start, length) = stream::byte_range(view, placing::bits(tensor)).unwrap().unwrap();
            let mut bytes = vec![0; length as usize];
            sources.read_at(view.span.source, start, &mut bytes).unwrap();
            bytes
        }
        other => panic!("{other:?}"),
    }
}

fn stored(name: &str, source: SourceId, offset: u64, dims: &[u64], strides: &[u64]) -> Tensor {
    let span = Span { source, offset, length: WEIGHTS as u64 - offset };
    Tensor {
        name: name.into(),
        data_type: DType::F32.onnx_code().unwrap(),
        dims: dims.iter().map(|&dim| dim as i64).collect(),
        data: TensorData::Stored(StridedView {
            span,
            offset: 0,
            sizes: dims.into(),
            strides: strides.into(),
        }),
        ..Tensor::default()
    }
}

fn raw(name: &str, bytes: Vec<u8>) -> Tensor {
    let dims = vec![bytes.len() as i64];
    let data_type = DType::U8.onnx_code().unwrap();
    Tensor { name: name.into(), data_type, dims, data: TensorData::Raw(bytes), ..Tensor::default() }
}

fn model_of(initializers: Vec<Tensor>) -> Model {
    let opset_imports = vec![OpsetImport { version: 20, ..OpsetImport::default() }];
    let graph = Graph { initializers, ..Graph::default() };
    Model { ir_version: 10, opset_imports, graph, ..Model::default() }
}

/// Weights of each kind, with the bytes that each must come out with.
fn all_kinds(source: SourceId) -> (Model, Vec<(String, Vec<u8>)>) {
    let bytes = weight_bytes();
    let tensors = vec![
        stored("plain", source, 128, &[100, 10], &[10, 1]),
        stored("small", source, 0, &[2, 2], &[2, 1]),
        stored("tied", source, 128, &[10, 100], &[100, 1]),
        stored("transposed", source, 128, &[10, 100], &[1, 10]),
        stored("transposed twin", source, 128, &[10, 100], &[1, 10]),
        stored("small transposed", source, 128, &[2, 3], &[1, 2]),
        stored("empty", source, 128, &[0, 100], &[100, 1]),
        stored("odd", source, 5000, &[257], &[1]),
        raw("constant", (0..2000).map(|i| i as u8).collect()),
        raw("small constant", vec![1, 2, 3]),
    ];
    let transposed = |rows: usize, columns: usize| -> Vec<u8> {
        let element = |row: usize, column: usize| &bytes[128 + (row + column * rows) * 4..][..4];
        (0..rows).flat_map(|row| (0..columns).flat_map(move |column| element(row, column).to_vec())).collect()
    };
    let expected = [
        ("plain", bytes[128..4128].to_vec()),
        ("small", bytes[..16].to_vec()),
        ("tied", bytes[128..4128].to_vec()),
        ("transposed", transposed(10, 100)),
        ("transposed twin", transposed(10, 100)),
        ("small transposed", transposed(2, 3)),
        ("empty", vec![]),
        ("odd", bytes[5000..6028].to_vec()),
        ("constant", (0..2000).map(|i| i as u8).collect()),
        ("small constant", vec![1, 2, 3]),
    ];
    (model_of(tensors), expected.map(|(name, bytes)| (name.to_string(), bytes)).into())
}

#[test]
fn embedded_weights_come_out_as_they_went_in() {
    let bench = Bench::new();
    for source in [bench.file, bench.memory] {
        let (model, expected) = all_kinds(source);
        let written = bench.write(model, WeightsMode::Embed).unwrap();
        assert_eq!(written.counts, Counts { embedded: 10, ..Counts::default() });
        assert_eq!(written.data, None);
        assert_eq!(bench.read_back(), expected);
        assert!(!bench.folder.path().join("m.onnx.data").exists());
    }
}

#[test]
fn external_weights_are_aligned_and_tied_ones_shared() {
    let bench = Bench::new();
    for source in [bench.file, bench.memory] {
        let (model, expected) = all_kinds(source);
        let written = bench.write(model, WeightsMode::External).unwrap();
        let counts = Counts { embedded: 4, external: 6, shared: 2, ..Counts::default() };
        assert_eq!(written.counts, counts);
        assert_eq!(bench.read_back(), expected);
    }
    let model = onnx::read(&bench.target()).unwrap().model;
    let entries: Vec<_> = model
        .graph
        .initializers
        .iter()
        .filter_map(|tensor| match &tensor.data {
            TensorData::External(entries) => Some(external_data::Entry::parse(entries).unwrap()),
            _ => None,
        })
        .collect();
    assert!(entries.iter().all(|entry| entry.location == "m.onnx.data" && entry.offset % ALIGNMENT == 0));
    let places: Vec<_> = entries.iter().map(|entry| (entry.offset, entry.length.unwrap())).collect();
    assert_eq!(places, [(0, 4000), (0, 4000), (4032, 4000), (4032, 4000), (8064, 1028), (9152, 2000)]);
    assert_eq!(fs::metadata(bench.folder.path().join("m.onnx.data")).unwrap().len(), 11152);
}

#[test]
fn omitted_weights_become_inputs_with_type_and_shape() {
    let bench = Bench::new();
    let inner = Graph {
        initializers: vec![
            stored("inner", bench.file, 0, &[300], &[1]),
            stored("plain", bench.file, 0, &[300], &[1]),
        ],
        ..Graph::default()
    };
    let (mut model, _) = all_kinds(bench.file);
    let value = AttributeValue::Graph(Box::new(inner));
    let attributes = vec![Attribute { name: "then_branch".into(), value, ..Attribute::default() }];
    model.graph.nodes.push(Node { op_type: "If".into(), attributes, ..Node::default() });
    let written = bench.write(model, WeightsMode::None).unwrap();
    assert_eq!(written.counts, Counts { embedded: 6, omitted: 6, ..Counts::default() });
    let model = onnx::read(&bench.target()).unwrap().model;
    let names = |tensors: &[Tensor]| tensors.iter().map(|t| t.name.to_string()).collect::<Vec<_>>();
    let inputs: Vec<_> = model.graph.inputs.iter().map(|input| &*input.name).collect();
    assert_eq!(inputs, ["plain", "tied", "transposed", "transposed twin", "odd", "inner"]);
    assert_eq!(
        names(&model.graph.initializers),
        ["small", "small transposed", "empty", "constant", "small constant"]
    );
    let graph = model.graph.nodes[0].subgraphs().next().unwrap();
    assert_eq!(names(&graph.initializers), ["plain"], "a name that is taken outside stays inside");
    let kind = &model.graph.inputs[2].value_type.as_ref().unwrap().kind;
    let TypeKind::Tensor { elem_type: 1, shape: Some(shape) } = kind else { panic!("{kind:?}") };
    let sizes: Vec<_> = shape.iter().map(|dim| dim.value.clone()).collect();
    assert_eq!(sizes, [DimensionValue::Static(10), DimensionValue::Static(100)]);
}

#[test]
fn writing_twice_gives_the_same_bytes_also_over_the_first() {
    let bench = Bench::new();
    for mode in [WeightsMode::Embed, WeightsMode::External, WeightsMode::Reference, WeightsMode::None] {
        let read = || {
            let data = fs::read(bench.folder.path().join("m.onnx.data")).unwrap_or_default();
            (fs::read(bench.target()).unwrap(), data)
        };
        bench.write(all_kinds(bench.file).0, mode).unwrap();
        let first = read();
        bench.write(all_kinds(bench.file).0, mode).unwrap();
        assert!(read() == first, "{mode}");
        let hidden = fs::read_dir(bench.folder.path()).unwrap();
        let hidden = hidden.filter(|e| e.as_ref().unwrap().file_name().to_string_lossy().starts_with('.'));
        assert_eq!(hidden.count(), 0, "{mode}");
    }
}

#[test]
fn auto_embeds_below_a_gibibyte_and_goes_external_from_there() {
    let bench = Bench::new();
    let written = bench.write(all_kinds(bench.file).0, WeightsMode::Auto).unwrap();
    assert_eq!(written.mode, WeightsMode::Embed);
    let huge = |elements: u64| model_of(vec![stored("w", bench.file, 0, &[elements], &[0])]);
    for (elements, expected) in [((1 << 28) - 1, WeightsMode::Embed), (1 << 28, WeightsMode::External)] {
        assert_eq!(placing::mode_for(&mut huge(elements), WeightsMode::Auto), expected);
    }
}

#[test]
fn an_embedded_model_over_the_limit_is_refused_with_advice_and_writes_nothing() {
    let bench = Bench::new();
    let model = model_of(vec![stored("w", bench.file, 0, &[1 << 29], &[0])]);
    let error = bench.write(model, WeightsMode::Embed).unwrap_err();
    assert!(matches!(error, Error::TooLarge { .. }), "{error}");
    assert!(error.to_string().contains("external"));
    assert_eq!(fs::read_dir(bench.folder.path()).unwrap().count(), 1);
}

#[test]
fn a_caller_can_add_a_sidecar_to_the_same_transaction() {
    let bench = Bench::new();
    let mut transaction = Transaction::begin(&bench.target(), SETTINGS).unwrap();
    stage(&mut transaction, all_kinds(bench.file).0, &bench.sources, WeightsMode::External, &mut |_| {})
        .unwrap();
    let mut sidecar =
        transaction.create(&bench.folder.path().join("m_hierarchy.json"), Role::Companion).unwrap();
    sidecar.write_all(b"{}").unwrap();
    transaction.stage(sidecar).unwrap();
    let roles: Vec<_> = transaction.commit().unwrap().iter().map(|file| file.role).collect();
    assert_eq!(roles, [Role::Data, Role::Companion, Role::Model]);
}

#[test]
fn output_onto_the_own_input_is_safe() {
    let bench = Bench::new();
    let (model, expected) = all_kinds(bench.file);
    let target = bench.folder.path().join("sub/weights.bin");
    write_model(model, &bench.sources, &target, WeightsMode::Embed, SETTINGS, &mut |_| {}).unwrap();
    let file = onnx::read(&target).unwrap();
    for (tensor, (name, bytes)) in file.model.graph.initializers.iter().zip(expected) {
        assert!(bytes_of(tensor, &file.sources) == bytes, "{name}");
    }
}

#[test]
fn a_name_that_is_not_utf8_cannot_be_referred_to() {
    use std::os::unix::ffi::OsStrExt;
    let bench = Bench::new();
    let target = bench.folder.path().join(std::ffi::OsStr::from_bytes(b"m\xff.onnx"));
    let error = write_model(
        all_kinds(bench.file).0,
        &bench.sources,
        &target,
        WeightsMode::External,
        SETTINGS,
        &mut |_| {},
    );
    assert!(matches!(error, Err(Error::NotUtf8 { .. })), "{error:?}");
    write_model(all_kinds(bench.file).0, &bench.sources, &target, WeightsMode::Embed, SETTINGS, &mut |_| {})
        .unwrap();
}

#[test]
fn external_tensors_of_a_read_model_stay_unless_their_file_would_be_replaced() {
    let bench = Bench::new();
    let external = |location: &str| {
        let entry = external_data::Entry { location: location.into(), offset: 0, length: Some(4) };
        Tensor { data: TensorData::External(entry.to_entries()), ..raw("old", vec![]) }
    };
    let with = |location: &str| model_of(vec![external(location), stored("w", bench.file, 0, &[1000], &[1])]);
    for (location, mode) in [("sub/weights.bin", WeightsMode::External), ("m.onnx.data", WeightsMode::Embed)]
    {
        let written = bench.write(with(location), mode).unwrap();
        assert_eq!(written.counts.referenced, 1);
    }
    for location in ["m.onnx.data", "./m.onnx.data"] {
        let error = bench.write(with(location), WeightsMode::External).unwrap_err();
        assert!(matches!(&error, Error::Unresolved { tensor, .. } if tensor == "old"), "{error}");
    }
}

#[test]
fn a_failure_names_the_tensor_and_leaves_nothing() {
    let bench = Bench::new();
    fs::File::options()
        .write(true)
        .open(bench.folder.path().join("sub/weights.bin"))
        .unwrap()
        .set_len(3000)
        .unwrap();
    for mode in [WeightsMode::Embed, WeightsMode::External] {
        let error = bench.write(all_kinds(bench.file).0, mode).unwrap_err();
        let is_located = matches!(
            &error,
            Error::Tensor { tensor, source: stream::Error::Shrunk { .. } } if tensor == "plain"
        );
        assert!(is_located, "{error}");
        assert_eq!(fs::read_dir(bench.folder.path()).unwrap().count(), 1);
    }
}

#[test]
fn a_source_that_changes_while_it_is_read_leaves_nothing() {
    for mode in [WeightsMode::Embed, WeightsMode::External] {
        let bench = Bench::new();
        let path = bench.folder.path().join("sub/weights.bin");
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(10);
        let mut change =
            |_| fs::File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
        let model = all_kinds(bench.file).0;
        let error =
            write_model(model, &bench.sources, &bench.target(), mode, SETTINGS, &mut change).unwrap_err();
        let is_named = matches!(
            &error,
            Error::Stream(stream::Error::Changed { place }) if *place == path.display().to_string()
        );
        assert!(is_named, "{error}");
        assert_eq!(error.kind(), ErrorKind::Io);
        assert_eq!(fs::read_dir(bench.folder.path()).unwrap().count(), 1);
    }
}

#[test]
fn dimensions_that_contradict_the_stored_sizes_are_refused() {
    let bench = Bench::new();
    for dims in [vec![999], vec![-1000], vec![1000, 2]] {
        let tensor = Tensor { dims, ..stored("w", bench.file, 0, &[1000], &[1]) };
        let error = bench.write(model_of(vec![tensor]), WeightsMode::External).unwrap_err();
        assert!(matches!(&error, Error::WrongShape { tensor, .. } if tensor == "w"), "{error}");
    }
}

#[test]
fn a_weight_without_data_is_left_out_however_small_it_is() {
    let bench = Bench::new();
    let tensor = Tensor {
        name: "w".into(),
        dims: vec![2],
        data_type: 1,
        data: TensorData::Typed(Vec::new()),
        ..Tensor::default()
    };
    assert!(tensor.lacks_data());
    let graph = Graph { initializers: vec![tensor], ..Graph::default() };
    let model = Model { graph, ..Model::default() };
    let written = bench.write(model, WeightsMode::None).unwrap();
    assert_eq!(written.counts, Counts { omitted: 1, ..Counts::default() });
}
