use modelexport_graph::aten::{
    Arg, Graph, InputSpec, Layout, NamedArg, Node, Signature, TensorMeta, ValueKind, WeightKind,
};
use modelexport_graph::{DType, Dim, ModuleTree, Scopes, SourceId, Span};

use super::*;

fn weight(name: &str, sizes: &[u64], dtype: DType) -> Weight {
    Weight { name: name.into(), kind: WeightKind::Parameter, dtype, sizes: sizes.into(), data: None }
}

/// A file of tensors of `f32`, all zeros.
fn checkpoint(tensors: &[(&str, &[u64])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut at = 0;
    let mut entries = Vec::new();
    for (name, shape) in tensors {
        let end = at + shape.iter().product::<u64>() * 4;
        entries.push(format!(r#""{name}":{{"dtype":"F32","shape":{shape:?},"data_offsets":[{at},{end}]}}"#));
        at = end;
    }
    let header = format!("{{{}}}", entries.join(","));
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header.as_bytes());
    bytes.resize(bytes.len() + at as usize, 0);
    std::fs::write(folder.path().join(safetensors::FILE_NAME), bytes).unwrap();
    folder
}

/// A program with one node that reads all weights but those whose names begin with `unread`. Buffers whose names begin
/// with `table` are not saved.
fn program(weights: Vec<Weight>) -> Program {
    let mut graph = Graph::default();
    let mut signature = Signature::default();
    let mut read = Vec::new();
    for (index, weight) in weights.iter().enumerate() {
        let meta = TensorMeta {
            dtype: weight.dtype,
            sizes: weight.sizes.iter().map(|&size| Dim::Static(size as i64)).collect(),
            strides: Vec::new(),
            storage_offset: Dim::Static(0),
            layout: Layout::Strided,
        };
        let value = graph.add_value(weight.name.clone(), ValueKind::Tensor(meta.into()));
        graph.inputs.push(Arg::Tensor(value));
        let weight_index = index as u32;
        signature.inputs.push(match weight.kind {
            WeightKind::Parameter => InputSpec::Parameter { weight: weight_index },
            _ => InputSpec::Buffer { weight: weight_index, persistent: !weight.name.starts_with("table") },
        });
        if !weight.name.starts_with("unread") {
            read.push(value);
        }
    }
    graph.nodes.push(Node {
        name: "cat".into(),
        target: "aten.cat.default".into(),
        args: vec![NamedArg { name: "tensors".into(), arg: Arg::Tensors(read), is_keyword: false }],
        outputs: Vec::new(),
        method: modelexport_graph::Method::Direct,
        scope: None,
        trace: None,
    });
    Program {
        graph,
        signature,
        ranges: Vec::new(),
        weights,
        modules: ModuleTree::new(),
        scopes: Scopes::new(),
        traces: Vec::new(),
        torch_version: String::new(),
        schema_version: (8, 20),
    }
}

fn attached(weights: Vec<Weight>, tensors: &[(&str, &[u64])]) -> (Vec<Weight>, Result<Attached, Error>) {
    attached_knowing(&[], weights, tensors)
}

fn attached_knowing(
    tied: &[Vec<String>],
    weights: Vec<Weight>,
    tensors: &[(&str, &[u64])],
) -> (Vec<Weight>, Result<Attached, Error>) {
    let folder = checkpoint(tensors);
    let mut program = program(weights);
    let outcome = attach(&mut program, folder.path(), tied, &mut Sources::new());
    (program.weights, outcome)
}

#[test]
fn weights_get_the_bytes_of_the_tensors_of_their_names() {
    let weights = vec![weight("a.weight", &[2, 3], DType::F32), weight("b", &[4], DType::F32)];
    let (weights, outcome) = attached(weights, &[("b", &[4]), ("a.weight", &[2, 3]), ("unused", &[1])]);
    assert_eq!(outcome.unwrap(), Attached { count: 2, ..Attached::default() });
    let views: Vec<&StridedView> = weights.iter().filter_map(|w| w.data.as_ref()).collect();
    assert_eq!(views[0].strides, [3, 1]);
    assert_eq!(views[0].span.length, 24);
    assert_eq!(views[0].span.offset, views[1].span.offset + 16);
}

#[test]
fn a_prefix_more_or_less_is_found() {
    for (prefix, other, added, removed) in [("", "model.", "model.", ""), ("top.net.", "", "", "top.net.")] {
        let names = ["x.weight", "y.weight", "y.bias"];
        let weights = names.map(|name| weight(&format!("{prefix}{name}"), &[2], DType::F32)).to_vec();
        let tensors = names.map(|name| format!("{other}{name}"));
        let tensors: Vec<(&str, &[u64])> = tensors.iter().map(|name| (name.as_str(), &[2u64][..])).collect();
        let (_, outcome) = attached(weights, &tensors);
        let found = outcome.unwrap();
        assert_eq!((found.count, &*found.added_prefix, &*found.removed_prefix), (3, added, removed));
    }
}

#[test]
fn a_weight_with_another_prefix_than_the_rest_keeps_its_own_name() {
    let weights = ["model.a", "model.b", "head"].map(|name| weight(name, &[2], DType::F32)).to_vec();
    let (_, outcome) = attached(weights, &[("a", &[2]), ("b", &[2]), ("head", &[2])]);
    assert_eq!(outcome.unwrap().count, 3);
}

#[test]
fn a_missing_matrix_is_tied_to_the_only_one_like_it() {
    let weights =
        vec![weight("embed.weight", &[9, 2], DType::F32), weight("head.weight", &[9, 2], DType::F32)];
    let (weights, outcome) = attached(weights, &[("embed.weight", &[9, 2]), ("other.weight", &[2, 9])]);
    assert_eq!(outcome.unwrap().tied, [("head.weight".to_owned(), "embed.weight".to_owned())]);
    assert_eq!(weights[0].data, weights[1].data);
}

#[test]
fn every_mismatch_is_told_at_once() {
    let weights = vec![
        weight("a", &[2], DType::F32),
        weight("b", &[3], DType::F32),
        weight("c", &[4], DType::F16),
        weight("d.weight", &[5, 5], DType::F32),
        weight("e.weight", &[6, 6], DType::F32),
    ];
    let tensors: [(&str, &[u64]); 5] =
        [("a", &[2]), ("b", &[7]), ("c", &[4]), ("x.weight", &[5, 5]), ("y.weight", &[5, 5])];
    let (_, outcome) = attached(weights, &tensors);
    let error = outcome.unwrap_err();
    let text = error.to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].ends_with("does not match the model; 4 weights differ:"), "{text}");
    assert_eq!(
        lines[1..],
        [
            "  b: has shape [7] in the files, expected [3]",
            "  c: has type float32 in the files, expected float16",
            "  d.weight: is in none of the files",
            "  e.weight: is in none of the files",
        ]
    );
    assert_eq!(error.kind(), modelexport_io::ErrorKind::BadInput);
}

