//! Whether what nodes say about their modules is well-formed and agrees with itself.

use std::collections::HashSet;

use modelexport_graph::onnx::Node;
use modelexport_graph::{Method, check_tag};

use super::finding::{Findings, Group, Severity, place_of};
use modelexport_io::onnx::DocString;

use crate::embedding;
use crate::hierarchy::{WINML_DEPTH, WINML_TAG, stack_module};
use crate::tagged_file::TaggedFile;

pub(super) fn check(file: &TaggedFile, findings: &mut Findings) {
    let known: HashSet<&str> = file
        .hierarchy
        .tree
        .iter()
        .filter(|(id, _)| file.tags.is_visible(*id))
        .map(|(id, _)| &**file.tags.tag(id))
        .chain([&**file.tags.auxiliary()])
        .collect();
    let modules: Option<HashSet<&str>> =
        file.sidecar.as_ref().map(|sidecar| sidecar.modules.iter().map(|module| &*module.path).collect());
    let mut checker = Checker { file, known, modules, findings };
    file.model.for_each_node(&mut |node| checker.node(node));
}

struct Checker<'a> {
    file: &'a TaggedFile,
    /// Tags of modules.
    known: HashSet<&'a str>,
    /// Paths of the modules that the sidecar lists.
    modules: Option<HashSet<&'a str>>,
    findings: &'a mut Findings,
}

