//! Writes tags into the nodes of a model and collects the sidecar.

mod describe;

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::sync::OnceLock;

use modelexport_graph::onnx::{Model, Node, Origin};
use modelexport_graph::{Method, ModuleId, ModuleTree, Name, ScopeId, Scopes};
use modelexport_io::onnx::{self, DocString, NodeTags};
use modelexport_io::sidecar::{self, Sidecar, TakeLines};

use crate::embedding::{self, Embed};
use crate::node_lines;
use crate::tags::Tags;
use crate::torch_scopes::ScopeTexts;

pub(crate) use describe::{Describing, describe, describe_modules, describe_nodes, node_lists};

/// The metadata key that torch uses for stack traces.
const STACK_TRACE: &str = "pkg.torch.onnx.stack_trace";

/// What the tagger cannot know from the model.
#[derive(Clone, Debug)]
pub struct Options {
    /// What is written into the nodes.
    pub embed: Embed,
    /// `native`, or the name of the strategy that found the origins.
    pub strategy: String,
    /// Where the model comes from.
    pub source: sidecar::Source,
}

/// Tags every node that has an origin: main graph, subgraphs and functions.
///
/// Node names are taken as unique. Nodes without an origin stay as they are; the sidecar counts them, and its
/// coverage is below 1 then.
pub fn annotate(
    model: &mut Model,
    tree: &ModuleTree,
    scopes: &Scopes,
    tags: &Tags,
    options: &Options,
) -> Sidecar {
    let sidecar = describe(model, tree, scopes, tags, options);
    embed(model, &NodeTexts::new(tree, scopes, tags, options.embed));
    sidecar
}

/// The part of [`annotate`] that changes the model.
pub(crate) fn embed(model: &mut Model, texts: &NodeTexts<'_>) {
    model.for_each_node_mut(&mut |node| {
        embedding::remove_doc_string(node);
        embedding::remove_metadata(&mut node.metadata);
        let earlier = Some(node.doc_string.as_str()).filter(|text| !text.is_empty());
        let Some(written) = texts.of(node, earlier, &node.metadata) else { return };
        if let Some(doc_string) = written.doc_string {
            node.doc_string = doc_string;
        }
        node.metadata.extend(written.metadata);
    });
}

/// What tags say of one node.
struct Placed<'a> {
    module: ModuleId,
    operator: Cow<'a, Name>,
    /// The tag.
    path: &'a Name,
    /// The tags that rules and fused modules add, without the first.
    added: Vec<Name>,
}

impl Placed<'_> {
    /// The tag, and those that rules and fused modules add.
    fn tags(&self) -> Vec<Name> {
        let mut tags = Vec::with_capacity(1 + self.added.len());
        tags.push(self.path.clone());
        tags.extend_from_slice(&self.added);
        tags
    }
}

fn place<'a>(node: &'a Node, origin: &Origin, scopes: &Scopes, tags: &'a Tags) -> Placed<'a> {
    let module = scopes.module(origin.scope);
    let operator = operator_of(node);
    let path = if origin.method == Method::Fallback { tags.auxiliary() } else { tags.tag(module) };
    let target = origin.source.as_ref().map_or(&*operator, |source| &source.target);
    let mut added = Vec::new();
    let fused = origin.fused.iter().map(|&module| tags.tag(module));
    for tag in fused.chain(tags.domain_tags(module, &[&operator, target])) {
        if tag != path && !added.contains(tag) {
            added.push(tag.clone());
        }
    }
    Placed { module, path, added, operator }
}

/// Makes the texts that nodes carry. What nodes of one scope share is kept.
pub(crate) struct NodeTexts<'a> {
    tree: &'a ModuleTree,
    scopes: &'a Scopes,
    tags: &'a Tags,
    embed: Embed,
    scope_texts: ScopeTexts<'a>,
    /// By [`ScopeId`], made when a node needs it.
    shared: Vec<SharedTexts>,
    /// By the name of the ATen node.
    stack_traces: HashMap<&'a str, &'a str>,
}

