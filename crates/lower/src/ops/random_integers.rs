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
        "aten.randint.default",
        "randint(SymInt high, SymInt[] size, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        integers,
    ),
    Row::new(
        "aten.randint.generator",
        "randint.generator(SymInt high, SymInt[] size, *, Generator? generator, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        integers,
    ),
    Row::new(
        "aten.randint.low",
        "randint.low(SymInt low, SymInt high, SymInt[] size, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        integers,
    ),
    Row::new(
        "aten.randint.low_generator",
        "randint.low_generator(SymInt low, SymInt high, SymInt[] size, *, Generator? generator, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        integers,
    ),
    Row::new(
        "aten.randint_like.Tensor",
        "randint_like.Tensor(Tensor self, Tensor high, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        integers,
    ),
    Row::new(
        "aten.randint_like.default",
        "randint_like(Tensor self, SymInt high, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        integers,
    ),
    Row::new(
        "aten.randint_like.generator",
        "randint_like.generator(Tensor self, SymInt high, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        integers,
    ),
    Row::new(
        "aten.randint_like.low_dtype",
        "randint_like.low_dtype(Tensor self, SymInt low, SymInt high, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        integers,
    ),
    Row::new(
        "aten.randint_like.low_generator_dtype",
        "randint_like.low_generator_dtype(Tensor self, SymInt low, SymInt high, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        integers,
    ),
    Row::new("aten.random.default", "random(Tensor self, *, Generator? generator=None) -> Tensor", integers),
    Row::new("aten.random.from", "random.from(Tensor self, int from, int? to, *, Generator? generator=None) -> Tensor", integers),
    Row::new("aten.random.to", "random.to(Tensor self, int to, *, Generator? generator=None) -> Tensor", integers),
    Row::new(
        "aten.randperm.default",
        "randperm(SymInt n, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        permutation,
    ),
    Row::new(
        "aten.randperm.generator",
        "randperm.generator(SymInt n, *, Generator? generator, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
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
        assert_snapshot!(lowered(ROWS), @r"
        aten.randint.default(high=7, size=[2, 3]) -> i64[2, 3]
            Cast(Floor(Mul(RandomUniform(shape=[2, 3], dtype=f64), 7.0:f64)), to=i64)
        aten.randint.default(high=s0, size=[4], device=cpu, pin_memory=False) -> i64[4]
            t1 = Mul(RandomUniform(shape=[4], dtype=f64), Squeeze(Cast(Unsqueeze(s0, [0]), to=f64), [0]))
            Cast(Floor(t1), to=i64)
        aten.randint.generator(high=7, size=[2, 3], generator=None) -> i64[2, 3]
            Cast(Floor(Mul(RandomUniform(shape=[2, 3], dtype=f64), 7.0:f64)), to=i64)
        aten.randint.low(low=-2, high=7, size=[2, 3], dtype=i32) -> i32[2, 3]
            t1 = Add(Floor(Mul(RandomUniform(shape=[2, 3], dtype=f64), 9.0:f64)), -2.0:f64)
            Cast(t1, to=i32)
        aten.randint.low_generator(low=-2, high=7, size=[2, 3], generator=None) -> i64[2, 3]
            t1 = Add(Floor(Mul(RandomUniform(shape=[2, 3], dtype=f64), 9.0:f64)), -2.0:f64)
            Cast(t1, to=i64)
        aten.randint_like.Tensor(self: f32[2, 3], high: i64[]) -> f32[2, 3]
            t1 = Mul(RandomUniform(shape=[2, 3], dtype=f64), Cast(high, to=f64))
            Cast(Floor(t1), to=f32)
        aten.randint_like.default(self: f32[3], high=1, pin_memory=False) -> f32[3]
            Cast(Floor(RandomUniform(shape=[3], dtype=f64)), to=f32)
        aten.randint_like.generator(self: f32[2, 3], high=1, generator=None) -> f32[2, 3]
            Cast(Floor(RandomUniform(shape=[2, 3], dtype=f64)), to=f32)
        aten.randint_like.low_dtype(self: f32[2, 3], low=1, high=9) -> f32[2, 3]
            t1 = Add(Floor(Mul(RandomUniform(shape=[2, 3], dtype=f64), 8.0:f64)), 1.0:f64)
            Cast(t1, to=f32)
        aten.randint_like.low_generator_dtype(self: f32[2, 3], low=3, high=4, generator=None) -> f32[2, 3]
            Cast(Add(Floor(RandomUniform(shape=[2, 3], dtype=f64)), 3.0:f64), to=f32)
        aten.random.default(self: f32[2, 3]) -> f32[2, 3]
            t1 = Floor(Mul(RandomUniform(shape=[2, 3], dtype=f64), 16777217.0:f64))
            Cast(t1, to=f32)
        aten.random.from(self: f32[3, 4], from=2, to=9) -> f32[3, 4]
            t1 = Add(Floor(Mul(RandomUniform(shape=[3, 4], dtype=f64), 7.0:f64)), 2.0:f64)
            Cast(t1, to=f32)
        aten.random.to(self: f32[4], to=1) -> f32[4]
            Cast(Floor(RandomUniform(shape=[4], dtype=f64)), to=f32)
        aten.randperm.default(n=6) -> i64[6]
            _, t1 = TopK(RandomUniform(shape=[6], dtype=f32), [6], axis=0, largest=1, sorted=1)
            t1
        aten.randperm.generator(n=6, generator=None) -> i64[6]
            _, t1 = TopK(RandomUniform(shape=[6], dtype=f32), [6], axis=0, largest=1, sorted=1)
            t1
        ");
    }
}
