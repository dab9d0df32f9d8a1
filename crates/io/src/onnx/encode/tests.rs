//! Encoding loses nothing, computes the right lengths, and rejects invalid models.

use modelexport_graph::onnx::{
    Attribute, AttributeValue, Dimension, DimensionValue, Graph, Model, Node, OpsetImport, Tensor,
    TensorData, Type, TypeKind, ValueInfo,
};
use modelexport_graph::{SourceId, Span, StridedView};
use proptest::prelude::*;

use super::*;
use crate::onnx::limits::MAX_NESTING;
use crate::onnx::read_bytes;
use crate::onnx::schema::{
    attribute, dimension, graph, model, node, opset_import, tensor, type_proto, value_info,
};
use crate::onnx::test_bytes::*;
use crate::source::Sources;

/// Encodes into one run of bytes, with views read from `sources`.
fn bytes_of(model: &Model, sources: &Sources) -> Vec<u8> {
    let mut bytes = Vec::new();
    for chunk in encode(model).unwrap() {
        match chunk {
            Chunk::Bytes(part) => bytes.extend(part),
            Chunk::View { view, .. } => {
                let mut part = vec![0; view.span.length as usize];
                sources.read_at(view.span.source, view.span.offset, &mut part).unwrap();
                bytes.extend(part);
            }
        }
    }
    assert_eq!(bytes.len() as u64, encoded_len(model).unwrap());
    bytes
}

fn again(bytes: &[u8]) -> Vec<u8> {
    let file = read_bytes("test.onnx", bytes.to_vec()).unwrap();
    bytes_of(&file.model, &file.sources)
}

#[test]
fn a_model_in_the_order_of_its_fields_comes_back_as_it_was() {
    let dims =
        [field(1, number(dimension::DIM_VALUE, 0)), field(1, field(dimension::DIM_PARAM, "n")), field(1, [])];
    let tensor_type = [number(type_proto::ELEM_TYPE, 1), field(type_proto::SHAPE, dims.concat())].concat();
    let input =
        [field(value_info::NAME, "x"), field(value_info::TYPE, field(type_proto::TENSOR, tensor_type))];
    let weight = [
        number(tensor::DIMS, 1000),
        number(tensor::DATA_TYPE, 1),
        field(tensor::NAME, "w"),
        field(tensor::RAW_DATA, [3; 4000]),
    ];
    let attributes = [
        [field(attribute::NAME, "f"), vec![0x15, 0, 0, 0, 0], number(attribute::TYPE, 1)].concat(),
        [field(attribute::NAME, "i"), number(attribute::I, -1i64 as u64), number(attribute::TYPE, 2)]
            .concat(),
        [field(attribute::NAME, "s"), field(attribute::S, ""), number(attribute::TYPE, 3)].concat(),
        [field(attribute::NAME, "r"), number(attribute::TYPE, 4), field(attribute::REF_ATTR_NAME, "p")]
            .concat(),
    ];
    let attributes: Vec<_> = attributes.iter().map(|content| field(node::ATTRIBUTE, content)).collect();
    let parts = [field(node::INPUT, ""), field(node::OUTPUT, b"\xff"), node_of("Op", attributes.concat())];
    let subgraph = graph_of(&[node_of("Relu", [])]);
    let graph = [
        graph_of(&[parts.concat(), node_of("If", graph_attribute(subgraph))]),
        field(graph::NAME, "main"),
        field(graph::INITIALIZER, weight.concat()),
        field(graph::INPUT, input.concat()),
    ];
    let import = field(model::OPSET_IMPORT, number(opset_import::VERSION, 20));
    let bytes =
        [number(model::IR_VERSION, 10), field(model::GRAPH, graph.concat()), import, field(100, "later")]
            .concat();
    assert_eq!(again(&bytes), bytes);
}

#[test]
fn fields_with_default_values_are_kept() {
    let bytes = model_of(graph_of(&[node_of("Op", field(node::DOC_STRING, ""))]));
    let encoded = again(&bytes);
    assert_eq!(encoded.len(), bytes.len());
    assert_eq!(again(&encoded), encoded);
    // A value that was set since then is not undone by the default that is remembered.
    let mut file = read_bytes("test.onnx", bytes).unwrap();
    file.model.graph.nodes[0].doc_string = "new".into();
    let file = read_bytes("test.onnx", bytes_of(&file.model, &file.sources)).unwrap();
    assert_eq!(file.model.graph.nodes[0].doc_string, "new");
}

