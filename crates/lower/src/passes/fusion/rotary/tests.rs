//! Spellings of rotary embedding and what they become; and what comes close, and stays.

use modelexport_graph::aten::ValueId;

use super::super::spelled::Spelled;

/// Batch, heads, sequence, size of a vector.
const X: [i64; 4] = [2, 4, 5, 8];

/// Cosine and sine of angles for `batch` sequences, each held twice by `double`, for all heads.
fn angles(
    p: &mut Spelled,
    batch: i64,
    pairs: i64,
    heads: i64,
    double: impl Fn(&mut Spelled, ValueId) -> ValueId,
) -> [ValueId; 2] {
    let angles = p.input("angles", &[batch, 5, pairs]);
    let angles = double(p, angles);
    ["cos", "sin"].map(|function| {
        let turned = p.unary(function, angles);
        p.unsqueeze(turned, heads)
    })
}

fn joined(p: &mut Spelled, x: ValueId) -> ValueId {
    p.join(x, x)
}

fn interleaved(p: &mut Spelled, x: ValueId) -> ValueId {
    p.interleave(x, x)
}

/// `(-x2, x1)` of the halves.
fn rotate_half(p: &mut Spelled, x: ValueId, size: i64) -> ValueId {
    let (first, second) = (p.slice(x, 0, size / 2, 1), p.slice(x, size / 2, size, 1));
    let negative = p.unary("neg", second);
    p.join(negative, first)
}

/// `(-x2, x1)` of the neighbours.
fn rotate_every_two(p: &mut Spelled, x: ValueId, size: i64) -> ValueId {
    let (first, second) = (p.slice(x, 0, size, 2), p.slice(x, 1, size, 2));
    let negative = p.unary("neg", second);
    p.interleave(negative, first)
}

/// `x * cos + turned * sin`.
fn sum(p: &mut Spelled, x: ValueId, turned: ValueId, [cos, sin]: [ValueId; 2]) -> ValueId {
    let (straight, turned) = (p.binary("mul", x, cos), p.binary("mul", turned, sin));
    p.binary("add", straight, turned)
}

#[test]
fn halves_are_turned() {
    let mut p = Spelled::new();
    let x = p.input("x", &X);
    let angles = angles(&mut p, 2, 4, 1, joined);
    let turned = rotate_half(&mut p, x, 8);
    let y = sum(&mut p, x, turned, angles);
    assert_eq!(p.lowered(&[y], 23), "RotaryEmbedding(x, Cos(angles), Sin(angles), interleaved=0)");
}

#[test]
fn neighbours_are_turned() {
    let mut p = Spelled::new();
    let x = p.input("x", &X);
    let angles = angles(&mut p, 2, 4, 1, interleaved);
    let turned = rotate_every_two(&mut p, x, 8);
    let y = sum(&mut p, x, turned, angles);
    assert_eq!(p.lowered(&[y], 23), "RotaryEmbedding(x, Cos(angles), Sin(angles), interleaved=1)");
}

#[test]
fn angles_for_all_of_the_batch_are_expanded() {
    let mut p = Spelled::new();
    let x = p.input("x", &X);
    let angles = angles(&mut p, 1, 4, 1, joined);
    let turned = rotate_half(&mut p, x, 8);
    let y = sum(&mut p, x, turned, angles);
    let expanded = "Expand(Cos(angles), [2, 1, 1]), Expand(Sin(angles), [2, 1, 1])";
    assert_eq!(p.lowered(&[y], 23), format!("RotaryEmbedding(x, {expanded}, interleaved=0)"));
}

#[test]
fn the_rest_of_a_vector_is_put_behind() {
    let mut p = Spelled::new();
    let x = p.input("x", &X);
    let angles = angles(&mut p, 2, 2, 1, joined);
    let (front, back) = (p.slice(x, 0, 4, 1), p.slice(x, 4, 8, 1));
    let turned = rotate_half(&mut p, front, 4);
    let turned = sum(&mut p, front, turned, angles);
    let y = p.join(turned, back);
    let nodes = "RotaryEmbedding(x, Cos(angles), Sin(angles), interleaved=0, rotary_embedding_dim=4)";
    assert_eq!(p.lowered(&[y], 23), nodes);
}

#[test]
fn heads_may_come_after_the_sequence() {
    let mut p = Spelled::new();
    let x = p.input("x", &[2, 5, 4, 8]);
    let angles = angles(&mut p, 2, 4, 2, joined);
    let turned = rotate_half(&mut p, x, 8);
    let y = sum(&mut p, x, turned, angles);
    let inputs = "Reshape(x, [0, 0, 32]), Cos(angles), Sin(angles)";
    let nodes =
        format!("t1 = RotaryEmbedding({inputs}, interleaved=0, num_heads=4)\nReshape(t1, [0, 0, 4, 8])");
    assert_eq!(p.lowered(&[y], 23), nodes);
}

