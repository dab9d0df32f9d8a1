//! Whether the graph reads its parameters in the order in which the model does.

use std::collections::HashSet;

use super::super::graph::{GraphView, NodeId};
use super::accounts::TensorMatches;
use super::expected::Expected;
use super::held::GraphConstant;

/// Longest list of parameters that is kept of what leads to a node.
const MAX_BEFORE: usize = 12;

/// Two tensors of the evidence, of which the graph reads the first on the way to the second, and the model after it.
pub(super) type Turned = (u32, u32);

/// The pairs of parameters, one right after the other on a way through the graph, that the model reads the other way
/// round.
pub(super) fn turned(
    graph: &GraphView,
    expected: &Expected,
    held: &[GraphConstant],
    accounts: &TensorMatches,
) -> Vec<Turned> {
    let mut by_value: Vec<Option<u32>> = vec![None; graph.value_count()];
    // A tensor that several nodes read may stand for several of equal content.
    for (one, meant) in held.iter().zip(&accounts.meant).filter(|(one, _)| one.readers == 1) {
        if let Some(slot) = by_value.get_mut(one.value.0 as usize) {
            *slot = *meant;
        }
    }
    // By node: the parameters that data met last on its way there.
    let mut before: Vec<Vec<u32>> = Vec::with_capacity(graph.len());
    let (mut turned, mut seen) = (Vec::new(), HashSet::new());
    for id in graph.node_ids() {
        let (mut own, mut above): (Vec<u32>, Vec<u32>) = Default::default();
        for value in graph.inputs(id) {
            if let Some(tensor) = by_value.get(value.0 as usize).copied().flatten() {
                push(&mut own, tensor);
            } else if let Some(NodeId(producer)) = graph.producer(value) {
                let list = before.get(producer as usize).map(Vec::as_slice).unwrap_or_default();
                list.iter().for_each(|tensor| push(&mut above, *tensor));
            }
        }
        // A node that tools fused may have taken in a sum with data that comes from further on.
        let has_data = !above.is_empty() && graph.domain(id).is_empty();
        for &later in own.iter().filter(|_| has_data) {
            for &earlier in &above {
                let once =
                    |number: u32| expected.tensors.get(number as usize).filter(|tensor| tensor.reads == 1);
                let span = |number: u32| once(number).and_then(|tensor| tensor.read);
                let (Some(first), Some(second)) = (span(earlier), span(later)) else { continue };
                if first.first > second.last && seen.insert((earlier, later)) {
                    turned.push((earlier, later));
                }
            }
        }
        before.push(if own.is_empty() { above } else { own });
    }
    turned
}

fn push(list: &mut Vec<u32>, tensor: u32) {
    if list.len() < MAX_BEFORE && !list.contains(&tensor) {
        list.push(tensor);
    }
}
