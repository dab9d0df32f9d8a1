//! Evidence from the scopes in node names alone: `/encoder/layer.1/attention/MatMul`.
//!
//! Each part of a scope is a module, named by the end of its path from the last part that is not a number. Children of a
//! called container repeat its name (`/layer1/layer1.0/Conv`). Classes are unknown, so the names of attributes replace them,
//! and a tag is the path.

use std::collections::{HashMap, HashSet};

use modelexport_graph::module_tree::{MAX_DEPTH, Parameter};
use modelexport_graph::{ModuleId, ModuleTree, Scopes};

use super::super::graph::GraphView;
use super::from_sidecar::{add_parameters, calls_by_order};
use super::{Evidence, EvidenceFormat};

/// What the names of nodes tell; `None` if fewer than half of them have a scope, or none is below the root.
pub fn from_scopes(graph: &GraphView) -> Option<Evidence> {
    let operators: HashSet<&str> = graph.nodes().map(|(_, entry)| graph.text(entry.op_type)).collect();
    let scopes: Vec<&str> = graph.nodes().filter_map(|(_, entry)| scope_of(graph.text(entry.name))).collect();
    if scopes.len() * 2 < graph.len() || scopes.iter().all(|scope| scope.is_empty()) {
        return None;
    }
    let mut tree = ModuleTree::new();
    let mut known: HashMap<&str, ModuleId> = HashMap::new();
    let held = holders(graph);
    let mut order = 0;
    for scope in scopes {
        if known.contains_key(scope) {
            continue;
        }
        let id = enter(scope, &operators, &held, &mut tree, &mut order);
        known.insert(scope, id);
    }
    for value in graph.main_initializers() {
        let (name, Some(tensor)) = (graph.value_name(value), graph.constant(value)) else { continue };
        let owner = name.rsplit_once('.').and_then(|(path, _)| tree.find(path));
        let Some(module) = owner.and_then(|id| tree.get_mut(id)) else { continue };
        let elements = tensor.dims.iter().fold(1u64, |all, dim| all.saturating_mul(dim.unsigned_abs()));
        let bytes = tensor.dtype.and_then(|dtype| dtype.byte_len(elements)).unwrap_or(0);
        module.parameters.push(Parameter {
            name: name.into(),
            elements,
            bytes,
            is_buffer: false,
            tied_to: None,
        });
    }
    let calls: Scopes = calls_by_order(&tree);
    let mut evidence = Evidence::new(EvidenceFormat::Scopes, tree, calls);
    add_parameters(&mut evidence);
    Some(evidence)
}

/// The scope of a node's name; `None` if the name is no path.
fn scope_of(name: &str) -> Option<&str> {
    let (scope, _operation) = name.strip_prefix('/')?.rsplit_once('/').unwrap_or_default();
    Some(scope)
}

/// Paths that hold initializers, by their names.
fn holders(graph: &GraphView) -> HashSet<&str> {
    let names = graph.main_initializers().map(|value| graph.value_name(value));
    names.filter_map(|name| name.rsplit_once('.')).map(|(path, _)| path).collect()
}

/// The module that a scope names, made with all above it. What follows an operator was added by a tool.
fn enter(
    scope: &str,
    operators: &HashSet<&str>,
    holders: &HashSet<&str>,
    tree: &mut ModuleTree,
    order: &mut u32,
) -> ModuleId {
    let mut path = String::new();
    let mut above = "";
    let mut id = ModuleId::ROOT;
    execute(tree, id, order, false);
    for part in scope.split('/').filter(|part| !part.is_empty()).take(MAX_DEPTH) {
        if operators.contains(part) || operators.contains(without_number(part).unwrap_or(part)) {
            break;
        }
        let length = path.len();
        match part.strip_prefix(above).filter(|rest| !above.is_empty() && rest.starts_with('.')) {
            Some(index) => path.push_str(index),
            None => {
                path.push_str(if path.is_empty() { "" } else { "." });
                path.push_str(part);
            }
        }
        // A second call shows as `relu_1`, unless that is the name of a module itself.
        let first_call = without_number(&path).filter(|first| tree.find(first).is_some());
        let is_again = tree.find(&path).is_none() && !holders.contains(path.as_str());
        let repeated = first_call.filter(|_| is_again).map(str::to_owned);
        let is_repeated = repeated.is_some();
        if let Some(first) = repeated {
            path = first;
        }
        id = tree.insert(&path);
        execute(tree, id, order, is_repeated);
        above = path
            .get(length..)
            .map_or(part, |_| if is_repeated { without_number(part).unwrap_or(part) } else { part });
    }
    id
}

