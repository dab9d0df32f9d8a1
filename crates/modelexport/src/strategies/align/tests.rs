//! Alignments of small hand-made runs and graphs. A run is written as `name = target(sources)`, a graph as
//! `result = Operator(operands)`; `x` is the model's input, and names with a dot are weights.

use std::collections::HashMap;

use modelexport_graph::onnx::{self, Model, Node, Tensor, ValueInfo};
use modelexport_graph::{DType, Method, ModuleTree, ScopeId, Scopes};

use super::super::evidence::Calls;
use super::super::facts::Fact;
use super::super::graph::GraphView;
use super::super::{Attribution, Draft};
use super::foreign::Foreign;
use super::prepared::Prepared;
use super::reference::{Reference, Source, Step};
use super::{align, left_out, search::Placed};

/// Weights in the order in which they are first named.
#[derive(Default)]
struct Weights(Vec<String>);

impl Weights {
    fn class(&mut self, name: &str) -> u32 {
        let place = self.0.iter().position(|known| known == name).unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 1
        });
        place as u32
    }
}

/// `y = f(a, b) [2, 3]` as name, operator, operands, sizes.
fn parse(line: &str) -> (&str, &str, Vec<&str>, Option<Vec<i64>>) {
    let (name, call) = line.split_once(" = ").expect("a name before =");
    let (operator, rest) = call.split_once('(').expect("operands in brackets");
    let (operands, sizes) = rest.split_once(')').expect("operands in brackets");
    let sizes = sizes.trim().strip_prefix('[').and_then(|sizes| sizes.strip_suffix(']'));
    let sizes = sizes.map(|sizes| sizes.split(", ").map(|size| size.parse().expect("a size")).collect());
    (name.trim(), operator, operands.split(", ").filter(|name| !name.is_empty()).collect(), sizes)
}

fn reference(lines: &[&str], weights: &mut Weights) -> Reference {
    let mut reference = Reference::default();
    reference.inputs.push("x".into());
    let mut known = HashMap::from([("x", Source::Input(0))]);
    for line in lines {
        let (name, target, operands, sizes) = parse(line);
        let number = reference.len() as u32;
        let origins: Vec<(Source, u32)> = operands
            .iter()
            .map(|operand| match operand.contains('.') {
                true => (Source::Weight(weights.class(operand)), 0),
                false => (known[operand], 0),
            })
            .collect();
        let sizes = sizes.map(|sizes| sizes.into_iter().map(Some).collect());
        let target = reference.target_id(&format!("aten.{target}.default").into());
        let step = Step { target, call: ScopeId(number), name: Some(name.into()), arguments: 0 };
        let result = sizes.map(|sizes| Fact { dtype: DType::F32, sizes });
        reference.push(step, &origins, result.into_iter());
        known.insert(name, Source::Step(number));
    }
    reference.outputs = vec![reference.len().checked_sub(1).map(|last| Source::Step(last as u32))];
    reference
}

fn model(lines: &[&str]) -> Model {
    let mut graph = onnx::Graph::default();
    let info = |name: &str| ValueInfo { name: name.into(), ..ValueInfo::default() };
    graph.inputs.push(info("x"));
    for line in lines {
        let (name, operator, operands, _) = parse(line);
        for weight in operands.iter().filter(|operand| operand.contains('.')) {
            graph.initializers.push(Tensor { name: (*weight).into(), ..Tensor::default() });
        }
        graph.nodes.push(Node {
            op_type: operator.into(),
            inputs: operands.into_iter().map(Into::into).collect(),
            outputs: vec![name.into()],
            ..Node::default()
        });
    }
    let last = graph.nodes.last().map(|node| node.outputs[0].clone());
    graph.outputs.extend(last.map(|name| info(&name)));
    Model { graph, ..Model::default() }
}

/// For each node of `graph` the step of `run` that it belongs to.
fn aligned(run: &[&str], graph: &[&str]) -> Vec<String> {
    let mut weights = Weights::default();
    let reference = reference(run, &mut weights);
    let model = model(graph);
    let view = GraphView::new(&model);
    let weight_of = |value| {
        let name = view.value_name(value);
        weights.0.iter().position(|known| known == name).map(|place| place as u32)
    };
    let foreign = Foreign::new(&view, &reference.inputs, &weight_of);
    let calls = Calls::new(&ModuleTree::new(), &mut Scopes::new());
    let placed = align(&Prepared::new(&reference), &foreign, &calls);
    let name = |place: &Option<Placed>| match place {
        Some(place) => reference.steps()[place.step as usize].name.as_deref().unwrap_or("").to_owned(),
        None => "-".to_owned(),
    };
    placed.iter().map(name).collect()
}