impl Checker<'_> {
    fn error(&mut self, check: &'static str, node: &Node, message: String) {
        self.findings.add(Group::Tags, check, Severity::Error, place_of(node), message);
    }

    fn repairable(&mut self, check: &'static str, node: &Node, message: String) {
        self.findings.add_repairable(Group::Tags, check, Severity::Error, place_of(node), message);
    }

    fn node(&mut self, node: &Node) {
        if node.origin.is_none() {
            let message = "nothing tells which module it comes from".to_owned();
            self.findings.add(Group::Tags, "untagged", Severity::Warning, place_of(node), message);
        }
        let doc_string = DocString::parse(&node.doc_string);
        match &doc_string {
            Some(doc_string) => self.doc_string(node, doc_string),
            None if node.doc_string.starts_with('{') && node.doc_string.contains("\"hierarchy_tags\"") => {
                let message = "the JSON in its doc_string cannot be read".to_owned();
                self.error("doc-string", node, message);
            }
            None => {}
        }
        let entry = embedding::get(&node.metadata, embedding::TAG);
        let winml = embedding::get(&node.metadata, WINML_TAG);
        for tag in entry.into_iter().chain(winml) {
            self.form(node, tag, "metadata");
        }
        self.winml_depth(node, winml);
        if let (Some(doc_string), Some(entry)) = (&doc_string, entry)
            && *doc_string.hierarchy_path != *entry
        {
            let message =
                format!("its doc_string says {:?}, its metadata {entry:?}", doc_string.hierarchy_path);
            self.repairable("tag-disagreement", node, message);
        }
        self.module(node);
        let path = doc_string.as_ref().map(|doc_string| &*doc_string.hierarchy_path);
        for tag in path.into_iter().chain(entry.filter(|entry| Some(*entry) != path)) {
            self.place(node, tag);
        }
    }

    fn doc_string(&mut self, node: &Node, doc_string: &DocString) {
        let DocString {
            hierarchy_tags: tags, hierarchy_path: path, hierarchy_count, hierarchy_method, ..
        } = doc_string;
        for tag in tags.iter().chain([path].into_iter().filter(|path| !tags.contains(path))) {
            self.form(node, tag, "doc_string");
        }
        if *hierarchy_count != tags.len() {
            let message = format!("hierarchy_count is {hierarchy_count}, but there are {} tags", tags.len());
            self.repairable("doc-string", node, message);
        }
        if !tags.contains(path) {
            self.repairable("doc-string", node, format!("hierarchy_path {path:?} is not one of its tags"));
        }
        if Method::from_name(hierarchy_method).is_none() {
            let message = format!("hierarchy_method {hierarchy_method:?} is not one of the methods");
            self.error("doc-string", node, message);
        }
    }

    fn form(&mut self, node: &Node, tag: &str, place: &str) {
        if let Err(reason) = check_tag(tag) {
            self.repairable("tag-format", node, format!("the tag {tag:?} in its {place} {reason}"));
        }
    }

    fn winml_depth(&mut self, node: &Node, tag: Option<&str>) {
        let depth = embedding::get(&node.metadata, WINML_DEPTH);
        if let (Some(tag), Some(depth)) = (tag, depth) {
            let segments = tag.split('/').filter(|segment| !segment.is_empty()).count();
            if depth.parse() != Ok(segments) {
                let message = format!("{WINML_DEPTH} is {depth:?}, but its tag has {segments} segments");
                self.findings.add(Group::Tags, "depth", Severity::Warning, place_of(node), message);
            }
        }
    }

    /// The module that a node names is one of the model, and the one that its stack ends in.
    fn module(&mut self, node: &Node) {
        let Some(module) = embedding::get(&node.metadata, embedding::MODULE) else { return };
        let is_known = self.modules.as_ref().is_none_or(|modules| modules.contains(module));
        if !is_known {
            self.error("unknown-module", node, format!("its module {module:?} is not in the sidecar"));
        }
        match stack_module(node) {
            Some(last) if last != module => {
                let message =
                    format!("it names the module {module:?}, but its module stack ends in {last:?}");
                self.error("module-disagreement", node, message);
            }
            _ => {}
        }
    }

    /// A tag is that of the node's module.
    fn place(&mut self, node: &Node, tag: &str) {
        if self.file.hierarchy.tags_only.is_some() || check_tag(tag).is_err() {
            return;
        }
        let Some(module) = self.file.module(node) else { return };
        let expected = self.file.tags.tag(module).clone();
        if *expected == *tag || **self.file.tags.auxiliary() == *tag {
            return;
        }
        if self.file.sidecar.is_none() && tells_more(tag, &expected) {
            return;
        }
        let path = self.file.hierarchy.tree.get(module).map(|module| module.path.clone()).unwrap_or_default();
        let named = if path.is_empty() { "the root".to_owned() } else { format!("module {path:?}") };
        if self.known.contains(tag) {
            let message = format!("its tag {tag:?} is that of another module; {named} has {expected:?}");
            self.repairable("wrong-tag", node, message);
            return;
        }
        let parent = tag.rsplit_once('/').map_or("", |(parent, _)| parent);
        match parent.is_empty() || self.known.contains(parent) {
            true => {
                let message = format!("no module has its tag {tag:?}; {named} has {expected:?}");
                self.repairable("unknown-tag", node, message);
            }
            false => {
                let message = format!(
                    "no module has its tag {tag:?}, nor {parent:?} above it; {named} has {expected:?}"
                );
                self.repairable("missing-parent", node, message);
            }
        }
    }
}

/// Whether `tag` is `expected` with suffixes. They tell a module from one like it that may have left no node, and then
/// only a sidecar knows of that one.
fn tells_more(tag: &str, expected: &str) -> bool {
    let segments = || tag.split('/').zip(expected.split('/'));
    let is_longer = |(segment, plain): (&str, &str)| {
        segment.strip_prefix(plain).is_some_and(|suffix| suffix.is_empty() || suffix.starts_with('.'))
    };
    tag.split('/').count() == expected.split('/').count() && segments().all(is_longer)
}

#[cfg(test)]
mod tests {
    use super::tells_more;

    #[test]
    fn a_suffix_may_tell_a_module_from_one_that_left_no_node() {
        assert!(tells_more("/Net/Block.0/Norm.norm1", "/Net/Block.0/Norm"));
        assert!(tells_more("/Net/Block.stem/Norm", "/Net/Block/Norm"));
        assert!(!tells_more("/Net/Block.1/Norm", "/Net/Block.0/Norm"));
        assert!(!tells_more("/Net/Block.0/Normal", "/Net/Block.0/Norm"));
        assert!(!tells_more("/Net/Block.0/Norm/More", "/Net/Block.0/Norm"));
    }
}
