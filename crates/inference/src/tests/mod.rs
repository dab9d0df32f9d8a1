use std::collections::BTreeMap;
use std::sync::Arc;

use modelexport_graph::onnx::{
    Attribute, AttributeValue, Dimension, DimensionValue, Graph, Model, Node, Tensor, TensorData, Type,
    TypeKind, ValueInfo,
};
use modelexport_graph::{DType, Name};

use super::*;

mod values;

fn value(name: &str, dims: &[i64]) -> ValueInfo {
    let dims =
        dims.iter().map(|&size| Dimension { value: DimensionValue::Static(size), ..Dimension::default() });
    let kind = TypeKind::Tensor { elem_type: 1, shape: Some(dims.collect()) };
    let value_type = Some(Type { kind, ..Type::default() }.into());
    ValueInfo { name: name.into(), value_type, ..ValueInfo::default() }
}

fn integers(name: &str, values: &[i64]) -> Tensor {
    let data = TensorData::Raw(values.iter().flat_map(|value| value.to_le_bytes()).collect());
    Tensor { name: name.into(), data_type: 7, dims: vec![values.len() as i64], data, ..Tensor::default() }
}

fn named(names: &[&str]) -> Vec<Name> {
    names.iter().map(|name| Name::from(*name)).collect()
}

fn node(op_type: &str, inputs: &[&str], outputs: &[&str], attributes: &[(&str, AttributeValue)]) -> Node {
    let attribute = |(name, value): &(&str, AttributeValue)| Attribute {
        name: (*name).into(),
        value: value.clone(),
        ..Attribute::default()
    };
    Node {
        op_type: op_type.into(),
        inputs: named(inputs),
        outputs: named(outputs),
        attributes: attributes.iter().map(attribute).collect(),
        ..Node::default()
    }
}

/// Shapes of the outputs of one node in words, its multiply-adds, and why it cannot be.
fn typed(
    op_type: &str,
    inputs: &[(&str, &[i64])],
    contents: &[(&str, &[i64])],
    attributes: &[(&str, AttributeValue)],
    outputs: usize,
) -> (Vec<String>, Option<u64>, Option<String>) {
    let names: Vec<&str> = inputs.iter().chain(contents).map(|(name, _)| *name).collect();
    let given: Vec<String> = (0..outputs).map(|i| format!("y{i}")).collect();
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    let (domain, op_type) = op_type.split_once(':').unwrap_or(("", op_type));
    let node = Node { domain: domain.into(), ..node(op_type, &names, &given, attributes) };
    let graph = Graph {
        nodes: vec![node],
        inputs: inputs.iter().map(|(name, dims)| value(name, dims)).collect(),
        initializers: contents.iter().map(|(name, values)| integers(name, values)).collect(),
        ..Graph::default()
    };
    let model = Model { graph, ..Model::default() };
    let mut result = (Vec::new(), None, None);
    walk(&model, &Sizes::Unknown, &mut |node| {
        result.0 = node.outputs.iter().map(ValueType::shape_text).collect();
        result.1 = (node.cost.unknown_multiply_adds == 0).then_some(node.cost.multiply_adds);
        result.2 = node.impossible.clone();
    });
    result
}

fn shape(
    op_type: &str,
    inputs: &[(&str, &[i64])],
    contents: &[(&str, &[i64])],
    attributes: &[(&str, AttributeValue)],
) -> String {
    typed(op_type, inputs, contents, attributes, 1).0.join(" ")
}

fn ints(values: &[i64]) -> AttributeValue {
    AttributeValue::Ints(values.to_vec())
}

fn int(value: i64) -> AttributeValue {
    AttributeValue::Int(value)
}

