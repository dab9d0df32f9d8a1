//! What one ONNX node records about its module.

use modelexport_graph::module_tree::MAX_DEPTH;
use modelexport_graph::onnx::Node;
use modelexport_graph::{Method, check_tag};

use super::EvidenceKind;
use modelexport_io::onnx::DocString;

use crate::embedding;
use crate::{python_repr, torch_scopes};

/// Key that Windows ML's tools give a tag under.
pub const WINML_TAG: &str = "winml.hierarchy.tag";
/// Key that they give the number of its segments under.
pub const WINML_DEPTH: &str = "winml.hierarchy.depth";

/// Stands for a stack that torch could not tell; such nodes belong to the root.
const NO_STACK: &str = "_empty_nn_module_stack_from_metadata_hook";

/// What torch hangs the model into while it captures. In subgraphs a capture by bytecode leaves it below the root, as a
/// second model.
const EXPORT_ROOT: &str = "_export_root";

/// A module call in a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub path: String,
    pub class: String,
}

/// Everything that a node's own text claims. What cannot be read is left out: it is not ours to refuse.
#[derive(Debug, Default)]
pub(crate) struct Claim {
    /// Module calls from the root down, without the operation.
    pub stack: Option<(EvidenceKind, Vec<Frame>)>,
    /// Path of the deepest module, from our own entry.
    pub module: Option<String>,
    /// Which calls of the modules on the way to the deepest one; empty if nothing tells.
    pub calls: Vec<u32>,
    pub tag: Option<String>,
    /// How an earlier run found the module.
    pub method: Option<Method>,
}

impl Claim {
    pub(crate) fn of(node: &Node) -> Claim {
        let metadata = &node.metadata;
        let doc_string = DocString::parse(&node.doc_string);
        let tag = embedding::get(metadata, embedding::TAG)
            .map(str::to_owned)
            .or_else(|| doc_string.as_ref().map(|doc| doc.hierarchy_path.to_string()))
            .or_else(|| embedding::get(metadata, WINML_TAG).map(str::to_owned))
            .filter(|tag| check_tag(tag).is_ok() && tag.matches('/').count() <= MAX_DEPTH);
        let stack = lists(node)
            .map(|frames| (EvidenceKind::TorchScopes, frames))
            .or_else(|| namespace(node).map(|frames| (EvidenceKind::Namespace, frames)));
        Claim {
            stack,
            module: embedding::get(metadata, embedding::MODULE).map(str::to_owned),
            calls: embedding::calls(metadata),
            tag,
            method: doc_string.and_then(|doc| Method::from_name(&doc.hierarchy_method)),
        }
    }
}

/// The path of the module that a node's stack ends in.
pub fn stack_module(node: &Node) -> Option<String> {
    Claim::of(node).stack.and_then(|(_, frames)| frames.into_iter().next_back()).map(|frame| frame.path)
}

/// Whether a node says itself where it comes from.
pub fn is_marked(node: &Node) -> bool {
    let claim = Claim::of(node);
    claim.stack.is_some() || claim.module.is_some() || claim.tag.is_some()
}

/// The stack from torch's two lists.
fn lists(node: &Node) -> Option<Vec<Frame>> {
    let list = |key| python_repr::parse_list(embedding::get(&node.metadata, key)?).ok();
    let names = list(torch_scopes::NAME_SCOPES)?;
    let classes = list(torch_scopes::CLASS_HIERARCHY)?;
    if names.len() != classes.len() {
        return None;
    }
    frames(names.into_iter().zip(classes))
}

/// The stack from `path: class/path: class/node: target`. A path with `/` or `: ` in it cannot be told from two.
fn namespace(node: &Node) -> Option<Vec<Frame>> {
    let text = embedding::get(&node.metadata, torch_scopes::NAMESPACE)?;
    let pairs: Option<Vec<(String, String)>> = text
        .split('/')
        .map(|part| part.split_once(": ").map(|(path, class)| (path.to_owned(), class.to_owned())))
        .collect();
    frames(pairs?.into_iter())
}

/// Module calls without the operation at the end; `None` if they do not start at the root.
fn frames(pairs: impl Iterator<Item = (String, String)>) -> Option<Vec<Frame>> {
    let mut frames: Vec<Frame> = pairs.map(|(path, class)| Frame { path, class }).collect();
    frames.pop()?;
    let first = frames.first_mut()?;
    if first.path == NO_STACK {
        *first = Frame { path: String::new(), class: String::new() };
    }
    if !first.path.is_empty() {
        return None;
    }
    remove_export_root(&mut frames);
    Some(frames)
}

