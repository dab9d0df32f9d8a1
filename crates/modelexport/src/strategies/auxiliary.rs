//! Places the nodes that a strategy left over: shapes, casts, constants, masks.
//!
//! A left-over node belongs to the call of its neighbors: the producers of its inputs and the readers of its results, through
//! further left-over nodes if necessary.
//!
//! * If all are inside one call: that call, or the part of it that contains most of them (the vote).
//! * If they are in several calls: the lowest common ancestor. The vote never chooses between instances of one class (two
//!   layers, two calls of one module), so a node between layer 0 and layer 1 gets the module that contains both.
//! * In a subgraph or a function body without placed neighbors: the call of the node around it.
//! * Without any neighbor: [`Method::Fallback`], shown as `/<Root>/AuxiliaryOperations`.

use modelexport_graph::{Method, ScopeId, Scopes};

use super::evidence::Calls;
use super::graph::{GraphView, NodeId};
use super::{Attribution, Attributions, Draft, Evidence};

/// Confidence where all neighbours are in one call, and where they are not.
const AGREED: f32 = 0.7;
const SPLIT: f32 = 0.5;

/// Nodes that read more than this are not asked which of their inputs is the latest: it would take time that grows
/// with the square.
const COMPARED: usize = 64;

/// Gives every node an attribution.
pub(super) fn complete(graph: &GraphView, evidence: &Evidence, draft: Draft) -> Attributions {
    let calls = evidence.calls();
    let mut places = Places::new(graph, calls, draft);
    places.fill_forwards();
    places.fill_backwards();
    places.fill_around();
    let fallback = || Attribution::new(Scopes::ROOT, Method::Fallback, 0.0);
    places.draft.into_iter().map(|attribution| attribution.unwrap_or_else(fallback)).collect()
}

struct Places<'a> {
    graph: &'a GraphView,
    calls: &'a Calls,
    draft: Draft,
    /// By [`NodeId`]: what holds all known nodes that the node's results reach through left-over ones.
    purposes: Vec<Option<ScopeId>>,
}

impl<'a> Places<'a> {
    fn new(graph: &'a GraphView, calls: &'a Calls, mut draft: Draft) -> Self {
        draft.resize(graph.len(), None);
        let mut purposes = vec![None; graph.len()];
        for id in graph.node_ids().rev() {
            let asked = graph.consumers(id).filter_map(|consumer| {
                let known = draft.get(consumer.0 as usize).and_then(Option::as_ref);
                known.map(|found| found.call).or_else(|| at(&purposes, consumer))
            });
            let purpose = calls.common_of(asked);
            if let Some(place) = purposes.get_mut(id.0 as usize) {
                *place = purpose;
            }
        }
        Places { graph, calls, draft, purposes }
    }

    fn call(&self, id: NodeId) -> Option<ScopeId> {
        self.draft.get(id.0 as usize).and_then(Option::as_ref).map(|found| found.call)
    }

    fn set(&mut self, id: NodeId, call: ScopeId, confidence: f32) {
        if let Some(place) = self.draft.get_mut(id.0 as usize) {
            *place = Some(Attribution::new(call, Method::Auxiliary, confidence));
        }
    }

    /// Nodes that read results of known nodes, in the order of the graph: what one was made from is decided then.
    fn fill_forwards(&mut self) {
        for id in self.graph.node_ids() {
            if self.call(id).is_some() {
                continue;
            }
            let material: Vec<ScopeId> =
                self.graph.producers(id).filter_map(|producer| self.call(producer)).collect();
            if material.is_empty() {
                continue;
            }
            let asked = |consumer| self.call(consumer).or_else(|| at(&self.purposes, consumer));
            let purpose: Vec<ScopeId> = self.graph.consumers(id).filter_map(asked).collect();
            let call = self.between(&material, &purpose);
            let agreed = material.iter().chain(&purpose).all(|&other| self.calls.is_inside(other, call));
            self.set(id, call, if agreed && call != Scopes::ROOT { AGREED } else { SPLIT });
        }
    }

