//! Matching evidence passes, and each kind of wrong evidence has its reason.

use modelexport_graph::onnx::{Graph, Model, Node, Tensor, ValueInfo};
use modelexport_io::sidecar::Fit;
use modelexport_io::source::Sources;

use crate::policy::Policy;
use crate::strategies::{GraphView, Strategy, evidence};
use crate::tag::chosen;

/// A node of the module at `module`; every part of the path is a call, of the class `Class`.
fn node(name: &str, op_type: &str, inputs: &[&str], output: &str, module: &str, class: &str) -> Node {
    let ends = module.match_indices('.').map(|(end, _)| end).chain([module.len()]);
    let paths: Vec<&str> = [""].into_iter().chain(ends.map(|end| &module[..end])).chain(["op"]).collect();
    let classes = vec![format!("m.{class}"); paths.len()];
    let metadata = vec![
        ("pkg.torch.onnx.name_scopes".to_owned(), format!("{paths:?}")),
        ("pkg.torch.onnx.class_hierarchy".to_owned(), format!("{classes:?}")),
    ];
    Node {
        name: name.into(),
        op_type: op_type.into(),
        inputs: inputs.iter().map(|input| (*input).into()).collect(),
        outputs: vec![output.into()],
        metadata,
        ..Node::default()
    }
}

fn tensor(name: &str, dims: &[i64]) -> Tensor {
    Tensor { name: name.into(), dims: dims.to_vec(), data_type: 1, ..Tensor::default() }
}

/// `x @ layers.0 -> activation -> @ layers.1 -> … -> @ head`, `width` wide.
struct Sample {
    width: i64,
    depth: usize,
    labels: Option<i64>,
    activation: &'static str,
    class: &'static str,
}

const BASE: Sample = Sample { width: 16, depth: 2, labels: Some(4), activation: "Relu", class: "Net" };

impl Sample {
    fn model(&self) -> Model {
        let (mut nodes, mut initializers) = (Vec::new(), Vec::new());
        let mut value = "x".to_owned();
        for layer in 0..self.depth {
            let (weight, module) = (format!("layers.{layer}.weight"), format!("layers.{layer}"));
            let (product, active) = (format!("product_{layer}"), format!("active_{layer}"));
            nodes.push(node(&product, "MatMul", &[&value, &weight], &product, &module, self.class));
            nodes.push(node(&active, self.activation, &[&product], &active, &module, self.class));
            initializers.push(tensor(&weight, &[self.width, self.width]));
            value = active;
        }
        if let Some(labels) = self.labels {
            nodes.push(node("logits", "MatMul", &[&value, "head.weight"], "logits", "head", self.class));
            initializers.push(tensor("head.weight", &[self.width, labels]));
            value = "logits".to_owned();
        }
        let info = |name: &str| ValueInfo { name: name.into(), ..ValueInfo::default() };
        let (inputs, outputs) = (vec![info("x")], vec![info(&value)]);
        Model {
            graph: Graph { nodes, initializers, inputs, outputs, ..Graph::default() },
            ..Model::default()
        }
    }
}

/// The fit of `graph` with the tagged file `of`.
fn fit(graph: &Model, of: &Model) -> Fit {
    let evidence = evidence::of_tagged(of.clone(), None).unwrap();
    let view = GraphView::new(graph);
    let (_, choice) =
        chosen(&view, &Sources::new(), &evidence, &[Strategy::Retag], &Policy::default()).unwrap();
    choice.fit
}

/// The same without what the nodes say of their modules.
fn bare(mut model: Model) -> Model {
    model.graph.nodes.iter_mut().for_each(|node| node.metadata.clear());
    model
}

fn reasons(graph: &Model, of: &Sample) -> Vec<String> {
    let fit = fit(graph, &of.model());
    assert!(!fit.is_enough(), "{fit:?}");
    fit.reasons
}

