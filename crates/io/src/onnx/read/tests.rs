//! The error variants of invalid files, and the results of unusual but valid files.

use modelexport_graph::onnx::{AttributeValue, Model, TensorData, TypeKind};

use super::*;
use crate::ErrorKind;
use crate::onnx::limits::{MAX_INLINE_DATA, MAX_NESTING};
use crate::onnx::schema::{attribute, graph, model, node, tensor, value_info};
use crate::onnx::test_bytes::*;

fn read_model(bytes: &[u8]) -> Result<Model, Error> {
    read_bytes("test.onnx", bytes.to_vec()).map(|file| file.model)
}

fn error_of(bytes: &[u8]) -> Error {
    let error = read_model(bytes).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadInput, "{error}");
    error
}

fn path_of(error: &Error) -> &str {
    &error.at().unwrap().path
}

/// A model with one tensor of these fields among its initializers.
fn with_tensor(fields: &[Vec<u8>]) -> Vec<u8> {
    model_of(field(graph::INITIALIZER, fields.concat()))
}

fn float_tensor(dims: &[u64], raw_data: &[u8]) -> Vec<u8> {
    let mut fields: Vec<_> = dims.iter().map(|&dim| number(tensor::DIMS, dim)).collect();
    fields.push(number(tensor::DATA_TYPE, 1));
    fields.push(field(tensor::NAME, "w"));
    fields.push(field(tensor::RAW_DATA, raw_data));
    with_tensor(&fields)
}

#[test]
fn every_prefix_of_a_model_is_an_error() {
    let subgraph = graph_of(&[node_of("Relu", field(node::INPUT, "x"))]);
    let nodes =
        graph_of(&[node_of("Add", field(node::OUTPUT, "y")), node_of("If", graph_attribute(subgraph))]);
    let simple = model_of(nodes);
    let data = float_tensor(&[300], &[0; 1200]);
    for bytes in [simple, data] {
        read_model(&bytes).unwrap();
        for length in 0..bytes.len() {
            let error = error_of(&bytes[..length]);
            assert!(
                matches!(error, Error::Truncated { .. } | Error::Missing { .. } | Error::NotOnnx { .. }),
                "{length}: {error}"
            );
        }
    }
}

#[test]
fn a_cut_file_says_where_and_how_much_is_missing() {
    let bytes = model_of(graph_of(&[node_of("Add", []), node_of("LayerNormalization", [])]));
    let import_length = field(model::OPSET_IMPORT, [0; 4]).len();
    let error = error_of(&bytes[..bytes.len() - import_length - 5]);
    assert!(matches!(error, Error::Truncated { missing: 5, .. }), "{error}");
    let start = "test.onnx: at byte 4: the file is truncated: it ends here, but 5 more byte(s) are expected";
    assert!(error.to_string().starts_with(start), "{error}");
}

#[test]
fn a_length_beyond_its_message_is_an_overrun() {
    let node = [vec![0x22, 0x10], b"Add".to_vec()].concat();
    let bytes = [model_of(graph_of(&[node_of("Add", []), node])), field(100, [0; 50])].concat();
    let error = error_of(&bytes);
    assert!(matches!(error, Error::Overrun { needed: 16, room: 3, .. }), "{error}");
    assert_eq!(path_of(&error), "graph.node[1]");
    let unfinished_number = [model_of(field(graph::NODE, [0x80])), field(100, [0; 50])].concat();
    assert!(matches!(error_of(&unfinished_number), Error::Overrun { needed: 2, room: 1, .. }));
}

#[test]
fn an_endless_number_is_a_bad_varint() {
    let error = error_of(&model_of(field(graph::NODE, [0xff; 12])));
    assert!(matches!(error, Error::BadVarint { .. }), "{error}");
    assert_eq!(path_of(&error), "graph.node[0]");
}

#[test]
fn wire_types_six_and_seven_do_not_exist() {
    let error = error_of(&model_of([0x0e, 0x00]));
    assert!(matches!(error, Error::BadWireType { field: 1, wire_type: 6, .. }), "{error}");
    assert!(matches!(error_of(&model_of([0x0f])), Error::BadWireType { wire_type: 7, .. }));
}

#[test]
fn field_numbers_begin_at_one_and_end() {
    assert!(matches!(error_of(&model_of([0x02, 0x00])), Error::BadFieldNumber { number: 0, .. }));
    let too_big = number(1 << 29, 0);
    assert!(
        matches!(error_of(&model_of(too_big)), Error::BadFieldNumber { number, .. } if number == 1 << 29)
    );
}

