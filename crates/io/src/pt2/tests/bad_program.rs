//! Inconsistent programs are rejected.

use serde_json::json;

use super::super::error::{NodePlace, Problem, ProgramLocation};
use super::sample::{Sample, argument, branch, int, node, tensor, with_argument};

fn relu() -> Box<NodePlace> {
    Box::new(NodePlace { name: "relu".into(), target: "aten.relu.default".into(), module: "".into() })
}

fn place_of_extra() -> ProgramLocation {
    ProgramLocation::Argument { node: relu(), argument: "extra".into() }
}

/// What a user reads: the node, what it calls, its module and the argument or result.
#[test]
fn messages_name_node_overload_module_and_argument() {
    let message = |problem: Problem| problem.to_string();
    assert_eq!(
        message(with_argument(tensor("nothing")).read().unwrap_err()),
        r#"node "relu" (aten.relu.default) in module "(root)", argument "extra": the value "nothing" is not defined before its use"#
    );
    assert_eq!(
        message(with_argument(json!({"as_quaternion": [1]})).read().unwrap_err()),
        r#"node "relu" (aten.relu.default) in module "(root)", argument "extra": unknown argument kind "as_quaternion"; it needs a newer modelexport"#
    );
    assert_eq!(
        message(Sample::problem(|sample| sample.graph()["tensor_values"]["linear"]["dtype"] = json!(99))),
        r#"node "linear" (aten.linear.default) in module "l", result 0: unknown element type 99; it needs a newer modelexport"#
    );
    assert_eq!(
        message(Sample::problem(|sample| {
            sample.graph()["tensor_values"]["linear"]["sizes"] = json!([int(4)]);
        })),
        r#"node "linear" (aten.linear.default) in module "l", result 0: 1 sizes but 2 strides"#
    );
    assert_eq!(
        message(Sample::problem(|sample| {
            sample.weights["config"].as_object_mut().unwrap().remove("l.weight");
        })),
        r#"weight "l.weight" is in the graph but not in the archive's weights or constants; it is read by node "linear" (aten.linear.default) in module "l", argument "weight""#
    );
    assert_eq!(
        message(Sample::problem(|sample| {
            sample.graph()["tensor_values"]["p_l_weight"]["sizes"] = json!([int(3), int(1)]);
        })),
        r#"weight "l.weight" is float32[3, 2] in the archive but float32[3, 1] in the graph; it is read by node "linear" (aten.linear.default) in module "l", argument "weight""#
    );
}

/// A node of a branch has no module of its own in the archive: it is that of the node with the branch.
#[test]
fn nodes_of_subgraphs_are_located_too() {
    let mut inner =
        node("neg", "torch.ops.aten.neg.default", vec![argument("self", tensor("nothing"))], vec![]);
    inner["metadata"]["nn_module_stack"] = json!(null);
    let mut sample = Sample::default();
    sample.graph()["nodes"][0]["inputs"].as_array_mut().unwrap().push(argument("", branch(vec![inner])));
    assert_eq!(
        sample.read().unwrap_err().to_string(),
        r#"node "neg" (aten.neg.default) in module "l", argument "self": the value "nothing" is not defined before its use"#
    );
}

#[test]
fn an_unknown_kind_of_argument() {
    let problem = with_argument(json!({"as_quaternion": [1]})).read().unwrap_err();
    assert!(
        matches!(&problem, Problem::UnknownArgumentKind { place, kind }
            if *place == place_of_extra() && kind == "as_quaternion"),
        "{problem}"
    );
    let problem =
        Sample::problem(|sample| sample.graph()["nodes"][1]["outputs"][0] = json!({"as_quaternion": 1}));
    let expected = ProgramLocation::Result { node: relu(), index: 0 };
    assert!(
        matches!(&problem, Problem::UnknownArgumentKind { place, .. } if *place == expected),
        "{problem}"
    );
}

#[test]
fn unknown_codes() {
    for (value, expected) in [
        (json!({"as_scalar_type": 99}), "element type"),
        (json!({"as_layout": 99}), "layout"),
        (json!({"as_memory_format": 99}), "memory format"),
    ] {
        let problem = with_argument(value).read().unwrap_err();
        assert!(
            matches!(&problem, Problem::UnknownCode { place, what, code: 99 }
                if *place == place_of_extra() && *what == expected),
            "{problem}"
        );
    }
    let problem = Sample::problem(|sample| sample.graph()["tensor_values"]["linear"]["dtype"] = json!(14));
    assert!(
        matches!(&problem, Problem::UnknownCode { place: ProgramLocation::Result { node, index: 0 }, .. }
            if *node.name == *"linear"),
        "{problem}"
    );
    let problem = Sample::problem(|sample| sample.graph()["tensor_values"]["x"]["dtype"] = json!(14));
    let expected = ProgramLocation::Value { name: "x".into() };
    assert!(matches!(&problem, Problem::UnknownCode { place, .. } if *place == expected), "{problem}");
}

