mod weights;

use modelexport_graph::onnx::{
    Attribute, AttributeValue, DimensionValue, Model, Node, OpsetImport, Tensor, TensorData, TypeKind,
    ValueInfo,
};
use modelexport_io::output;
use modelexport_io::weights::WeightsMode;

use super::*;
use crate::derived::{self, Derived};
use crate::test_export;

/// The comparison of a file with what `change` makes of it.
fn compared(change: &dyn Fn(&mut Model)) -> Comparison {
    let folder = tempfile::tempdir().unwrap();
    let path = test_export::fixture(folder.path(), "bert_tiny");
    let mut before = TaggedFile::open(&path).unwrap();
    let mut model = before.model.clone();
    change(&mut model);
    let target = folder.path().join("after.onnx");
    let transaction = output::Transaction::begin(&target, output::Settings::default()).unwrap();
    let derived = Derived { model, sidecar: None, companions: Vec::new(), keeps_data_files: false };
    let inputs = crate::inputs::Inputs::default();
    derived::write(transaction, derived, &inputs, &mut before, WeightsMode::Embed, &mut ()).unwrap();
    // Without its sidecar the file before tells as much as the file after.
    std::fs::remove_file(modelexport_io::sidecar::path_beside(&path)).unwrap();
    let mut before = TaggedFile::open(&path).unwrap();
    let mut after = TaggedFile::open_any(&target).unwrap();
    compare(&mut before, &mut after, &Options::default())
}

/// `(module, category, kind)` of every difference.
fn found(comparison: &Comparison) -> Vec<(String, Category, &'static str)> {
    let own = comparison.model.iter().map(|difference| ("model".to_owned(), difference));
    let inner = comparison
        .modules
        .iter()
        .flat_map(|module| module.differences.iter().map(|difference| (module.path.to_string(), difference)));
    own.chain(inner).map(|(module, difference)| (module, difference.category, difference.kind)).collect()
}

fn node<'m>(model: &'m mut Model, name: &str) -> &'m mut Node {
    model.graph.nodes.iter_mut().find(|node| &*node.name == name).unwrap()
}

fn position(model: &Model, name: &str) -> usize {
    model.graph.nodes.iter().position(|node| &*node.name == name).unwrap()
}

fn weight<'m>(model: &'m mut Model, name: &str) -> &'m mut Tensor {
    model.graph.initializers.iter_mut().find(|tensor| &*tensor.name == name).unwrap()
}

fn metadata<'m>(node: &'m mut Node, key: &str) -> &'m mut String {
    &mut node.metadata.iter_mut().find(|(found, _)| found == key).unwrap().1
}

const GELU: &str = "/encoder/layer.0/intermediate/intermediate_act_fn/Gelu";
const NORM: &str = "/encoder/layer.0/output/LayerNorm/LayerNormalization";
const ADD: &str = "/encoder/layer.1/output/Add";
const BIAS: &str = "pooler.dense.bias";

#[test]
fn a_file_is_equal_to_itself() {
    let comparison = compared(&|_| ());
    assert_eq!((comparison.equal, comparison.summary), (true, Summary::default()), "{comparison:?}");
    assert_eq!((comparison.model.len(), comparison.modules.len()), (0, 0));
}