#[test]
fn a_linear_layer_takes_its_bias_and_leaves_the_sum_after_it() {
    let run = ["dense = linear(x, d.weight, d.bias)", "sum = add(dense, x)", "act = relu(sum)"];
    let graph = ["a = MatMul(x, folded.1)", "b = Add(a, d.bias)", "c = Add(b, x)", "d = Relu(c)"];
    assert_eq!(aligned(&run, &graph), ["dense", "dense", "sum", "act"]);
}

#[test]
fn layers_that_look_alike_are_told_apart_by_order_alone() {
    let layer = |i: usize| match i {
        0 => ["m0 = linear(x, w.0)".to_owned(), "r0 = relu(m0)".to_owned()],
        i => [format!("m{i} = linear(r{}, w.{i})", i - 1), format!("r{i} = relu(m{i})")],
    };
    let run: Vec<String> = (0..40).flat_map(layer).collect();
    let run: Vec<&str> = run.iter().map(String::as_str).collect();
    let nodes = |i: usize| {
        let before = if i == 0 { "x".to_owned() } else { format!("b{}", i - 1) };
        [format!("a{i} = MatMul({before}, folded.{i})"), format!("b{i} = Relu(a{i})")]
    };
    let graph: Vec<String> = (0..40).flat_map(nodes).collect();
    let graph: Vec<&str> = graph.iter().map(String::as_str).collect();
    let expected: Vec<String> = (0..40).flat_map(|i| [format!("m{i}"), format!("r{i}")]).collect();
    assert_eq!(aligned(&run, &graph), expected);
}

#[test]
fn a_weight_that_several_steps_share_does_not_mislead() {
    // Exporters keep one of several equal weights: the bias of the first layer serves in both.
    let run = [
        "m0 = linear(x, a.weight, zero.bias)",
        "g0 = gelu(m0)",
        "m1 = linear(g0, b.weight, zero.bias)",
        "g1 = gelu(m1)",
    ];
    let graph = [
        "a = MatMul(x, a.weight)",
        "b = Add(a, zero.bias)",
        "c = Gelu(b)",
        "d = MatMul(c, folded.w)",
        "e = Add(d, zero.bias)",
        "f = Gelu(e)",
    ];
    assert_eq!(aligned(&run, &graph), ["m0", "m0", "g0", "m1", "m1", "g1"]);
}

#[test]
fn a_fused_norm_takes_the_convolution() {
    let run = [
        "c0 = conv2d(x, c0.weight)",
        "n0 = batch_norm(c0, n0.weight, n0.bias)",
        "r0 = relu(n0)",
        "c1 = conv2d(r0, c1.weight)",
        "r1 = relu(c1)",
    ];
    let fused = ["a = Conv(x, c0.weight)", "b = Relu(a)", "c = Conv(b, c1.weight)", "d = Relu(c)"];
    assert_eq!(aligned(&run, &fused), ["n0", "r0", "c1", "r1"]);
    let apart = [
        "a = Conv(x, c0.weight)",
        "n = BatchNormalization(a, n0.weight, n0.bias)",
        "b = Relu(n)",
        "c = Conv(b, c1.weight)",
        "d = Relu(c)",
    ];
    assert_eq!(aligned(&run, &apart), ["c0", "n0", "r0", "c1", "r1"]);
    // TorchScript's exporter fuses before it makes nodes.
    let named = ["a = Conv(x, onnx::Conv_1.)", "b = Relu(a)", "c = Conv(b, c1.weight)", "d = Relu(c)"];
    assert_eq!(aligned(&run, &named), ["c0", "r0", "c1", "r1"]);
}

#[test]
fn steps_that_do_nothing_are_not_taken_for_fused_ones() {
    let run = [
        "c0 = conv2d(x, c0.weight) [1, 4, 8, 8]",
        "p0 = pad(c0) [1, 4, 8, 8]",
        "c1 = conv2d(p0, c1.weight) [1, 4, 8, 8]",
    ];
    assert_eq!(aligned(&run, &["a = Conv(x, c0.weight)", "b = Conv(a, c1.weight)"]), ["c0", "c1"]);
}