/// What nodes of one scope have in common.
#[derive(Clone, Default)]
struct SharedTexts {
    /// Of nodes that have no tag but their module's.
    doc_string: OnceLock<String>,
    calls: OnceLock<Option<String>>,
}

impl<'a> NodeTexts<'a> {
    pub(crate) fn new(tree: &'a ModuleTree, scopes: &'a Scopes, tags: &'a Tags, embed: Embed) -> Self {
        let scope_texts = ScopeTexts::new(tree, scopes);
        let shared = vec![SharedTexts::default(); scopes.len()];
        NodeTexts { tree, scopes, tags, embed, scope_texts, shared, stack_traces: HashMap::new() }
    }

    /// The same with the stack traces of the capture, by the name of the ATen node.
    pub(crate) fn with_stack_traces(self, stack_traces: HashMap<&'a str, &'a str>) -> Self {
        NodeTexts { stack_traces, ..self }
    }

    /// Calls `take` with the lines of a sidecar about all nodes of `model`.
    pub(crate) fn sidecar_lines(&self, model: &Model, take: &mut TakeLines<'_>) -> io::Result<()> {
        node_lines::give(model, self.describing(), take)
    }

    /// What the sidecar says of the nodes of `model`.
    pub(crate) fn sidecar_nodes(&self, model: &Model) -> Vec<sidecar::Node> {
        self.describing().all(model)
    }

    fn describing(&self) -> Describing<'_> {
        Describing { tree: self.tree, scopes: self.scopes, tags: self.tags }
    }

    /// The texts of a node that carries `doc_string` and `metadata` without our tags; `None` if it has no origin.
    pub(crate) fn of(
        &self,
        node: &Node,
        doc_string: Option<&str>,
        metadata: &[(String, String)],
    ) -> Option<NodeTags> {
        let origin = node.origin.as_ref()?;
        let placed = place(node, origin, self.scopes, self.tags);
        let mut written = NodeTags::default();
        if self.embed.doc_string {
            written.doc_string = Some(self.doc_string_of(origin, &placed, doc_string).into_owned());
        }
        self.put_entries(node, origin, &placed, metadata, &mut |key, parts| {
            written.metadata.push((key.to_owned(), parts.concat()));
        });
        Some(written)
    }

    fn doc_string_of(&self, origin: &Origin, placed: &Placed<'_>, earlier: Option<&str>) -> Cow<'_, str> {
        let new = || DocString::new(placed.tags(), placed.path, origin.method, earlier).to_text();
        let is_shared = earlier.is_none() && placed.added.is_empty() && origin.method == Method::Direct;
        match self.shared.get(origin.scope.0 as usize).filter(|_| is_shared) {
            Some(shared) => shared.doc_string.get_or_init(new).into(),
            None => new().into(),
        }
    }

    /// Calls `put` with the key and the parts of the value of each entry that a node gets after those that are `there`.
    fn put_entries(
        &self,
        node: &Node,
        origin: &Origin,
        placed: &Placed<'_>,
        there: &[(String, String)],
        put: &mut dyn FnMut(&str, &[&str]),
    ) {
        if self.embed.metadata_props {
            self.put_tags(node, origin, placed, there, put);
        }
        let source = origin.source.as_ref();
        if let Some(trace) = source.and_then(|source| self.stack_traces.get(&*source.name)) {
            put(STACK_TRACE, &[trace]);
        }
    }

    fn put_tags(
        &self,
        node: &Node,
        origin: &Origin,
        placed: &Placed<'_>,
        there: &[(String, String)],
        put: &mut dyn FnMut(&str, &[&str]),
    ) {
        put(embedding::TAG, &[placed.path]);
        put(embedding::MODULE, &[self.tree.get(placed.module).map_or("", |module| &module.path)]);
        let source = origin.source.as_ref();
        let operation = source.map_or(&node.name, |source| &source.name);
        let target = source.map_or(&*placed.operator, |source| &source.target);
        self.scope_texts.put_entries(origin.scope, operation, target, &mut |key, parts| {
            if embedding::get(there, key).is_none() {
                put(key, parts);
            }
        });
        let calls = || embedding::calls_text(&self.scopes.calls(origin.scope));
        let shared = self.shared.get(origin.scope.0 as usize);
        if let Some(calls) = shared.map_or_else(calls, |shared| shared.calls.get_or_init(calls).clone()) {
            put(embedding::CALLS, &[&calls]);
        }
        let fused = origin.fused.iter().filter_map(|id| self.tree.get(*id));
        let fused: Vec<Name> = fused.map(|module| module.path.clone()).collect();
        if let Some(fused) = embedding::fused_text(&fused) {
            put(embedding::FUSED, &[&fused]);
        }
        if let Some(shared) = embedding::shared_text(&self.sharing_modules(&node.shared_by)) {
            put(embedding::SHARED, &[&shared]);
        }
    }

    /// Path and number of each call.
    fn sharing_modules(&self, calls: &[ScopeId]) -> Vec<(Name, u32)> {
        let named = |call: &ScopeId| {
            let scope = self.scopes.get(*call);
            Some((self.tree.get(scope.module)?.path.clone(), scope.call))
        };
        calls.iter().filter_map(named).collect()
    }
}