#[test]
fn a_file_fits_itself_and_what_a_tool_made_of_it() {
    let whole = fit(&BASE.model(), &BASE.model());
    assert_eq!((whole.score, whole.contradictions), (1.0, 0));
    assert_eq!((whole.parameters.found, whole.parameters.total), (3, 3));
    assert_eq!((whole.operators.aligned, whole.operators.total), (5, 5));
    // Quantised: other names, other operators, more tensors.
    let mut made = bare(BASE.model());
    for node in made.graph.nodes.iter_mut().filter(|node| &*node.op_type == "MatMul") {
        node.op_type = "MatMulInteger".into();
        node.inputs[1] = format!("{}_quantized", node.inputs[1]).into();
    }
    let weights = std::mem::take(&mut made.graph.initializers);
    for weight in weights {
        made.graph
            .initializers
            .push(Tensor { data_type: 3, ..tensor(&format!("{}_quantized", weight.name), &weight.dims) });
        made.graph.initializers.push(tensor(&format!("{}_scale", weight.name), &[]));
    }
    assert_eq!(fit(&made, &BASE.model()).reasons, [""; 0]);
}

#[test]
fn names_are_not_needed() {
    let mut renamed = bare(BASE.model());
    for (i, tensor) in renamed.graph.initializers.iter_mut().enumerate() {
        let new: modelexport_graph::Name = format!("w{i}").into();
        let old = std::mem::replace(&mut tensor.name, new.clone());
        let inputs = renamed.graph.nodes.iter_mut().flat_map(|node| &mut node.inputs);
        inputs.filter(|input| **input == old).for_each(|input| *input = new.clone());
    }
    let fit = fit(&renamed, &BASE.model());
    assert_eq!((fit.contradictions, fit.parameters.by_shape), (0, 3));
}

#[test]
fn tools_may_pack_weights() {
    let mut packed = bare(Sample { depth: 1, ..BASE }.model());
    packed.graph.initializers[0] = tensor("packed", &[16, 32]);
    packed.graph.nodes[0].inputs[1] = "packed".into();
    let fit = fit(&packed, &BASE.model());
    assert_eq!((fit.contradictions, fit.parameters.by_piece), (0, 2), "{:?}", fit.reasons);
}

#[test]
fn another_width_is_a_parameter_of_another_size() {
    let found = reasons(&bare(Sample { width: 24, ..BASE }.model()), &BASE);
    assert_eq!(
        found[0],
        "the parameter layers.0.weight has 576 elements in the file and 256 in the evidence"
    );
}

#[test]
fn another_depth_lacks_a_weight_or_has_one_too_many() {
    let deeper = Sample { depth: 3, ..BASE };
    let found = reasons(&bare(BASE.model()), &deeper);
    assert_eq!(found[0], "the file does not have the parameter layers.2.weight of 16 × 16");
    let found = reasons(&bare(deeper.model()), &BASE);
    assert_eq!(found[0], "the evidence does not have the weight layers.2.weight of 16 × 16");
}

#[test]
fn a_part_is_not_the_whole() {
    let part = Sample { labels: None, ..BASE };
    let found = reasons(&bare(part.model()), &BASE);
    assert_eq!(found[0], "the file does not have the parameter head.weight of 4 × 16");
    let found = reasons(&bare(BASE.model()), &part);
    assert_eq!(found[0], "the evidence does not have the weight head.weight of 4 × 16");
}

#[test]
fn other_operators_are_counted() {
    let found = reasons(&bare(Sample { activation: "Tanh", ..BASE }.model()), &BASE);
    assert_eq!(found, ["the file has 2 nodes of Tanh, for which the model has 0 operators"]);
}

#[test]
fn other_classes_show_where_the_file_tells_them() {
    let renamed = Sample { class: "Other", ..BASE };
    let found = reasons(&renamed.model(), &BASE);
    assert_eq!(found[0], "the module \"\" is a Other in the file and a Net in the evidence");
    assert_eq!(fit(&bare(renamed.model()), &BASE.model()).score, 1.0, "the graphs are the same");
}

#[test]
fn weights_are_read_in_the_order_of_the_model() {
    let mut turned = bare(BASE.model());
    let [first, second] = ["layers.0.weight", "layers.1.weight"];
    turned.graph.nodes[0].inputs[1] = second.into();
    turned.graph.nodes[2].inputs[1] = first.into();
    let found = reasons(&turned, &BASE);
    assert_eq!(found, ["the file uses layers.1.weight before layers.0.weight, and the model after it"]);
}