#[test]
fn what_was_folded_or_computed_once_leaves_no_gap() {
    let run = [
        "ones = ones()",
        "mask = triu(ones)",
        "m0 = mul(x, scale.0)",
        "a0 = add(m0, mask)",
        "s = sin(x)",
        "b0 = mul(a0, s)",
        "s_again = sin(x)",
        "b1 = mul(b0, s_again)",
    ];
    let graph =
        ["a = Mul(x, scale.0)", "b = Add(a, folded.mask)", "c = Sin(x)", "d = Mul(b, c)", "e = Mul(d, c)"];
    assert_eq!(aligned(&run, &graph), ["m0", "a0", "s", "b0", "b1"]);
}

#[test]
fn the_operators_of_the_file_choose_the_form() {
    let run = ["n = layer_norm(x, n.weight, n.bias)", "s = add(n, x)"];
    assert_eq!(aligned(&run, &["a = LayerNormalization(x, n.weight, n.bias)", "b = Add(a, x)"]), ["n", "s"]);
    let decomposed = [
        "a = ReduceMean(x)",
        "b = Sub(x, a)",
        "c = Pow(b, two.0)",
        "d = ReduceMean(c)",
        "e = Add(d, eps.0)",
        "f = Sqrt(e)",
        "g = Div(b, f)",
        "h = Mul(g, n.weight)",
        "i = Add(h, n.bias)",
        "j = Add(i, x)",
    ];
    let mut expected = vec!["n"; 9];
    expected.push("s");
    assert_eq!(aligned(&run, &decomposed), expected);
}

#[test]
fn a_node_that_no_form_tells_belongs_to_the_step_that_reads_it() {
    let run = ["r = relu(x)", "q = embedding(table.0, r)", "t = tanh(q)"];
    let graph = ["a = Relu(x)", "b = Round(a)", "c = Gather(table.0, b)", "d = Tanh(c)"];
    assert_eq!(aligned(&run, &graph), ["r", "q", "q", "t"]);
}

#[test]
fn an_operator_without_a_row_goes_by_its_name() {
    let run = ["r = relu(x)", "h = det(r)", "t = tanh(h)"];
    assert_eq!(aligned(&run, &["a = Relu(x)", "b = Det(a)", "c = Tanh(b)"]), ["r", "h", "t"]);
}

#[test]
fn constants_and_their_copies_are_left_to_others() {
    let run = ["r = relu(x)", "s = add(r, w.0)"];
    let graph = ["k = Constant()", "i = Identity(w.0)", "a = Relu(x)", "b = Add(a, i)"];
    assert_eq!(aligned(&run, &graph), ["r", "s"]);
}

#[test]
fn without_steps_nothing_is_placed() {
    assert_eq!(aligned(&[], &["a = Relu(x)"]), ["-"]);
    assert!(aligned(&["r = relu(x)"], &[]).is_empty());
}

#[test]
fn a_table_in_many_nodes_does_not_lead_away() {
    let run = [
        "l0 = linear(x, a.weight)",
        "r0 = arange()",
        "g0 = ge(r0)",
        "m0 = mul(l0, g0)",
        "l1 = linear(m0, b.weight)",
        "r1 = linspace()",
        "n1 = neg(r1)",
        "g1 = lt(n1)",
        "m1 = mul(l1, g1)",
        "t = tanh(m1)",
    ];
    let mut graph = vec!["a = MatMul(x, a.weight)".to_owned(), "f0 = Range()".to_owned()];
    let table = ["Neg", "Less", "ScatterND", "Range", "Neg", "Less"];
    for i in 1..90 {
        graph.push(format!("f{i} = {}(f{})", table[i % table.len()], i - 1));
    }
    let rest = ["m = Mul(a, f89)", "b = MatMul(m, b.weight)", "r = Range()", "n = Neg(r)", "g = Less(n)"];
    graph.extend(rest.iter().chain(&["o = Mul(b, g)", "t = Tanh(o)"]).map(|line| (*line).to_owned()));
    let graph: Vec<&str> = graph.iter().map(String::as_str).collect();
    let found = aligned(&run, &graph);
    assert_eq!(found[0], "l0");
    assert!(found[1..91].iter().all(|step| ["l0", "r0", "g0", "m0"].contains(&step.as_str())), "{found:?}");
    assert_eq!(found[91..], ["m0", "l1", "r1", "n1", "g1", "m1", "t"]);
}

#[test]
fn all_of_a_tensor_may_be_written_as_a_slice() {
    let run = ["a = relu(x)", "b = alias(a)", "c = tanh(b)"];
    assert_eq!(aligned(&run, &["a = Relu(x)", "b = Slice(a)", "c = Tanh(b)"]), ["a", "b", "c"]);
    assert_eq!(aligned(&run, &["a = Relu(x)", "c = Tanh(a)"]), ["a", "c"]);
}

