//! Removes `Identity` nodes: readers take what it copies; a graph output takes the place of the value that it
//! copies, if that is made in the same graph and is no output itself. A copy of a weight stays for readers in modules
//! that did not read the weight themselves. Makes no nodes.

use modelexport_graph::hash::{HashMap, HashSet};

use super::readers::Readers;
use crate::ir::{Constant, Graph, Ir, ValueId};

/// True if a node was removed.
pub fn run(ir: &mut Ir, readers: &Readers<'_>) -> bool {
    let mut graph = std::mem::take(&mut ir.graph);
    let mut copies =
        Copies { replaced: vec![None; ir.values.len()], of_weights: HashMap::default(), renamed: Vec::new() };
    let changed = copies.bypass(&mut graph, ir, readers);
    ir.graph = graph;
    // An output that took over keeps its name; what it lacks comes from the value that it replaced.
    for (from, to) in copies.renamed {
        let old = ir.value(from).cloned().unwrap_or_default();
        if let Some(new) = ir.value_mut(to) {
            new.name = new.name.take().or(old.name);
            new.shape = new.shape.take().or(old.shape);
            new.dtype = new.dtype.or(old.dtype);
        }
    }
    changed
}

struct Copies {
    /// What stands for a value now.
    replaced: Vec<Option<ValueId>>,
    /// Copies of weights, and the weight.
    of_weights: HashMap<ValueId, ValueId>,
    /// Values that a graph output took the place of, and the output.
    renamed: Vec<(ValueId, ValueId)>,
}

impl Copies {
    fn resolve(&self, id: ValueId) -> ValueId {
        let mut at = id;
        while let Some(next) = self.replaced.get(at.0 as usize).copied().flatten() {
            at = next;
        }
        at
    }

    fn replace(&mut self, from: ValueId, to: ValueId) {
        if let Some(slot) = self.replaced.get_mut(from.0 as usize) {
            *slot = Some(to);
        }
    }

    fn bypass(&mut self, graph: &mut Graph, ir: &Ir, readers: &Readers<'_>) -> bool {
        let outputs: HashSet<ValueId> = graph.outputs.iter().copied().collect();
        let mut made = vec![false; self.replaced.len()];
        for output in graph.nodes.iter().flat_map(|node| &node.outputs) {
            if let Some(slot) = made.get_mut(output.0 as usize) {
                *slot = true;
            }
        }
        let is_made = |id: ValueId| made.get(id.0 as usize).copied().unwrap_or(false);
        let mut gone = HashSet::default();
        let mut taken = HashSet::default();
        for (i, node) in graph.nodes.iter().enumerate() {
            let (Some(from), Some(to)) = (copied(node), node.outputs.first().copied()) else { continue };
            let from = self.resolve(from);
            let from = self.of_weights.get(&from).copied().unwrap_or(from);
            if outputs.contains(&to) {
                // The output is the value from now on, unless another output is already.
                if is_made(from) && !outputs.contains(&from) && taken.insert(from) {
                    self.replace(from, to);
                    self.renamed.push((from, to));
                    gone.insert(i);
                }
            } else if is_weight(ir, from) {
                self.of_weights.insert(to, from);
            } else {
                self.replace(to, from);
                gone.insert(i);
            }
        }
        let mut changed = !gone.is_empty();
        if changed {
            let mut index = 0;
            graph.nodes.retain(|_| {
                index += 1;
                !gone.contains(&(index - 1))
            });
        }
        for node in &mut graph.nodes {
            let scope = node.origin.scope;
            for input in node.inputs.iter_mut().flatten() {
                let mut now = self.resolve(*input);
                if let Some(&weight) = self.of_weights.get(&now)
                    && readers.may_read(ir, weight, scope)
                {
                    now = weight;
                }
                changed |= now != *input;
                *input = now;
            }
            for output in &mut node.outputs {
                *output = self.resolve(*output);
            }
            for subgraph in node.subgraphs_mut() {
                changed |= self.bypass(subgraph, ir, readers);
            }
        }
        changed
    }
}

fn is_weight(ir: &Ir, id: ValueId) -> bool {
    matches!(ir.value(id).and_then(|value| value.constant.as_deref()), Some(Constant::Weight { .. }))
}

/// What the node copies, if it is an `Identity`.
fn copied(node: &crate::ir::Node) -> Option<ValueId> {
    (node.op == "Identity" && node.domain.is_empty()).then(|| node.inputs.first().copied().flatten())?
}