#[test]
fn groups_are_kept_and_must_match() {
    // Field 30: start, inside a number and a group 31, end.
    let group = [0xf3, 0x01, 0x08, 0x05, 0xfb, 0x01, 0xfc, 0x01, 0xf4, 0x01];
    let model = read_model(&model_of(group)).unwrap();
    assert_eq!(model.graph.unknown, group);
    assert!(matches!(error_of(&model_of([0xf4, 0x01])), Error::UnmatchedGroup { field: 30, .. }));
    let crossed = [0xf3, 0x01, 0xfb, 0x01, 0xf4, 0x01, 0xfc, 0x01];
    assert!(matches!(error_of(&model_of(crossed)), Error::UnmatchedGroup { field: 30, .. }));
    let open = [model_of([0xf3, 0x01]), field(100, [])].concat();
    assert!(matches!(error_of(&open), Error::Overrun { .. }));
    let deep = [0xf3, 0x01].repeat(100_000);
    assert!(matches!(error_of(&model_of(deep)), Error::NestedTooDeep { .. }));
}

#[test]
fn deep_nesting_is_refused_before_the_stack_ends() {
    // Graph, node and attribute are three levels.
    let deepest = MAX_NESTING / 3 - 1;
    let model = read_model(&model_of(nested(deepest))).unwrap();
    let mut count = 0;
    model.for_each_node(&mut |_| count += 1);
    assert_eq!(count, deepest);
    let error = error_of(&model_of(nested(5_000)));
    assert!(matches!(error, Error::NestedTooDeep { cap: MAX_NESTING, .. }), "{error}");
    assert!(path_of(&error).starts_with("graph.node[0].attribute[0].g.node[0].attribute[0].g."));
    let sequence = (0..5_000).fold(Vec::new(), |inner, _| field(4, field(1, inner)));
    let info = field(value_info::TYPE, sequence);
    assert!(matches!(error_of(&model_of(field(graph::INPUT, info))), Error::NestedTooDeep { .. }));
}

#[test]
fn functions_that_call_each_other_are_refused() {
    let bytes = [model_of([]), function_of("a", "b"), function_of("b", "a")].concat();
    let error = error_of(&bytes);
    assert!(
        matches!(&error, Error::RecursiveFunction { cycle, .. } if cycle == "f::a -> f::b -> f::a"),
        "{error}"
    );
    read_model(&[model_of([]), function_of("a", "b"), function_of("b", "c")].concat()).unwrap();
}

#[test]
fn raw_data_must_have_the_size_of_its_dimensions() {
    let error = error_of(&float_tensor(&[2, 3], &[0; 20]));
    assert!(matches!(error, Error::RawDataSize { expected: 24, found: 20, .. }), "{error}");
    assert_eq!(path_of(&error), "graph.initializer[0]");
    assert!(matches!(error_of(&float_tensor(&[1 << 62], &[])), Error::RawDataSize { .. }));
    read_model(&float_tensor(&[2, 3], &[0; 24])).unwrap();
    read_model(&float_tensor(&[1 << 40, 1 << 40, 0], &[])).unwrap();
    let four_bits = |data: &[u8]| {
        with_tensor(&[number(tensor::DIMS, 3), number(tensor::DATA_TYPE, 22), field(tensor::RAW_DATA, data)])
    };
    read_model(&four_bits(&[0; 2])).unwrap();
    assert!(matches!(error_of(&four_bits(&[0; 3])), Error::RawDataSize { expected: 2, found: 3, .. }));
}

#[test]
fn impossible_dimensions_are_refused() {
    assert!(matches!(error_of(&float_tensor(&[-1i64 as u64], &[])), Error::BadDims { .. }));
    assert!(matches!(error_of(&float_tensor(&[1 << 40, 1 << 40], &[])), Error::BadDims { .. }));
}

#[test]
fn a_node_needs_an_operator() {
    let error = error_of(&model_of(graph_of(&[node_of("Add", []), vec![]])));
    assert!(matches!(error, Error::MissingOperator { .. }), "{error}");
    assert_eq!(path_of(&error), "graph.node[1]");
}

#[test]
fn a_million_almost_empty_messages_do_not_fill_the_memory() {
    let inputs = field(graph::INPUT, []).repeat(1_000_000);
    assert!(matches!(error_of(&model_of(inputs)), Error::TooDense { .. }));
    let nodes = field(graph::NODE, node_of("A", [])).repeat(1_000_000);
    assert!(matches!(error_of(&model_of(nodes)), Error::TooDense { .. }));
}

