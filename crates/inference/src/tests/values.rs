//! Types through branches, loops and functions, and values that are no tensors.

use modelexport_graph::hash::HashMap;
use modelexport_graph::onnx::Function;

use super::*;

const FLOAT: i32 = 1;
const UINT8: i32 = 2;
const INT64: i32 = 7;
const BOOL: i32 = 9;
const FLOAT16: i32 = 10;

fn tensor_type(elem_type: i32, dims: Option<&[i64]>) -> Type {
    let dimension = |&size: &i64| Dimension { value: DimensionValue::Static(size), ..Dimension::default() };
    let shape = dims.map(|dims| dims.iter().map(dimension).collect());
    Type { kind: TypeKind::Tensor { elem_type, shape }, ..Type::default() }
}

fn info(name: &str, elem_type: i32) -> ValueInfo {
    let value_type = Some(tensor_type(elem_type, Some(&[2, 3])).into());
    ValueInfo { name: name.into(), value_type, ..ValueInfo::default() }
}

/// Of a model with inputs `x` (float) and `i` (int64) of shape 2 × 3.
fn types(nodes: Vec<Node>, functions: Vec<Function>) -> HashMap<Name, Type> {
    let graph = Graph { nodes, inputs: vec![info("x", FLOAT), info("i", INT64)], ..Graph::default() };
    let model = Model { graph, functions, ..Model::default() };
    types_of_graphs(&model, &[&model.graph])
}

/// A graph that gives `outputs`.
fn body(inputs: &[&str], nodes: Vec<Node>, outputs: &[&str]) -> AttributeValue {
    let untyped = |names: &[&str]| -> Vec<ValueInfo> {
        names.iter().map(|name| ValueInfo { name: (*name).into(), ..ValueInfo::default() }).collect()
    };
    let (inputs, outputs) = (untyped(inputs), untyped(outputs));
    AttributeValue::Graph(Box::new(Graph { nodes, inputs, outputs, ..Graph::default() }))
}

/// What onnx.shape_inference gives for these nodes, shapes aside.
#[test]
fn element_types_follow_from_inputs() {
    let nodes = vec![
        node("Cast", &["x"], &["half"], &[("to", int(10))]),
        node("Where", &["mask", "half", "half"], &["chosen"], &[]),
        node("Greater", &["x", "x"], &["mask2"], &[]),
        node("TopK", &["half", "k"], &["best", "at"], &[]),
        node("Gather", &["x", "i"], &["rows"], &[]),
        node("ConstantOfShape", &["i"], &["zeros"], &[]),
        node("QuantizeLinear", &["x", "scale"], &["q"], &[]),
        node("DequantizeLinear", &["q", "half"], &["d"], &[]),
        node("OneHot", &["i", "n", "half"], &["hot"], &[]),
    ];
    let found = types(nodes, Vec::new());
    let elem = |name: &str| match found.get(name).map(|found| &found.kind) {
        Some(TypeKind::Tensor { elem_type, .. }) => Some(*elem_type),
        _ => None,
    };
    let expected = [
        ("half", FLOAT16),
        ("chosen", FLOAT16),
        ("mask2", BOOL),
        ("best", FLOAT16),
        ("at", INT64),
        ("rows", FLOAT),
        ("zeros", FLOAT),
        ("q", UINT8),
        ("d", FLOAT16),
        ("hot", FLOAT16),
    ];
    for (name, code) in expected {
        assert_eq!(elem(name), Some(code), "{name}");
    }
    assert_eq!(found.get("half"), Some(&tensor_type(FLOAT16, Some(&[2, 3]))), "a cast keeps the shape");
    assert_eq!(found.get("nothing"), None);
}

