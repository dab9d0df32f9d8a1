//! Programs with contradictions or invalid JSON are rejected, wherever the fault is.

use super::super::error::Problem;
use super::super::program;
use super::super::values::Interner;
use super::super::weights::Weights;

fn read(text: &str) -> Result<usize, Problem> {
    let program = program::read("m", text.as_bytes(), Weights::default(), Interner::default())?;
    Ok(program.graph.nodes.len())
}

const META: &str = r#"{"dtype": 7, "sizes": [], "requires_grad": true, "device": {"type": "cpu", "index": null}, "strides": [], "storage_offset": {"as_int": 0}, "layout": 7}"#;

fn node(name: &str, argument: &str) -> String {
    let argument = format!(r#"{{"name": "é", "arg": {argument}, "kind": 1}}"#);
    let start = r#"{"target": "torch.ops.aten.add.Tensor", "inputs": ["#;
    let outputs = format!(r#"[{{"as_tensor": {{"name": "{name}"}}}}]"#);
    format!(r#"{start}{argument}], "outputs": {outputs}, "metadata": {{}}, "name": "{name}"}}"#)
}

fn graph(nodes: &[String], names: &[&str]) -> String {
    let values: Vec<String> = names.iter().map(|name| format!(r#""{name}": {META}"#)).collect();
    let tables = r#""sym_int_values": {}, "sym_bool_values": {}"#;
    let (nodes, values) = (nodes.join(", "), values.join(", "));
    format!(r#"{{"inputs": [], "outputs": [], "nodes": [{nodes}], "tensor_values": {{{values}}}, {tables}}}"#)
}

fn program_text(graph: &str) -> String {
    let module = format!(
        r#""graph": {graph}, "signature": {{"input_specs": [], "output_specs": []}}, "module_call_graph": [{{"fqn": ""}}]"#
    );
    format!(
        r#"{{"graph_module": {{{module}}}, "opset_version": {{}}, "range_constraints": {{}}, "schema_version": {{"major": 8, "minor": 20}}, "torch_version": "2.15"}} "#
    )
}

fn chain() -> Vec<String> {
    let reads = |i| format!(r#"{{"as_tensor": {{"name": "add_{i}"}}}}"#);
    let argument = |i: i32| if i == 0 { r#"{"as_int": 1}"#.to_owned() } else { reads(i - 1) };
    (0..4).map(|i| node(&format!("add_{i}"), &argument(i))).collect()
}

const NAMES: [&str; 4] = ["add_0", "add_1", "add_2", "add_3"];

#[test]
fn every_fault_is_an_error() {
    let text = program_text(&graph(&chain(), &NAMES));
    assert_eq!(read(&text).unwrap(), NAMES.len());
    let tables = r#""sym_int_values": {}, "#;
    for (from, to) in [
        // Members twice or missing.
        (r#""nodes": ["#, r#""outputs": [], "nodes": ["#),
        (tables, &*tables.repeat(2)),
        (tables, r#""nodes": [], "#),
        (tables, r#""tensor_values": {}, "#),
        (tables, ""),
        (r#""opset_version""#, r#""graph_module": {}, "opset_version""#),
        (r#""signature""#, r#""graph": {}, "signature""#),
        // What is no JSON.
        (r#""minor": 20}"#, r#""minor": 20},"#),
        (r#""2.15"} "#, r#""2.15"}}"#),
        (r#""2.15"} "#, r#""2.15","#),
        // Names that nothing has, that come twice, or too late.
        (r#"{"name": "add_2"}}, "kind""#, r#"{"name": "add_9"}}, "kind""#),
        (r#"{"name": "add_1"}}, "kind""#, r#"{"name": "add_3"}}, "kind""#),
        (r#""name": "add_3"}"#, r#""name": "add_1"}"#),
        (r#"{"add_0":"#, r#"{"add_1":"#),
        (r#"{"add_0":"#, r#"{"add_7":"#),
        // Metadata, stacks, kinds and codes that mean nothing.
        (r#""dtype": 7"#, r#""dtype": 99"#),
        (r#""metadata": {}"#, r#""metadata": {"nn_module_stack": "?"}"#),
        (r#"{"as_int": 1}"#, r#"{"as_wonder": 1}"#),
        (r#"{"as_int": 1}"#, r#"{"as_scalar_type": 99}"#),
    ] {
        let bad = text.replacen(from, to, 1);
        assert_ne!(bad, text);
        assert!(read(&bad).is_err(), "{bad}");
    }
}
