//! From a sidecar: modules, parameters, and the nodes of the file that it belongs to.

use modelexport_graph::module_tree::Parameter;
use modelexport_graph::{ModuleTree, Name, ScopeId, Scopes};
use modelexport_io::sidecar::Sidecar;

use super::{Evidence, EvidenceFormat, Original, ParameterFact};

pub fn from_sidecar(sidecar: Sidecar) -> Evidence {
    let mut tree = ModuleTree::new();
    for entry in &sidecar.modules {
        let id = tree.insert(&entry.path);
        let Some(module) = tree.get_mut(id) else { continue };
        (module.class, module.order, module.calls) = (entry.class.clone(), entry.order, entry.calls);
        module.parameters = entry
            .parameters
            .iter()
            .map(|parameter| Parameter {
                name: parameter.name.clone(),
                elements: parameter.elements,
                bytes: parameter.bytes,
                is_buffer: parameter.buffer,
            })
            .collect();
    }
    let scopes = calls_by_order(&tree);
    let mut evidence = Evidence::new(EvidenceFormat::Sidecar, tree, scopes);
    add_parameters(&mut evidence);
    let mut nodes: std::collections::HashMap<Name, Option<ScopeId>> = std::collections::HashMap::new();
    for node in &sidecar.nodes {
        let call = evidence.modules.find(&node.module).map(|module| evidence.call_of(module));
        // A name that stands for two nodes tells nothing.
        nodes.entry(node.name.clone()).and_modify(|known| *known = None).or_insert(call);
    }
    nodes.remove("");
    evidence.original = Some(Original { graph: None, nodes });
    evidence.torch_version = sidecar.source.torch_version;
    evidence.policy = Some(sidecar.policy);
    evidence
}

/// A call for each module that ran, in the order in which they ran first, each inside the nearest above that ran.
pub(super) fn calls_by_order(tree: &ModuleTree) -> Scopes {
    let mut scopes = Scopes::new();
    let mut executed: Vec<_> = tree.iter().filter_map(|(id, module)| Some((module.order?, id))).collect();
    executed.sort_unstable();
    for (_, id) in executed {
        let mut scope = Scopes::ROOT;
        for above in tree.chain(id).into_iter().skip(1) {
            if tree.get(above).is_some_and(|module| module.order.is_some()) {
                scope = scopes.child(scope, above, 0);
            }
        }
    }
    scopes
}

/// The parameters that the modules of the tree hold.
pub(super) fn add_parameters(evidence: &mut Evidence) {
    let facts: Vec<ParameterFact> = evidence
        .modules
        .iter()
        .flat_map(|(id, module)| {
            module.parameters.iter().map(move |parameter| ParameterFact {
                name: parameter.name.clone(),
                owner: id,
                readers: Vec::new(),
                dtype: None,
                elements: parameter.elements,
                sorted_dims: None,
                fingerprint: None,
            })
        })
        .collect();
    facts.into_iter().for_each(|fact| {
        evidence.parameters.add(fact);
    });
}
