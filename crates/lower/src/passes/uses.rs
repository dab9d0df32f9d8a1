//! How often each value is read.

use crate::ir::{Graph, Ir, ValueId};

/// Reads by nodes, subgraphs included, and as an output of a graph.
pub struct Uses(Vec<u32>);

impl Uses {
    pub fn of(ir: &Ir) -> Uses {
        let mut uses = Uses(vec![0; ir.values.len()]);
        uses.add(&ir.graph);
        uses
    }

    pub fn count(&self, value: ValueId) -> usize {
        self.0.get(value.0 as usize).copied().unwrap_or(0) as usize
    }

    fn add(&mut self, graph: &Graph) {
        for node in &graph.nodes {
            node.inputs.iter().flatten().for_each(|&input| self.note(input));
            node.subgraphs().for_each(|subgraph| self.add(subgraph));
        }
        graph.outputs.iter().for_each(|&output| self.note(output));
    }

    fn note(&mut self, value: ValueId) {
        if let Some(count) = self.0.get_mut(value.0 as usize) {
            *count += 1;
        }
    }
}
