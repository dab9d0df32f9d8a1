//! Rotary embedding becomes `RotaryEmbedding`.
//!
//! The two halves of each vector, or its even and its odd elements, are turned by an angle:
//!
//! ```text
//! Add(Mul(x, cos), Mul(Concat(Neg(x2), x1), sin))                    halves: x1, x2 = x[:h], x[h:]
//! Add(Mul(x, cos), Mul(Reshape(Concat(Neg(x2), x1)), sin))           interleaved: x1, x2 = x[::2], x[1::2]
//! Concat(Sub(Mul(x1, cos), Mul(x2, sin)), Add(Mul(x2, cos), Mul(x1, sin)))
//! ```
//!
//! and where only the first elements of each vector are turned, the rest is put behind. Casts between float types may
//! stand between any two nodes. The operator wants one angle for each pair, so that `cos` and `sin`, which hold it twice
//! in the first two forms, must be seen to do so: what doubled it is left out before them (see [`half`]).
//!
//! Conditions: `x` has the axes batch, heads, sequence and vector, or batch, sequence, heads and vector; `cos` and `sin`
//! are the same for all heads. Where they are the same for all of the batch, they are expanded: the operator has no
//! broadcast. `bfloat16` is computed in `float32`; `float64` stays.

mod half;
mod parts;
#[cfg(test)]
mod tests;

use modelexport_graph::{DType, Dim};

use super::rewrite::{Pattern, Write};
use super::search::{Search, input, is};
use crate::attrs;
use crate::builder::Builder;
use crate::ir::{Node, ValueId};
use half::{Angles, Pairs};
use parts::{joined, part_of_last_axis, stacked};

pub const PATTERN: Pattern = Pattern { last: &["Add", "Concat", "Reshape"], since: 23, find };

/// Vectors that are turned as a whole.
struct Turned {
    x: ValueId,
    cos: Angles,
    sin: Angles,
    pairs: Pairs,
}

/// Where the heads are.
#[derive(Clone, Copy, PartialEq)]
enum Layout {
    /// `[batch, heads, sequence, vector]`
    HeadsFirst,
    /// `[batch, sequence, heads, vector]`
    SequenceFirst,
}

fn find(search: &mut Search<'_>, root: &Node) -> Option<Write> {
    let y = *root.outputs.first()?;
    let partial = search.attempt(|search| partly_turned(search, y));
    let (turned, count) = match partial {
        Some((turned, count)) => (turned, Some(count)),
        None => (turned(search, y)?, None),
    };
    write(search, turned, count, y)
}

/// What is turned in `y`, if only its first elements are, and how many these are.
fn partly_turned(search: &mut Search<'_>, y: ValueId) -> Option<(Turned, i64)> {
    let [front, back] = joined(search, y)?;
    let front = search.before_casts(front);
    let turned = turned(search, front)?;
    let x = search.before_casts(turned.x);
    let first = part_of_last_axis(search, x)?;
    let rest = part_of_last_axis(search, back)?;
    let is_split = first.of == rest.of
        && (first.start, first.end, first.step) == (0, rest.start, 1)
        && (rest.end, rest.step) == (first.size, 1);
    is_split.then_some((Turned { x: first.of, ..turned }, first.end))
}

fn turned(search: &mut Search<'_>, y: ValueId) -> Option<Turned> {
    search
        .attempt(|search| sum_of_turns(search, y))
        .or_else(|| search.attempt(|search| pairs_of_turns(search, y, Pairs::Halves)))
        .or_else(|| search.attempt(|search| pairs_of_turns(search, y, Pairs::Neighbours)))
}