/// Texts of nodes that carry nothing yet, as those that were just lowered.
impl onnx::NodeTexts for NodeTexts<'_> {
    fn doc_string(&self, node: &Node) -> Option<Cow<'_, str>> {
        let origin = node.origin.as_ref().filter(|_| self.embed.doc_string)?;
        Some(self.doc_string_of(origin, &place(node, origin, self.scopes, self.tags), None))
    }

    fn entries(&self, node: &Node, put: &mut dyn FnMut(&str, &[&str])) {
        if let Some(origin) = &node.origin {
            self.put_entries(node, origin, &place(node, origin, self.scopes, self.tags), &[], put);
        }
    }
}

/// `MatMul`, or with its domain if that is not ONNX's own: `com.microsoft.Gelu`.
pub(crate) fn operator_name(node: &Node) -> Name {
    operator_of(node).into_owned()
}

fn operator_of(node: &Node) -> Cow<'_, Name> {
    match &*node.domain {
        "" | "ai.onnx" => Cow::Borrowed(&node.op_type),
        domain => Cow::Owned(format!("{domain}.{}", node.op_type).into()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use modelexport_graph::onnx::{AtenSource, Attribute, AttributeValue, Function, Graph};

    use super::*;
    use crate::policy::{Policy, Preset};
    use crate::rules::{self, Rules};
    use crate::tags::TagFormat;

    fn options(embed: Embed) -> Options {
        let source = sidecar::Source { kind: "pt2".into(), file: Some("m.pt2".into()), torch_version: None };
        Options { embed, strategy: "native".into(), source }
    }

    fn node(name: &str, op_type: &str, origin: Option<Origin>) -> Node {
        Node { name: name.into(), op_type: op_type.into(), origin, ..Node::default() }
    }

    fn source(name: &str, target: &str) -> Option<AtenSource> {
        Some(AtenSource { name: name.into(), target: target.into() })
    }

    /// A model `Net(block: Block(fc: Linear))` with a node at each level: in the graph, in a branch, in a function.
    fn sample() -> (Model, ModuleTree, Scopes) {
        let mut tree = ModuleTree::new();
        let fc = tree.insert("block.fc");
        let block = tree.find("block").unwrap();
        for (id, class, order) in [
            (ModuleId::ROOT, "__main__.Net", 0),
            (block, "__main__.Block", 1),
            (fc, "torch.nn.modules.linear.Linear", 2),
        ] {
            let module = tree.get_mut(id).unwrap();
            (module.class, module.order, module.calls) = (class.into(), Some(order), 1);
        }
        let mut scopes = Scopes::new();
        let block_scope = scopes.child(Scopes::ROOT, block, 0);
        let fc_scope = scopes.child(block_scope, fc, 0);
        let mut holder =
            node("if", "If", Some(Origin::direct(Scopes::ROOT, source("cond", "higher_order.cond"))));
        let inner =
            node("gemm", "Gemm", Some(Origin::direct(fc_scope, source("linear", "aten.linear.default"))));
        let branch = Graph { nodes: vec![inner], ..Graph::default() };
        let value = AttributeValue::Graph(Box::new(branch));
        holder.attributes.push(Attribute { name: "then_branch".into(), value, ..Attribute::default() });
        let custom =
            Node { domain: "my.ops".into(), ..node("fold", "Fold", Some(Origin::direct(block_scope, None))) };
        let function = Function { nodes: vec![custom], ..Function::default() };
        let model = Model {
            graph: Graph { nodes: vec![holder, node("lost", "Identity", None)], ..Graph::default() },
            functions: vec![function],
            ..Model::default()
        };
        (model, tree, scopes)
    }

    fn annotated(policy: &Policy, embed: Embed) -> (Model, Sidecar) {
        let (mut model, tree, scopes) = sample();
        let tags = Tags::new(&tree, policy, TagFormat::Instance);
        let sidecar = annotate(&mut model, &tree, &scopes, &tags, &options(embed));
        (model, sidecar)
    }

    fn nodes(model: &Model) -> BTreeMap<String, Node> {
        let mut nodes = BTreeMap::new();
        model.for_each_node(&mut |node| {
            nodes.insert(node.name.to_string(), node.clone());
        });
        nodes
    }

    #[test]
    fn a_node_in_a_branch_carries_everything() {
        let (model, _) = annotated(&Policy::default(), Embed::BOTH);
        let gemm = &nodes(&model)["gemm"];
        assert_eq!(
            gemm.doc_string,
            r#"{"hierarchy_tags":["/Net/Block"],"hierarchy_path":"/Net/Block","hierarchy_count":1,"hierarchy_method":"direct"}"#
        );
        let expected = [
            ("modelexport.tag", "/Net/Block"),
            ("modelexport.module", "block.fc"),
            (
                "namespace",
                ": __main__.Net/block: __main__.Block/block.fc: torch.nn.modules.linear.Linear/linear: aten.linear.default",
            ),
            (
                "pkg.torch.onnx.class_hierarchy",
                "['__main__.Net', '__main__.Block', 'torch.nn.modules.linear.Linear', 'aten.linear.default']",
            ),
            ("pkg.torch.onnx.name_scopes", "['', 'block', 'block.fc', 'linear']"),
        ];
        let found: Vec<(&str, &str)> =
            gemm.metadata.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_node_without_a_source_stands_for_itself() {
        let (model, sidecar) = annotated(&Policy::default(), Embed::BOTH);
        let fold = &nodes(&model)["fold"];
        assert_eq!(
            embedding::get(&fold.metadata, "pkg.torch.onnx.name_scopes"),
            Some("['', 'block', 'fold']")
        );
        let listed = sidecar.nodes.iter().find(|node| &*node.name == "fold").unwrap();
        assert_eq!((&*listed.op_type, &listed.source), ("my.ops.Fold", &None));
    }

    #[test]
    fn nothing_is_embedded_unless_asked() {
        let (model, sidecar) = annotated(&Policy::default(), Embed::NONE);
        for (name, node) in nodes(&model) {
            assert!(node.doc_string.is_empty() && node.metadata.is_empty(), "{name}");
        }
        assert_eq!(sidecar.nodes.len(), 3);
    }

    #[test]
    fn the_sidecar_counts_and_can_be_read_again() {
        let (_, sidecar) = annotated(&Policy::default(), Embed::NONE);
        let names: Vec<&str> = sidecar.nodes.iter().map(|node| &*node.name).collect();
        assert_eq!(names, ["if", "gemm", "fold"]);
        let counts: Vec<(&str, u64, u64)> =
            sidecar.modules.iter().map(|m| (&*m.path, m.nodes.own, m.nodes.total)).collect();
        assert_eq!(counts, [("", 1, 3), ("block", 1, 2), ("block.fc", 1, 1)]);
        let statistics = &sidecar.statistics;
        assert_eq!((statistics.nodes, statistics.attributed_nodes, statistics.coverage), (4, 3, 0.75));
        assert_eq!((statistics.modules, statistics.executed_modules, statistics.visible_modules), (3, 3, 2));
        assert_eq!(statistics.by_method, BTreeMap::from([("direct".to_owned(), 3)]));
        let bytes = sidecar.to_bytes().unwrap();
        assert_eq!(sidecar::parse(&bytes, Path::new("m.json")).unwrap(), sidecar);
    }

    #[test]
    fn tagged_operations_are_those_of_chosen_modules() {
        let count = |preset| {
            let policy = Policy::new(Some(preset), None, Rules::default());
            annotated(&policy, Embed::NONE).1.statistics.tagged_operations
        };
        assert_eq!(count(Preset::Model), 3);
        assert_eq!(count(Preset::HuggingFace), 0);
    }

    #[test]
    fn domain_rules_see_onnx_and_aten_names() {
        let text = "[[domain]]\nclass = 'Linear'\noperator = 'aten.linear.*'\ntag = '/domain/linear'\n\
                    [[domain]]\nclass = 'Block'\noperator = 'my.ops.*'\ntag = '/domain/mine'";
        let policy = Policy::new(None, None, rules::parse(text, Path::new("rules.toml")).unwrap());
        let (_, sidecar) = annotated(&policy, Embed::NONE);
        let tags: Vec<Vec<&str>> =
            sidecar.nodes.iter().map(|node| node.tags.iter().map(|tag| &**tag).collect()).collect();
        assert_eq!(
            tags,
            [vec!["/Net"], vec!["/Net/Block", "/domain/linear"], vec!["/Net/Block", "/domain/mine"]]
        );
    }

    #[test]
    fn method_and_confidence_of_a_strategy_are_kept() {
        let (mut model, tree, scopes) = sample();
        let origin =
            Origin { method: Method::Propagated, confidence: 0.5, ..Origin::direct(ScopeId(1), None) };
        model.graph.nodes[1].origin = Some(origin);
        let tags = Tags::new(&tree, &Policy::default(), TagFormat::Instance);
        let sidecar = annotate(&mut model, &tree, &scopes, &tags, &options(Embed::BOTH));
        let lost = sidecar.nodes.iter().find(|node| &*node.name == "lost").unwrap();
        assert_eq!((lost.method, lost.confidence), (Method::Propagated, 0.5));
        assert!(model.graph.nodes[1].doc_string.contains(r#""hierarchy_method":"propagated""#));
    }

    #[test]
    fn a_fused_node_lists_the_tags_of_its_modules() {
        let (mut model, tree, scopes) = sample();
        let [root, block] = ["", "block"].map(|path| tree.find(path).unwrap());
        model.graph.nodes[1].origin =
            Some(Origin { fused: vec![root, block], ..Origin::direct(Scopes::ROOT, None) });
        let tags = Tags::new(&tree, &Policy::default(), TagFormat::Instance);
        let sidecar = annotate(&mut model, &tree, &scopes, &tags, &options(Embed::BOTH));
        let fused = sidecar.nodes.iter().find(|node| &*node.name == "lost").unwrap();
        assert_eq!((&*fused.path, fused.tags.len()), ("/Net", 2));
        assert!(model.graph.nodes[1].doc_string.contains(r#""hierarchy_tags":["/Net","/Net/Block"]"#));
    }

    #[test]
    fn a_node_that_nobody_can_place_is_an_auxiliary_operation() {
        let (mut model, tree, scopes) = sample();
        let origin = Origin { method: Method::Fallback, ..Origin::direct(Scopes::ROOT, None) };
        model.graph.nodes[1].origin = Some(origin);
        let tags = Tags::new(&tree, &Policy::default(), TagFormat::Instance);
        let sidecar = annotate(&mut model, &tree, &scopes, &tags, &options(Embed::BOTH));
        let lost = sidecar.nodes.iter().find(|node| &*node.name == "lost").unwrap();
        assert_eq!(&*lost.path, "/Net/AuxiliaryOperations");
    }
}