/// For each node of `graph`, with constants and sizes, the step of `run` in whose call it is.
fn filled(run: &[&str], graph: &[&str]) -> Vec<String> {
    let mut weights = Weights::default();
    let mut reference = reference(run, &mut weights);
    let (mut tree, mut scopes) = (ModuleTree::new(), Scopes::new());
    let module = tree.insert("m");
    let holder = scopes.child(Scopes::ROOT, module, 0);
    for step in &mut reference.steps {
        let module = tree.insert(&format!("m.{}", step.name.as_deref().unwrap_or("")));
        step.call = scopes.child(holder, module, 0);
    }
    let calls = Calls::new(&tree, &mut scopes);
    let model = model(graph);
    let view = GraphView::new(&model);
    let weight_of = |value| {
        let name = view.value_name(value);
        weights.0.iter().position(|known| known == name).map(|place| place as u32)
    };
    let foreign = Foreign::new(&view, &reference.inputs, &weight_of);
    let prepared = Prepared::new(&reference);
    let placed = align(&prepared, &foreign, &calls);
    let mut draft: Draft = vec![None; view.len()];
    for (node, place) in foreign.nodes.iter().zip(&placed) {
        let call = reference.steps()[place.expect("a place").step as usize].call;
        draft[node.id.0 as usize] = Some(Attribution::new(call, Method::Order, 1.0));
    }
    left_out::fill(&prepared, &foreign, &placed, &calls, &mut draft);
    let path = |found: Option<Attribution>| match found {
        Some(found) => tree.get(calls.module(found.call)).expect("a module").path.to_string(),
        None => "-".to_owned(),
    };
    draft.into_iter().map(path).collect()
}

#[test]
fn a_constant_belongs_to_the_step_that_was_computed_beforehand_else_to_its_reader() {
    let run = ["k = arange()", "q = add(x, k)", "t = mul(q)"];
    let graph = ["c = Constant()", "a = Add(x, c)", "two = Constant()", "b = Mul(a, two)"];
    assert_eq!(filled(&run, &graph), ["m.k", "m.q", "m.t", "m.t"]);
}

#[test]
fn what_torchscript_left_behind_belongs_where_it_lies() {
    let run = ["r = relu(x)", "s = tanh(r)", "t = mul(s)", "u = linear(t, onnx::w.1)"];
    let graph = [
        "a = Relu(x)",
        "kept = Constant()",
        "b = Tanh(a)",
        "own = Constant()",
        "c = Mul(b, own)",
        "d = MatMul(c, onnx::w.1)",
        "e = Reshape(d, kept)",
    ];
    assert_eq!(filled(&run, &graph), ["m.r", "m", "m.s", "m.t", "m.t", "m.u", "m.u"]);
}

#[test]
fn a_list_belongs_to_the_node_that_it_was_made_for() {
    let run = ["r = relu(x)", "s = tanh(r)", "t = view(s)", "u = linear(t, onnx::w.1)"];
    let graph = [
        "a = Relu(x)",
        "one = Constant()",
        "list = Concat(one)",
        "b = Tanh(a)",
        "c = Reshape(b, list)",
        "d = MatMul(c, onnx::w.1)",
    ];
    assert_eq!(filled(&run, &graph), ["m.r", "m", "m.t", "m.s", "m.t", "m.u"]);
}

#[test]
fn a_constant_that_comes_first_belongs_to_the_first_node() {
    let run = ["r = relu(x)", "s = tanh(r)", "t = mul(s)", "u = linear(t, onnx::w.1)"];
    let graph =
        ["kept = Constant()", "a = Relu(x)", "b = Tanh(a)", "c = Mul(b, kept)", "d = MatMul(c, onnx::w.1)"];
    assert_eq!(filled(&run, &graph), ["m.r", "m.r", "m.s", "m.t", "m.u"]);
}

#[test]
fn a_cast_between_two_calls_belongs_to_the_first_that_reads_it() {
    let run = ["a = add(x, x)", "p = exp(a)", "q = mul(a, p)"];
    let graph = ["a = Add(x, x)", "k = Cast(a)", "p = Exp(k)", "q = Mul(k, p)"];
    assert_eq!(filled(&run, &graph), ["m.a", "m.p", "m.p", "m.q"]);
}
