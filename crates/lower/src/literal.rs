//! Small constants in memory.

use half::{bf16, f16};
use modelexport_graph::DType;

/// A tensor constant: little-endian elements in row-major order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Literal {
    pub dtype: DType,
    pub dims: Vec<i64>,
    pub bytes: Vec<u8>,
}

impl Literal {
    /// A 1-D tensor of `int64`.
    pub fn ints(values: &[i64]) -> Literal {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Literal { dtype: DType::I64, dims: vec![values.len() as i64], bytes }
    }

    /// A 0-D tensor; integers wrap and floats round to `dtype` as PyTorch's `fill` does. `None` for types that
    /// have no number.
    pub fn scalar(dtype: DType, value: Number) -> Option<Literal> {
        Literal::from_numbers(dtype, Vec::new(), [value])
    }

    /// `values` in the shape `dims`, converted to `dtype`. `None` for types that have no number.
    pub fn from_numbers(
        dtype: DType,
        dims: Vec<i64>,
        values: impl IntoIterator<Item = Number>,
    ) -> Option<Literal> {
        fn each<const N: usize>(
            values: impl Iterator<Item = Number>,
            write: impl Fn(Number) -> [u8; N],
        ) -> Vec<u8> {
            let mut bytes = Vec::with_capacity(values.size_hint().0.saturating_mul(N));
            values.for_each(|value| bytes.extend_from_slice(&write(value)));
            bytes
        }
        let values = values.into_iter();
        let bytes = match dtype {
            DType::Bool => each(values, |x| [u8::from(x.as_f64() != 0.0)]),
            DType::U8 | DType::I8 => each(values, |x| [x.as_i64() as u8]),
            DType::U16 | DType::I16 => each(values, |x| (x.as_i64() as u16).to_le_bytes()),
            DType::U32 | DType::I32 => each(values, |x| (x.as_i64() as u32).to_le_bytes()),
            DType::U64 | DType::I64 => each(values, |x| x.as_i64().to_le_bytes()),
            DType::F16 => each(values, |x| f16::from_f32(x.as_f32()).to_le_bytes()),
            DType::BF16 => each(values, |x| bf16::from_f32(x.as_f32()).to_le_bytes()),
            DType::F32 => each(values, |x| x.as_f32().to_le_bytes()),
            DType::F64 => each(values, |x| x.as_f64().to_le_bytes()),
            _ => return None,
        };
        Some(Literal { dtype, dims, bytes })
    }

    pub fn element_count(&self) -> usize {
        self.dims.iter().map(|&dim| dim.max(0) as usize).product()
    }

    /// The elements of an `int64` literal.
    pub fn as_ints(&self) -> Option<Vec<i64>> {
        if self.dtype != DType::I64 {
            return None;
        }
        let (chunks, _) = self.bytes.as_chunks::<8>();
        Some(chunks.iter().map(|chunk| i64::from_le_bytes(*chunk)).collect())
    }

    /// All elements as numbers; `None` for complex, packed and string types.
    pub fn numbers(&self) -> Option<Vec<Number>> {
        fn each<const N: usize>(bytes: &[u8], read: impl Fn([u8; N]) -> Number) -> Vec<Number> {
            bytes.as_chunks::<N>().0.iter().map(|chunk| read(*chunk)).collect()
        }
        let bytes = &self.bytes;
        Some(match self.dtype {
            DType::Bool => each(bytes, |[b]: [u8; 1]| Number::Int((b != 0).into())),
            DType::U8 => each(bytes, |b: [u8; 1]| Number::Int(u8::from_le_bytes(b).into())),
            DType::I8 => each(bytes, |b: [u8; 1]| Number::Int(i8::from_le_bytes(b).into())),
            DType::U16 => each(bytes, |b| Number::Int(u16::from_le_bytes(b).into())),
            DType::I16 => each(bytes, |b| Number::Int(i16::from_le_bytes(b).into())),
            DType::U32 => each(bytes, |b| Number::Int(u32::from_le_bytes(b).into())),
            DType::I32 => each(bytes, |b| Number::Int(i32::from_le_bytes(b).into())),
            DType::U64 => each(bytes, |b| Number::Int(u64::from_le_bytes(b) as i64)),
            DType::I64 => each(bytes, |b| Number::Int(i64::from_le_bytes(b))),
            DType::F16 => each(bytes, |b| Number::Float(f16::from_le_bytes(b).to_f64())),
            DType::BF16 => each(bytes, |b| Number::Float(bf16::from_le_bytes(b).to_f64())),
            DType::F32 => each(bytes, |b| Number::Float(f32::from_le_bytes(b).into())),
            DType::F64 => each(bytes, |b| Number::Float(f64::from_le_bytes(b))),
            _ => return None,
        })
    }
}

/// A number before it has an element type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    pub fn as_f64(self) -> f64 {
        match self {
            Number::Int(value) => value as f64,
            Number::Float(value) => value,
        }
    }

    /// Rounded once. PyTorch makes types of 16 bits of it, too.
    fn as_f32(self) -> f32 {
        match self {
            Number::Int(value) => value as f32,
            Number::Float(value) => value as f32,
        }
    }

    /// Floats are cut towards zero.
    pub fn as_i64(self) -> i64 {
        match self {
            Number::Int(value) => value,
            Number::Float(value) => value as i64,
        }
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Number::Int(value)
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Number::Float(value)
    }
}

impl From<bool> for Number {
    fn from(value: bool) -> Self {
        Number::Int(value.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_their_type() {
        for dtype in [DType::I8, DType::I64, DType::F16, DType::BF16, DType::F32, DType::F64] {
            let literal = Literal::from_numbers(dtype, vec![2], [Number::Int(-3), Number::Int(5)]);
            let back: Option<Vec<f64>> =
                literal.and_then(|l| l.numbers()).map(|n| n.into_iter().map(Number::as_f64).collect());
            assert_eq!(back, Some(vec![-3.0, 5.0]), "{dtype}");
        }
    }

    /// PyTorch: `torch.tensor([9007199791611905]).float()` and `torch.tensor([1.00048828125 + 2**-30]).double().half()`.
    #[test]
    fn numbers_are_rounded_as_pytorch_does_it() {
        let as_f64 = |dtype, number| Literal::scalar(dtype, number)?.numbers()?.first().map(|n| n.as_f64());
        assert_eq!(as_f64(DType::F32, Number::Int(9_007_199_791_611_905)), Some(9_007_200_328_482_816.0));
        assert_eq!(as_f64(DType::F16, Number::Float(1.000_488_281_25 + 2f64.powi(-30))), Some(1.0));
    }
}