#[test]
fn a_million_empty_nodes_are_an_error_at_the_first() {
    let error = error_of(&model_of(field(graph::NODE, []).repeat(1_000_000)));
    assert!(matches!(error, Error::MissingOperator { .. }), "{error}");
    assert_eq!(path_of(&error), "graph.node[0]");
}

#[test]
fn other_formats_are_named() {
    let looks_like = |bytes: &[u8]| match error_of(bytes) {
        Error::NotOnnx { looks_like, .. } => looks_like,
        other => panic!("{other}"),
    };
    assert!(looks_like(b"PK\x03\x04rest of the archive").starts_with("a zip archive"));
    assert_eq!(looks_like(b"{\"json\": true}"), "JSON");
    assert_eq!(looks_like(b"just some words\n"), "text");
    assert_eq!(looks_like(b""), "an empty file");
}

#[test]
fn a_model_without_graph_or_operator_set_is_incomplete() {
    assert!(matches!(error_of(&number(model::IR_VERSION, 8)), Error::Missing { field: "graph", .. }));
    let no_import = [number(model::IR_VERSION, 3), field(model::GRAPH, [])].concat();
    assert!(matches!(error_of(&no_import), Error::Missing { field: "opset_import", .. }));
    read_model(&[number(model::IR_VERSION, 2), field(model::GRAPH, [])].concat()).unwrap();
}

#[test]
fn a_huge_field_that_is_no_tensor_data_is_not_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.onnx");
    let mut head = model_of([]);
    // An unknown field of 1 TiB, in a file with a hole.
    crate::onnx::wire::put_varint(&mut head, 100 << 3 | 2);
    crate::onnx::wire::put_varint(&mut head, 1 << 40);
    std::fs::write(&path, &head).unwrap();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_len(head.len() as u64 + (1 << 40)).unwrap();
    let error = read(&path).unwrap_err();
    assert!(matches!(error, Error::FieldTooLarge { length, .. } if length > 1 << 40), "{error}");
}

#[test]
fn weights_of_many_gigabytes_stay_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.onnx");
    let length = 10u64 << 30;
    let mut open_tensor = [number(tensor::DIMS, length / 4), number(tensor::DATA_TYPE, 1)].concat();
    crate::onnx::wire::put_varint(&mut open_tensor, u64::from(tensor::RAW_DATA) << 3 | 2);
    crate::onnx::wire::put_varint(&mut open_tensor, length);
    let open = |bytes: &mut Vec<u8>, number: u32, content: u64| {
        crate::onnx::wire::put_varint(bytes, u64::from(number) << 3 | 2);
        crate::onnx::wire::put_varint(bytes, content);
    };
    let mut head = model_of([]);
    let mut open_initializer = Vec::new();
    open(&mut open_initializer, graph::INITIALIZER, open_tensor.len() as u64 + length);
    open(&mut head, model::GRAPH, (open_initializer.len() + open_tensor.len()) as u64 + length);
    head.extend([open_initializer, open_tensor].concat());
    std::fs::write(&path, &head).unwrap();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_len(head.len() as u64 + length).unwrap();
    let read = read(&path).unwrap();
    let [weight] = read.model.graph.initializers.as_slice() else { panic!("{:?}", read.model) };
    let TensorData::Stored(view) = &weight.data else { panic!("{weight:?}") };
    assert_eq!((view.span.offset, view.span.length), (head.len() as u64, length));
    assert_eq!((view.offset, &view.sizes[..], &view.strides[..]), (0, &[length / 4][..], &[1][..]));
}

#[test]
fn a_missing_file_is_an_io_error() {
    let folder = tempfile::tempdir().unwrap();
    let error = read(&folder.path().join("none.onnx")).unwrap_err();
    assert!(matches!(error, Error::Open(_)), "{error}");
    assert_eq!(error.kind(), ErrorKind::Io);
}

#[test]
fn a_file_that_shrinks_while_it_is_read_is_an_io_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.onnx");
    std::fs::write(&path, model_of(graph_of(&[node_of("Add", [])]))).unwrap();
    let mut sources = Sources::new();
    let id = sources.add_file(&path).unwrap();
    std::fs::File::options().write(true).open(&path).unwrap().set_len(3).unwrap();
    let error = read_source(&sources, id).unwrap_err();
    assert!(matches!(error, Error::Read { .. }), "{error}");
    assert_eq!(error.kind(), ErrorKind::Io);
}