/// `relu` for `relu_1`.
fn without_number(part: &str) -> Option<&str> {
    let (name, number) = part.rsplit_once('_')?;
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(name)
}

fn execute(tree: &mut ModuleTree, id: ModuleId, order: &mut u32, is_again: bool) {
    let Some(module) = tree.get_mut(id) else { return };
    if module.order.is_none() {
        (module.order, module.calls) = (Some(*order), 1);
        *order += 1;
        let name = module.path.rsplit('.').find(|part| !part.bytes().all(|byte| byte.is_ascii_digit()));
        module.class = name.unwrap_or_default().into();
    } else if is_again {
        module.calls = module.calls.max(2);
    }
}

#[cfg(test)]
mod tests {
    use modelexport_graph::onnx::{Graph, Model, Node, Tensor};

    use super::*;

    fn evidence(names: &[&str], initializers: &[&str]) -> Option<Evidence> {
        let node = |name: &&str| Node { name: (*name).into(), op_type: "MatMul".into(), ..Node::default() };
        let tensor = |name: &&str| Tensor {
            name: (*name).into(),
            dims: vec![2, 3],
            data_type: 1,
            ..Tensor::default()
        };
        let nodes = names.iter().map(node).collect();
        let initializers = initializers.iter().map(tensor).collect();
        let model = Model { graph: Graph { nodes, initializers, ..Graph::default() }, ..Model::default() };
        from_scopes(&GraphView::new(&model))
    }

    fn modules(names: &[&str], initializers: &[&str]) -> Vec<(String, String)> {
        let evidence = evidence(names, initializers).unwrap();
        evidence
            .modules
            .iter()
            .skip(1)
            .map(|(_, module)| (module.path.to_string(), module.class.to_string()))
            .collect()
    }

    fn paths(names: &[&str], initializers: &[&str]) -> Vec<String> {
        modules(names, initializers).into_iter().map(|(path, _)| path).collect()
    }

    #[test]
    fn a_scope_is_a_path_and_attributes_stand_for_classes() {
        let found = modules(&["/encoder/layer.1/attention/MatMul", "/Add"], &[]);
        let expected = [
            ("encoder", "encoder"),
            ("encoder.layer", ""),
            ("encoder.layer.1", "layer"),
            ("encoder.layer.1.attention", "attention"),
        ];
        assert_eq!(found, expected.map(|(path, class)| (path.to_owned(), class.to_owned())));
    }

    #[test]
    fn a_called_container_is_repeated_by_its_children() {
        assert_eq!(
            paths(&["/layer1/layer1.0/conv1/Conv", "/layer1/layer1.0/downsample/downsample.0/Conv"], &[]),
            ["layer1", "layer1.0", "layer1.0.conv1", "layer1.0.downsample", "layer1.0.downsample.0"]
        );
    }

    #[test]
    fn a_number_at_the_end_is_a_second_call_unless_a_module_has_that_name() {
        assert_eq!(paths(&["/relu/Relu", "/relu_1/Relu"], &[]), ["relu"]);
        assert_eq!(paths(&["/fc/MatMul", "/fc_1/MatMul"], &["fc_1.weight"]), ["fc", "fc_1"]);
    }

    #[test]
    fn what_follows_an_operator_is_no_module() {
        assert_eq!(paths(&["/block/MatMul/MatMulAddFusion", "/block/MatMul_1/Fused"], &[]), ["block"]);
    }

    #[test]
    fn names_without_scopes_tell_nothing() {
        assert!(evidence(&["MatMul_1", "/a/MatMul", "x"], &[]).is_none());
        assert!(evidence(&["/MatMul", "/MatMul_1"], &[]).is_none());
    }

    #[test]
    fn parameters_are_those_that_are_named_after_a_module() {
        let evidence = evidence(&["/fc/MatMul"], &["fc.weight", "onnx::MatMul_3"]).unwrap();
        let weight =
            evidence.parameters.find("fc.weight").and_then(|id| evidence.parameters.get(id)).unwrap();
        assert_eq!((weight.elements, Some(weight.owner)), (6, evidence.modules.find("fc")));
        assert_eq!(evidence.parameters.len(), 1);
    }
}
