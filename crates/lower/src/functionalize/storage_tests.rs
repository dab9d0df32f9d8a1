//! Weights over one storage: what is written to one is read through the others, or refused. That the numbers are
//! PyTorch's is checked by `tests/python/test_shared_storage.py`.

#![allow(clippy::unwrap_used)]

use insta::assert_snapshot;
use modelexport_graph::DType;
use modelexport_graph::aten::{Arg, Program, TensorMeta, ValueId};

use super::functionalize;
use crate::error::Error;
use crate::test_program::{TestProgram, strided, tensor, text};

fn rewritten(mut program: Program) -> String {
    functionalize(&mut program).unwrap();
    text(&program.graph)
}

fn refused(mut program: Program) -> String {
    match functionalize(&mut program) {
        Err(Error::Node { place, reason }) => format!("{}: {reason}", place.node),
        other => panic!("expected a refused node, found {other:?}"),
    }
}

fn of(value: ValueId) -> (&'static str, Arg) {
    ("self", Arg::Tensor(value))
}

fn add_one(p: &mut TestProgram, value: ValueId, meta: TensorMeta) -> ValueId {
    p.node("aten.add_.Tensor", &[of(value), ("other", Arg::Int(1))], meta)
}

fn negative(p: &mut TestProgram, value: ValueId, meta: TensorMeta) -> ValueId {
    p.node("aten.neg.default", &[of(value)], meta)
}