/// Expected shapes are what `onnx.shape_inference` of onnx 1.23 gives for these nodes.
#[test]
fn shapes_are_those_of_onnx() {
    let x: (&str, &[i64]) = ("x", &[2, 3, 8, 9]);
    assert_eq!(shape("Relu", &[x], &[], &[]), "[2, 3, 8, 9]");
    assert_eq!(shape("Add", &[x, ("b", &[3, 1, 9])], &[], &[]), "[2, 3, 8, 9]");
    assert_eq!(shape("MatMul", &[x, ("b", &[9, 5])], &[], &[]), "[2, 3, 8, 5]");
    assert_eq!(shape("MatMul", &[("a", &[4]), ("b", &[7, 4, 5])], &[], &[]), "[7, 5]");
    assert_eq!(
        shape("Gemm", &[("a", &[4, 6]), ("b", &[5, 4])], &[], &[("transA", int(1)), ("transB", int(1))]),
        "[6, 5]"
    );
    assert_eq!(
        shape(
            "Conv",
            &[x, ("w", &[6, 3, 3, 3])],
            &[],
            &[("pads", ints(&[1, 1, 1, 1])), ("strides", ints(&[2, 2]))]
        ),
        "[2, 6, 4, 5]"
    );
    assert_eq!(
        shape("ConvTranspose", &[x, ("w", &[3, 4, 2, 2])], &[], &[("strides", ints(&[2, 2]))]),
        "[2, 4, 16, 18]"
    );
    assert_eq!(
        shape(
            "MaxPool",
            &[x],
            &[],
            &[("kernel_shape", ints(&[3, 3])), ("strides", ints(&[2, 2])), ("ceil_mode", int(1))]
        ),
        "[2, 3, 4, 4]"
    );
    assert_eq!(shape("GlobalAveragePool", &[x], &[], &[]), "[2, 3, 1, 1]");
    assert_eq!(shape("Transpose", &[x], &[], &[("perm", ints(&[0, 2, 1, 3]))]), "[2, 8, 3, 9]");
    assert_eq!(shape("Reshape", &[x], &[("s", &[0, -1, 4])], &[]), "[2, 54, 4]");
    assert_eq!(shape("Flatten", &[x], &[], &[]), "[2, 216]");
    assert_eq!(shape("Squeeze", &[("x", &[1, 3, 1])], &[("axes", &[0])], &[]), "[3, 1]");
    assert_eq!(shape("Unsqueeze", &[("x", &[3])], &[("axes", &[0, -1])], &[]), "[1, 3, 1]");
    assert_eq!(shape("Concat", &[x, ("y", &[2, 5, 8, 9])], &[], &[("axis", int(1))]), "[2, 8, 8, 9]");
    assert_eq!(
        shape("Slice", &[x], &[("s", &[1, -1]), ("e", &[100, -9]), ("a", &[2, 3]), ("t", &[3, -2])], &[]),
        "[2, 3, 3, 4]"
    );
    assert_eq!(shape("Gather", &[x, ("i", &[4, 5])], &[], &[("axis", int(1))]), "[2, 4, 5, 8, 9]");
    assert_eq!(shape("GatherND", &[x, ("i", &[2, 5, 2])], &[], &[("batch_dims", int(1))]), "[2, 5, 9]");
    assert_eq!(shape("ReduceMean", &[x], &[("a", &[-1])], &[("keepdims", int(0))]), "[2, 3, 8]");
    assert_eq!(shape("ReduceSum", &[x], &[], &[]), "[1, 1, 1, 1]");
    assert_eq!(shape("ArgMax", &[x], &[], &[("axis", int(1)), ("keepdims", int(0))]), "[2, 8, 9]");
    assert_eq!(shape("Expand", &[("x", &[3, 1])], &[("s", &[2, 1, 6])], &[]), "[2, 3, 6]");
    assert_eq!(shape("Tile", &[("x", &[3, 2])], &[("r", &[2, 4])], &[]), "[6, 8]");
    assert_eq!(shape("Pad", &[("x", &[3, 2])], &[("p", &[0, 1, 2, 3])], &[]), "[5, 6]");
    assert_eq!(
        typed("Split", &[x], &[("s", &[1, 2])], &[("axis", int(1))], 2).0,
        ["[2, 1, 8, 9]", "[2, 2, 8, 9]"]
    );
    assert_eq!(shape("Range", &[], &[("a", &[3]), ("b", &[10]), ("c", &[2])], &[]), "[4]");
    assert_eq!(shape("Unheard", &[x], &[], &[]), "?");
}

/// Opset 21: without a zero point, `output_dtype` says what a quantised tensor holds.
#[test]
fn quantised_types_are_those_that_the_node_states() {
    let of = |op_type: &str, inputs: &[&str], stated: Option<DType>| {
        let code = stated.and_then(DType::onnx_code).map(|code| ("output_dtype", int(code.into())));
        let node = node(op_type, inputs, &["y"], code.as_slice());
        let inputs = [value("x", &[4]), value("scale", &[])].to_vec();
        let initializers = vec![Tensor { data_type: 3, ..integers("zero", &[]) }];
        let graph = Graph { nodes: vec![node], inputs, initializers, ..Graph::default() };
        let mut found = None;
        walk(&Model { graph, ..Model::default() }, &Sizes::Unknown, &mut |node| {
            found = node.outputs[0].dtype
        });
        found
    };
    assert_eq!(of("QuantizeLinear", &["x", "scale"], None), Some(DType::U8));
    assert_eq!(of("QuantizeLinear", &["x", "scale"], Some(DType::I4)), Some(DType::I4));
    assert_eq!(of("QuantizeLinear", &["x", "scale", ""], Some(DType::I16)), Some(DType::I16));
    assert_eq!(of("QuantizeLinear", &["x", "scale", "zero"], None), Some(DType::I8));
    assert_eq!(of("QuantizeLinear", &["x", "scale", "unheard"], None), None);
    assert_eq!(of("DequantizeLinear", &["x", "scale"], None), Some(DType::F32));
    assert_eq!(of("DequantizeLinear", &["x", "scale"], Some(DType::F16)), Some(DType::F16));
}

