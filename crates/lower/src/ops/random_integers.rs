//! Random whole numbers and permutations, from uniform numbers (see `random`).
//!
//! They are drawn in `float64`, which has 53 bits.

use modelexport_graph::DType;

use super::random::{random, rounded};
use super::sort::top;
use crate::context::{Context, Scalar};
use crate::error::Result;
use crate::ir::ValueId;
use crate::ops::support::operands::{operand, real_only};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new(
        "aten::randint(SymInt high, SymInt[] size, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        integers,
    ),
    Row::new(
        "aten::randint.generator(SymInt high, SymInt[] size, *, Generator? generator, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        integers,
    ),
    Row::new(
        "aten::randint.low(SymInt low, SymInt high, SymInt[] size, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        integers,
    ),
    Row::new(
        "aten::randint.low_generator(SymInt low, SymInt high, SymInt[] size, *, Generator? generator, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        integers,
    ),
    Row::new(
        "aten::randint_like.Tensor(Tensor self, Tensor high, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        integers,
    ),
    Row::new(
        "aten::randint_like(Tensor self, SymInt high, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        integers,
    ),
    Row::new(
        "aten::randint_like.generator(Tensor self, SymInt high, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        integers,
    ),
    Row::new(
        "aten::randint_like.low_dtype(Tensor self, SymInt low, SymInt high, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        integers,
    ),
    Row::new(
        "aten::randint_like.low_generator_dtype(Tensor self, SymInt low, SymInt high, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        integers,
    ),
    Row::new("aten::random(Tensor self, *, Generator? generator=None) -> Tensor", integers),
    Row::new("aten::random.from(Tensor self, int from, int? to, *, Generator? generator=None) -> Tensor", integers),
    Row::new("aten::random.to(Tensor self, int to, *, Generator? generator=None) -> Tensor", integers),
    Row::new(
        "aten::randperm(SymInt n, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        permutation,
    ),
    Row::new(
        "aten::randperm.generator(SymInt n, *, Generator? generator, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        permutation,
    ),
];

/// Whole numbers from `low` (or `from`) up to but without `high` (or `to`).
fn integers(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    real_only(cx)?;
    let out = cx.out()?;
    let value = random(cx, "RandomUniform", &out.sizes, DType::F64)?;
    let low = match cx.scalar_opt("low")? {
        Some(low) => Some(low),
        None => cx.scalar_opt("from")?,
    };
    let low = low.unwrap_or(Scalar::Int(0));
    let from_zero = low.is(0.0);
    let (low, high) = (cx.scalar_value(low, DType::F64), end(cx, out.dtype)?);
    let width = cx.emit("Sub", &[high, low], vec![]);
    let scaled = cx.emit("Mul", &[value, width], vec![]);
    let whole = cx.emit("Floor", &[scaled], vec![]);
    let moved = if from_zero { whole } else { cx.emit("Add", &[whole, low], vec![]) };
    rounded(cx, moved)
}

/// `high` or `to`, the former as a number or as a 0-D tensor; what the type allows if the call has neither.
fn end(cx: &mut Context<'_, '_>, dtype: DType) -> Result<ValueId> {
    if cx.meta_opt("high").is_some() {
        return operand(cx, "high", DType::F64);
    }
    let high = match cx.scalar_opt("high")? {
        Some(high) => Some(high),
        None => cx.scalar_opt("to")?,
    };
    Ok(cx.scalar_value(high.unwrap_or(Scalar::Float(end_of_integers(dtype))), DType::F64))
}

/// The number behind the last that PyTorch draws for a type where the call has no upper bound: all integers of the type
/// that are not negative, or all up to the last that a float has in a row.
fn end_of_integers(dtype: DType) -> f64 {
    let bits = match dtype {
        DType::Bool => 1,
        DType::U8 => 8,
        DType::I8 => 7,
        DType::I16 => 15,
        DType::I32 => 31,
        DType::I64 => 63,
        DType::BF16 => return 257.0,
        DType::F16 => return 2049.0,
        DType::F32 => return 16_777_217.0,
        _ => 53,
    };
    f64::from(2).powi(bits)
}

/// The order of random numbers.
fn permutation(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let sizes = cx.out()?.sizes.clone();
    let numbers = random(cx, "RandomUniform", &sizes, DType::F32)?;
    let [_, order] = top(cx, numbers, 0, &cx.dim("n")?, true, true)?;
    rounded(cx, order)
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS));
    }
}
