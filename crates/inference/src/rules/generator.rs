//! Constants, random numbers, and what describes a shape.

use modelexport_graph::DType;

use super::Element::{By, Fixed, Input, StatedOr, StatedOrInput};
use super::{Row, row, same, scalar, values};
use crate::ValueType;
use crate::content::as_dims;
use crate::operation::Operation;
use crate::size::{Dims, Size};

pub(super) const ROWS: &[Row] = &[
    values("Constant", constant),
    row("ConstantOfShape", &[(By(filled_with), from_input)]),
    row("EyeLike", &[(StatedOrInput("dtype", 0), same)]),
    row("Multinomial", &[(StatedOr("dtype", DType::I32), drawn)]),
    row("RandomNormal RandomUniform", &[(StatedOr("dtype", DType::F32), from_attribute)]),
    row("Range", &[(Input(0), range)]),
    row("Shape", &[(Fixed(DType::I64), shape)]),
    row("Size", &[(Fixed(DType::I64), scalar)]),
];

fn constant(operation: &Operation<'_>) -> Option<ValueType> {
    const NAMES: [&str; 8] = [
        "value",
        "sparse_value",
        "value_int",
        "value_ints",
        "value_float",
        "value_floats",
        "value_string",
        "value_strings",
    ];
    NAMES.iter().find_map(|name| operation.attributes.value_type(name))
}

fn filled_with(operation: &Operation<'_>) -> Option<DType> {
    operation.attributes.value_type("value").map_or(Some(DType::F32), |value| value.dtype)
}

fn from_input(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    operation.sizes_from(0)
}

fn from_attribute(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    operation.ints("shape").map(|shape| as_dims(&shape))
}

fn drawn(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    Some(vec![operation.dim(0, 0), operation.int("sample_size", 1).into()])
}

/// The axes whose sizes `Shape` gives.
pub(crate) fn shape_range(operation: &Operation<'_>) -> Option<std::ops::Range<usize>> {
    let rank = operation.rank(0)? as i64;
    let clamp = |axis: i64| (if axis < 0 { axis.saturating_add(rank) } else { axis }).clamp(0, rank) as usize;
    let (start, end) = (clamp(operation.int("start", 0)), clamp(operation.int("end", rank)));
    Some(start..end.max(start))
}

fn shape(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    Some(vec![shape_range(operation).map(|axes| axes.len() as i64).into()])
}

fn range(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let count = || {
        let number = |i: usize| operation.scalar(i).known().map(i128::from);
        let (start, limit, delta) = (number(0)?, number(1)?, number(2)?);
        let count = (delta != 0).then(|| (limit - start + delta - delta.signum()) / delta)?;
        i64::try_from(count.max(0)).ok()
    };
    // From 0 in steps of 1, the limit is the size.
    let is_counted = operation.scalar(0) == Size::Known(0) && operation.scalar(2) == Size::Known(1);
    Some(vec![match operation.scalar(1) {
        name @ Size::Named(_) if is_counted => name,
        _ => count().into(),
    }])
}
