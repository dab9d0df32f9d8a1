//! The products and the softmax of attention.
//!
//! ```text
//! MatMul(Softmax(Add(Mul(MatMul(q, Transpose(k)), scale), mask)), v)
//! ```
//!
//! The scale may be a product or a quotient, on the queries, on the keys, on their product or on several of these. The
//! mask is added, or chosen by `Where`; it is optional, as is the soft cap `Mul(Tanh(Div(x, cap)), cap)` before it. Casts
//! between float types may stand between any two nodes. Conditions: four axes `[batch, heads, rows, size]`, a softmax over
//! the last one, scale and cap that are one positive number, a mask as in [`super::mask`].

use modelexport_graph::{DType, Dim};

use super::mask::{Mask, Sizes};
use super::permutation;
use crate::attrs;
use crate::builder::Builder;
use crate::ir::{Attr, Node, ValueId};
use crate::passes::fusion::rewrite::{Pattern, Write};
use crate::passes::fusion::search::{Search, input};

pub const PATTERN: Pattern = Pattern { last: &["MatMul"], since: 23, find };

struct Scores {
    query: ValueId,
    key: Key,
    scale: f64,
    softcap: Option<f64>,
    mask: Option<Mask>,
}

/// What the keys are transposed from, and in which order their axes are.
struct Key {
    from: ValueId,
    axes: [i64; 4],
}

fn find(search: &mut Search<'_>, root: &Node) -> Option<Write> {
    let y = *root.outputs.first()?;
    let value = input(root, 1)?;
    let weights = search.before_casts(input(root, 0)?);
    let softmax = search.node(weights, "Softmax")?;
    if !matches!(softmax.attribute("axis"), None | Some(Attr::Int(-1 | 3))) {
        return None;
    }
    let last = input(softmax, 0)?;
    let sizes: Sizes = search.shape(last)?.to_vec().try_into().ok()?;
    let dtype = search.dtype(y)?;
    let scores = masked(search, last, &sizes, dtype)?;
    let is_same = |value: ValueId| search.dtype(value) == Some(dtype);
    let fits = is_same(scores.query) && is_same(value) && scores.scale > 0.0;
    if !fits || !matches!(dtype, DType::F32 | DType::F16) || !have_sizes(search, &scores, value, y, &sizes) {
        return None;
    }
    Some(Box::new(move |builder: &mut Builder| {
        let key = builder.transpose(scores.key.from, &scores.key.axes);
        let key = builder.cast(key, dtype);
        let mask = scores.mask.map(|mask| mask.emit(builder, &sizes));
        let mut attributes = attrs![scale = scores.scale];
        if let Some(softcap) = scores.softcap {
            attributes.extend(attrs![softcap = softcap]);
        }
        let inputs = [Some(scores.query), Some(key), Some(value), mask];
        vec![(y, builder.emit_optional("Attention", &inputs, attributes))]
    }))
}

fn have_sizes(search: &Search<'_>, scores: &Scores, value: ValueId, y: ValueId, sizes: &Sizes) -> bool {
    let [batch, heads, rows, columns] = sizes;
    let with = |value: ValueId, count: &Dim| {
        let shape = search.shape(value)?;
        let [a, b, c, size] = shape else { return None };
        (a == batch && b == heads && c == count).then_some(size)
    };
    let key = || {
        let shape = search.shape(scores.key.from)?;
        let sizes = scores.key.axes.map(|axis| shape.get(usize::try_from(axis).ok()?));
        let [Some(a), Some(b), Some(c), Some(size)] = sizes else { return None };
        (a == batch && b == heads && c == columns).then_some(size)
    };
    // What is computed in another type than the program's has no shape of its own.
    let fits_result = |size| search.shape(y).is_none() || with(y, rows) == Some(size);
    with(scores.query, rows).is_some_and(|size| Some(size) == key())
        && with(value, columns).is_some_and(fits_result)
}

fn masked(search: &mut Search<'_>, value: ValueId, sizes: &Sizes, dtype: DType) -> Option<Scores> {
    let value = search.before_casts(value);
    if let Some(scores) = search.attempt(|search| capped(search, value)) {
        return Some(scores);
    }
    if let Some(sum) = search.attempt(|search| search.node(value, "Add")) {
        return search.either(sum, |search, scores, mask| {
            let scores = search.before_casts(scores);
            let scores = capped(search, scores)?;
            Some(Scores { mask: Some(Mask::added(search, mask, sizes, dtype)?), ..scores })
        });
    }
    let choice = search.node(value, "Where")?;
    let (condition, then, other) = (input(choice, 0)?, input(choice, 1)?, input(choice, 2)?);
    let (scores, fill, hides) = match (search.number(then), search.number(other)) {
        (Some(fill), None) => (other, fill, true),
        (None, Some(fill)) => (then, fill, false),
        _ => return None,
    };
    let scores = search.before_casts(scores);
    let scores = capped(search, scores)?;
    Some(Scores { mask: Some(Mask::chosen(search, condition, fill, hides, sizes, dtype)?), ..scores })
}

/// Scores with the soft cap, if there is one.
fn capped(search: &mut Search<'_>, value: ValueId) -> Option<Scores> {
    let cap = search.attempt(|search| {
        let (tanh, cap) = search.node(value, "Mul").and_then(|product| search.with_number(product))?;
        let tanh = search.before_casts(tanh);
        let inner = input(search.node(tanh, "Tanh")?, 0)?;
        let inner = search.before_casts(inner);
        let (inner, factor) = factor(search, inner)?;
        let is_inverse = (factor * cap - 1.0).abs() < 1e-3 && cap > 0.0;
        is_inverse.then_some((inner, cap))
    });
    let (value, softcap) = match cap {
        Some((inner, cap)) => (inner, Some(cap)),
        None => (value, None),
    };
    let (mut product, mut scale) = (search.before_casts(value), 1.0);
    while let Some((inner, factor)) = search.attempt(|search| factor(search, product)) {
        (product, scale) = (search.before_casts(inner), scale * factor);
    }
    let product = search.node(product, "MatMul")?;
    let (query, query_scale) = unscaled(search, input(product, 0)?);
    let (key, outer_scale) = unscaled(search, input(product, 1)?);
    let key = search.before_casts(key);
    let axes = search.node_that_may_stay(key, "Transpose").and_then(|node| Some((node, permutation(node)?)));
    let (from, mut axes) = match axes {
        Some((node, axes)) => (input(node, 0)?, <[i64; 4]>::try_from(axes.to_vec()).ok()?),
        None => (key, [0, 1, 2, 3]),
    };
    axes.swap(2, 3);
    let (from, key_scale) = unscaled(search, from);
    let scale = scale * query_scale * outer_scale * key_scale;
    Some(Scores { query, key: Key { from, axes }, scale, softcap, mask: None })
}

/// What is multiplied with numbers to give `value`, and their product.
pub(super) fn unscaled(search: &mut Search<'_>, value: ValueId) -> (ValueId, f64) {
    let (mut value, mut scale) = (value, 1.0);
    while let Some((inner, factor)) = search.attempt(|search| factor(search, value)) {
        (value, scale) = (inner, scale * factor);
    }
    (value, scale)
}

fn factor(search: &mut Search<'_>, value: ValueId) -> Option<(ValueId, f64)> {
    if let Some(product) = search.attempt(|search| search.node_that_may_stay(value, "Mul")) {
        return search.with_number(product);
    }
    let quotient = search.node_that_may_stay(value, "Div")?;
    Some((input(quotient, 0)?, 1.0 / search.number(input(quotient, 1)?)?))
}
