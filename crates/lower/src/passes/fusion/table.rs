//! Who makes and who reads each value, made once for all patterns.

use crate::ir::{Graph, Ir, Node, ValueId};

/// A node by its graph, in the order in which [`Table::of`] meets them, and its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub graph: u32,
    pub node: u32,
}

impl Place {
    /// The end of a graph, which reads its outputs.
    const END: u32 = u32::MAX;
}

/// The maker and the readers of each value, subgraphs included.
pub struct Table {
    makers: Vec<Option<Place>>,
    /// The readers of value `i` are `readers[starts[i]..starts[i + 1]]`, once for each time that they read it.
    starts: Vec<u32>,
    readers: Vec<Place>,
}

impl Table {
    pub fn of(ir: &Ir) -> Table {
        let count = ir.values.len();
        let mut table = Table { makers: vec![None; count], starts: vec![0; count + 1], readers: Vec::new() };
        for_each_read(&ir.graph, &mut 0, &mut |value, _| {
            if let Some(next) = table.starts.get_mut(value.0 as usize + 1) {
                *next += 1;
            }
        });
        let mut sum = 0;
        for start in &mut table.starts {
            sum += *start;
            *start = sum;
        }
        let nowhere = Place { graph: Place::END, node: Place::END };
        table.readers = vec![nowhere; sum as usize];
        let mut next = table.starts.clone();
        for_each_read(&ir.graph, &mut 0, &mut |value, place| {
            if let Some(at) = next.get_mut(value.0 as usize)
                && let Some(slot) = table.readers.get_mut(*at as usize)
            {
                *slot = place;
                *at += 1;
            }
        });
        for_each_node(&ir.graph, &mut 0, &mut |node, place| {
            for output in &node.outputs {
                if let Some(slot) = table.makers.get_mut(output.0 as usize) {
                    *slot = Some(place);
                }
            }
        });
        table
    }

    pub fn maker(&self, value: ValueId) -> Option<Place> {
        self.makers.get(value.0 as usize).copied().flatten()
    }

    /// Reads by nodes, subgraphs included, and as an output of a graph; a node that reads a value twice is there twice.
    pub fn readers(&self, value: ValueId) -> &[Place] {
        let bound = |i: usize| self.starts.get(i).map(|&start| start as usize);
        match (bound(value.0 as usize), bound(value.0 as usize + 1)) {
            (Some(start), Some(end)) => self.readers.get(start..end).unwrap_or_default(),
            _ => &[],
        }
    }
}

/// Graphs are numbered as a walk meets them that looks into a node before it goes on.
fn for_each_node(graph: &Graph, count: &mut u32, visit: &mut impl FnMut(&Node, Place)) {
    let number = *count;
    *count += 1;
    for (i, node) in graph.nodes.iter().enumerate() {
        visit(node, Place { graph: number, node: i as u32 });
        node.subgraphs().for_each(|subgraph| for_each_node(subgraph, count, visit));
    }
}

fn for_each_read(graph: &Graph, count: &mut u32, visit: &mut impl FnMut(ValueId, Place)) {
    let number = *count;
    *count += 1;
    for (i, node) in graph.nodes.iter().enumerate() {
        let place = Place { graph: number, node: i as u32 };
        node.inputs.iter().flatten().for_each(|&input| visit(input, place));
        node.subgraphs().for_each(|subgraph| for_each_read(subgraph, count, visit));
    }
    graph.outputs.iter().for_each(|&output| visit(output, Place { graph: number, node: Place::END }));
}
