//! A program that two threads read is the one that is read in one piece, or none.

use std::path::Path;

use modelexport_graph::SourceId;
use modelexport_graph::aten::Graph;

use super::super::error::Problem;
use super::super::graph::Origins;
use super::super::halves::{self, Halves, Place};
use super::super::values::Shared;
use super::super::weights::Weights;
use super::super::{archive, join, layout, program, read_program};

const NODE_START: &str = r#"{"target":"#;

/// All that reading nodes tells.
fn shown(graph: &Graph, modules: String, scopes: String, traces: &[Box<str>]) -> String {
    format!("{graph:?}\n{modules}\n{scopes}\n{traces:?}")
}

/// What two threads read of `text`, if they meet from `middle` on, and how many nodes they left for later.
fn by_halves(text: &str, middle: usize) -> Option<(String, usize)> {
    let checksum = Some(rawzip::crc32(text.as_bytes()));
    let place = Place { reader: text.as_bytes(), start: 0, length: text.len() as u64, checksum };
    let Halves([before, behind]) = halves::read_from(&place, middle as u64)?;
    let later = before.kept.later.len() + behind.kept.later.len();
    let kept = [&before.kept, &behind.kept];
    let (_, graph, Origins { stacks, traces, .. }) =
        join::join(kept, [before.nodes, behind.nodes], "m", &mut Shared::default())?;
    let (modules, scopes) = stacks.finish();
    let modules = format!("{:?}", modules.iter().map(|(_, module)| &module.path).collect::<Vec<_>>());
    Some((shown(&graph, modules, format!("{:?}", scopes.iter().collect::<Vec<_>>()), &traces), later))
}

fn whole(text: &str) -> Result<String, Problem> {
    let program = program::read_whole("m", text.as_bytes(), Weights::default(), Shared::default())?;
    let modules = format!("{:?}", program.modules.iter().map(|(_, module)| &module.path).collect::<Vec<_>>());
    let scopes = format!("{:?}", program.scopes.iter().collect::<Vec<_>>());
    Ok(shown(&program.graph, modules, scopes, &program.traces))
}

#[test]
fn fixtures_are_the_same_wherever_their_halves_meet() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let (mut met, mut later) = (0, 0);
    for case in std::fs::read_dir(folder).unwrap() {
        let path = case.unwrap().path().join("model.pt2");
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let archive = archive::Archive::open(bytes.as_slice(), bytes.len() as u64).unwrap();
        let text = archive.read_json(&layout::find(&archive).unwrap().program).unwrap();
        let text = String::from_utf8(text).unwrap();
        let program = read_program(bytes.as_slice(), bytes.len() as u64, SourceId(0)).unwrap();
        // Parameters come to the tree behind the nodes.
        let scopes = format!("{:?}", program.scopes.iter().collect::<Vec<_>>());
        let expected = shown(&program.graph, String::new(), scopes, &program.traces);
        let expected: Vec<&str> = expected.lines().collect();
        let starts: Vec<usize> = text.match_indices(NODE_START).map(|(at, _)| at).collect();
        let mut met_here = 0;
        for middle in starts.iter().step_by(starts.len().div_ceil(8)) {
            let Some((found, left)) = by_halves(&text, *middle) else { continue };
            let found: Vec<&str> = found.lines().collect();
            let differs = found.iter().zip(&expected).enumerate().any(|(i, (a, b))| i != 1 && a != b);
            assert!(!differs && found.len() == expected.len(), "{} from {middle} on", path.display());
            met_here += 1;
            later += left;
        }
        assert!(met_here > 0, "{}: its halves never meet", path.display());
        met += met_here;
    }
    assert!(met >= 50 && later > 0, "{met} times met, {later} nodes left for later");
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

fn program(graph: &str) -> String {
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
fn two_halves_are_the_whole_wherever_they_meet() {
    let text = program(&graph(&chain(), &NAMES));
    let whole = whole(&text).unwrap();
    let nodes = text.rfind(NODE_START).unwrap();
    for middle in 0..=nodes {
        assert_eq!(by_halves(&text, middle), Some((whole.clone(), 0)), "from {middle} on");
    }
    assert!(by_halves(&text, nodes + 1).is_none(), "no node starts there");
}

#[test]
fn a_node_inside_another_is_no_place_to_meet() {
    let inner = format!(r#"{{"as_graph": {{"name": "g", "graph": {}}}}}"#, graph(&chain(), &NAMES));
    let nodes = [node("before", r#"{"as_int": 1}"#), node("cond", &inner)];
    let text = program(&graph(&nodes, &["before", "cond"]));
    let outer = text.match_indices(NODE_START).nth(1).unwrap().0;
    assert_eq!(by_halves(&text, outer), Some((whole(&text).unwrap(), 1)));
    assert_eq!(by_halves(&text, outer + 1), None);
}

#[test]
fn what_is_wrong_is_left_to_others() {
    let text = program(&graph(&chain(), &NAMES));
    let tables = r#""sym_int_values": {}, "#;
    for (from, to) in [
        // Members twice or missing, in one half or in both.
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
        assert!(whole(&bad).is_err(), "{bad}");
        for node in 0..4 {
            let middle = bad.match_indices(NODE_START).nth(node).unwrap().0;
            assert_eq!(by_halves(&bad, middle), None, "{bad}");
        }
    }
}

#[test]
fn another_checksum_is_no_program() {
    let text = program(&graph(&chain(), &NAMES));
    let at = |checksum| {
        let (reader, length) = (text.as_bytes(), text.len() as u64);
        halves::read_from(&Place { reader, start: 0, length, checksum }, 0).is_some()
    };
    let right = rawzip::crc32(text.as_bytes());
    assert!(at(None) && at(Some(right)) && !at(Some(right ^ 1)));
}