/// Multiply-adds counted by hand: one for each product that is summed up.
#[test]
fn multiply_adds_are_counted_where_shapes_are_known() {
    let x: (&str, &[i64]) = ("x", &[2, 3, 8, 9]);
    let count = |op_type: &str, inputs: &[(&str, &[i64])], attributes: &[(&str, AttributeValue)]| {
        typed(op_type, inputs, &[], attributes, 1).1
    };
    assert_eq!(count("MatMul", &[x, ("b", &[9, 5])], &[]), Some(2 * 3 * 8 * 5 * 9));
    assert_eq!(
        count("Gemm", &[("a", &[4, 6]), ("b", &[5, 4])], &[("transA", int(1)), ("transB", int(1))]),
        Some(6 * 5 * 4)
    );
    assert_eq!(count("Conv", &[x, ("w", &[6, 3, 3, 3])], &[]), Some(2 * 6 * 6 * 7 * 27));
    let grouped = [("group", int(3))];
    assert_eq!(count("Conv", &[x, ("w", &[6, 1, 3, 3])], &grouped), Some(2 * 6 * 6 * 7 * 9));
    assert_eq!(count("ConvTranspose", &[x, ("w", &[3, 4, 2, 2])], &[]), Some(2 * 3 * 8 * 9 * 16));
    let lstm: [(&str, &[i64]); 3] = [("x", &[7, 2, 5]), ("w", &[1, 12, 5]), ("r", &[1, 12, 3])];
    assert_eq!(count("LSTM", &lstm, &[]), Some(7 * 2 * (12 * 5 + 12 * 3)));
    let equation = [("equation", AttributeValue::String(b"bij, bjk -> bik".to_vec()))];
    assert_eq!(count("Einsum", &[("a", &[2, 3, 4]), ("b", &[2, 4, 5])], &equation), Some(2 * 3 * 4 * 5));
    let heads: [(&str, &[i64]); 3] = [("q", &[1, 4, 6, 8]), ("k", &[1, 2, 10, 8]), ("v", &[1, 2, 10, 16])];
    assert_eq!(count("Attention", &heads, &[]), Some(4 * 6 * 10 * (8 + 16)));
    assert_eq!(count("Relu", &[x], &[]), Some(0));
    assert_eq!(count("MatMul", &[x], &[]), None);
}

/// Sizes counted by hand, as for ONNX's own operators.
#[test]
fn fused_operators_have_costs() {
    let count = |op_type: &str, inputs: &[(&str, &[i64])], attributes: &[(&str, AttributeValue)]| {
        typed(&format!("com.microsoft:{op_type}"), inputs, &[], attributes, 1).1
    };
    let q: (&str, &[i64]) = ("q", &[2, 3, 32]);
    let kv: &[i64] = &[2, 5, 32];
    let heads = [("num_heads", int(4))];
    assert_eq!(count("MultiHeadAttention", &[q, ("k", kv), ("v", kv)], &heads), Some(2 * 4 * 3 * 5 * 16));
    let group = [("num_heads", int(4)), ("kv_num_heads", int(2))];
    let kv: &[i64] = &[2, 3, 16];
    assert_eq!(count("GroupQueryAttention", &[q, ("k", kv), ("v", kv)], &group), Some(2 * 4 * 3 * 3 * 16));
    let projected = Some(2 * 3 * 32 * 96 + 2 * 4 * 3 * 3 * 16);
    assert_eq!(count("Attention", &[q, ("w", &[32, 96])], &heads), projected);
    assert_eq!(count("FusedMatMul", &[q, ("w", &[8, 32])], &[("transB", int(1))]), Some(2 * 3 * 8 * 32));
    assert_eq!(count("MatMulNBits", &[q], &[("K", int(32)), ("N", int(7))]), Some(2 * 3 * 7 * 32));
    assert_eq!(count("BiasGelu", &[q], &[]), Some(0));
    assert_eq!(count("SparseAttention", &[q], &group), None);
}

