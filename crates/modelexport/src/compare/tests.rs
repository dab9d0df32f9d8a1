use modelexport_graph::onnx::{
    Attribute, AttributeValue, DimensionValue, Model, Node, OpsetImport, Tensor, TensorData, TypeKind,
    ValueInfo,
};
use modelexport_io::output;
use modelexport_io::weights::WeightsMode;

use super::*;
use crate::derived::{self, Derived};
use crate::policy::Policy;
use crate::tags::TagFormat;
use crate::test_export;

/// The comparison of a file with what `change` makes of it.
fn compared(change: &dyn Fn(&mut Model)) -> Comparison {
    let folder = tempfile::tempdir().unwrap();
    let path = test_export::fixture_with(folder.path(), "bert_tiny", Policy::default(), TagFormat::Instance);
    let mut before = TaggedFile::open(&path).unwrap();
    let mut model = before.model.clone();
    change(&mut model);
    let target = folder.path().join("after.onnx");
    let transaction = output::Transaction::begin(&target, output::Settings::default()).unwrap();
    let derived = Derived { model, sidecar: None, companions: Vec::new(), keeps_data_files: false };
    derived::write(transaction, derived, &mut before, WeightsMode::Embed, &mut |_| ()).unwrap();
    // Without its sidecar the file before tells as much as the file after.
    std::fs::remove_file(modelexport_io::sidecar::path_beside(&path)).unwrap();
    let mut before = TaggedFile::open(&path).unwrap();
    let mut after = TaggedFile::open_any(&target).unwrap();
    compare(&mut before, &mut after, &Options::default())
}

