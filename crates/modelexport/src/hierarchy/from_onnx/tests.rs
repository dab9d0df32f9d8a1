use modelexport_graph::onnx::{Attribute, AttributeValue, Graph, Tensor};
use modelexport_io::sidecar::Source;

use super::*;
use crate::embedding::Embed;
use crate::policy::Policy;
use crate::tagger::{Options, annotate};
use crate::tags::TagFormat;

fn node(name: &str, scope: ScopeId) -> Node {
    let origin = Some(Origin::direct(scope, None));
    Node { name: name.into(), op_type: "Relu".into(), origin, ..Node::default() }
}

fn nested(mut holder: Node, inner: Node) -> Node {
    let value = AttributeValue::Graph(Box::new(Graph { nodes: vec![inner], ..Graph::default() }));
    holder.attributes.push(Attribute { name: "body".into(), value, ..Attribute::default() });
    holder
}

/// `Net(layers: [Layer(fc: Linear)])` with a node at each level and one in a subgraph, tagged into `embed`.
fn tagged(embed: Embed) -> (Model, Sidecar) {
    let mut tree = ModuleTree::new();
    let fc = tree.insert("layers.0.fc");
    let layer = tree.find("layers.0").unwrap();
    let classes = [(ModuleId::ROOT, "m.Net"), (layer, "m.Layer"), (fc, "torch.nn.modules.linear.Linear")];
    for (order, (id, class)) in classes.into_iter().enumerate() {
        let module = tree.get_mut(id).unwrap();
        (module.class, module.order, module.calls) = (class.into(), Some(order as u32), 3);
    }
    let mut scopes = Scopes::new();
    let layer_scope = scopes.child(Scopes::ROOT, layer, 0);
    let fc_scope = scopes.child(layer_scope, fc, 0);
    let nodes = vec![
        node("in_root", Scopes::ROOT),
        node("in_fc", fc_scope),
        nested(node("in_layer", layer_scope), node("inside", fc_scope)),
    ];
    let mut model = Model { graph: Graph { nodes, ..Graph::default() }, ..Model::default() };
    let source = Source { kind: "pt2".into(), file: None, torch_version: None };
    let tags = Tags::new(&tree, &Policy::default(), TagFormat::Instance);
    let options = Options { embed, strategy: "native".into(), source };
    let sidecar = annotate(&mut model, &tree, &scopes, &tags, &options);
    model.for_each_node_mut(&mut |node| node.origin = None);
    (model, sidecar)
}

/// Path of the module of each node, in order.
fn modules(model: &Model, hierarchy: &Hierarchy) -> Vec<Option<String>> {
    let mut paths = Vec::new();
    model.for_each_node(&mut |node| {
        let module = node.origin.as_ref().map(|origin| hierarchy.scopes.module(origin.scope));
        paths.push(module.and_then(|id| hierarchy.tree.get(id)).map(|module| module.path.to_string()));
    });
    paths
}

fn paths(expected: &[&str]) -> Vec<Option<String>> {
    expected.iter().map(|path| Some((*path).to_owned())).collect()
}

fn kinds(hierarchy: &Hierarchy) -> Vec<(EvidenceKind, u64)> {
    hierarchy.evidence.iter().collect()
}

const EXACT: [&str; 4] = ["", "layers.0.fc", "layers.0", "layers.0.fc"];

#[test]
fn our_metadata_gives_back_every_module() {
    let (mut model, _) = tagged(Embed::BOTH);
    let hierarchy = from_onnx(&mut model, None);
    assert_eq!(modules(&model, &hierarchy), paths(&EXACT));
    assert_eq!(kinds(&hierarchy), [(EvidenceKind::Modelexport, 4)]);
    let fc = hierarchy.tree.get(hierarchy.tree.find("layers.0.fc").unwrap()).unwrap();
    assert_eq!(&*fc.class, "torch.nn.modules.linear.Linear");
    let tags = Tags::new(&hierarchy.tree, &Policy::default(), TagFormat::Instance);
    assert_eq!(hierarchy.nodes_tagged_otherwise(&tags), 0);
    let bare = Tags::new(&hierarchy.tree, &Policy::default(), TagFormat::Class);
    assert_eq!(hierarchy.nodes_tagged_otherwise(&bare), 3, "all but the root's");
}

#[test]
fn torch_scopes_alone_are_enough() {
    let (mut model, _) = tagged(Embed::BOTH);
    model.for_each_node_mut(&mut |node| {
        node.doc_string.clear();
        node.metadata.retain(|(key, _)| key.starts_with("pkg.torch."));
    });
    let hierarchy = from_onnx(&mut model, None);
    assert_eq!(modules(&model, &hierarchy), paths(&EXACT));
    assert_eq!(kinds(&hierarchy), [(EvidenceKind::TorchScopes, 4)]);
}

