//! From a captured program: everything is known.

use std::collections::HashMap;

use modelexport_graph::aten::{Arg, Graph, Program, WeightKind};
use modelexport_graph::{ScopeId, Scopes, StridedView};

use super::{Evidence, EvidenceKind, Hierarchy, SharedParameter};

/// Counts the ATen nodes of each module, those of subgraphs too.
pub fn from_program(program: Program) -> Hierarchy {
    let mut own_nodes = vec![0; program.modules.len()];
    count(&program.graph, Scopes::ROOT, &program.scopes, &mut own_nodes);
    let mut evidence = Evidence::default();
    evidence.add(EvidenceKind::Program, own_nodes.iter().sum());
    Hierarchy {
        shared_parameters: shared_parameters(&program),
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

/// Parameters that are views of the same bytes in the same way are one tensor.
fn shared_parameters(program: &Program) -> Vec<SharedParameter> {
    let mut groups: Vec<SharedParameter> = Vec::new();
    let mut by_view: HashMap<&StridedView, usize> = HashMap::new();
    for weight in &program.weights {
        let Some(view) = weight.data.as_ref().filter(|_| weight.kind == WeightKind::Parameter) else {
            continue;
        };
        let path = weight.name.rsplit_once('.').map_or("", |(path, _)| path);
        let Some(owner) = program.modules.find(path) else { continue };
        let group = *by_view.entry(view).or_insert_with(|| {
            let elements = weight.sizes.iter().product();
            groups.push(SharedParameter { owners: Vec::new(), elements });
            groups.len() - 1
        });
        if let Some(group) = groups.get_mut(group) {
            group.owners.push(owner);
        }
    }
    groups.retain(|group| group.owners.len() > 1);
    groups
}
