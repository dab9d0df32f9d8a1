use modelexport_graph::onnx::{Attribute, AttributeValue};

use super::*;

const FLOAT: i32 = 1;
const UINT8: i32 = 2;
const INT64: i32 = 7;
const BOOL: i32 = 9;
const FLOAT16: i32 = 10;

fn tensor_type(elem_type: i32, dims: Option<&[i64]>) -> Type {
    Type { kind: TypeKind::Tensor { elem_type, shape: dims.map(static_shape) }, ..Type::default() }
}

fn info(name: &str, elem_type: i32) -> ValueInfo {
    let value_type = Some(tensor_type(elem_type, Some(&[2, 3])).into());
    ValueInfo { name: name.into(), value_type, ..ValueInfo::default() }
}

fn node(op: &str, inputs: &[&str], outputs: &[&str], attributes: Vec<Attribute>) -> Node {
    let names = |list: &[&str]| list.iter().map(|name| Name::from(*name)).collect();
    Node { op_type: op.into(), inputs: names(inputs), outputs: names(outputs), attributes, ..Node::default() }
}

fn attribute(name: &str, value: AttributeValue) -> Vec<Attribute> {
    vec![Attribute { name: name.into(), value, ..Attribute::default() }]
}

fn types(nodes: Vec<Node>, functions: Vec<Function>) -> ValueTypes {
    let graph = Graph { nodes, inputs: vec![info("x", FLOAT), info("i", INT64)], ..Graph::default() };
    let model = Model { graph, functions, ..Model::default() };
    ValueTypes::of(&model.graph, &model, None)
}

/// What onnx.shape_inference gives for these nodes, shapes aside.
#[test]
fn element_types_follow_from_inputs() {
    let to = |code| attribute("to", AttributeValue::Int(code));
    let nodes = vec![
        node("Cast", &["x"], &["half"], to(10)),
        node("Where", &["mask", "half", "half"], &["chosen"], vec![]),
        node("Greater", &["x", "x"], &["mask2"], vec![]),
        node("TopK", &["half", "k"], &["best", "at"], vec![]),
        node("Gather", &["x", "i"], &["rows"], vec![]),
        node("ConstantOfShape", &["i"], &["zeros"], vec![]),
        node("QuantizeLinear", &["x", "scale"], &["q"], vec![]),
        node("DequantizeLinear", &["q", "half"], &["d"], vec![]),
        node("OneHot", &["i", "n", "half"], &["hot"], vec![]),
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
    let branch = |op: &str| {
        let body = node(op, &["x"], &["inner"], vec![]);
        let output = ValueInfo { name: "inner".into(), ..ValueInfo::default() };
        AttributeValue::Graph(Box::new(Graph {
            nodes: vec![body],
            outputs: vec![output],
            ..Graph::default()
        }))
    };
    let mut both = attribute("then_branch", branch("Relu"));
    both.extend(attribute("else_branch", branch("Relu")));
    let function = Function {
        name: "F".into(),
        domain: "mine".into(),
        inputs: vec!["a".into()],
        outputs: vec!["b".into()],
        nodes: vec![node("Shape", &["a"], &["b"], vec![])],
        ..Function::default()
    };
    let call = Node { domain: "mine".into(), ..node("F", &["x"], &["shape"], vec![]) };
    let found = types(vec![node("If", &["c"], &["y"], both), call], vec![function]);
    assert_eq!(found.get("y"), Some(&tensor_type(FLOAT, Some(&[2, 3]))));
    assert_eq!(found.get("shape"), Some(&tensor_type(INT64, None)));
}