#[test]
fn branches_loops_and_functions_are_looked_into() {
    let branch = |op: &str| body(&[], vec![node(op, &["x"], &["inner"], &[])], &["inner"]);
    let both = [("then_branch", branch("Relu")), ("else_branch", branch("Relu"))];
    let inner = vec![
        node("Identity", &["running"], &["again"], &[]),
        node("Transpose", &["state"], &["next"], &[]),
        node("Relu", &["x"], &["piece"], &[]),
    ];
    let looped = [("body", body(&["at", "running", "state"], inner, &["again", "next", "piece"]))];
    let inner = vec![node("Add", &["sum", "row"], &["next"], &[]), node("Exp", &["row"], &["piece"], &[])];
    let scan = body(&["sum", "row"], inner, &["next", "piece"]);
    let scanned = [
        ("body", scan),
        ("num_scan_inputs", int(1)),
        ("scan_input_axes", ints(&[1])),
        ("scan_output_axes", ints(&[-1])),
    ];
    let function = Function {
        name: "F".into(),
        domain: "mine".into(),
        inputs: named(&["a"]),
        outputs: named(&["b"]),
        nodes: vec![node("Shape", &["a"], &["b"], &[])],
        ..Function::default()
    };
    let call = Node { domain: "mine".into(), ..node("F", &["x"], &["shape"], &[]) };
    let nodes = vec![
        node("If", &["c"], &["y"], &both),
        node("Loop", &["n", "c", "x"], &["last", "pieces"], &looped),
        node("ReduceMax", &["x"], &["zero"], &[("axes", ints(&[1])), ("keepdims", int(0))]),
        node("Scan", &["zero", "x"], &["sum", "columns"], &scanned),
        call,
    ];
    let found = types(nodes, vec![function]);
    let open = |known: &[i64]| {
        let mut found = tensor_type(FLOAT, Some(known));
        if let TypeKind::Tensor { shape: Some(dims), .. } = &mut found.kind {
            dims.insert(0, Dimension::default());
        }
        found
    };
    assert_eq!(found.get("y"), Some(&tensor_type(FLOAT, Some(&[2, 3]))));
    assert_eq!(
        found.get("last"),
        Some(&tensor_type(FLOAT, None)),
        "each run may change the shape of a state"
    );
    assert_eq!(found.get("pieces"), Some(&open(&[2, 3])));
    assert_eq!(found.get("sum"), Some(&tensor_type(FLOAT, Some(&[2]))));
    assert_eq!(found.get("columns"), Some(&tensor_type(FLOAT, Some(&[2, 3]))));
    assert_eq!(found.get("shape"), Some(&tensor_type(INT64, Some(&[2]))));
}

/// As exporters write `squeeze`: a branch for an axis of one element, and one for all others.
#[test]
fn branches_that_cannot_run_are_no_fault() {
    let squeeze = body(&[], vec![node("Squeeze", &["x"], &["inner"], &[("axes", ints(&[0]))])], &["inner"]);
    let keep = body(&[], vec![node("Identity", &["x"], &["inner"], &[])], &["inner"]);
    let branches = [("then_branch", squeeze), ("else_branch", keep)];
    let reasons = |nodes: Vec<Node>| {
        let graph = Graph { nodes, inputs: vec![info("x", FLOAT)], ..Graph::default() };
        let mut reasons = Vec::new();
        let model = Model { graph, ..Model::default() };
        walk(&model, &Sizes::Unknown, &mut |node| reasons.extend(node.impossible.clone()));
        reasons
    };
    assert_eq!(reasons(vec![node("If", &["c"], &["y"], &branches)]), Vec::<String>::new());
    let alone = node("Squeeze", &["x"], &["y"], &[("axes", ints(&[0]))]);
    assert_eq!(reasons(vec![alone]), ["an axis of size 2 cannot be squeezed"]);
}