/// `x * cos + turned(x) * sin`.
fn sum_of_turns(search: &mut Search<'_>, y: ValueId) -> Option<Turned> {
    let sum = search.node(y, "Add")?;
    search.either(sum, |search, straight, turned| {
        let straight = search.before_casts(straight);
        let turned = search.before_casts(turned);
        let (straight, turned) = (search.node(straight, "Mul")?, search.node(turned, "Mul")?);
        search.either(turned, |search, turned, sin| {
            let (base, pairs) = quarter_turn(search, turned)?;
            search.either(straight, |search, x, cos| {
                let is_same = search.before_casts(x) == search.before_casts(base);
                let mut doubled = |value| Angles::doubled(search, value, pairs);
                let (cos, sin) = (doubled(cos)?, doubled(sin)?);
                is_same.then_some(Turned { x, cos, sin, pairs })
            })
        })
    })
}

/// What `value` is a quarter turn of: `(-x2, x1)`.
fn quarter_turn(search: &mut Search<'_>, value: ValueId) -> Option<(ValueId, Pairs)> {
    let value = search.before_casts(value);
    let halves = search.attempt(|search| Some((joined(search, value)?, Pairs::Halves)));
    let ([negative, first], pairs) = match halves {
        Some(found) => found,
        None => (stacked(search, value)?, Pairs::Neighbours),
    };
    let negative = search.before_casts(negative);
    let second = input(search.node(negative, "Neg")?, 0)?;
    let base = both_parts(search, first, second, pairs)?;
    (search.shape(base)? == search.shape(value)?).then_some((base, pairs))
}

/// What `first` and `second` are all of.
fn both_parts(search: &mut Search<'_>, first: ValueId, second: ValueId, pairs: Pairs) -> Option<ValueId> {
    let (first, second) = (part_of_last_axis(search, first)?, part_of_last_axis(search, second)?);
    let size = first.size;
    let (one, other) = match pairs {
        Pairs::Halves => ((0, size / 2, 1), (size / 2, size, 1)),
        Pairs::Neighbours => ((0, size, 2), (1, size, 2)),
    };
    let is_all = size % 2 == 0
        && first.of == second.of
        && (first.start, first.end, first.step) == one
        && (second.start, second.end, second.step) == other;
    is_all.then_some(first.of)
}

/// The two products that `node` reads.
fn products<'a>(search: &mut Search<'a>, node: &Node) -> Option<(&'a Node, &'a Node)> {
    let a = search.before_casts(input(node, 0)?);
    let b = search.before_casts(input(node, 1)?);
    Some((search.node(a, "Mul")?, search.node(b, "Mul")?))
}

/// `(x1 * cos - x2 * sin, x2 * cos + x1 * sin)`.
fn pairs_of_turns(search: &mut Search<'_>, y: ValueId, pairs: Pairs) -> Option<Turned> {
    let [first, second] = match pairs {
        Pairs::Halves => joined(search, y)?,
        Pairs::Neighbours => stacked(search, y)?,
    };
    let first = search.before_casts(first);
    let second = search.before_casts(second);
    let (difference, sum) = (search.node(first, "Sub")?, search.node(second, "Add")?);
    let (with_cos, with_sin) = products(search, difference)?;
    let (a, b) = products(search, sum)?;
    search.either(with_cos, |search, x1, cos| {
        search.either(with_sin, |search, x2, sin| {
            let turns = |search: &mut Search<'_>, node: &Node, x, by| {
                search.either(node, |search, factor, angle| {
                    (search.before_casts(factor) == search.before_casts(x) && angle == by).then_some(())
                })
            };
            let is_turn = |search: &mut Search<'_>, a, b| {
                turns(search, a, x2, cos)?;
                turns(search, b, x1, sin)
            };
            search.attempt(|search| is_turn(search, a, b)).or_else(|| is_turn(search, b, a))?;
            let (one, other) = (search.before_casts(x1), search.before_casts(x2));
            let x = both_parts(search, one, other, pairs)?;
            let (cos, sin) = (Angles::single(search, cos), Angles::single(search, sin));
            Some(Turned { x, cos, sin, pairs })
        })
    })
}

