//! Whether the sidecar tells of this file.

use std::collections::{BTreeMap, HashMap, HashSet};

use modelexport_graph::onnx::Node;
use modelexport_io::onnx::DocString;
use modelexport_io::sidecar::{self, Sidecar};

use super::finding::{Findings, Group, Severity, place_of};
use crate::embedding;
use crate::numbers::counted;
use crate::tagged_file::TaggedFile;
use crate::tagger::operator_name;
use crate::tags::TagFormat;

pub(super) fn check(file: &TaggedFile, findings: &mut Findings) {
    let place = sidecar::path_beside(&file.path).display().to_string();
    if let Some(problem) = &file.sidecar_problem {
        findings.add_repairable(Group::Tags, "sidecar", Severity::Error, place, problem.to_string());
        return;
    }
    let Some(sidecar) = &file.sidecar else { return };
    injective(sidecar, &place, findings);
    let mut nodes: HashMap<&str, &Node> = HashMap::new();
    let mut count = 0;
    file.model.for_each_node(&mut |node| {
        nodes.insert(&node.name, node);
        count += 1;
    });
    let mut add = |check, place: String, message: String| {
        findings.add_repairable(Group::Tags, check, Severity::Error, place, message);
    };
    let found = sidecar.nodes.iter().filter(|node| nodes.contains_key(&*node.name)).count();
    if found == 0 && !sidecar.nodes.is_empty() {
        add("sidecar", place, "it lists none of the file's nodes: it is that of another file".to_owned());
        return;
    }
    // The sidecar of a file with functions lists the nodes that each call stands for, not those of the bodies.
    let has_functions = !file.model.functions.is_empty();
    if sidecar.statistics.nodes != count && !has_functions {
        let message =
            format!("it counts {}, but the file has {count}", counted(sidecar.statistics.nodes, "node"));
        add("sidecar", place.clone(), message);
    }
    let mut listed = HashSet::new();
    for entry in &sidecar.nodes {
        listed.insert(&*entry.name);
        match nodes.get(&*entry.name) {
            None if has_functions => {}
            None => add("sidecar-node", format!("node {}", entry.name), "only the sidecar has it".to_owned()),
            Some(node) => {
                for message in disagreements(entry, node) {
                    add("sidecar-node", place_of(node), message);
                }
            }
        }
    }
    file.model.for_each_node(&mut |node| {
        if !has_functions && node.origin.is_some() && !listed.contains(&*node.name) {
            add("sidecar-node", place_of(node), "the sidecar does not list it".to_owned());
        }
    });
}

/// Two modules never share a tag.
fn injective(sidecar: &Sidecar, place: &str, findings: &mut Findings) {
    if sidecar.policy.tag_format != TagFormat::Instance.name() {
        return;
    }
    let mut owners: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for module in sidecar.modules.iter().filter(|module| module.visible) {
        owners.entry(&module.tag).or_default().push(&module.path);
    }
    for (tag, owners) in owners.into_iter().filter(|(_, owners)| owners.len() > 1) {
        let message = format!("the modules {} share the tag {tag:?}", owners.join(", "));
        findings.add(Group::Tags, "shared-tag", Severity::Error, place.to_owned(), message);
    }
}

/// What the sidecar says otherwise than the node itself.
fn disagreements(entry: &sidecar::Node, node: &Node) -> Vec<String> {
    let mut messages = Vec::new();
    let mut compare = |what: &str, listed: &str, found: Option<&str>| {
        if let Some(found) = found.filter(|found| *found != listed) {
            messages.push(format!("the sidecar says {what} {listed:?}, the node {found:?}"));
        }
    };
    compare("operator", &entry.op_type, Some(&operator_name(node)));
    compare("module", &entry.module, embedding::get(&node.metadata, embedding::MODULE));
    compare("tag", &entry.path, embedding::get(&node.metadata, embedding::TAG));
    let doc_string = DocString::parse(&node.doc_string);
    let text = doc_string.as_ref();
    compare("tag", &entry.path, text.map(|text| &*text.hierarchy_path));
    compare("method", entry.method.name(), text.map(|text| text.hierarchy_method.as_str()));
    messages.dedup();
    messages
}