/// The same with all weights in memory, where a change can read them.
fn compared_in_memory(change: &dyn Fn(&mut Model)) -> Comparison {
    let folder = tempfile::tempdir().unwrap();
    let path = test_export::fixture(folder.path(), "bert_tiny");
    let sources = TaggedFile::open(&path).unwrap().sources;
    compared(&|model| {
        for tensor in &mut model.graph.initializers {
            let TensorData::Stored(view) = &tensor.data else { continue };
            let bits = tensor.dtype().and_then(|dtype| dtype.bits()).unwrap();
            let (start, length) = modelexport_io::stream::byte_range(view, bits).unwrap().unwrap();
            let mut bytes = vec![0; length as usize];
            sources.read_at(view.span.source, start, &mut bytes).unwrap();
            tensor.data = TensorData::Raw(bytes);
        }
        change(model);
    })
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

/// The bytes of a weight, its shape, and its bytes element by element in another order.
fn elements(model: &Model, name: &str) -> (Vec<Vec<u8>>, Vec<usize>) {
    let tensor = model.graph.initializers.iter().find(|tensor| &*tensor.name == name).unwrap();
    let TensorData::Raw(bytes) = &tensor.data else { panic!("{:?}", tensor.data) };
    (bytes.chunks(4).map(<[u8]>::to_vec).collect(), tensor.dims.iter().map(|&dim| dim as usize).collect())
}

/// Puts a matrix in its transposed layout.
fn transpose(model: &mut Model, name: &str) {
    let (found, dims) = elements(model, name);
    let [rows, columns] = dims[..] else { panic!("{dims:?}") };
    let turned = (0..rows * columns).flat_map(|at| found[at % rows * columns + at / rows].clone()).collect();
    let tensor = weight(model, name);
    (tensor.dims, tensor.data) = (vec![columns as i64, rows as i64], TensorData::Raw(turned));
}

/// Differences of weights alone.
fn weight_differences(comparison: &Comparison) -> Vec<&Difference> {
    let inner = comparison.modules.iter().flat_map(|module| &module.differences);
    let all = comparison.model.iter().chain(inner);
    all.filter(|difference| difference.kind.starts_with("weight")).collect()
}

const SQUARE: &str = "encoder.layer.0.attention.self.query.weight";
const WIDE: &str = "encoder.layer.0.intermediate.dense.weight";

#[test]
fn weights_in_another_layout_have_the_same_numbers() {
    // `(weight, what is done to it, after)`.
    type Case = (&'static str, fn(&mut Model, &str), &'static str);
    let cases: [Case; 4] = [
        (SQUARE, transpose, "float32[32, 32], the same numbers, transposed"),
        (WIDE, transpose, "float32[64, 32], the same numbers, transposed"),
        (
            WIDE,
            |model, name| weight(model, name).dims = vec![2048],
            "float32[2048], the same numbers, reshaped",
        ),
        (
            WIDE,
            |model, name| {
                transpose(model, name);
                weight(model, name).dims = vec![64, 1, 32];
            },
            "float32[64, 1, 32], the same numbers, transposed, reshaped",
        ),
    ];
    for (name, change, after) in cases {
        let comparison = compared_in_memory(&|model| change(model, name));
        let differences = weight_differences(&comparison);
        assert_eq!(differences.len(), 1, "{differences:?}");
        let found = differences[0];
        assert_eq!((found.category, found.kind), (Category::Structure, "weight layout changed"));
        assert_eq!(found.after.as_deref(), Some(after));
        assert_eq!(comparison.summary.weights, 0);
    }
}

#[test]
fn one_other_number_in_another_layout_is_another_weight() {
    let comparison = compared_in_memory(&|model| {
        transpose(model, SQUARE);
        let TensorData::Raw(bytes) = &mut weight(model, SQUARE).data else { panic!() };
        bytes[4000] ^= 1;
    });
    let differences = weight_differences(&comparison);
    assert_eq!(
        (differences.len(), differences[0].kind, comparison.summary.weights),
        (1, "weight changed", 1)
    );
}

#[test]
fn a_weight_with_another_name_is_the_same_weight() {
    let comparison = compared_in_memory(&|model| {
        weight(model, SQUARE).name = "onnx::MatMul_1".into();
        for node in &mut model.graph.nodes {
            for input in &mut node.inputs {
                if &**input == SQUARE {
                    *input = "onnx::MatMul_1".into();
                }
            }
        }
        transpose(model, WIDE);
        weight(model, WIDE).name = "turned".into();
    });
    let told: Vec<_> = weight_differences(&comparison)
        .into_iter()
        .map(|one| (one.kind, &*one.subject, one.before.as_deref().unwrap(), one.after.as_deref().unwrap()))
        .collect();
    let (square, wide) = (format!("{SQUARE} float32[32, 32]"), format!("{WIDE} float32[32, 64]"));
    assert_eq!(
        told,
        [
            ("weight renamed", "onnx::MatMul_1", &*square, "float32[32, 32]"),
            ("weight renamed", "turned", &*wide, "float32[64, 32], the same numbers, transposed"),
        ]
    );
    // The node that reads it reads what it read before.
    assert!(
        !found(&comparison).iter().any(|(_, _, kind)| *kind == "inputs changed"),
        "{:?}",
        found(&comparison)
    );
    let module =
        comparison.modules.iter().find(|module| &*module.path == "encoder.layer.0.attention.self.query");
    assert_eq!(module.unwrap().differences.len(), 1);
}

#[test]
fn weights_may_be_joined_cast_and_quantised() {
    let of = |part: &str| format!("encoder.layer.0.attention.self.{part}.weight");
    let comparison = compared_in_memory(&|model| {
        let all: Vec<Vec<Vec<u8>>> =
            ["query", "key", "value"].map(|part| elements(model, &of(part)).0).into();
        // Beside each other, row by row, as runtimes join them.
        let joined =
            (0..32).flat_map(|row| all.iter().flat_map(move |one| one[row * 32..][..32].concat())).collect();
        model
            .graph
            .initializers
            .retain(|tensor| !["query", "key", "value"].map(of).contains(&tensor.name.to_string()));
        model.graph.initializers.push(Tensor {
            name: "qkv_weight".into(),
            data_type: 1,
            dims: vec![32, 96],
            data: TensorData::Raw(joined),
            ..Tensor::default()
        });
        let numbers = |model: &Model, name: &str| -> Vec<f32> {
            elements(model, name)
                .0
                .iter()
                .map(|bytes| f32::from_le_bytes(bytes[..].try_into().unwrap()))
                .collect()
        };
        let half = numbers(model, BIAS).iter().flat_map(|x| half::f16::from_f32(*x).to_le_bytes()).collect();
        (weight(model, BIAS).data_type, weight(model, BIAS).data) = (10, TensorData::Raw(half));
        let wide = numbers(model, WIDE);
        let step = wide.iter().fold(0.0f32, |most, x| most.max(x.abs())) / 127.0;
        let quantised = wide.iter().map(|x| (x / step).round() as i8 as u8).collect();
        let tensor = weight(model, WIDE);
        (tensor.data_type, tensor.data) = (3, TensorData::Raw(quantised));
        tensor.name = format!("{WIDE}_quantized").into();
    });
    let mut told: Vec<_> = weight_differences(&comparison)
        .into_iter()
        .map(|one| (one.kind, &*one.subject, one.before.as_deref().unwrap(), one.after.as_deref().unwrap()))
        .collect();
    told.sort();
    let [(_, quantised, _, steps), ..] = told[..] else { panic!("{told:?}") };
    assert_eq!((told[0].0, quantised), ("weight quantised", &*format!("{WIDE}_quantized")));
    assert!(steps.starts_with("int8[32, 64], the same numbers, quantised to int8 in steps of "), "{steps}");
    let parts = ["query", "key", "value"].map(of).join(", ");
    assert_eq!(
        told[1..],
        [
            ("weight type changed", BIAS, "float32[32]", "float16[32], the same numbers as float16"),
            ("weights joined", "qkv_weight", &*parts, "float32[32, 96], the same numbers"),
        ]
    );
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

#[test]
fn weights_differ_by_a_number() {
    let comparison = compared(&|model| {
        let tensor = weight(model, BIAS);
        tensor.data =
            TensorData::Raw([1.0e6f32; 32].iter().flat_map(|number| number.to_le_bytes()).collect());
    });
    let pooler = comparison.modules.iter().find(|module| &*module.path == "pooler.dense").unwrap();
    let after = pooler.differences[0].after.as_deref().unwrap();
    assert!(after.starts_with("32 numbers differ by up to 1.0000"), "{after}");
}