fn remove_export_root(frames: &mut Vec<Frame>) {
    if let [root, second, ..] = frames.as_slice()
        && second.path == EXPORT_ROOT
        && second.class == root.class
    {
        frames.remove(1);
        for frame in frames.iter_mut().skip(1) {
            if let Some(path) = frame.path.strip_prefix(EXPORT_ROOT).and_then(|rest| rest.strip_prefix('.')) {
                frame.path = path.to_owned();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(metadata: &[(&str, &str)]) -> Node {
        let metadata = metadata.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Node { metadata, ..Node::default() }
    }

    fn stack(metadata: &[(&str, &str)]) -> Option<(EvidenceKind, Vec<(String, String)>)> {
        let (kind, frames) = Claim::of(&node(metadata)).stack?;
        Some((kind, frames.into_iter().map(|frame| (frame.path, frame.class)).collect()))
    }

    fn expected(frames: &[(&str, &str)]) -> Vec<(String, String)> {
        frames.iter().map(|(path, class)| ((*path).to_owned(), (*class).to_owned())).collect()
    }

    #[test]
    fn torch_lists_end_in_the_operation() {
        let entries = [
            ("pkg.torch.onnx.name_scopes", "['', 'sub', 'linear']"),
            ("pkg.torch.onnx.class_hierarchy", "['m.M', 'm.Sub', 'aten.linear.default']"),
        ];
        let frames = expected(&[("", "m.M"), ("sub", "m.Sub")]);
        assert_eq!(stack(&entries), Some((EvidenceKind::TorchScopes, frames)));
    }

    #[test]
    fn the_namespace_serves_where_the_lists_cannot_be_read() {
        let entries = [
            ("namespace", ": m.M/sub: m.Sub/linear: aten.linear.default"),
            ("pkg.torch.onnx.name_scopes", "['', 'sub'"),
        ];
        let frames = expected(&[("", "m.M"), ("sub", "m.Sub")]);
        assert_eq!(stack(&entries), Some((EvidenceKind::Namespace, frames)));
        assert_eq!(stack(&[("namespace", "my.scope/without/classes")]), None);
    }

    #[test]
    fn a_stack_that_torch_could_not_tell_is_the_root() {
        let entries =
            [("namespace", "_empty_nn_module_stack_from_metadata_hook: x/sym_size: aten.sym_size.int")];
        assert_eq!(stack(&entries), Some((EvidenceKind::Namespace, expected(&[("", "")]))));
    }

    #[test]
    fn what_torch_hung_the_model_into_is_no_module() {
        let text = ": m.M/_export_root: m.M/_export_root.sub: m.Sub/sin: aten.sin.default";
        let frames = expected(&[("", "m.M"), ("sub", "m.Sub")]);
        assert_eq!(stack(&[("namespace", text)]), Some((EvidenceKind::Namespace, frames)));
        let text = ": m.M/_export_root: m.Other/sin: aten.sin.default";
        let frames = expected(&[("", "m.M"), ("_export_root", "m.Other")]);
        assert_eq!(
            stack(&[("namespace", text)]),
            Some((EvidenceKind::Namespace, frames)),
            "a module called so"
        );
    }

    #[test]
    fn a_node_in_a_subgraph_names_no_module() {
        assert_eq!(stack(&[("namespace", "add: aten.add.Tensor")]), None);
    }

    #[test]
    fn tags_come_from_three_places() {
        let tag = |node: &Node| Claim::of(node).tag;
        assert_eq!(tag(&node(&[("modelexport.tag", "/M/A")])).as_deref(), Some("/M/A"));
        assert_eq!(tag(&node(&[("winml.hierarchy.tag", "/M/B")])).as_deref(), Some("/M/B"));
        assert_eq!(tag(&node(&[("winml.hierarchy.tag", "not a tag")])), None);
        assert_eq!(tag(&node(&[("winml.hierarchy.tag", &"/a".repeat(MAX_DEPTH + 1))])), None);
        let doc_string = r#"{"hierarchy_tags":["/M/C"],"hierarchy_path":"/M/C","hierarchy_count":1,"hierarchy_method":"order"}"#;
        let claim = Claim::of(&Node { doc_string: doc_string.into(), ..Node::default() });
        assert_eq!((claim.tag.as_deref(), claim.method), (Some("/M/C"), Some(Method::Order)));
    }
}