fn write(search: &mut Search<'_>, turned: Turned, count: Option<i64>, y: ValueId) -> Option<Write> {
    let Turned { x, cos, sin, pairs } = turned;
    let dtype = match search.dtype(y)? {
        DType::F16 => DType::F16,
        DType::F32 | DType::BF16 => DType::F32,
        _ => return None,
    };
    let [batch, a, b, Dim::Static(size)] = search.shape(x)? else { return None };
    let turned_size = count.unwrap_or(*size);
    let layout = [Layout::HeadsFirst, Layout::SequenceFirst].into_iter().find(|&layout| {
        let sequence = if layout == Layout::HeadsFirst { b } else { a };
        [&cos, &sin].iter().all(|angles| angles.fits(layout, batch, sequence, turned_size / 2))
    })?;
    let heads = if layout == Layout::HeadsFirst { a } else { b };
    let is_flat = layout == Layout::SequenceFirst;
    let heads = match heads {
        Dim::Static(heads) => *heads,
        _ if is_flat => return None,
        _ => 0,
    };
    let source = if is_flat { flat_source(search, x, heads * size) } else { None };
    let lacks_batch = [&cos, &sin].map(|angles| !angles.has_batch(batch));
    let batch = lacks_batch.contains(&true).then(|| {
        let known = search.inputs().iter().find_map(|&input| {
            let axis = search.shape(input)?.iter().position(|dim| dim == batch)?;
            Some((input, axis as i64))
        });
        (batch.clone(), known.unwrap_or((x, 0)))
    });
    let mut attributes = attrs![interleaved = pairs == Pairs::Neighbours];
    if is_flat {
        attributes.extend(attrs![num_heads = heads]);
    }
    if count.is_some() {
        attributes.extend(attrs![rotary_embedding_dim = turned_size]);
    }
    let size = *size;
    Some(Box::new(move |builder: &mut Builder| {
        let rows = batch.map(|(batch, (of, axis))| batch_shape(builder, &batch, of, axis));
        let [for_cos, for_sin] = lacks_batch.map(|lacks| rows.filter(|_| lacks));
        let [cos, sin] =
            [(cos, for_cos), (sin, for_sin)].map(|(angles, rows)| angles.write(builder, layout, dtype, rows));
        let flat = |builder: &mut Builder, value, last: &[i64]| {
            let target = builder.const_ints(&[&[0, 0], last].concat());
            builder.emit("Reshape", &[value, target], vec![])
        };
        let vectors = match source {
            Some(source) => source,
            None if is_flat => flat(builder, x, &[heads * size]),
            None => x,
        };
        let vectors = builder.cast(vectors, dtype);
        let result = builder.emit("RotaryEmbedding", &[vectors, cos, sin], attributes);
        vec![(y, if is_flat { flat(builder, result, &[heads, size]) } else { result })]
    }))
}

/// `[batch, 1, 1]`: what the angles are expanded to.
fn batch_shape(builder: &mut Builder, batch: &Dim, of: ValueId, axis: i64) -> ValueId {
    match batch {
        Dim::Static(size) => builder.const_ints(&[*size, 1, 1]),
        _ => {
            let size = builder.shape_slice(of, axis, axis + 1);
            let ones = builder.const_ints(&[1, 1]);
            builder.concat(&[size, ones], 0)
        }
    }
}

/// The value with heads and vectors in one axis of `width` that `x` was reshaped from.
fn flat_source(search: &mut Search<'_>, x: ValueId, width: i64) -> Option<ValueId> {
    let node = search.maker(x).filter(|node| is(node, "Reshape"))?;
    let from = input(node, 0)?;
    let ([batch, sequence, Dim::Static(last)], [b, s, ..]) = (search.shape(from)?, search.shape(x)?) else {
        return None;
    };
    let is_flat = batch == b && sequence == s && *last == width;
    is_flat.then(|| search.node_that_may_stay(x, "Reshape"))?;
    is_flat.then_some(from)
}
