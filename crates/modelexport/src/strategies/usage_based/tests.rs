//! `Net(layer: [Layer, Layer])`, operators in both layers, and graphs that represent them.

use modelexport_graph::onnx::{Graph, Model, Node, ValueInfo};
use modelexport_graph::{ModuleTree, Scopes};
use modelexport_io::source::Sources;

use super::*;
use crate::strategies::evidence::{Evidence, EvidenceFormat, OpFact};
use crate::strategies::{Anchors, GraphView};

/// Operators as `(layer, target, parameter)`; no parameter is an empty name.
fn evidence(ops: &[(usize, &str, &str)]) -> Evidence {
    let mut tree = ModuleTree::new();
    let mut scopes = Scopes::new();
    let calls = [0, 1].map(|i| {
        let layer = tree.insert(&format!("layer.{i}"));
        tree.get_mut(layer).unwrap().class = "m.Layer".into();
        scopes.child(Scopes::ROOT, layer, 0)
    });
    let mut evidence = Evidence::new(EvidenceFormat::Trace, tree, scopes);
    for &(layer, target, name) in ops {
        let known = evidence.parameters.find(name).filter(|_| !name.is_empty());
        let id = known.or_else(|| {
            let owner = evidence.modules.find(&format!("layer.{layer}")).unwrap();
            let (readers, elements) = (Vec::new(), 16);
            let (dtype, sorted_dims, fingerprint) = (None, None, None);
            let name = name.into();
            let fact = ParameterFact { name, owner, readers, dtype, elements, sorted_dims, fingerprint };
            (!fact.name.is_empty()).then(|| evidence.parameters.add(fact))
        });
        let (target, call) = (target.into(), calls[layer]);
        evidence.ops.push(OpFact { target, call, parameters: id.into_iter().collect() });
    }
    evidence
}

/// The modules of nodes that are written as `operator input… -> output`.
fn modules(ops: &[(usize, &str, &str)], nodes: &[&str]) -> Vec<String> {
    let evidence = evidence(ops);
    let node = |text: &&str| {
        let (left, output) = text.split_once(" -> ").unwrap();
        let mut left = left.split(' ');
        let op_type = left.next().unwrap().into();
        let inputs = left.map(Into::into).collect();
        Node { op_type, inputs, outputs: vec![output.into()], ..Node::default() }
    };
    let mut inputs = vec![ValueInfo { name: "x".into(), ..ValueInfo::default() }];
    let parameters = evidence.parameters.iter().map(|(_, fact)| fact.name.clone());
    inputs.extend(parameters.map(|name| ValueInfo { name, ..ValueInfo::default() }));
    let graph = Graph { nodes: nodes.iter().map(node).collect(), inputs, ..Graph::default() };
    let graph = GraphView::new(&Model { graph, ..Model::default() });
    let anchors = Anchors::new(&graph, &Sources::new(), &evidence);
    let context = Context { graph: &graph, evidence: &evidence, anchors: &anchors, boundaries: &[] };
    let path = |call| evidence.modules.get(evidence.calls().module(call)).unwrap().path.to_string();
    draft(&context).iter().map(|found| found.as_ref().map_or("?".into(), |found| path(found.call))).collect()
}

const TWO_LAYERS: &[(usize, &str, &str)] = &[
    (0, "aten.linear.default", "w0"),
    (0, "aten.relu.default", ""),
    (1, "aten.view.default", ""),
    (1, "aten.linear.default", "w1"),
];

#[test]
fn operators_between_two_reads_follow_in_order() {
    let nodes = ["MatMul x w0 -> a", "Relu a -> b", "Reshape b s -> c", "MatMul c w1 -> y"];
    assert_eq!(modules(TWO_LAYERS, &nodes), ["layer.0", "layer.0", "layer.1", "layer.1"]);
}

#[test]
fn a_node_that_may_be_of_either_layer_belongs_to_what_holds_both() {
    let nodes = ["MatMul x w0 -> a", "Relu a -> b", "Erf b -> e", "Reshape e s -> c", "MatMul c w1 -> y"];
    assert_eq!(modules(TWO_LAYERS, &nodes), ["layer.0", "layer.0", "", "layer.1", "layer.1"]);
    let ops = [
        (0, "aten.linear.default", "w0"),
        (0, "aten.relu.default", ""),
        (1, "aten.relu.default", ""),
        (1, "aten.linear.default", "w1"),
    ];
    let nodes = ["MatMul x w0 -> a", "Relu a -> b", "MatMul b w1 -> y"];
    assert_eq!(modules(&ops, &nodes), ["layer.0", "", "layer.1"], "one of two equal operators is gone");
    let nodes = ["MatMul x w0 -> a", "Relu a -> b", "Relu b -> c", "MatMul c w1 -> y"];
    assert_eq!(modules(&ops, &nodes), ["layer.0", "layer.0", "layer.1", "layer.1"]);
}

#[test]
fn parts_of_an_operator_may_stand_before_the_one_that_reads_its_parameter() {
    let ops = [
        (0, "aten.linear.default", "w0"),
        (0, "aten.relu.default", ""),
        (1, "aten.group_norm.default", "w1"),
    ];
    let nodes = [
        "MatMul x w0 -> a",
        "Relu a -> b",
        "Reshape b s -> c",
        "InstanceNormalization c o z -> d",
        "Reshape d s -> e",
        "Mul e w1 -> y",
    ];
    let expected = ["layer.0", "layer.0", "layer.1", "layer.1", "layer.1", "layer.1"];
    assert_eq!(modules(&ops, &nodes), expected);
}

#[test]
fn sizes_and_constants_belong_to_what_stands_behind_them() {
    let nodes = [
        "MatMul x w0 -> a",
        "Relu a -> b",
        "Shape b -> s",
        "Constant -> i",
        "Gather s i -> n",
        "Reshape b n -> c",
        "MatMul c w1 -> y",
    ];
    let expected = ["layer.0", "layer.0", "layer.1", "layer.1", "layer.1", "layer.1", "layer.1"];
    assert_eq!(modules(TWO_LAYERS, &nodes), expected);
}

#[test]
fn what_stands_in_one_layer_and_is_read_in_another_belongs_to_what_holds_both() {
    let nodes = ["MatMul x w0 -> a", "Constant -> s", "Relu a -> b", "Reshape b s -> c", "MatMul c w1 -> y"];
    assert_eq!(modules(TWO_LAYERS, &nodes), ["layer.0", "", "layer.0", "layer.1", "layer.1"]);
}

#[test]
fn of_several_readers_the_order_decides_if_it_can() {
    let ops = [(0, "aten.layer_norm.default", "w"), (1, "aten.layer_norm.default", "w")];
    let nodes = ["LayerNormalization x w -> a", "LayerNormalization a w -> y"];
    assert_eq!(modules(&ops, &nodes), ["layer.0", "layer.1"]);
    assert_eq!(modules(&ops, &nodes[..1]), [""]);
}

#[test]
fn of_several_readers_those_of_another_kind_do_not_count() {
    let ops = [(0, "aten.batch_norm.default", "w"), (1, "aten.mul.Tensor", "w")];
    assert_eq!(modules(&ops, &["Mul x w -> y"]), ["layer.1"]);
}