type Planted = (&'static str, &'static str, Category, &'static str, fn(&mut Model));

/// Twenty changes: what they are called, in which module they are found, and as what.
const PLANTED: &[Planted] = &[
    (
        "operator",
        "encoder.layer.0.intermediate.intermediate_act_fn",
        Category::Structure,
        "operator changed",
        |m| {
            node(m, GELU).op_type = "Relu".into();
        },
    ),
    (
        "attribute changed",
        "encoder.layer.0.output.LayerNorm",
        Category::Structure,
        "attribute changed",
        |m| {
            let epsilon = node(m, NORM).attributes.iter_mut().find(|a| &*a.name == "epsilon").unwrap();
            epsilon.value = AttributeValue::Float(0.5);
        },
    ),
    ("attribute added", "encoder.layer.0.output.LayerNorm", Category::Structure, "attribute added", |m| {
        let value = AttributeValue::Int(1);
        node(m, NORM).attributes.push(Attribute { name: "stash_type".into(), value, ..Attribute::default() });
    }),
    (
        "attribute removed",
        "encoder.layer.0.output.LayerNorm",
        Category::Structure,
        "attribute removed",
        |m| {
            node(m, NORM).attributes.retain(|attribute| &*attribute.name != "epsilon");
        },
    ),
    ("node added", "encoder.layer.0.output.LayerNorm", Category::Structure, "node added", |m| {
        let at = position(m, NORM);
        let mut new = m.graph.nodes[at].clone();
        new.name = "planted".into();
        new.op_type = "Identity".into();
        new.attributes.clear();
        (new.inputs, new.outputs) = (vec![new.outputs[0].clone()], vec!["planted_value".into()]);
        m.graph.nodes.insert(at + 1, new);
    }),
    ("node removed", "pooler.activation", Category::Structure, "node removed", |m| {
        m.graph.nodes.retain(|node| !node.name.starts_with("/pooler/activation"));
    }),
    ("node renamed", "encoder.layer.0.output.LayerNorm", Category::Structure, "node renamed", |m| {
        node(m, NORM).name = "renamed".into();
    }),
    ("wiring", "encoder.layer.1.output", Category::Structure, "inputs changed", |m| {
        node(m, ADD).inputs.swap(0, 1);
    }),
    ("node moved", "encoder.layer.0.attention.self.key", Category::Structure, "node moved", |m| {
        let at = position(m, "/encoder/layer.0/attention/self/key/MatMul");
        let moved = m.graph.nodes.remove(at);
        m.graph.nodes.insert(position(m, "/encoder/layer.0/attention/self/query/MatMul"), moved);
    }),
    ("module of a node", "encoder.layer.1", Category::Tags, "module changed", |m| {
        let node = node(m, NORM);
        *metadata(node, "modelexport.module") = "encoder.layer.1".into();
        node.metadata.retain(|(key, _)| !key.starts_with("pkg.") && key != "namespace");
    }),
    ("tag", "encoder.layer.0.output.LayerNorm", Category::Tags, "tag changed", |m| {
        *metadata(node(m, NORM), "modelexport.tag") = "/Other".into();
    }),
    ("doc string", "encoder.layer.0.output.LayerNorm", Category::Tags, "tag changed", |m| {
        node(m, NORM).doc_string = "something else".into();
    }),
    ("metadata", "encoder.layer.0.output.LayerNorm", Category::Tags, "metadata changed", |m| {
        node(m, NORM).metadata.push(("note".into(), "x".into()));
    }),
    ("shape of a value", "encoder.layer.0.output.LayerNorm", Category::Structure, "shape changed", |m| {
        let value = node(m, NORM).outputs[0].clone();
        let info = m.graph.value_infos.iter_mut().find(|info| info.name == value).unwrap();
        let Some(TypeKind::Tensor { shape: Some(dims), .. }) =
            info.value_type.as_mut().map(|found| &mut std::sync::Arc::make_mut(found).kind)
        else {
            panic!("no shape");
        };
        dims[0].value = DimensionValue::Named("batch".into());
    }),
    ("numbers of a weight", "pooler.dense", Category::Weights, "weight changed", |m| {
        let tensor = weight(m, BIAS);
        tensor.data = TensorData::Raw([1.5f32; 32].iter().flat_map(|number| number.to_le_bytes()).collect());
    }),
    ("shape of a weight", "pooler.dense", Category::Structure, "weight shape changed", |m| {
        let tensor = weight(m, BIAS);
        (tensor.dims, tensor.data) = (vec![16], TensorData::Raw(vec![0; 64]));
    }),
    ("weight added", "model", Category::Structure, "weight added", |m| {
        let data = TensorData::Raw(vec![0; 4]);
        m.graph.initializers.push(Tensor {
            name: "new".into(),
            data_type: 1,
            dims: vec![1],
            data,
            ..Tensor::default()
        });
    }),
    ("weight removed", "pooler.dense", Category::Structure, "weight removed", |m| {
        m.graph.initializers.retain(|tensor| &*tensor.name != BIAS);
    }),
    ("input of the model", "model", Category::Structure, "input added", |m| {
        m.graph.inputs.push(ValueInfo { name: "more".into(), ..m.graph.inputs[0].clone() });
    }),
    ("output of the model", "model", Category::Structure, "output removed", |m| {
        m.graph.outputs.pop();
    }),
    ("opset", "model", Category::Structure, "opset changed", |m| {
        m.opset_imports.push(OpsetImport { domain: "com.example".into(), version: 1, unknown: Vec::new() });
    }),
    ("format version", "model", Category::Structure, "format version changed", |m| m.ir_version += 1),
];

#[test]
fn every_kind_of_planted_change_is_found_where_it_is() {
    assert!(PLANTED.len() >= 20);
    for (what, module, category, kind, change) in PLANTED {
        let comparison = compared(change);
        let found = found(&comparison);
        assert!(found.contains(&((*module).to_owned(), *category, *kind)), "{what}: {found:?}");
        assert!(comparison.summary.count(*category) > 0 && !comparison.equal, "{what}");
    }
}

#[test]
fn a_change_is_one_difference_and_nothing_else() {
    for (what, module, category, kind, change) in PLANTED {
        if ["attribute changed", "node moved", "node renamed", "tag", "numbers of a weight", "opset"]
            .contains(what)
        {
            assert_eq!(found(&compared(change)), [((*module).to_owned(), *category, *kind)], "{what}");
        }
    }
}

#[test]
fn modules_that_go_are_said_once() {
    let comparison = compared(&|model| model.graph.nodes.retain(|node| !node.name.starts_with("/pooler")));
    let removed: Vec<&str> = comparison
        .modules
        .iter()
        .filter(|module| module.status == Status::Removed)
        .map(|module| &*module.path)
        .collect();
    assert_eq!(removed, ["pooler", "pooler.dense", "pooler.activation"]);
}

/// What happened to all nodes, or to most, is one difference.
#[test]
fn what_happened_to_most_nodes_is_said_once() {
    let told = |change: &dyn Fn(&mut Model)| -> Vec<(&'static str, String, usize)> {
        let comparison = compared(change);
        assert!(comparison.modules.is_empty(), "{:?}", comparison.modules);
        comparison.model.iter().map(|one| (one.kind, one.subject.clone(), one.count)).collect()
    };
    let untag = |node: &mut Node| {
        node.doc_string.clear();
        node.metadata.clear();
    };
    let gone = told(&|model| model.for_each_node_mut(&mut |node| untag(node)));
    assert_eq!(gone, [("tags removed", "all 76 nodes".to_owned(), 76)]);
    let mut untold = 0;
    let nearly = compared(&|model| model.graph.nodes.iter_mut().skip(6).for_each(untag));
    nearly.model.iter().for_each(|one| untold += usize::from(one.kind == "tags removed"));
    assert_eq!((untold, &*nearly.model[0].subject, nearly.summary.tags), (1, "70 of 76 nodes", 1));
    assert!(nearly.modules.iter().all(|module| module.status == Status::Changed), "{:?}", nearly.modules);
    let renamed =
        told(&|model| model.for_each_node_mut(&mut |node| node.name = format!("{}_new", node.name).into()));
    assert_eq!(renamed, [("nodes renamed", "all 76 nodes".to_owned(), 76)]);
    let noted =
        told(&|model| model.for_each_node_mut(&mut |node| node.metadata.push(("note".into(), "x".into()))));
    assert_eq!(noted, [("metadata added", "all 76 nodes: note".to_owned(), 76)]);
}