    /// Where a node is that is made from `material` and read in `purpose`.
    fn between(&self, material: &[ScopeId], purpose: &[ScopeId]) -> ScopeId {
        let latest = self.latest(material);
        let made = self.calls.common_of(latest.iter().copied()).unwrap_or(Scopes::ROOT);
        let Some(read) = self.calls.common_of(purpose.iter().copied()) else {
            return self.calls.common_of(material.iter().copied()).unwrap_or(made);
        };
        let all: Vec<ScopeId> = latest.iter().chain(purpose).copied().collect();
        let voted = self.calls.vote(&all).unwrap_or(made);
        let has_crossed = latest.len() < material.len() && !self.calls.is_inside(read, voted);
        if has_crossed {
            self.calls.common_of(material.iter().chain(purpose).copied()).unwrap_or(voted)
        } else {
            voted
        }
    }

    /// The material without that of an earlier instance, where a later one of the same kind gave some, too: calls
    /// end before their twins begin, so that a node which reads a result of layer 1 is no node of layer 0.
    fn latest(&self, material: &[ScopeId]) -> Vec<ScopeId> {
        if material.len() > COMPARED {
            return material.to_vec();
        }
        let is_outdated = |&early: &ScopeId| {
            material.iter().any(|&late| late > early && self.calls.is_other_instance(early, late))
        };
        material.iter().filter(|call| !is_outdated(call)).copied().collect()
    }

    /// Nodes that are made from nothing known: constants, and what comes from the inputs of the graph.
    fn fill_backwards(&mut self) {
        for id in self.graph.node_ids().rev() {
            if self.call(id).is_some() {
                continue;
            }
            let purpose: Vec<ScopeId> =
                self.graph.consumers(id).filter_map(|consumer| self.call(consumer)).collect();
            if let Some(call) = self.calls.common_of(purpose) {
                self.set(id, call, AGREED);
            }
        }
    }

    /// Nodes of subgraphs by the node around them, nodes of functions by the nodes that call these.
    fn fill_around(&mut self) {
        self.fill_body(self.graph.main_nodes(), None);
        for function in callers_first(self.graph) {
            let callers = self.graph.callers(function).iter().filter_map(|&caller| self.call(caller));
            let around = self.calls.common_of(callers);
            self.fill_body(self.graph.function_nodes(function), around);
        }
    }

    fn fill_body(&mut self, nodes: std::ops::Range<u32>, around: Option<ScopeId>) {
        for id in nodes.map(NodeId) {
            let holder = self.graph.entry(id).and_then(|entry| entry.holder());
            let around = holder.map_or(around, |holder| self.call(holder));
            if let (None, Some(call)) = (self.call(id), around) {
                self.set(id, call, AGREED);
            }
        }
    }
}

/// The functions such that each comes after those that call it.
fn callers_first(graph: &GraphView) -> Vec<usize> {
    let functions = graph.functions();
    let caller_of = |node: NodeId| graph.entry(node).and_then(|entry| entry.function());
    let mut called: Vec<Vec<usize>> = vec![Vec::new(); functions];
    let mut waits_for = vec![0usize; functions];
    for function in 0..functions {
        for caller in graph.callers(function).iter().filter_map(|&node| caller_of(node)) {
            if let (Some(called), Some(waits)) = (called.get_mut(caller), waits_for.get_mut(function)) {
                called.push(function);
                *waits += 1;
            }
        }
    }
    let mut order: Vec<usize> = (0..functions).filter(|&f| waits_for.get(f) == Some(&0)).collect();
    let mut next = 0;
    while let Some(&function) = order.get(next) {
        next += 1;
        for &other in called.get(function).map(Vec::as_slice).unwrap_or_default() {
            if let Some(waits) = waits_for.get_mut(other) {
                *waits -= 1;
                if *waits == 0 {
                    order.push(other);
                }
            }
        }
    }
    order
}

fn at<T: Copy>(values: &[Option<T>], id: NodeId) -> Option<T> {
    values.get(id.0 as usize).copied().flatten()
}

#[cfg(test)]
mod tests {
    use modelexport_graph::onnx::{Attribute, AttributeValue, Function, Graph, Model, Node};
    use modelexport_graph::{ModuleTree, Scopes};

    use super::*;
    use crate::strategies::evidence::EvidenceFormat;

    /// `Net(layer: [Layer(a: A), Layer(a: A)], head: Head)`.
    fn evidence() -> Evidence {
        let mut tree = ModuleTree::new();
        let mut scopes = Scopes::new();
        for i in 0..2 {
            let inner = tree.insert(&format!("layer.{i}.a"));
            let layer = tree.find(&format!("layer.{i}")).unwrap();
            tree.get_mut(layer).unwrap().class = "m.Layer".into();
            tree.get_mut(inner).unwrap().class = "m.A".into();
            let call = scopes.child(Scopes::ROOT, layer, 0);
            scopes.child(call, inner, 0);
        }
        let head = tree.insert("head");
        tree.get_mut(head).unwrap().class = "m.Head".into();
        scopes.child(Scopes::ROOT, head, 0);
        Evidence::new(EvidenceFormat::Trace, tree, scopes)
    }

