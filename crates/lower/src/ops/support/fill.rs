//! Tensors whose elements are all one number.

use modelexport_graph::shape::{static_numel, static_shape};
use modelexport_graph::{DType, Dim};

use crate::attrs;
use crate::context::{Context, Scalar};
use crate::error::Result;
use crate::ir::ValueId;
use crate::literal::{Literal, Number};

/// Constants up to this size are written out; larger ones are made by a node, which folding may still turn into a
/// constant if others can be computed from it.
pub(crate) const LITERAL_BYTES: i64 = 4096;

/// Whether a tensor of these sizes is small enough to be written out.
pub(crate) fn is_small(sizes: &[Dim], dtype: DType) -> bool {
    let width = dtype.bits().map_or(8, |bits| bits as i64 / 8);
    static_numel(sizes).is_some_and(|count| count.saturating_mul(width) <= LITERAL_BYTES)
}

/// A tensor of `sizes` with `number` everywhere. `like` has these sizes already, if given.
pub(crate) fn filled(
    cx: &mut Context<'_, '_>,
    sizes: &[Dim],
    dtype: DType,
    number: impl Into<Number>,
    like: Option<ValueId>,
) -> Result<ValueId> {
    let number = number.into();
    let Some(one) = Literal::scalar(dtype, number) else {
        let float = filled(cx, sizes, DType::F32, number, like)?;
        return Ok(cx.cast(float, dtype));
    };
    if let (true, Some(dims)) = (is_small(sizes, dtype), static_shape(sizes)) {
        let count = static_numel(sizes).and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
        return Ok(cx.constant(Literal { dtype, dims, bytes: one.bytes.repeat(count) }));
    }
    let shape = shape_of(cx, sizes, like)?;
    let one = Literal { dims: vec![1], ..one };
    let value = cx.emit("ConstantOfShape", &[shape], attrs![value = one]);
    cx.set_shape(value, sizes.to_vec());
    Ok(value)
}

/// The result of a node that has no elements: runtimes give sums of nothing a wrong shape.
pub(crate) fn empty_result(cx: &mut Context<'_, '_>) -> Result<Option<ValueId>> {
    let out = cx.out()?;
    match static_numel(&out.sizes) {
        Some(0) => filled(cx, &out.sizes, out.dtype, 0, None).map(Some),
        _ => Ok(None),
    }
}

/// The same with a number that may be computed in the graph.
pub(crate) fn filled_scalar(
    cx: &mut Context<'_, '_>,
    sizes: &[Dim],
    dtype: DType,
    scalar: Scalar,
    like: Option<ValueId>,
) -> Result<ValueId> {
    if let Some(number) = scalar.number() {
        return filled(cx, sizes, dtype, number, like);
    }
    let value = cx.scalar_value(scalar, dtype);
    spread(cx, value, sizes, like)
}

/// A 0-D tensor repeated to `sizes`.
pub(crate) fn spread(
    cx: &mut Context<'_, '_>,
    value: ValueId,
    sizes: &[Dim],
    like: Option<ValueId>,
) -> Result<ValueId> {
    if sizes.is_empty() {
        return Ok(value);
    }
    let shape = shape_of(cx, sizes, like)?;
    let value = cx.apply_expand(value, shape);
    cx.set_shape(value, sizes.to_vec());
    Ok(value)
}

/// The sizes as a tensor: by one `Shape` node where a tensor has them and more than one is not known now.
fn shape_of(cx: &mut Context<'_, '_>, sizes: &[Dim], like: Option<ValueId>) -> Result<ValueId> {
    let symbolic = sizes.iter().filter(|size| size.as_static().is_none()).count();
    match like {
        Some(like) if symbolic > 1 || (symbolic == 1 && sizes.len() == 1) => {
            Ok(cx.emit("Shape", &[like], vec![]))
        }
        _ => cx.shape_value(sizes),
    }
}