#[test]
fn unknown_fields_inside_types_are_kept() {
    let later = field(60, "later");
    let dim = [number(dimension::DIM_VALUE, 4), later.clone()].concat();
    let shape = [field(1, dim), later.clone()].concat();
    let tensor_type =
        [number(type_proto::ELEM_TYPE, 1), field(type_proto::SHAPE, shape), later.clone()].concat();
    let value_type = [field(type_proto::TENSOR, tensor_type), later].concat();
    let bytes = model_of(field(graph::INPUT, field(value_info::TYPE, value_type)));
    let encoded = again(&bytes);
    assert_eq!(encoded.windows(5).filter(|window| window == b"later").count(), 4);
    let kind = |bytes: &[u8]| {
        let file = read_bytes("test.onnx", bytes.to_vec()).unwrap();
        file.model.graph.inputs[0].value_type.as_ref().unwrap().kind.clone()
    };
    assert_eq!(kind(&encoded), kind(&bytes));
    assert_eq!(again(&encoded), encoded);
}

#[test]
fn a_built_model_is_encoded_in_the_order_of_field_numbers() {
    let shape = vec![Dimension { value: DimensionValue::Static(2), ..Default::default() }];
    let kind = TypeKind::Tensor { elem_type: 1, shape: Some(shape) };
    let output = ValueInfo {
        name: "y".into(),
        value_type: Some(Type { kind, ..Default::default() }.into()),
        ..Default::default()
    };
    let axis = Attribute { name: "axis".into(), value: AttributeValue::Int(0), ..Default::default() };
    let node = Node {
        op_type: "Softmax".into(),
        inputs: vec!["x".into()],
        outputs: vec!["y".into()],
        attributes: vec![axis],
        metadata: vec![("k".into(), "v".into())],
        ..Default::default()
    };
    let graph = Graph { nodes: vec![node], outputs: vec![output], ..Default::default() };
    let model = Model { ir_version: 10, graph, ..Default::default() };
    let attribute = [field(1, "axis"), number(3, 0), number(20, 2)].concat();
    let entry = [field(1, "k"), field(2, "v")].concat();
    let node =
        [field(1, "x"), field(2, "y"), field(4, "Softmax"), field(5, attribute), field(9, entry)].concat();
    let tensor_type = [number(1, 1), field(2, field(1, number(1, 2)))].concat();
    let output = [field(1, "y"), field(2, field(1, tensor_type))].concat();
    let expected = [number(1, 10), field(7, [field(1, node), field(12, output)].concat())].concat();
    assert_eq!(bytes_of(&model, &Sources::new()), expected);
}

#[test]
fn two_threads_add_up_the_lengths_of_many_nodes() {
    let node = |index: usize| Node {
        op_type: "Op".into(),
        doc_string: "x".repeat(index % 300),
        attributes: vec![Attribute { name: "a".into(), ..Default::default() }; index % 3],
        ..Default::default()
    };
    let count = sink::MANY_NODES + 1;
    let graph = Graph { name: "many".into(), nodes: (0..count).map(node).collect(), ..Default::default() };
    let opset_imports = vec![OpsetImport { version: 20, ..Default::default() }];
    let model = Model { ir_version: 10, opset_imports, graph, ..Default::default() };
    let bytes = bytes_of(&model, &Sources::new());
    let read = read_bytes("test.onnx", bytes).unwrap().model.graph;
    assert_eq!((&*read.name, read.nodes.len()), ("many", count));
    for (index, found) in read.nodes.iter().enumerate() {
        assert_eq!((found.doc_string.len(), found.attributes.len()), (index % 300, index % 3), "{index}");
    }
}

fn with_view(data_type: i32, sizes: Vec<u64>) -> Model {
    let span = Span { source: SourceId(0), offset: 0, length: 1 << 40 };
    let strides = vec![1; sizes.len()];
    let data = TensorData::Stored(StridedView { span, offset: 0, sizes, strides });
    let tensor = Tensor { name: "w".into(), data_type, data, ..Default::default() };
    Model { graph: Graph { initializers: vec![tensor], ..Default::default() }, ..Default::default() }
}

