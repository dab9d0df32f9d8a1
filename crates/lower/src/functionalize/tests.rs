//! What programs with in-place operators become. That the numbers stay is checked against PyTorch by the operator
//! cases.

#![allow(clippy::unwrap_used)]

use insta::assert_snapshot;
use modelexport_graph::aten::{Arg, OutputSpec, Program, TensorMeta, ValueId};
use modelexport_graph::{DType, Dim, SymExpr, SymOp};

use super::functionalize;
use crate::error::Error;
use crate::test_program::{TestProgram, strided, tensor, text};

fn rewritten(mut program: Program) -> String {
    functionalize(&mut program).unwrap();
    text(&program.graph)
}

fn refused(mut program: Program) -> (String, String) {
    match functionalize(&mut program) {
        Err(Error::Node { place, reason }) => (place.node, reason),
        other => panic!("expected a refused node, found {other:?}"),
    }
}

fn of(value: ValueId) -> (&'static str, Arg) {
    ("self", Arg::Tensor(value))
}

fn int(name: &'static str, value: i64) -> (&'static str, Arg) {
    (name, Arg::Int(value))
}

#[test]
fn a_program_without_mutation_is_untouched() {
    let mut p = TestProgram::new();
    let x = p.input("x", tensor(&[2, 3]));
    let flat = p.node("aten.view.default", &[of(x), ("size", Arg::Ints(vec![6]))], tensor(&[6]));
    let alias = p.node("aten.detach.default", &[of(flat)], tensor(&[6]));
    let relu = p.node("aten.relu.default", &[of(alias)], tensor(&[6]));
    let program = p.outputs(&[relu, alias]);
    let before = text(&program.graph);
    assert_eq!(rewritten(program), before);
}

