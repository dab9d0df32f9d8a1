//! Places the nodes of a branch by the nodes around them.

use modelexport_graph::aten::{Arg, Graph, Node, ValueId};
use modelexport_graph::{Method, ScopeId, Scopes};

/// Places what has no call yet: in the deepest call that holds all that a node is made from and all that reads it.
pub(super) fn fill(graph: &mut Graph, holder: ScopeId, scopes: &Scopes) {
    let mut makers: Vec<Option<usize>> = vec![None; graph.values.len()];
    for (at, node) in graph.nodes.iter().enumerate() {
        each_value(&node.outputs, &mut |value| {
            if let Some(maker) = makers.get_mut(value.0 as usize) {
                *maker = Some(at);
            }
        });
    }
    let maker = |value: ValueId| makers.get(value.0 as usize).copied().flatten();
    let join = |place: &mut Option<ScopeId>, other: ScopeId| {
        *place = Some(place.map_or(other, |known| scopes.lowest_common_ancestor(known, other)));
    };
    let call = |at: usize, beyond: &[Option<ScopeId>]| {
        graph.nodes.get(at).and_then(|node| node.scope).or_else(|| beyond.get(at).copied().flatten())
    };

    // What holds the known nodes that a node's arguments come from, through unknown ones.
    let mut material: Vec<Option<ScopeId>> = Vec::with_capacity(graph.nodes.len());
    for node in &graph.nodes {
        let mut from = None;
        let made = read(node).into_iter().filter_map(|value| call(maker(value)?, &material));
        made.for_each(|scope| join(&mut from, scope));
        material.push(from);
    }
    // And those that its results go to. The outputs of the graph go to the node that holds it.
    let mut purpose: Vec<Option<ScopeId>> = vec![None; graph.nodes.len()];
    each_value(&graph.outputs, &mut |value| {
        if let Some(place) = maker(value).and_then(|at| purpose.get_mut(at)) {
            *place = Some(holder);
        }
    });
    for (at, node) in graph.nodes.iter().enumerate().rev() {
        let Some(reader) = call(at, &purpose) else { continue };
        for value in read(node) {
            if let Some(place) = maker(value).and_then(|at| purpose.get_mut(at)) {
                join(place, reader);
            }
        }
    }
    for (node, (from, to)) in graph.nodes.iter_mut().zip(material.into_iter().zip(purpose)) {
        if node.scope.is_some() {
            continue;
        }
        let between = scopes.lowest_common_ancestor(from.unwrap_or(holder), to.unwrap_or(holder));
        let is_inside = scopes.chain(between).contains(&holder);
        node.scope = Some(if is_inside { between } else { holder });
        node.method = Method::Propagated;
    }
}

fn read(node: &Node) -> Vec<ValueId> {
    let mut values = Vec::new();
    for arg in &node.args {
        arg.arg.for_each_operand(&mut |value| values.extend(value));
    }
    values
}

fn each_value(args: &[Arg], visit: &mut dyn FnMut(ValueId)) {
    for arg in args {
        arg.for_each_operand(&mut |value| value.into_iter().for_each(&mut *visit));
    }
}