#[test]
fn stored_tensors_are_views_with_the_width_of_their_type() {
    let view_bits = |model: &Model| {
        let chunks = encode(model).unwrap();
        let view = chunks.iter().find_map(|chunk| match chunk {
            Chunk::View { dtype_bits, .. } => Some(*dtype_bits),
            Chunk::Bytes(_) => None,
        });
        let in_memory: usize = chunks.iter().map(|c| if let Chunk::Bytes(b) = c { b.len() } else { 0 }).sum();
        (view, encoded_len(model).unwrap() - in_memory as u64)
    };
    assert_eq!(view_bits(&with_view(1, vec![1000, 3])), (Some(32), 12_000));
    assert_eq!(view_bits(&with_view(22, vec![5])), (Some(4), 3));
    assert_eq!(view_bits(&with_view(99, vec![5])), (Some(8), 5));
    assert_eq!(view_bits(&with_view(1, vec![0, 5])), (None, 0));
}

#[test]
fn more_than_protobuf_can_hold_is_refused_with_advice() {
    let model = with_view(1, vec![1 << 29]);
    let error = encode(&model).unwrap_err();
    assert!(matches!(error, Error::TooLarge { cap: MAX_MESSAGE, .. }), "{error}");
    assert!(error.to_string().contains("external data"));
    assert!(encoded_len(&model).unwrap() > 1 << 31);
    let fits = with_view(2, vec![MAX_MESSAGE - 100]);
    encode(&fits).unwrap();
}

#[test]
fn a_view_without_a_size_is_refused() {
    let error = encode(&with_view(1, vec![1 << 40, 1 << 40])).unwrap_err();
    assert!(matches!(error, Error::BadView { .. }), "{error}");
}

#[test]
fn the_deepest_graph_that_is_read_is_encoded() {
    let bytes = model_of(nested(MAX_NESTING / 3 - 1));
    assert_eq!(again(&bytes).len(), bytes.len());
}

#[test]
fn a_graph_that_no_reader_would_take_is_refused() {
    let deep = (0..1000).fold(Graph::default(), |inner, _| {
        let body = Attribute { value: AttributeValue::Graph(Box::new(inner)), ..Default::default() };
        let node = Node { op_type: "If".into(), attributes: vec![body], ..Default::default() };
        Graph { nodes: vec![node], ..Default::default() }
    });
    let error = encode(&Model { graph: deep, ..Default::default() }).unwrap_err();
    assert!(matches!(error, Error::GraphTooDeep { .. }), "{error}");
}

/// Fields with the numbers that messages have, each once, of any wire type and content.
fn any_fields(except: &'static [u32]) -> impl Strategy<Value = Vec<u8>> {
    let content = (any::<u64>(), prop::collection::vec(any::<u8>(), 0..6), any::<bool>());
    let fields = prop::collection::btree_map(1u32..30, content, 0..6);
    fields.prop_map(|fields| {
        let others = fields.into_iter().filter(|(number, _)| !except.contains(number));
        let encoded =
            others.map(
                |(number_of, (value, payload, is_text))| {
                    if is_text { field(number_of, payload) } else { number(number_of, value % 3) }
                },
            );
        encoded.collect::<Vec<_>>().concat()
    })
}

proptest! {
    #[test]
    fn what_can_be_read_is_encoded_to_the_same_model(
        in_node in any_fields(&[node::OP_TYPE]),
        in_attribute in any_fields(&[attribute::REF_ATTR_NAME]),
        in_graph in any_fields(&[]),
        in_model in any_fields(&[model::IR_VERSION, model::GRAPH]),
    ) {
        let node = node_of("Op", [in_node, field(node::ATTRIBUTE, in_attribute)].concat());
        let bytes = [in_model, model_of([graph_of(&[node]), in_graph].concat())].concat();
        if let Ok(file) = read_bytes("test.onnx", bytes) {
            let encoded = bytes_of(&file.model, &file.sources);
            let reread = read_bytes("test.onnx", encoded.clone()).unwrap();
            prop_assert_eq!(bytes_of(&reread.model, &reread.sources), encoded);
            prop_assert_eq!(format!("{:?}", reread.model), format!("{:?}", file.model));
        }
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_bytes("test.onnx", [model_of(&bytes), bytes].concat());
    }
}