/// A buffer that the capture has contents of.
fn buffer(name: &str, sizes: &[u64]) -> Weight {
    let mut weight = weight(name, sizes, DType::F32);
    weight.kind = WeightKind::Buffer;
    let span = Span { source: SourceId(9), offset: 0, length: sizes.iter().product::<u64>() * 4 };
    weight.data = Some(StridedView { span, offset: 0, sizes: sizes.into(), strides: vec![1; sizes.len()] });
    weight
}

#[test]
fn contents_of_the_capture_stay_where_the_files_have_none() {
    let weights = vec![buffer("mean", &[2]), buffer("other", &[2]), buffer("table", &[2])];
    let captured = weights[1].data.clone();
    let (weights, outcome) = attached(weights, &[("mean", &[2]), ("table", &[5])]);
    assert_eq!(outcome.unwrap().count, 1);
    assert_ne!(weights[0].data, captured, "a saved buffer is what it is in the files");
    assert_eq!(weights[1].data, captured);
    assert_eq!(weights[2].data, captured, "a buffer that is not saved is what the capture has");
}

#[test]
fn a_saved_buffer_of_another_shape_is_a_mismatch() {
    let (_, outcome) = attached(vec![buffer("mean", &[2])], &[("mean", &[3])]);
    assert!(outcome.unwrap_err().to_string().ends_with("  mean: has shape [3] in the files, expected [2]"));
}

#[test]
fn a_table_without_contents_is_told_apart_from_a_missing_weight() {
    let mut table = buffer("table", &[2]);
    table.data = None;
    let (_, outcome) = attached(vec![table], &[("a", &[2])]);
    let text = outcome.unwrap_err().to_string();
    assert!(
        text.contains("  table: is not saved with the model and was captured without contents"),
        "{text}"
    );
}

#[test]
fn what_no_node_reads_need_not_be_there() {
    let weights = vec![weight("unread.bias", &[7], DType::F32), weight("a", &[2], DType::F32)];
    let (weights, outcome) = attached(weights, &[("a", &[2])]);
    assert_eq!(outcome.unwrap().count, 1);
    assert_eq!(weights[0].data, None);
}

/// A vector is tied to nothing by its shape alone; a name that no node reads tells.
#[test]
fn a_weight_is_found_under_the_name_that_no_node_reads() {
    let weights = vec![weight("unread.bias", &[7], DType::F32), weight("head.bias", &[7], DType::F32)];
    let (weights, outcome) = attached(weights, &[("unread.bias", &[7]), ("another.bias", &[7])]);
    assert_eq!(outcome.unwrap().tied, [("head.bias".to_owned(), "unread.bias".to_owned())]);
    assert_eq!(weights[0].data, weights[1].data);
}

#[test]
fn names_that_the_capture_ties_are_believed() {
    let weights = vec![weight("head.bias", &[7], DType::F32)];
    let tied = vec![vec!["far.away".to_owned(), "head.bias".to_owned()]];
    let (weights, outcome) = attached_knowing(&tied, weights, &[("far.away", &[7]), ("another.bias", &[7])]);
    assert_eq!(outcome.unwrap(), Attached { count: 1, ..Attached::default() });
    assert!(weights[0].data.is_some());
}