/// The nodes of a function may take attributes from its call, or the function's defaults.
#[test]
fn attributes_of_functions_reach_their_nodes() {
    let mut inner = node("Flatten", &["a"], &["b"], &[("axis", AttributeValue::Undefined)]);
    inner.attributes[0].ref_attr_name = "from".into();
    let default = node("", &[], &[], &[("from", int(0))]).attributes;
    let function = |attributes: Vec<String>, attribute_defaults: Vec<Attribute>| Function {
        name: "F".into(),
        domain: "mine".into(),
        inputs: named(&["a"]),
        outputs: named(&["b"]),
        nodes: vec![inner.clone()],
        attributes,
        attribute_defaults,
        ..Function::default()
    };
    let call = |attributes: &[(&str, AttributeValue)]| Node {
        domain: "mine".into(),
        ..node("F", &["x"], &["y"], attributes)
    };
    let shape = |function, call| types(vec![call], vec![function]).get("y").cloned();
    let expected = |dims: &[i64]| Some(tensor_type(FLOAT, Some(dims)));
    let stated = || function(vec!["from".to_owned()], Vec::new());
    assert_eq!(shape(stated(), call(&[("from", int(2))])), expected(&[6, 1]));
    assert_eq!(shape(stated(), call(&[])), expected(&[2, 3]), "the default of the operator");
    assert_eq!(shape(function(Vec::new(), default), call(&[])), expected(&[1, 6]));
}

/// What onnx.shape_inference gives for these nodes.
#[test]
fn sequences_and_optional_values_have_types() {
    let nodes = vec![
        node("SplitToSequence", &["x"], &["parts"], &[("axis", int(1)), ("keepdims", int(0))]),
        node("SequenceAt", &["parts", "n"], &["part"], &[]),
        node("Optional", &["parts"], &["maybe"], &[]),
        node("OptionalGetElement", &["maybe"], &["again"], &[]),
        node("ConcatFromSequence", &["again"], &["joined"], &[("axis", int(0)), ("new_axis", int(1))]),
        node("SequenceLength", &["parts"], &["count"], &[]),
    ];
    let found = types(nodes, Vec::new());
    let part = tensor_type(FLOAT, Some(&[2]));
    let of = |kind: TypeKind| Type { kind, ..Type::default() };
    let sequence = of(TypeKind::Sequence(Some(Box::new(part.clone()))));
    assert_eq!(found.get("part"), Some(&part));
    assert_eq!(found.get("parts"), Some(&sequence));
    assert_eq!(found.get("maybe"), Some(&of(TypeKind::Optional(Some(Box::new(sequence.clone()))))));
    assert_eq!(found.get("again"), Some(&sequence));
    assert_eq!(found.get("count"), Some(&tensor_type(INT64, Some(&[]))));
    let TypeKind::Tensor { elem_type: FLOAT, shape: Some(dims) } = &found["joined"].kind else { panic!() };
    let sizes: Vec<_> = dims.iter().map(|dim| dim.value.clone()).collect();
    assert_eq!(sizes, [DimensionValue::Unknown, DimensionValue::Static(2)]);
}

/// Values that a file does not declare have the named dimensions of those that it declares.
#[test]
fn names_of_dimensions_survive() {
    let batch = |name: &str| Dimension { value: DimensionValue::Named(name.into()), ..Dimension::default() };
    let mut x = info("x", FLOAT);
    let declared = x.value_type.as_mut().map(Arc::make_mut);
    if let Some(Type { kind: TypeKind::Tensor { shape: Some(dims), .. }, .. }) = declared {
        dims[0] = batch("batch");
    }
    let expected = x.value_type.clone();
    let graph = Graph {
        nodes: vec![
            node("Transpose", &["x"], &["turned"], &[]),
            node("Shape", &["x"], &["shape"], &[]),
            node("Reshape", &["turned", "shape"], &["y"], &[]),
        ],
        inputs: vec![x],
        ..Graph::default()
    };
    let model = Model { graph, ..Model::default() };
    assert_eq!(types_of_graphs(&model, &[&model.graph]).get("y"), expected.as_deref());
}