#[test]
fn an_in_place_operator_on_a_fresh_value_is_its_functional_variant_and_nothing_more() {
    let mut p = TestProgram::new();
    let x = p.input("x", tensor(&[2, 3]));
    let y = p.node("aten.neg.default", &[of(x)], tensor(&[2, 3]));
    let y1 = p.node("aten.relu_.default", &[of(y)], tensor(&[2, 3]));
    let y2 = p.node("aten.add_.Tensor", &[of(y1), int("other", 1)], tensor(&[2, 3]));
    let out = p.node("aten.exp.default", &[of(y2)], tensor(&[2, 3]));
    assert_snapshot!(rewritten(p.outputs(&[out])), @r"
    neg = aten.neg.default(x)
    relu_ = aten.relu.default(neg)
    add_ = aten.add.Tensor(relu_, 1)
    exp = aten.exp.default(add_)
    return exp
    ");
}

#[test]
fn all_names_of_a_tensor_see_the_change_and_outputs_keep_their_names() {
    let mut p = TestProgram::new();
    let x = p.input("x", tensor(&[2, 3]));
    let y = p.node("aten.neg.default", &[of(x)], tensor(&[2, 3]));
    let alias = p.node("aten.detach.default", &[of(y)], tensor(&[2, 3]));
    p.node("aten.relu_.default", &[of(y)], tensor(&[2, 3]));
    let mut program = p.outputs(&[y, alias]);
    functionalize(&mut program).unwrap();
    assert_snapshot!(text(&program.graph), @r"
    neg = aten.neg.default(x)
    relu_ = aten.relu.default(neg)
    return relu_, relu_
    ");
    let names = program.signature.outputs.iter().map(|spec| match spec {
        OutputSpec::User { name } => name.as_deref().unwrap_or_default(),
        _ => "",
    });
    assert_eq!(names.collect::<Vec<_>>(), ["neg", "detach"]);
}

#[test]
fn a_write_through_views_reaches_what_they_show_and_other_views() {
    let mut p = TestProgram::new();
    let x = p.input("x", tensor(&[4, 6]));
    let y = p.node("aten.neg.default", &[of(x)], tensor(&[4, 6]));
    let other = p.node(
        "aten.slice.Tensor",
        &[of(y), int("dim", 0), int("start", 0), int("end", 2)],
        strided(&[2, 6], &[6, 1], 0),
    );
    let t =
        p.node("aten.transpose.int", &[of(y), int("dim0", 0), int("dim1", 1)], strided(&[6, 4], &[1, 6], 0));
    let row = p.node("aten.select.int", &[of(t), int("dim", 0), int("index", 2)], strided(&[4], &[6], 2));
    p.node("aten.mul_.Tensor", &[of(row), int("other", 3)], strided(&[4], &[6], 2));
    let sum = p.node("aten.sum.default", &[of(other)], tensor(&[]));
    assert_snapshot!(rewritten(p.outputs(&[sum, y])), @r"
    neg = aten.neg.default(x)
    slice = aten.slice.Tensor(neg, 0, 0, 2)
    transpose = aten.transpose.int(neg, 0, 1)
    select = aten.select.int(transpose, 0, 2)
    mul_ = aten.mul.Tensor(select, 3)
    mul_scatter = aten.select_scatter.default(transpose, mul_, 0, 2)
    mul_scatter_1 = aten.permute.default(mul_scatter, [1, 0])
    slice_1 = aten.slice.Tensor(mul_scatter_1, 0, 0, 2)
    sum = aten.sum.default(slice_1)
    return sum, mul_scatter_1
    ");
}

#[test]
fn a_write_that_nobody_reads_is_not_carried_up() {
    let mut p = TestProgram::new();
    let x = p.input("x", tensor(&[4, 6]));
    let y = p.node("aten.neg.default", &[of(x)], tensor(&[4, 6]));
    let row = p.node("aten.select.int", &[of(y), int("dim", 0), int("index", 1)], strided(&[6], &[1], 6));
    let row = p.node("aten.exp_.default", &[of(row)], strided(&[6], &[1], 6));
    assert_snapshot!(rewritten(p.outputs(&[row])), @r"
    neg = aten.neg.default(x)
    select = aten.select.int(neg, 0, 1)
    exp_ = aten.exp.default(select)
    return exp_
    ");
}

#[test]
fn pieces_that_do_not_touch_leave_each_other_alone() {
    let mut p = TestProgram::new();
    let x = p.input("x", tensor(&[4, 6]));
    let y = p.node("aten.neg.default", &[of(x)], tensor(&[4, 6]));
    let half = |offset| strided(&[4, 3], &[6, 1], offset);
    let halves =
        p.nodes("aten.chunk.default", &[of(y), int("chunks", 2), int("dim", 1)], &[half(0), half(3)]);
    p.node("aten.relu_.default", &[of(halves[0])], half(0));
    let right = p.node("aten.exp.default", &[of(halves[1])], half(3));
    assert_snapshot!(rewritten(p.outputs(&[right, y])), @r"
    neg = aten.neg.default(x)
    chunk_0, chunk_1 = aten.chunk.default(neg, 2, 1)
    relu_ = aten.relu.default(chunk_0)
    exp = aten.exp.default(chunk_1)
    relu_scatter = aten.slice_scatter.default(neg, relu_, 1, 0, 3)
    return exp, relu_scatter
    ");
}

#[test]
fn the_same_part_taken_twice_is_one_place() {
    let mut p = TestProgram::new();
    let x = p.input("x", tensor(&[4, 6]));
    let y = p.node("aten.neg.default", &[of(x)], tensor(&[4, 6]));
    let row = strided(&[6], &[1], 6);
    for other in [1, 2] {
        let part = p.node("aten.select.int", &[of(y), int("dim", 0), int("index", 1)], row.clone());
        p.node("aten.add_.Tensor", &[of(part), int("other", other)], row.clone());
    }
    assert_snapshot!(rewritten(p.outputs(&[y])), @r"
    neg = aten.neg.default(x)
    select = aten.select.int(neg, 0, 1)
    add_ = aten.add.Tensor(select, 1)
    add__1 = aten.add.Tensor(add_, 2)
    add__1_scatter = aten.select_scatter.default(neg, add__1, 0, 1)
    return add__1_scatter
    ");
}

#[test]
fn copies_and_fills_do_not_read_what_they_overwrite() {
    let mut p = TestProgram::new();
    let x = p.input("x", tensor(&[4, 6]));
    let row = p.input("row", tensor(&[6]));
    let cell = p.input("cell", tensor(&[1]));
    let y = p.node("aten.empty_like.default", &[of(x)], tensor(&[4, 6]));
    for (index, source) in [(0, row), (1, cell)] {
        let at = strided(&[6], &[1], 6 * index);
        let part = p.node("aten.select.int", &[of(y), int("dim", 0), int("index", index)], at.clone());
        p.node("aten.copy_.default", &[of(part), ("src", Arg::Tensor(source))], at);
    }
    let rest = strided(&[2, 6], &[6, 1], 12);
    let part = p.node("aten.slice.Tensor", &[of(y), int("dim", 0), int("start", 2)], rest.clone());
    p.node("aten.zero_.default", &[of(part)], rest);
    assert_snapshot!(rewritten(p.outputs(&[y])), @r"
    empty_like = aten.empty_like.default(x)
    select = aten.select.int(empty_like, 0, 0)
    select_1_1 = aten.select.int(empty_like, 0, 1)
    copy__1 = aten.copy.default(select_1_1, cell)
    slice_1 = aten.slice.Tensor(empty_like, 0, 2)
    zero_ = aten.fill.Scalar(slice_1, 0)
    copy_scatter = aten.select_scatter.default(empty_like, row, 0, 0)
    copy__1_scatter = aten.select_scatter.default(copy_scatter, copy__1, 0, 1)
    zero_scatter = aten.slice_scatter.default(copy__1_scatter, zero_, 0, 2)
    return zero_scatter
    ");
}

#[test]
fn in_place_keeps_the_type_of_its_tensor() {
    let half = |sizes: &[i64]| TensorMeta { dtype: DType::F16, ..tensor(sizes) };
    let mut p = TestProgram::new();
    let x = p.input("x", half(&[3]));
    let wide = p.input("wide", tensor(&[3]));
    let y = p.node("aten.neg.default", &[of(x)], half(&[3]));
    let y = p.node("aten.add_.Tensor", &[of(y), ("other", Arg::Tensor(wide))], half(&[3]));
    let y = p.node("aten.gt_.Scalar", &[of(y), int("other", 0)], half(&[3]));
    assert_snapshot!(rewritten(p.outputs(&[y])), @r"
    neg = aten.neg.default(x)
    add__1 = aten.add.Tensor(neg, wide)
    add_ = aten._to_copy.default(add__1, float16)
    gt__1 = aten.gt.Scalar(add_, 0)
    gt_ = aten._to_copy.default(gt__1, float16)
    return gt_
    ");
}

#[test]
fn a_reshape_that_copies_breaks_the_bond() {
    let mut p = TestProgram::new();
    let x = p.input("x", tensor(&[2, 3]));
    let y = p.node("aten.neg.default", &[of(x)], tensor(&[2, 3]));
    let t = p.node("aten.t.default", &[of(y)], strided(&[3, 2], &[1, 3], 0));
    let copied = p.node("aten.reshape.default", &[of(t), ("shape", Arg::Ints(vec![6]))], tensor(&[6]));
    let shown = p.node("aten.reshape.default", &[of(y), ("shape", Arg::Ints(vec![6]))], tensor(&[6]));
    p.node("aten.relu_.default", &[of(y)], tensor(&[2, 3]));
    assert_snapshot!(rewritten(p.outputs(&[copied, shown])), @r"
    neg = aten.neg.default(x)
    t = aten.t.default(neg)
    reshape = aten.reshape.default(t, [6])
    reshape_1 = aten.reshape.default(neg, [6])
    relu_ = aten.relu.default(neg)
    reshape_1_1 = aten.reshape.default(relu_, [6])
    return reshape, reshape_1_1
    ");
}

#[test]
fn a_transposed_tensor_is_transposed_under_all_its_names() {
    let mut p = TestProgram::new();
    let x = p.input("x", tensor(&[2, 3]));
    let y = p.node("aten.neg.default", &[of(x)], tensor(&[2, 3]));
    let t = p.node("aten.t_.default", &[of(y)], strided(&[3, 2], &[1, 3], 0));
    let t = p.node("aten.exp_.default", &[of(t)], strided(&[3, 2], &[1, 3], 0));
    assert_snapshot!(rewritten(p.outputs(&[y, t])), @r"
    neg = aten.neg.default(x)
    t_ = aten.t.default(neg)
    exp_ = aten.exp.default(t_)
    return exp_, exp_
    ");
}

#[test]
fn a_row_of_an_expanded_tensor_is_written_by_position() {
    let mut p = TestProgram::new();
    let x = p.input("x", tensor(&[1, 3]));
    let y = p.node("aten.neg.default", &[of(x)], tensor(&[1, 3]));
    let e = p.node(
        "aten.expand.default",
        &[of(y), ("size", Arg::Ints(vec![4, 3]))],
        strided(&[4, 3], &[0, 1], 0),
    );
    let row = p.node("aten.select.int", &[of(e), int("dim", 0), int("index", 2)], strided(&[3], &[1], 0));
    p.node("aten.relu_.default", &[of(row)], strided(&[3], &[1], 0));
    assert_snapshot!(rewritten(p.outputs(&[e])), @r"
    neg = aten.neg.default(x)
    expand = aten.expand.default(neg, [4, 3])
    select = aten.select.int(expand, 0, 2)
    relu_ = aten.relu.default(select)
    relu_scatter = aten.arange.default(3)
    relu_scatter_1 = aten.reshape.default(relu_scatter, [1, 3])
    relu_scatter_2 = aten.expand.default(relu_scatter_1, [4, 3])
    relu_scatter_3 = aten.select.int(relu_scatter_2, 0, 2)
    relu_scatter_4 = aten.reshape.default(neg, [3])
    relu_scatter_5 = aten.scatter.src(relu_scatter_4, 0, relu_scatter_3, relu_)
    relu_scatter_6 = aten.reshape.default(relu_scatter_5, [1, 3])
    expand_1 = aten.expand.default(relu_scatter_6, [4, 3])
    return expand_1
    ");
}

#[test]
fn symbolic_sizes_stay_symbolic() {
    let s0 = || Dim::Symbolic(SymExpr::Symbol("s0".into()));
    let twice = Dim::Symbolic(SymExpr::Call(SymOp::Mul, vec![SymExpr::Int(2), SymExpr::Symbol("s0".into())]));
    let mut p = TestProgram::new();
    let meta = TensorMeta { sizes: vec![s0(), 2.into()], strides: vec![2.into(), 1.into()], ..tensor(&[1]) };
    let x = p.input("x", meta.clone());
    let y = p.node("aten.neg.default", &[of(x)], meta);
    let flat = TensorMeta { sizes: vec![twice], ..tensor(&[1]) };
    let flat_view = p.node("aten.view.default", &[of(y), ("size", Arg::Ints(vec![-1]))], flat.clone());
    p.node("aten.relu_.default", &[of(flat_view)], flat);
    assert_snapshot!(rewritten(p.outputs(&[y])), @r"
    neg = aten.neg.default(x)
    view = aten.view.default(neg, [-1])
    relu_ = aten.relu.default(view)
    relu_scatter = aten.reshape.default(relu_, [s0, 2])
    return relu_scatter
    ");
}

#[test]
fn buffers_are_read_with_their_new_contents() {
    let mut p = TestProgram::new();
    let steps = p.buffer("steps", tensor(&[1]));
    let stepped = p.node("aten.add_.Tensor", &[of(steps), int("other", 1)], tensor(&[1]));
    let out = p.node("aten.mul.Tensor", &[of(steps), ("other", Arg::Tensor(stepped))], tensor(&[1]));
    assert_snapshot!(rewritten(p.outputs(&[out])), @r"
    add_ = aten.add.Tensor(steps, 1)
    mul = aten.mul.Tensor(add_, add_)
    return mul
    ");
}

#[test]
fn subgraphs_are_rewritten_on_their_own() {
    let mut inner = TestProgram::new();
    let a = inner.input("a", tensor(&[3]));
    let b = inner.node("aten.sin.default", &[of(a)], tensor(&[3]));
    let c = inner.node("aten.add_.Tensor", &[of(b), int("other", 1)], tensor(&[3]));
    let branch = inner.into_subgraph("true_graph", &[c]);
    let mut p = TestProgram::new();
    let x = p.input("x", tensor(&[3]));
    let y = p.node("higher_order.cond", &[("", branch), ("", Arg::Tensors(vec![x]))], tensor(&[3]));
    assert_snapshot!(rewritten(p.outputs(&[y])), @r"
    cond = higher_order.cond({ sin = aten.sin.default(a); add_ = aten.add.Tensor(sin, 1); return add_ }, [x])
    return cond
    ");
}

#[test]
fn an_expanded_tensor_cannot_be_written() {
    let mut p = TestProgram::new();
    let x = p.input("x", tensor(&[1, 3]));
    let wide = strided(&[4, 3], &[0, 1], 0);
    let e = p.node("aten.expand.default", &[of(x), ("size", Arg::Ints(vec![4, 3]))], wide.clone());
    let e = p.node("aten.relu_.default", &[of(e)], wide);
    let (node, reason) = refused(p.outputs(&[e]));
    assert_eq!(node, "relu_");
    assert!(reason.contains("share memory"), "{reason}");
}

#[test]
fn a_resized_tensor_shows_its_leading_elements() {
    let mut p = TestProgram::new();
    let x = p.input("x", tensor(&[3, 4]));
    let c = p.node("aten.clone.default", &[of(x)], tensor(&[3, 4]));
    let c = p.node("aten.resize_.default", &[of(c), ("size", Arg::Ints(vec![4, 3]))], tensor(&[4, 3]));
    let c = p.node("aten.resize_.default", &[of(c), ("size", Arg::Ints(vec![2, 2]))], tensor(&[2, 2]));
    assert_snapshot!(rewritten(p.outputs(&[c])), @"
    clone = aten.clone.default(x)
    resize_ = aten.view.default(clone, [4, 3])
    resize__1 = aten.as_strided.default(resize_, [2, 2], [2, 1])
    return resize__1
    ");
}

#[test]
fn a_tensor_that_grows_is_refused() {
    let mut p = TestProgram::new();
    let x = p.input("x", tensor(&[3]));
    let c = p.node("aten.clone.default", &[of(x)], tensor(&[3]));
    let c = p.node("aten.resize_.default", &[of(c), ("size", Arg::Ints(vec![5]))], tensor(&[5]));
    let (node, reason) = refused(p.outputs(&[c]));
    assert_eq!(node, "resize_");
    assert_eq!(reason, "grows a tensor from 3 to 5 elements, which nothing has written");
}

#[test]
fn a_branch_that_changes_its_input_is_refused() {
    let mut inner = TestProgram::new();
    let a = inner.input("a", tensor(&[3]));
    let b = inner.node("aten.relu_.default", &[of(a)], tensor(&[3]));
    let branch = inner.into_subgraph("true_graph", &[b]);
    let mut p = TestProgram::new();
    let x = p.input("x", tensor(&[3]));
    let y = p.node("higher_order.cond", &[("", branch), ("", Arg::Tensors(vec![x]))], tensor(&[3]));
    let (node, reason) = refused(p.outputs(&[y]));
    assert_eq!(node, "cond");
    assert!(reason.contains("changes an input"), "{reason}");
}

#[test]
fn statistics_of_a_training_norm_cannot_be_read_afterwards() {
    let mut p = TestProgram::new();
    let x = p.input("x", tensor(&[2, 3]));
    let mean = p.buffer("mean", tensor(&[3]));
    let norm =
        [("input", Arg::Tensor(x)), ("running_mean", Arg::Tensor(mean)), ("training", Arg::Bool(true))];
    let y = p.node("aten.batch_norm.default", &norm, tensor(&[2, 3]));
    let z = p.node("aten.batch_norm.default", &norm, tensor(&[2, 3]));
    let read = p.node("aten.neg.default", &[of(mean)], tensor(&[3]));
    let (node, reason) = refused(p.outputs(&[y, z, read]));
    assert_eq!(node, "neg");
    assert!(reason.contains("while training"), "{reason}");
}

#[test]
fn a_reshape_that_nobody_can_tell_from_a_copy_is_refused() {
    let dim = |name: &str| Dim::Symbolic(SymExpr::Symbol(name.into()));
    let mut p = TestProgram::new();
    // The program says `s3` and `s4` for the new sizes, so that nothing can be compared.
    let slice =
        TensorMeta { sizes: vec![dim("s0"), dim("s1")], strides: vec![dim("s2"), 1.into()], ..tensor(&[1]) };
    let flat =
        TensorMeta { sizes: vec![dim("s3"), dim("s4")], strides: vec![dim("s4"), 1.into()], ..tensor(&[1]) };
    let x = p.input("x", slice.clone());
    let y = p.node("aten.reshape.default", &[of(x), ("shape", Arg::Ints(vec![-1]))], flat.clone());
    p.node("aten.relu_.default", &[of(y)], flat);
    let out = p.node("aten.neg.default", &[of(x)], slice);
    let (node, reason) = refused(p.outputs(&[out]));
    assert_eq!(node, "neg");
    assert!(reason.contains("`reshape`"), "{reason}");
}

#[test]
fn many_writes_take_linear_time_and_nodes() {
    let count = 3000;
    let mut p = TestProgram::new();
    let x = p.input("x", tensor(&[count, 2]));
    let y = p.node("aten.neg.default", &[of(x)], tensor(&[count, 2]));
    let parts: Vec<TensorMeta> = (0..count).map(|i| strided(&[2], &[1], 2 * i)).collect();
    let rows = p.nodes("aten.unbind.int", &[of(y), int("dim", 0)], &parts);
    for (row, meta) in rows.iter().zip(&parts) {
        p.node("aten.relu_.default", &[of(*row)], meta.clone());
    }
    let mut program = p.outputs(&[y]);
    functionalize(&mut program).unwrap();
    assert!(program.graph.nodes.len() as i64 <= 2 + 3 * count, "{}", program.graph.nodes.len());
}