#[test]
fn names_of_any_bytes_are_read() {
    let odd =
        [field(node::NAME, b"\xff\0\x1b[31m"), field(node::INPUT, b"\xc3"), field(node::INPUT, b"\xc4")];
    let model = read_model(&model_of(graph_of(&[node_of("Add", odd.concat())]))).unwrap();
    let [node] = model.graph.nodes.as_slice() else { panic!() };
    assert_eq!(*crate::onnx::names::to_bytes(&node.name), *b"\xff\0\x1b[31m");
    assert_ne!(node.inputs[0], node.inputs[1]);
}

#[test]
fn large_data_stays_where_it_is_and_small_data_is_loaded() {
    let limit = MAX_INLINE_DATA as usize;
    let data = |bytes: &[u8]| {
        let model = read_model(&float_tensor(&[bytes.len() as u64 / 4], bytes)).unwrap();
        model.graph.initializers[0].data.clone()
    };
    assert!(matches!(data(&vec![7; limit]), TensorData::Raw(bytes) if bytes == vec![7; limit]));
    assert!(
        matches!(data(&vec![7; limit + 4]), TensorData::Stored(view) if view.span.length == MAX_INLINE_DATA + 4)
    );
    let typed = |count: usize| {
        let fields = [number(tensor::DATA_TYPE, 1), field(tensor::FLOAT_DATA, vec![1; count])];
        read_model(&with_tensor(&fields)).unwrap().graph.initializers[0].data.clone()
    };
    assert!(matches!(typed(8), TensorData::Typed(bytes) if bytes == field(tensor::FLOAT_DATA, [1; 8])));
    assert!(matches!(typed(limit), TensorData::TypedStored(span) if span.length == MAX_INLINE_DATA + 3));
}

#[test]
fn data_of_an_unknown_type_is_stored_as_bytes() {
    let fields = [number(tensor::DATA_TYPE, 99), number(tensor::DIMS, 5), field(tensor::RAW_DATA, [1; 3000])];
    let model = read_model(&with_tensor(&fields)).unwrap();
    let TensorData::Stored(view) = &model.graph.initializers[0].data else { panic!() };
    assert_eq!((&view.sizes[..], &view.strides[..]), (&[3000][..], &[1][..]));
}

#[test]
fn parts_of_a_singular_message_are_merged() {
    let first = graph_of(&[node_of("Add", [])]);
    let second = [field(graph::NAME, "main"), graph_of(&[node_of("Mul", [])])].concat();
    let bytes = [model_of(first), field(model::GRAPH, second)].concat();
    let model = read_model(&bytes).unwrap();
    let operators: Vec<_> = model.graph.nodes.iter().map(|node| &*node.op_type).collect();
    assert_eq!((model.graph.name.as_str(), &operators[..]), ("main", &["Add", "Mul"][..]));
}

#[test]
fn the_last_of_a_oneof_counts() {
    let types =
        [field(1, number(1, 7)), field(4, []), field(1, number(1, 9)), field(1, field(2, []))].concat();
    let info = field(graph::INPUT, field(value_info::TYPE, types));
    let model = read_model(&model_of(info)).unwrap();
    let kind = &model.graph.inputs[0].value_type.as_ref().unwrap().kind;
    assert_eq!(*kind, TypeKind::Tensor { elem_type: 9, shape: Some(vec![]) });
}

#[test]
fn an_attribute_without_a_type_is_what_it_holds() {
    let read_attribute = |fields: &[Vec<u8>]| {
        let bytes = model_of(graph_of(&[node_of("Add", field(node::ATTRIBUTE, fields.concat()))]));
        read_model(&bytes).unwrap().graph.nodes[0].attributes[0].clone()
    };
    let value = read_attribute(&[number(attribute::I, 5)]).value;
    assert!(matches!(value, AttributeValue::Int(5)), "{value:?}");
    let packed = read_attribute(&[field(attribute::INTS, [1, 2, 3]), number(attribute::INTS, 4)]).value;
    assert!(matches!(&packed, AttributeValue::Ints(list) if *list == [1, 2, 3, 4]), "{packed:?}");
    let other =
        read_attribute(&[number(attribute::TYPE, 2), number(attribute::I, 1), field(attribute::S, "x")]);
    assert!(matches!(other.value, AttributeValue::Int(1)), "{other:?}");
    assert_eq!(other.unknown, field(attribute::S, "x"));
}
