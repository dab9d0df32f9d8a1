//! The nodes of the original that a fused node replaces.

use std::collections::HashSet;

use crate::strategies::graph::{GraphView, NodeId, ValueId};

/// Nodes that one fused node is looked for at most.
const MOST_MEMBERS: usize = 256;

/// Operators whose results do not depend on what is in their inputs: an optimiser that knows the sizes computes them.
const SIZE_OPERATORS: [&str; 2] = ["Shape", "Size"];

/// What is gone from the original.
pub(super) struct Replaced<'a> {
    original: &'a GraphView,
    /// By [`ValueId`] of the original: the new file has it, too.
    survives: Vec<bool>,
    /// By [`NodeId`] of the original: computed from weights and sizes alone, so that an optimiser may have folded it
    /// into a constant. Such a node is no part of a fusion.
    is_foldable: Vec<bool>,
}

impl<'a> Replaced<'a> {
    /// `surviving` are the values of the original that the new file has, too.
    pub(super) fn new(original: &'a GraphView, surviving: impl Iterator<Item = ValueId>) -> Self {
        let mut survives = vec![false; original.value_count()];
        for id in surviving {
            if let Some(survives) = survives.get_mut(id.0 as usize) {
                *survives = true;
            }
        }
        let mut is_foldable: Vec<bool> = Vec::with_capacity(original.len());
        for (id, entry) in original.nodes() {
            let is_size = SIZE_OPERATORS.contains(&original.text(entry.op_type));
            let foldable = is_size
                || original.inputs(id).all(|value| match original.producer(value) {
                    Some(producer) => is_foldable.get(producer.0 as usize).copied().unwrap_or(false),
                    None => original.constant(value).is_some(),
                });
            is_foldable.push(foldable);
        }
        Replaced { original, survives, is_foldable }
    }

    /// `makers`, and the nodes before them whose results are gone.
    pub(super) fn members(&self, makers: &[NodeId]) -> Vec<NodeId> {
        let mut members: Vec<NodeId> = Vec::new();
        let mut seen: HashSet<NodeId> = makers.iter().copied().collect();
        let mut next: Vec<NodeId> = makers.to_vec();
        while let Some(node) = next.pop() {
            members.push(node);
            if members.len() == MOST_MEMBERS {
                break;
            }
            for value in self.original.inputs(node) {
                let Some(producer) = self.original.producer(value).filter(|_| !flag(&self.survives, value.0))
                else {
                    continue;
                };
                if !flag(&self.is_foldable, producer.0) && seen.insert(producer) {
                    next.push(producer);
                }
            }
        }
        members.sort_unstable();
        members
    }
}

fn flag(flags: &[bool], index: u32) -> bool {
    flags.get(index as usize).copied().unwrap_or(false)
}