#[test]
fn a_write_to_a_weight_is_read_through_its_parts() {
    let mut p = TestProgram::new();
    let row = p.buffer_in(0, 24, "row", strided(&[3], &[1], 3));
    let whole = p.buffer_in(0, 24, "whole", tensor(&[2, 3]));
    let turned = p.buffer_in(0, 24, "turned", strided(&[3, 2], &[1, 3], 0));
    let before = negative(&mut p, row, tensor(&[3]));
    add_one(&mut p, whole, tensor(&[2, 3]));
    let after = negative(&mut p, row, tensor(&[3]));
    let other = negative(&mut p, turned, tensor(&[3, 2]));
    assert_snapshot!(rewritten(p.outputs(&[before, after, other])), @r"
    neg = aten.neg.default(row)
    add_ = aten.add.Tensor(whole, 1)
    row_1 = aten.as_strided.default(add_, [3], [1], 3)
    neg_1 = aten.neg.default(row_1)
    turned_1 = aten.as_strided.default(add_, [3, 2], [1, 3], 0)
    neg_2 = aten.neg.default(turned_1)
    return neg, neg_1, neg_2
    ");
}

#[test]
fn a_write_to_a_part_is_read_through_the_weight_and_other_parts() {
    let mut p = TestProgram::new();
    let whole = p.buffer_in(0, 24, "whole", tensor(&[2, 3]));
    let row = p.buffer_in(0, 24, "row", strided(&[3], &[1], 3));
    let column = p.buffer_in(0, 24, "column", strided(&[2], &[3], 1));
    let first = p.buffer_in(0, 24, "first", strided(&[3], &[1], 0));
    add_one(&mut p, row, tensor(&[3]));
    let results = [(whole, &[2, 3][..]), (column, &[2]), (first, &[3])]
        .map(|(x, sizes)| negative(&mut p, x, tensor(sizes)));
    assert_snapshot!(rewritten(p.outputs(&results)), @r"
    add_ = aten.add.Tensor(row, 1)
    add_scatter = aten.as_strided_scatter.default(whole, add_, [3], [1], 3)
    neg = aten.neg.default(add_scatter)
    column_1 = aten.as_strided.default(add_scatter, [2], [3], 1)
    neg_1 = aten.neg.default(column_1)
    first_1 = aten.as_strided.default(add_scatter, [3], [1], 0)
    neg_2 = aten.neg.default(first_1)
    return neg, neg_1, neg_2
    ");
}

#[test]
fn parts_that_no_weight_holds_get_one_that_does() {
    let mut p = TestProgram::new();
    let (low, high) = (strided(&[2, 3], &[3, 1], 3), strided(&[2, 3], &[3, 1], 6));
    let a = p.buffer_in(0, 48, "part.a", low.clone());
    let b = p.buffer_in(0, 48, "part.b", high);
    add_one(&mut p, a, low);
    let read = negative(&mut p, b, tensor(&[2, 3]));
    let mut program = p.outputs(&[read]);
    functionalize(&mut program).unwrap();
    assert_snapshot!(text(&program.graph), @r"
    add_ = aten.add.Tensor(part.a, 1)
    add_scatter = aten.as_strided_scatter.default(part_a_storage, add_, [2, 3], [3, 1], 3)
    part.b_1 = aten.as_strided.default(add_scatter, [2, 3], [3, 1], 6)
    neg = aten.neg.default(part.b_1)
    return neg
    ");
    let added = program.weights.last().unwrap();
    assert_eq!((&*added.name, added.sizes.as_slice()), ("part.a_storage", &[9][..]));
    assert_eq!(added.data.as_ref().unwrap().offset, 3);
    assert_eq!(program.graph.inputs.len(), 3);
    assert_eq!(program.signature.inputs.len(), 3);
}

#[test]
fn weights_that_only_read_or_do_not_touch_stay_as_they_are() {
    let mut p = TestProgram::new();
    let a = p.buffer_in(0, 36, "a", strided(&[2, 3], &[3, 1], 0));
    let b = p.buffer_in(0, 36, "b", strided(&[2, 3], &[3, 1], 3));
    let c = p.buffer_in(1, 24, "c", strided(&[3], &[1], 0));
    let d = p.buffer_in(1, 24, "d", strided(&[3], &[1], 3));
    add_one(&mut p, d, tensor(&[3]));
    let results = [(a, &[2, 3][..]), (b, &[2, 3]), (c, &[3]), (d, &[3])]
        .map(|(x, sizes)| negative(&mut p, x, tensor(sizes)));
    let program = p.outputs(&results);
    assert_eq!(program.weights.len(), 4);
    assert_snapshot!(rewritten(program), @r"
    add_ = aten.add.Tensor(d, 1)
    neg = aten.neg.default(a)
    neg_1 = aten.neg.default(b)
    neg_2 = aten.neg.default(c)
    neg_3 = aten.neg.default(add_)
    return neg, neg_1, neg_2, neg_3
    ");
}

#[test]
fn an_expanded_weight_sees_the_change_and_cannot_be_written() {
    let wide = || strided(&[4, 3], &[0, 1], 0);
    let program = |writes_wide: bool| {
        let mut p = TestProgram::new();
        let row = p.buffer_in(0, 12, "row", tensor(&[3]));
        let expanded = p.buffer_in(0, 12, "expanded", wide());
        match writes_wide {
            true => add_one(&mut p, expanded, wide()),
            false => add_one(&mut p, row, tensor(&[3])),
        };
        let read = negative(&mut p, expanded, tensor(&[4, 3]));
        p.outputs(&[read])
    };
    assert_snapshot!(rewritten(program(false)), @r"
    add_ = aten.add.Tensor(row, 1)
    expanded_1 = aten.as_strided.default(add_, [4, 3], [0, 1], 0)
    neg = aten.neg.default(expanded_1)
    return neg
    ");
    assert_snapshot!(refused(program(true)), @r"add_: writes to a tensor whose elements share memory (an expanded tensor, or overlapping windows): clone it first");
}

#[test]
fn contents_that_come_from_elsewhere_are_read_by_the_strides_of_the_weight() {
    let mut p = TestProgram::new();
    let x = p.input("x", tensor(&[3, 6]));
    let whole = p.buffer_in(0, 24, "whole", tensor(&[6]));
    let part = p.buffer_in(0, 24, "part", strided(&[2], &[2], 1));
    let row = strided(&[6], &[1], 6);
    let source = p.node("aten.select.int", &[of(x), ("dim", Arg::Int(0)), ("index", Arg::Int(1))], row);
    p.node("aten.copy_.default", &[of(whole), ("src", Arg::Tensor(source))], tensor(&[6]));
    let read = negative(&mut p, part, tensor(&[2]));
    assert_snapshot!(rewritten(p.outputs(&[read])), @r"
    select = aten.select.int(x, 0, 1)
    part_1 = aten.alias.default(select)
    part_2 = aten.as_strided.default(part_1, [2], [2], 1)
    neg = aten.neg.default(part_2)
    return neg
    ");
}

#[test]
fn memory_of_two_types_is_refused_once_it_is_written() {
    let bits = TensorMeta { dtype: DType::I32, ..tensor(&[4]) };
    let program = |writes: bool| {
        let mut p = TestProgram::new();
        let numbers = p.buffer_in(0, 16, "layer.numbers", tensor(&[4]));
        let shown = p.buffer_in(0, 16, "layer.bits", bits.clone());
        if writes {
            add_one(&mut p, numbers, tensor(&[4]));
        } else {
            let copy = negative(&mut p, numbers, tensor(&[4]));
            add_one(&mut p, copy, tensor(&[4]));
        }
        let read = negative(&mut p, shown, bits.clone());
        p.outputs(&[read])
    };
    assert_snapshot!(rewritten(program(false)), @r"
    neg = aten.neg.default(layer.numbers)
    add_ = aten.add.Tensor(neg, 1)
    neg_1 = aten.neg.default(layer.bits)
    return neg_1
    ");
    assert_snapshot!(refused(program(true)), @r"neg: reads `layer.bits`, but `add_` changes `layer.numbers`, and `layer.bits` lies in the same memory in another way (type or strides), which is not followed: keep one of the two, and take the other from it in `forward`");
}
