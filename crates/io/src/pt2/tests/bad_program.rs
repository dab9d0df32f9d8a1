//! Programs that do not fit together.

use serde_json::json;

use super::super::error::{Place, Problem};
use super::sample::{Sample, branch, int, tensor, with_argument};

fn place_of_extra() -> Place {
    Place::Argument { node: "relu".into(), argument: "extra".into() }
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
    let expected = Place::Result { node: "relu".into(), index: 0 };
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
    let expected = Place::Value { name: "linear".into() };
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
        matches!(&problem, Problem::DanglingValue { place: Place::GraphOutput { index: 0 }, .. }),
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
        matches!(&problem, Problem::MissingMetadata { place: Place::Result { node, index: 0 }, name, table: "tensor_values" }
            if node == "relu" && name == "relu"),
        "{problem}"
    );
    let problem = Sample::problem(|sample| {
        sample.graph()["tensor_values"].as_object_mut().unwrap().remove("x");
    });
    assert!(
        matches!(&problem, Problem::MissingMetadata { place: Place::GraphInput { index: 2 }, name, .. } if name == "x"),
        "{problem}"
    );
}

#[test]
fn a_value_that_is_defined_twice() {
    let problem = Sample::problem(|sample| sample.graph()["nodes"][1]["outputs"][0] = tensor("linear"));
    assert!(
        matches!(&problem, Problem::DuplicateDefinition { place: Place::Result { node, .. }, name }
            if node == "relu" && name == "linear"),
        "{problem}"
    );
    let problem = Sample::problem(|sample| sample.graph()["sym_int_values"] = json!({"x": int(1)}));
    assert!(
        matches!(&problem, Problem::DuplicateDefinition { place: Place::Value { .. }, name } if name == "x"),
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
        assert!(matches!(&problem, Problem::BadResult { place: Place::Result { .. }, .. }), "{problem}");
    }
}

#[test]
fn a_symbolic_expression_that_cannot_be_read() {
    let problem = Sample::problem(|sample| {
        sample.graph()["tensor_values"]["x"]["sizes"][0] = json!({"as_expr": {"expr_str": "Mul(2,"}});
    });
    assert!(
        matches!(&problem, Problem::SymbolicExpression { place: Place::Value { name }, text, .. }
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