#[test]
fn values_that_are_used_but_not_defined() {
    for value in [tensor("nothing"), tensor("relu"), json!({"as_sym_int": {"as_name": "relu"}})] {
        let problem = with_argument(value).read().unwrap_err();
        assert!(
            matches!(&problem, Problem::DanglingValue { place, .. } if *place == place_of_extra()),
            "{problem}"
        );
    }
    let problem = Sample::problem(|sample| sample.graph()["outputs"][0] = tensor("nothing"));
    assert!(
        matches!(&problem, Problem::DanglingValue { place: ProgramLocation::GraphOutput { index: 0 }, .. }),
        "{problem}"
    );
}

#[test]
fn values_that_are_taken_for_another_kind() {
    let problem = with_argument(json!({"as_sym_int": {"as_name": "x"}})).read().unwrap_err();
    assert!(
        matches!(&problem, Problem::WrongValueKind { name, used: "a symbolic integer", is: "a tensor", .. }
            if name == "x"),
        "{problem}"
    );
    let problem = Sample::problem(|sample| {
        sample.graph()["nodes"][1]["outputs"][0] = json!({"as_sym_int": {"as_name": "relu"}})
    });
    assert!(matches!(&problem, Problem::WrongValueKind { .. }), "{problem}");
}

#[test]
fn a_value_without_metadata() {
    let problem = Sample::problem(|sample| {
        sample.graph()["tensor_values"].as_object_mut().unwrap().remove("relu");
    });
    assert!(
        matches!(&problem, Problem::MissingMetadata { place: ProgramLocation::Result { node, index: 0 }, name, table: "tensor_values" }
            if *node == relu() && name == "relu"),
        "{problem}"
    );
    let problem = Sample::problem(|sample| {
        sample.graph()["tensor_values"].as_object_mut().unwrap().remove("x");
    });
    assert!(
        matches!(&problem, Problem::MissingMetadata { place: ProgramLocation::GraphInput { index: 2 }, name, .. } if name == "x"),
        "{problem}"
    );
}

#[test]
fn a_value_that_is_defined_twice() {
    let problem = Sample::problem(|sample| sample.graph()["nodes"][1]["outputs"][0] = tensor("linear"));
    assert!(
        matches!(&problem, Problem::DuplicateDefinition { place: ProgramLocation::Result { node, .. }, name }
            if *node == relu() && name == "linear"),
        "{problem}"
    );
    let problem = Sample::problem(|sample| sample.graph()["sym_int_values"] = json!({"x": int(1)}));
    assert!(
        matches!(&problem, Problem::DuplicateDefinition { place: ProgramLocation::Value { .. }, name } if name == "x"),
        "{problem}"
    );
}

#[test]
fn two_nodes_of_one_name() {
    let problem = Sample::problem(|sample| sample.graph()["nodes"][1]["name"] = json!("linear"));
    assert!(matches!(&problem, Problem::DuplicateNode { node } if node == "linear"), "{problem}");
}

#[test]
fn a_result_that_is_no_value() {
    for value in [json!({"as_ints": [1]}), json!({"as_device": {"type": "cpu"}}), branch(vec![])] {
        let problem = Sample::problem(|sample| sample.graph()["nodes"][1]["outputs"][0] = value);
        assert!(
            matches!(&problem, Problem::BadResult { place: ProgramLocation::Result { .. }, .. }),
            "{problem}"
        );
    }
}

#[test]
fn a_symbolic_expression_that_cannot_be_read() {
    let problem = Sample::problem(|sample| {
        sample.graph()["tensor_values"]["x"]["sizes"][0] = json!({"as_expr": {"expr_str": "Mul(2,"}});
    });
    assert!(
        matches!(&problem, Problem::SymbolicExpression { place: ProgramLocation::Value { name }, text, .. }
            if name == "x" && text == "Mul(2,"),
        "{problem}"
    );
}

#[test]
fn a_signature_of_another_graph() {
    for spoil in [
        |sample: &mut Sample| sample.program["graph_module"]["signature"]["input_specs"] = json!([]),
        |sample: &mut Sample| sample.program["graph_module"]["signature"]["output_specs"] = json!([]),
        |sample: &mut Sample| {
            sample.program["graph_module"]["signature"]["input_specs"][0]["parameter"]["arg"]["name"] =
                json!("x");
        },
    ] {
        let problem = Sample::problem(spoil);
        assert!(matches!(&problem, Problem::Signature { .. }), "{problem}");
    }
}

#[test]
fn a_module_stack_that_cannot_be_read() {
    let problem = Sample::problem(|sample| {
        sample.graph()["nodes"][0]["metadata"]["nn_module_stack"] = json!("\u{1b}[2J")
    });
    assert!(matches!(&problem, Problem::ModuleStack { node, .. } if node == "linear"), "{problem}");
    assert!(!problem.to_string().contains('\u{1b}'), "escapes do not reach the screen");
}
