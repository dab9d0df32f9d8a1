//! Module stacks in the form that torch's exporter writes into node metadata, which Netron and Model Explorer show.
//!
//! Three entries hold the same information: `namespace` is `path: class/path: class/node: target`, and the lists
//! `pkg.torch.onnx.name_scopes` and `pkg.torch.onnx.class_hierarchy` hold the paths and classes. Each ends with the operation
//! itself: the name of the FX node and its target.

use std::borrow::Cow;
use std::sync::OnceLock;

use modelexport_graph::{ModuleTree, ScopeId, Scopes};

use crate::python_repr;

pub(crate) const NAMESPACE: &str = "namespace";
pub(crate) const NAME_SCOPES: &str = "pkg.torch.onnx.name_scopes";
pub(crate) const CLASS_HIERARCHY: &str = "pkg.torch.onnx.class_hierarchy";

/// The three entries of one node, by key.
pub(crate) type Entries = [(&'static str, String); 3];

/// Makes the entries of nodes. What nodes of one scope share is kept.
pub(crate) struct ScopeTexts<'a> {
    tree: &'a ModuleTree,
    scopes: &'a Scopes,
    /// By [`ScopeId`], made when a node needs it: a scope deep down would otherwise cost a text for each above it.
    texts: Vec<OnceLock<ScopeText>>,
}

/// The entries up to where the operation follows.
#[derive(Clone)]
struct ScopeText {
    namespace: String,
    name_scopes: String,
    class_hierarchy: String,
}

impl<'a> ScopeTexts<'a> {
    pub(crate) fn new(tree: &'a ModuleTree, scopes: &'a Scopes) -> Self {
        ScopeTexts { tree, scopes, texts: vec![OnceLock::new(); scopes.len()] }
    }

    /// The entries of an operation in `scope`.
    pub(crate) fn entries(&self, scope: ScopeId, operation: &str, target: &str) -> Entries {
        let mut entries = [NAMESPACE, CLASS_HIERARCHY, NAME_SCOPES].map(|key| (key, String::new()));
        self.put_entries(scope, operation, target, &mut |key, parts| {
            if let Some((_, text)) = entries.iter_mut().find(|(known, _)| *known == key) {
                *text = parts.concat();
            }
        });
        entries
    }

    /// Calls `put` with the key and the parts of each entry of an operation in `scope`.
    pub(crate) fn put_entries(
        &self,
        scope: ScopeId,
        operation: &str,
        target: &str,
        put: &mut dyn FnMut(&'static str, &[&str]),
    ) {
        let new = || ScopeText::new(self.tree, self.scopes, scope);
        match self.texts.get(scope.0 as usize) {
            Some(text) => text.get_or_init(new).put_entries(operation, target, put),
            None => new().put_entries(operation, target, put),
        }
    }
}

impl ScopeText {
    fn new(tree: &ModuleTree, scopes: &Scopes, scope: ScopeId) -> Self {
        let mut text =
            ScopeText { namespace: String::new(), name_scopes: "[".into(), class_hierarchy: "[".into() };
        for id in scopes.chain(scope) {
            if let Some(module) = tree.get(scopes.module(id)) {
                text.push(&module.path, &module.class);
            }
        }
        text
    }

    fn put_entries(&self, operation: &str, target: &str, put: &mut dyn FnMut(&'static str, &[&str])) {
        let target = &*torch_target(target);
        put(NAMESPACE, &[&self.namespace, operation, ": ", target]);
        for (key, list, last) in
            [(CLASS_HIERARCHY, &self.class_hierarchy, target), (NAME_SCOPES, &self.name_scopes, operation)]
        {
            if python_repr::is_plain(last) {
                put(key, &[list, "'", last, "']"]);
            } else {
                let mut quoted = String::new();
                python_repr::push_str(&mut quoted, last);
                put(key, &[list, &quoted, "]"]);
            }
        }
    }

    fn push(&mut self, path: &str, class: &str) {
        self.namespace.extend([path, ": ", class, "/"]);
        python_repr::push_str(&mut self.name_scopes, path);
        self.name_scopes.push_str(", ");
        python_repr::push_str(&mut self.class_hierarchy, class);
        self.class_hierarchy.push_str(", ");
    }
}

/// A target as Python prints it.
fn torch_target(target: &str) -> Cow<'_, str> {
    if let Some(function) = target.strip_prefix("_operator.").or(target.strip_prefix("math.")) {
        return format!("<built-in function {function}>").into();
    }
    target.strip_prefix("higher_order.").unwrap_or(target).into()
}

#[cfg(test)]
mod tests {
    use modelexport_graph::ModuleId;

    use super::*;

    fn entries(operation: &str, target: &str) -> Entries {
        let mut tree = ModuleTree::new();
        tree.get_mut(ModuleId::ROOT).unwrap().class = "__main__.M".into();
        let module = tree.insert("d.a b's");
        tree.get_mut(module).unwrap().class = "torch.nn.modules.activation.ReLU".into();
        let mut scopes = Scopes::new();
        let scope = scopes.child(Scopes::ROOT, module, 1);
        ScopeTexts::new(&tree, &scopes).entries(scope, operation, target)
    }

    /// Expected texts are what torch 2.15 wrote for such a model.
    #[test]
    fn entries_are_those_that_torch_writes() {
        let [namespace, classes, names] = entries("relu_2", "aten.relu.default");
        assert_eq!(
            namespace,
            (
                "namespace",
                ": __main__.M/d.a b's: torch.nn.modules.activation.ReLU/relu_2: aten.relu.default".to_owned()
            )
        );
        assert_eq!(names, ("pkg.torch.onnx.name_scopes", r#"['', "d.a b's", 'relu_2']"#.to_owned()));
        assert_eq!(
            classes,
            (
                "pkg.torch.onnx.class_hierarchy",
                "['__main__.M', 'torch.nn.modules.activation.ReLU', 'aten.relu.default']".to_owned()
            )
        );
    }

    #[test]
    fn python_functions_are_printed_as_python_does() {
        assert!(entries("getitem", "_operator.getitem")[1].1.ends_with("'<built-in function getitem>']"));
        assert!(entries("cond", "higher_order.cond")[1].1.ends_with("'cond']"));
    }
}
