//! The hierarchy of a captured program, in which everything is known.

use modelexport_graph::aten::{Arg, Graph, Program};
use modelexport_graph::{ScopeId, Scopes};

use super::{Evidence, EvidenceKind, Hierarchy};

/// Counts the ATen nodes of each module, those of subgraphs too.
pub fn from_program(program: Program) -> Hierarchy {
    let mut own_nodes = vec![0; program.modules.len()];
    count(&program.graph, Scopes::ROOT, &program.scopes, &mut own_nodes);
    let mut evidence = Evidence::default();
    evidence.add(EvidenceKind::Program, own_nodes.iter().sum());
    Hierarchy {
        tree: program.modules,
        scopes: program.scopes,
        own_nodes,
        unattributed_nodes: 0,
        evidence,
        recorded_tags: Vec::new(),
        tags_only: None,
    }
}

fn count(graph: &Graph, holder: ScopeId, scopes: &Scopes, own_nodes: &mut [u64]) {
    for node in &graph.nodes {
        let scope = node.scope.unwrap_or(holder);
        if let Some(count) = own_nodes.get_mut(scopes.module(scope).0 as usize) {
            *count += 1;
        }
        for argument in &node.args {
            if let Arg::Graph(subgraph) = &argument.arg {
                count(&subgraph.graph, scope, scopes, own_nodes);
            }
        }
    }
}
