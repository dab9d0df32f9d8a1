//! RMS normalisation: `x / sqrt(mean(x^2) + epsilon) * weight`.
//!
//! ```text
//! Mul(weight, Mul(x, Reciprocal(Sqrt(Add(ReduceMean(Pow(x, 2), axes, keepdims=1), epsilon)))))
//! ```
//!
//! The root may also divide, or be `Pow` by -1/2; the square may be a product; casts between float types may stand
//! between any two nodes; the weight is optional. Conditions: the axes are the last ones, and the weight has their shape.
//!
//! It becomes `RMSNormalization`, which computes in `float32` whatever the type of `x`, so that casts around it go. But
//! for `bfloat16` onnxruntime has no kernel: there it computes in `float32`, and the casts stay.

use modelexport_graph::DType;
use modelexport_graph::shape::{static_numel, static_shape};

use super::rewrite::{Pattern, Write};
use super::search::{Search, input, is};
use crate::attrs;
use crate::builder::Builder;
use crate::ir::{Node, ValueId};
use crate::literal::{Literal, Number};

pub const PATTERN: Pattern = Pattern { last: &["Mul", "Div"], since: 23, find };

/// `x / sqrt(mean(x^2) + epsilon)`.
struct Normal {
    x: ValueId,
    epsilon: f64,
    /// How many of the last axes are normalised.
    axes: usize,
}

fn find(search: &mut Search<'_>, root: &Node) -> Option<Write> {
    let y = *root.outputs.first()?;
    let weighted = search.either(root, |search, weight, normal| {
        let normal = search.before_casts(normal);
        let normal = is(root, "Mul").then(|| normal_at(search, normal))??;
        let sizes = search.shape(normal.x)?;
        let last = sizes.get(sizes.len().checked_sub(normal.axes)?..)?;
        (search.shape(weight)? == last).then_some((normal, Some(weight)))
    });
    let (normal, weight) = match weighted {
        Some(found) => found,
        None => (search.attempt(|search| normal_at(search, y))?, None),
    };
    write(search, normal, weight, y)
}

/// The normalisation whose last node makes `y`.
fn normal_at(search: &mut Search<'_>, y: ValueId) -> Option<Normal> {
    if let Some(product) = search.node(y, "Mul") {
        return search.either(product, |search, x, factor| {
            let factor = search.before_casts(factor);
            let sum = inverse_root(search, factor)?;
            mean_square(search, x, sum)
        });
    }
    let quotient = search.node(y, "Div")?;
    let (x, root) = (input(quotient, 0)?, input(quotient, 1)?);
    let root = search.before_casts(root);
    let sum = square_root(search, root)?;
    mean_square(search, x, sum)
}

/// What one over its square root is `value`.
fn inverse_root(search: &mut Search<'_>, value: ValueId) -> Option<ValueId> {
    let root = if let Some(reciprocal) = search.node(value, "Reciprocal") {
        input(reciprocal, 0)?
    } else if let Some(quotient) = search.node(value, "Div") {
        search.is_number(input(quotient, 0)?, 1.0).then(|| input(quotient, 1))??
    } else {
        return power(search, value, -0.5);
    };
    let root = search.before_casts(root);
    square_root(search, root)
}

fn square_root(search: &mut Search<'_>, value: ValueId) -> Option<ValueId> {
    match search.node(value, "Sqrt") {
        Some(root) => input(root, 0),
        None => power(search, value, 0.5),
    }
}

/// What to the power of `exponent` is `value`.
fn power(search: &mut Search<'_>, value: ValueId, exponent: f64) -> Option<ValueId> {
    let node = search.node(value, "Pow")?;
    search.is_number(input(node, 1)?, exponent).then(|| input(node, 0))?
}

/// The normalisation of `x`, if `sum` is the mean of its squares and a number.
fn mean_square(search: &mut Search<'_>, x: ValueId, sum: ValueId) -> Option<Normal> {
    let sum = search.before_casts(sum);
    let (mean, epsilon) = search.node(sum, "Add").and_then(|sum| search.with_number(sum))?;
    let mean = search.before_casts(mean);
    let mean = search.node(mean, "ReduceMean")?;
    let axes = search.reduced_axes(mean)?;
    let are_last = axes.iter().copied().eq(-(axes.len() as i64)..0) && !axes.is_empty();
    let squares = search.before_casts(input(mean, 0)?);
    let squared = match search.node(squares, "Mul") {
        Some(product) => input(product, 0).filter(|&factor| input(product, 1) == Some(factor))?,
        None => power(search, squares, 2.0)?,
    };
    let is_same = search.before_casts(squared) == search.before_casts(x);
    (are_last && is_same && epsilon > 0.0).then_some(Normal { x, epsilon, axes: axes.len() })
}

fn write(search: &mut Search<'_>, normal: Normal, weight: Option<ValueId>, y: ValueId) -> Option<Write> {
    let original = search.before_casts(normal.x);
    let is_same_type = search.dtype(original)? == search.dtype(y)? && search.dtype(y)? != DType::BF16;
    let (x, axes, epsilon) = (if is_same_type { original } else { normal.x }, normal.axes, normal.epsilon);
    let dtype = search.dtype(x)?;
    let ones = match weight {
        Some(_) => None,
        None => {
            let sizes = search.shape(x)?;
            let last = sizes.get(sizes.len().checked_sub(axes)?..)?;
            let count = usize::try_from(static_numel(last)?).ok()?;
            let ones = std::iter::repeat_n(Number::Float(1.0), count);
            Some(Literal::from_numbers(dtype, static_shape(last)?, ones)?)
        }
    };
    Some(Box::new(move |builder: &mut Builder| {
        let Some(weight) = weight.or_else(|| ones.map(|ones| builder.constant(ones))) else {
            return Vec::new();
        };
        let weight = builder.cast(weight, dtype);
        let attributes = attrs![axis = -(axes as i64), epsilon = epsilon];
        vec![(y, builder.emit("RMSNormalization", &[x, weight], attributes))]
    }))
}