/// Operations that onnxruntime refuses, too.
#[test]
fn operations_that_cannot_be_are_refused() {
    let reason = |op_type: &str,
                  inputs: &[(&str, &[i64])],
                  contents: &[(&str, &[i64])],
                  attributes: &[(&str, AttributeValue)]| {
        typed(op_type, inputs, contents, attributes, 1).2.unwrap_or_default()
    };
    let a: (&str, &[i64]) = ("a", &[2, 3]);
    let b: (&str, &[i64]) = ("b", &[4, 5]);
    assert_eq!(reason("Add", &[a, b], &[], &[]), "operands of shape [2, 3] and [4, 5] do not broadcast");
    assert_eq!(reason("Add", &[a, ("b", &[3])], &[], &[]), "");
    assert_eq!(reason("MatMul", &[a, b], &[], &[]), "inner sizes of the product are 3 and 4");
    assert_eq!(reason("MatMul", &[a, ("b", &[])], &[], &[]), "a single number is no matrix");
    assert_eq!(
        reason("MatMul", &[("a", &[2, 6, 7]), ("b", &[3, 7, 8])], &[], &[]),
        "batches of matrices of shape [2, 6, 7] and [3, 7, 8] do not broadcast"
    );
    assert_eq!(reason("Gemm", &[a, b], &[], &[]), "inner sizes of the product are 3 and 4");
    assert_eq!(reason("Gemm", &[a, ("b", &[3])], &[], &[]), "a tensor of rank 1 is no matrix");
    let along = |axis| [("axis", int(axis))];
    assert_eq!(
        reason("Concat", &[a, b], &[], &along(0)),
        "sizes of parts that are joined along another axis are 3 and 5"
    );
    assert_eq!(reason("Concat", &[a, ("b", &[4, 3])], &[], &along(-2)), "");
    assert_eq!(reason("Concat", &[a, ("b", &[4])], &[], &along(0)), "parts of rank 2 and 1 are joined");
    assert_eq!(
        reason("Reshape", &[a], &[("s", &[4, 2])], &[]),
        "shape [2, 3] has not as many elements as shape [4, 2]"
    );
    let image: (&str, &[i64]) = ("x", &[1, 3, 8, 8]);
    let channels = "channels of the image and of the kernels are 3 and 4";
    assert_eq!(reason("Conv", &[image, ("w", &[6, 4, 3, 3])], &[], &[]), channels);
    assert_eq!(reason("ConvTranspose", &[image, ("w", &[4, 6, 3, 3])], &[], &[]), channels);
    assert_eq!(
        reason("Conv", &[image, ("w", &[6, 3, 3])], &[], &[]),
        "an image of rank 4 and kernels of rank 3"
    );
    assert_eq!(
        reason("Transpose", &[a], &[], &[("perm", ints(&[0, 1, 2]))]),
        "2 axes are put into an order of 3"
    );
    assert_eq!(reason("Squeeze", &[a], &[("axes", &[1])], &[]), "an axis of size 3 cannot be squeezed");
    assert_eq!(reason("Expand", &[a], &[("s", &[2, 4])], &[]), "shape [2, 3] cannot be expanded to [2, 4]");
    assert_eq!(
        reason("Split", &[a], &[("s", &[1, 3])], &along(1)),
        "the size that is split and the sum of its parts are 3 and 4"
    );
}

#[test]
fn sizes_computed_in_the_graph_are_followed() {
    let mut batch = value("x", &[0, 6]);
    let declared = batch.value_type.as_mut().map(Arc::make_mut);
    if let Some(Type { kind: TypeKind::Tensor { shape: Some(dims), .. }, .. }) = declared {
        dims[0].value = DimensionValue::Named("batch".into());
    }
    let graph = Graph {
        nodes: vec![
            node("Shape", &["x"], &["shape"], &[]),
            node("Gather", &["shape", "zero"], &["first"], &[]),
            node("Concat", &["first", "tail"], &["target"], &[("axis", int(0))]),
            node("Reshape", &["x", "target"], &["y"], &[]),
        ],
        inputs: vec![batch],
        initializers: vec![integers("zero", &[0]), integers("tail", &[2, 3])],
        ..Graph::default()
    };
    let model = Model { graph, ..Model::default() };
    let last = |sizes: &Sizes| {
        let mut last = String::new();
        walk(&model, sizes, &mut |node| last = node.outputs[0].shape_text());
        last
    };
    assert_eq!(last(&Sizes::Given([("batch".to_owned(), 5)].into())), "[5, 2, 3]");
    assert_eq!(last(&Sizes::Given(BTreeMap::new())), "[1, 2, 3]");
    assert_eq!(last(&Sizes::Unknown), "[?, 2, 3]");
}