/// Both halves by themselves, by single angles.
fn turned_halves(p: &mut Spelled, x: ValueId, [cos, sin]: [ValueId; 2], sum: &str) -> ValueId {
    let (first, second) = (p.slice(x, 0, 4, 1), p.slice(x, 4, 8, 1));
    let products = [(first, cos), (second, sin), (second, cos), (first, sin)];
    let [a, b, c, d] = products.map(|(x, by)| p.binary("mul", x, by));
    let (difference, sum) = (p.binary("sub", a, b), p.binary(sum, c, d));
    p.join(difference, sum)
}

#[test]
fn halves_are_turned_one_by_one() {
    let mut p = Spelled::new();
    let x = p.input("x", &X);
    let angles = angles(&mut p, 2, 4, 1, |_, angles| angles);
    let y = turned_halves(&mut p, x, angles, "add");
    assert_eq!(p.lowered(&[y], 23), "RotaryEmbedding(x, Cos(angles), Sin(angles), interleaved=0)");
}

// ---- near misses

fn assert_stays(nodes: &str) {
    assert!(!nodes.contains("RotaryEmbedding"), "{nodes}");
}

#[test]
fn before_opset_23_it_stays() {
    let mut p = Spelled::new();
    let x = p.input("x", &X);
    let angles = angles(&mut p, 2, 4, 1, joined);
    let turned = rotate_half(&mut p, x, 8);
    let y = sum(&mut p, x, turned, angles);
    assert_stays(&p.lowered(&[y], 22));
}

#[test]
fn angles_that_differ_between_the_halves_stay() {
    let mut p = Spelled::new();
    let x = p.input("x", &X);
    let angles = angles(&mut p, 2, 8, 1, |_, angles| angles);
    let turned = rotate_half(&mut p, x, 8);
    let y = sum(&mut p, x, turned, angles);
    assert_stays(&p.lowered(&[y], 23));
}

#[test]
fn halves_with_the_angles_of_neighbours_stay() {
    let mut p = Spelled::new();
    let x = p.input("x", &X);
    let angles = angles(&mut p, 2, 4, 1, interleaved);
    let turned = rotate_half(&mut p, x, 8);
    let y = sum(&mut p, x, turned, angles);
    assert_stays(&p.lowered(&[y], 23));
}

#[test]
fn angles_that_differ_between_the_heads_stay() {
    let mut p = Spelled::new();
    let x = p.input("x", &X);
    let given = p.input("angles", &[2, 4, 5, 4]);
    let doubled = joined(&mut p, given);
    let angles = ["cos", "sin"].map(|function| p.unary(function, doubled));
    let turned = rotate_half(&mut p, x, 8);
    let y = sum(&mut p, x, turned, angles);
    assert_stays(&p.lowered(&[y], 23));
}

#[test]
fn another_value_that_is_turned_stays() {
    let mut p = Spelled::new();
    let (x, other) = (p.input("x", &X), p.input("other", &X));
    let angles = angles(&mut p, 2, 4, 1, joined);
    let turned = rotate_half(&mut p, other, 8);
    let y = sum(&mut p, x, turned, angles);
    assert_stays(&p.lowered(&[y], 23));
}

#[test]
fn uneven_parts_stay() {
    let mut p = Spelled::new();
    let x = p.input("x", &X);
    let angles = angles(&mut p, 2, 4, 1, joined);
    let (first, second) = (p.slice(x, 0, 2, 1), p.slice(x, 2, 8, 1));
    let negative = p.unary("neg", second);
    let turned = p.join(negative, first);
    let y = sum(&mut p, x, turned, angles);
    assert_stays(&p.lowered(&[y], 23));
}

#[test]
fn what_turns_the_other_way_stays() {
    let mut p = Spelled::new();
    let x = p.input("x", &X);
    let angles = angles(&mut p, 2, 4, 1, |_, angles| angles);
    let y = turned_halves(&mut p, x, angles, "sub");
    assert_stays(&p.lowered(&[y], 23));
}

#[test]
fn a_turn_that_somebody_else_reads_stays() {
    let mut p = Spelled::new();
    let x = p.input("x", &X);
    let angles = angles(&mut p, 2, 4, 1, joined);
    let turned = rotate_half(&mut p, x, 8);
    let y = sum(&mut p, x, turned, angles);
    assert_stays(&p.lowered(&[y, turned], 23));
}