#[test]
fn the_sidecar_serves_a_file_without_tags() {
    let (mut model, sidecar) = tagged(Embed::NONE);
    let hierarchy = from_onnx(&mut model, Some(&sidecar));
    assert_eq!(modules(&model, &hierarchy), paths(&EXACT));
    assert_eq!(kinds(&hierarchy), [(EvidenceKind::Sidecar, 4)]);
    let layer = hierarchy.tree.get(hierarchy.tree.find("layers.0").unwrap()).unwrap();
    assert_eq!((layer.calls, layer.order), (3, Some(1)));
}

#[test]
fn tags_alone_become_the_tree() {
    let doc_string_only = Embed { doc_string: true, metadata_props: false };
    let (mut model, _) = tagged(doc_string_only);
    let hierarchy = from_onnx(&mut model, None);
    let tags = hierarchy.tags_only.as_ref().unwrap();
    let mut shown = Vec::new();
    model.for_each_node(&mut |node| {
        let origin = node.origin.as_ref().unwrap();
        shown.push((tags.tag(hierarchy.scopes.module(origin.scope)).to_string(), origin.method));
    });
    let expected = ["/Net", "/Net/Layer.0", "/Net/Layer.0", "/Net/Layer.0"];
    assert_eq!(shown, expected.map(|tag| (tag.to_owned(), Method::Direct)));
    assert_eq!(kinds(&hierarchy), [(EvidenceKind::Tag, 4)]);
}

#[test]
fn a_node_without_words_is_placed_by_its_tag_or_the_node_around_it() {
    let (mut model, _) = tagged(Embed::BOTH);
    model.for_each_node_mut(&mut |node| match &*node.name {
        "in_fc" => node.metadata.clear(),
        "inside" | "in_root" => {
            node.metadata.clear();
            node.doc_string.clear();
        }
        _ => {}
    });
    let hierarchy = from_onnx(&mut model, None);
    let known = |path: &str| Some(path.to_owned());
    assert_eq!(modules(&model, &hierarchy), [None, known("layers.0"), known("layers.0"), known("layers.0")]);
    assert_eq!(
        kinds(&hierarchy),
        [(EvidenceKind::Modelexport, 1), (EvidenceKind::Tag, 1), (EvidenceKind::Holder, 1)]
    );
    assert_eq!((hierarchy.unattributed_nodes, hierarchy.attributed_nodes()), (1, 3));
}

#[test]
fn initializers_belong_to_the_module_that_they_are_named_after_or_that_reads_them() {
    let (mut model, _) = tagged(Embed::BOTH);
    let mut add = |name: &str, data_type: i32, dims: &[i64]| {
        let tensor = Tensor { name: name.into(), dims: dims.to_vec(), data_type, ..Tensor::default() };
        model.graph.initializers.push(tensor);
    };
    const FLOAT: i32 = 1;
    const INT64: i32 = 7;
    add("layers.0.fc.weight", FLOAT, &[4, 3]);
    add("folded", FLOAT, &[5]);
    add("shared", FLOAT, &[6]);
    add("shape", INT64, &[2]);
    add("epsilon", FLOAT, &[]);
    add("unread", FLOAT, &[7]);
    model.for_each_node_mut(&mut |node| match &*node.name {
        "in_fc" => node.inputs.extend(["folded", "shape", "shared", "epsilon"].map(Into::into)),
        "in_layer" => node.inputs.push("shared".into()),
        _ => {}
    });
    let hierarchy = from_onnx(&mut model, None);
    let found: Vec<(&str, &str, u64, u64)> = hierarchy
        .tree
        .iter()
        .flat_map(|(_, module)| {
            module.parameters.iter().map(|p| (&*module.path, &*p.name, p.elements, p.bytes))
        })
        .collect();
    assert_eq!(
        found,
        [
            ("layers.0", "shared", 6, 24),
            ("layers.0.fc", "layers.0.fc.weight", 12, 48),
            ("layers.0.fc", "folded", 5, 20)
        ]
    );
}

#[test]
fn a_file_that_says_nothing_places_nothing() {
    let mut model = Model {
        graph: Graph { nodes: vec![node("a", Scopes::ROOT)], ..Graph::default() },
        ..Model::default()
    };
    let hierarchy = from_onnx(&mut model, None);
    assert!(hierarchy.evidence.is_empty() && hierarchy.tags_only.is_none());
    assert_eq!(hierarchy.unattributed_nodes, 1);
}
