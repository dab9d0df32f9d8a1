//! Evidence from a sidecar: modules, parameters, and the nodes of the file that it belongs to.

use std::collections::HashMap;

use modelexport_graph::module_tree::Parameter;
use modelexport_graph::{ModuleTree, Name, ScopeId, Scopes};
use modelexport_io::sidecar::Sidecar;

use super::super::fit::is_product;
use super::{Evidence, EvidenceFormat, Original, ParameterFact};

pub(crate) fn from_sidecar(sidecar: Sidecar) -> Evidence {
    let mut tree = ModuleTree::new();
    for entry in &sidecar.modules {
        let id = tree.insert(&entry.path);
        let Some(module) = tree.get_mut(id) else { continue };
        (module.class, module.order, module.calls) = (entry.class.clone(), entry.order, entry.calls);
        module.parameters = entry.parameters.iter().map(Parameter::from).collect();
    }
    for entry in &sidecar.modules {
        let Some(id) = tree.find(&entry.path) else { continue };
        entry.aliases.iter().for_each(|alias| tree.add_alias(id, alias));
    }
    let scopes = calls_by_order(&tree);
    let mut evidence = Evidence::new(EvidenceFormat::Sidecar, tree, scopes);
    add_parameters(&mut evidence);
    let mut nodes: HashMap<Name, Option<ScopeId>> = HashMap::new();
    let (mut operators, mut products) = (HashMap::new(), HashMap::new());
    for node in &sidecar.nodes {
        let module = evidence.modules.find(&node.module);
        let operator = node.op_type.rsplit('.').next().unwrap_or(&node.op_type);
        *operators.entry(Name::from(operator)).or_default() += 1;
        if let Some(module) = module.filter(|_| is_product(operator)) {
            *products.entry(module).or_default() += 1;
        }
        let call = module.map(|module| evidence.call_of(module));
        // A name that stands for two nodes tells nothing.
        nodes.entry(node.name.clone()).and_modify(|known| *known = None).or_insert(call);
    }
    nodes.remove("");
    evidence.original = Some(Original { graph: None, nodes, operators, products });
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
    for fact in facts {
        let (name, owner) = (fact.name.clone(), evidence.modules.get(fact.owner));
        let id = evidence.parameters.add(fact);
        let aliases = owner.map(|owner| owner.aliases.as_slice()).unwrap_or_default();
        evidence.parameters.add_aliases(&name, aliases, id);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use modelexport_io::sidecar;

    use super::*;

    #[test]
    fn modules_and_parameters_are_found_by_each_of_their_names() {
        let text = r#"{
            "schema_version": "1.0", "generator": {"name": "t", "version": "1"}, "source": {"kind": "onnx"},
            "strategy": "htp",
            "policy": {"modules": "all", "torch_nn_exceptions": [], "tag_format": "instance"},
            "modules": [
                {"path": "", "class": "m.Net", "tag": "/Net", "visible": true, "parent": null, "executed": true,
                 "order": 0, "calls": 1, "parameters": [], "nodes": {"own": 0, "total": 1}},
                {"path": "fc", "aliases": ["again"], "class": "m.Fc", "tag": "/Net/Fc", "visible": true,
                 "parent": "", "executed": true, "order": 1, "calls": 2,
                 "parameters": [{"name": "fc.weight", "elements": 6, "bytes": 24, "buffer": false}],
                 "nodes": {"own": 1, "total": 1}}],
            "nodes": [],
            "statistics": {"modules": 2, "executed_modules": 2, "visible_modules": 2, "nodes": 0,
                "attributed_nodes": 0, "coverage": 1.0, "tagged_operations": 0, "by_method": {}}
        }"#;
        let evidence = from_sidecar(sidecar::parse(text.as_bytes(), Path::new("s.json")).unwrap());
        let fc = evidence.modules.find("fc");
        assert!(fc.is_some() && evidence.modules.find("again") == fc);
        let weight = evidence.parameters.find("fc.weight");
        assert!(weight.is_some() && evidence.parameters.find("again.weight") == weight);
    }
}
