//! PyTorch's type promotion, for operators whose result type does not tell the type that they compute in
//! (comparisons, for instance).

use modelexport_graph::DType;

use crate::context::Scalar;

/// What takes part in a promotion: tensors with dimensions outrank 0-D tensors, which outrank Python numbers, within
/// one category (bool, integer, float, complex).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    Tensor { dtype: DType, rank: usize },
    Scalar(ScalarKind),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScalarKind {
    Bool,
    Int,
    Float,
}

impl ScalarKind {
    /// The kind of a Python number; `dtype` is that of a number computed in the graph.
    pub fn of(scalar: Scalar, dtype: impl Fn(crate::ir::ValueId) -> DType) -> ScalarKind {
        match scalar {
            Scalar::Bool(_) => ScalarKind::Bool,
            Scalar::Int(_) => ScalarKind::Int,
            Scalar::Float(_) => ScalarKind::Float,
            Scalar::Value(value) => match dtype(value) {
                DType::Bool => ScalarKind::Bool,
                DType::I64 => ScalarKind::Int,
                _ => ScalarKind::Float,
            },
        }
    }
}

/// The type that PyTorch computes in (`torch.result_type`).
pub fn result_type(operands: &[Operand]) -> DType {
    let mut with_dims: Option<DType> = None;
    let mut zero_dim: Option<DType> = None;
    let mut number: Option<DType> = None;
    for operand in operands {
        let (slot, dtype) = match *operand {
            Operand::Tensor { dtype, rank: 0 } => (&mut zero_dim, dtype),
            Operand::Tensor { dtype, .. } => (&mut with_dims, dtype),
            Operand::Scalar(ScalarKind::Bool) => (&mut number, DType::Bool),
            Operand::Scalar(ScalarKind::Int) => (&mut number, DType::I64),
            Operand::Scalar(ScalarKind::Float) => (&mut number, DType::F32),
        };
        *slot = Some(slot.map_or(dtype, |known| promote(known, dtype)));
    }
    let combined = match (with_dims, zero_dim) {
        (Some(high), Some(low)) => outranked(high, low),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => return number.unwrap_or(DType::F32),
    };
    match number {
        Some(number) => outranked(combined, number),
        None => combined,
    }
}

/// A lower-ranked operand changes the type only if its category is higher.
fn outranked(high: DType, low: DType) -> DType {
    if category(low) > category(high) { promote(high, low) } else { high }
}

fn category(dtype: DType) -> u8 {
    if dtype == DType::Bool {
        0
    } else if dtype.is_integer() {
        1
    } else if dtype.is_complex() {
        3
    } else {
        2
    }
}

/// The type that holds both (`torch.promote_types`).
pub fn promote(a: DType, b: DType) -> DType {
    if a == b {
        return a;
    }
    let (low, high) = if category(a) <= category(b) { (a, b) } else { (b, a) };
    match (category(low), category(high)) {
        (0, _) | (1, 2) | (1, 3) => high,
        (1, 1) => promote_integers(low, high),
        (2, 2) => match (low.bits(), high.bits()) {
            (Some(16), Some(16)) => DType::F32,
            (Some(x), Some(y)) if x > y => low,
            _ => high,
        },
        _ => {
            let real = promote(low.real(), high.real());
            match real {
                DType::F64 => DType::C128,
                DType::F16 => DType::C32,
                _ => DType::C64,
            }
        }
    }
}

fn promote_integers(a: DType, b: DType) -> DType {
    if a.is_unsigned() == b.is_unsigned() {
        return if a.bits() >= b.bits() { a } else { b };
    }
    let (signed, unsigned) = if a.is_unsigned() { (b, a) } else { (a, b) };
    if signed.bits() > unsigned.bits() {
        return signed;
    }
    match unsigned {
        DType::U8 => DType::I16,
        DType::U16 => DType::I32,
        _ => DType::I64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(dtype: DType, rank: usize) -> Operand {
        Operand::Tensor { dtype, rank }
    }

    #[test]
    fn numbers_and_zero_dim_tensors_do_not_widen_within_their_category() {
        let half = tensor(DType::F16, 2);
        assert_eq!(result_type(&[half, Operand::Scalar(ScalarKind::Float)]), DType::F16);
        assert_eq!(result_type(&[half, tensor(DType::F64, 0)]), DType::F16);
        assert_eq!(result_type(&[half, tensor(DType::F32, 1)]), DType::F32);
        assert_eq!(result_type(&[tensor(DType::I32, 1), Operand::Scalar(ScalarKind::Int)]), DType::I32);
        assert_eq!(result_type(&[tensor(DType::I32, 1), Operand::Scalar(ScalarKind::Float)]), DType::F32);
        assert_eq!(result_type(&[tensor(DType::Bool, 1), Operand::Scalar(ScalarKind::Int)]), DType::I64);
    }

    #[test]
    fn mixed_types() {
        assert_eq!(promote(DType::F16, DType::BF16), DType::F32);
        assert_eq!(promote(DType::U8, DType::I8), DType::I16);
        assert_eq!(promote(DType::I64, DType::F16), DType::F16);
        assert_eq!(promote(DType::C64, DType::F64), DType::C128);
    }
}