    fn node(inputs: &[&str], output: &str) -> Node {
        let inputs = inputs.iter().map(|name| (*name).into()).collect();
        Node { inputs, outputs: vec![output.into()], ..Node::default() }
    }

    /// Completes a draft in which nodes are known by the path that stands at their place; gives all paths.
    fn completed(model: &Model, known: &[Option<&str>]) -> Vec<(String, Method)> {
        let evidence = evidence();
        let graph = GraphView::new(model);
        let place = |path: &str| evidence.call_of(evidence.modules.find(path).unwrap());
        let draft = known.iter().map(|path| Some(Attribution::new(place((*path)?), Method::Parameter, 1.0)));
        let found = complete(&graph, &evidence, draft.collect());
        let path = |call| evidence.modules.get(evidence.calls().module(call)).unwrap().path.to_string();
        found.into_iter().map(|found| (path(found.call), found.method)).collect()
    }

    fn paths(nodes: Vec<Node>, known: &[Option<&str>]) -> Vec<String> {
        let model = Model { graph: Graph { nodes, ..Graph::default() }, ..Model::default() };
        completed(&model, known).into_iter().map(|(path, _)| path).collect()
    }

    #[test]
    fn a_constant_belongs_to_what_reads_it() {
        let nodes = vec![node(&[], "c"), node(&["c"], "d"), node(&["x", "d"], "y")];
        assert_eq!(paths(nodes, &[None, None, Some("layer.1.a")]), ["layer.1.a"; 3]);
    }

    #[test]
    fn a_node_between_two_layers_belongs_to_neither() {
        let nodes = vec![node(&["x"], "a"), node(&["a"], "b"), node(&["b"], "c")];
        assert_eq!(paths(nodes, &[Some("layer.0.a"), None, Some("layer.1.a")])[1], "");
    }

    #[test]
    fn a_mask_for_all_layers_belongs_to_what_holds_them() {
        let nodes = vec![node(&["mask"], "m"), node(&["x", "m"], "a"), node(&["a", "m"], "b")];
        assert_eq!(paths(nodes, &[None, Some("layer.0.a"), Some("layer.1.a")])[0], "");
    }

    #[test]
    fn a_later_instance_outweighs_an_earlier_one() {
        let nodes = vec![
            node(&["x"], "first"),
            node(&["first"], "second"),
            node(&["first", "second"], "sum"),
            node(&["sum"], "y"),
        ];
        let known = [Some("layer.0.a"), Some("layer.1.a"), None, Some("layer.1")];
        assert_eq!(paths(nodes, &known)[2], "layer.1");
    }

    #[test]
    fn nobody_to_ask_is_a_fallback() {
        let nodes = vec![node(&["x"], "y"), node(&["z"], "w")];
        let model = Model { graph: Graph { nodes, ..Graph::default() }, ..Model::default() };
        let found = completed(&model, &[Some("head"), None]);
        assert_eq!(found[1], (String::new(), Method::Fallback));
    }

    #[test]
    fn subgraphs_and_functions_follow_what_is_around_them() {
        let mut holder = node(&["x"], "y");
        let branch = Graph { nodes: vec![node(&[], "inner")], ..Graph::default() };
        let value = AttributeValue::Graph(Box::new(branch));
        holder.attributes.push(Attribute { name: "then_branch".into(), value, ..Attribute::default() });
        let call = |name: &str, output: &str| Node { op_type: name.into(), ..node(&["y"], output) };
        let function = |name: &str, nodes| Function { name: name.into(), nodes, ..Function::default() };
        let model = Model {
            graph: Graph { nodes: vec![holder, call("Outer", "z")], ..Graph::default() },
            functions: vec![
                function("Inner", vec![node(&[], "deep")]),
                function("Outer", vec![call("Inner", "w")]),
            ],
            ..Model::default()
        };
        let found = completed(&model, &[Some("layer.0"), None, Some("head"), None, None]);
        let paths: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["layer.0", "layer.0", "head", "head", "head"]);
    }
}
