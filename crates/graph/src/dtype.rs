//! Element types, one enum for PyTorch's and ONNX's.

/// An element type. `C32` occurs only in PyTorch; strings and the types below one byte only in ONNX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DType {
    Bool,
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F16,
    BF16,
    F32,
    F64,
    C32,
    C64,
    C128,
    F8E4M3FN,
    F8E4M3FNUZ,
    F8E5M2,
    F8E5M2FNUZ,
    F8E8M0FNU,
    F4E2M1,
    U4,
    I4,
    U2,
    I2,
    String,
}

impl DType {
    /// Width of one element in bits; strings have none.
    pub fn bits(self) -> Option<u64> {
        use DType::*;
        Some(match self {
            U2 | I2 => 2,
            U4 | I4 | F4E2M1 => 4,
            Bool | U8 | I8 | F8E4M3FN | F8E4M3FNUZ | F8E5M2 | F8E5M2FNUZ | F8E8M0FNU => 8,
            U16 | I16 | F16 | BF16 => 16,
            U32 | I32 | F32 | C32 => 32,
            U64 | I64 | F64 | C64 => 64,
            C128 => 128,
            String => return None,
        })
    }

    /// Bytes that `count` elements take, packed where the type is narrower than a byte. `None` on overflow.
    pub fn byte_len(self, count: u64) -> Option<u64> {
        let bits = self.bits()?.checked_mul(count)?;
        Some(bits.div_ceil(8))
    }

    pub fn is_float(self) -> bool {
        use DType::*;
        matches!(
            self,
            F16 | BF16 | F32 | F64 | F8E4M3FN | F8E4M3FNUZ | F8E5M2 | F8E5M2FNUZ | F8E8M0FNU | F4E2M1
        )
    }

    /// Integers without `Bool`.
    pub fn is_integer(self) -> bool {
        use DType::*;
        matches!(self, U8 | I8 | U16 | I16 | U32 | I32 | U64 | I64 | U4 | I4 | U2 | I2)
    }

    pub fn is_unsigned(self) -> bool {
        use DType::*;
        matches!(self, Bool | U8 | U16 | U32 | U64 | U4 | U2)
    }

    pub fn is_complex(self) -> bool {
        matches!(self, DType::C32 | DType::C64 | DType::C128)
    }

    /// The type of the real and imaginary part of a complex type; other types are their own.
    pub fn real(self) -> DType {
        match self {
            DType::C32 => DType::F16,
            DType::C64 => DType::F32,
            DType::C128 => DType::F64,
            other => other,
        }
    }

    /// The type that [`name`](DType::name) calls so.
    pub fn from_name(name: &str) -> Option<DType> {
        ALL.into_iter().find(|dtype| dtype.name() == name)
    }

    /// PyTorch's name without `torch.`, such as `float32`; for ONNX-only types the name that ONNX uses.
    pub fn name(self) -> &'static str {
        use DType::*;
        match self {
            Bool => "bool",
            U8 => "uint8",
            I8 => "int8",
            U16 => "uint16",
            I16 => "int16",
            U32 => "uint32",
            I32 => "int32",
            U64 => "uint64",
            I64 => "int64",
            F16 => "float16",
            BF16 => "bfloat16",
            F32 => "float32",
            F64 => "float64",
            C32 => "complex32",
            C64 => "complex64",
            C128 => "complex128",
            F8E4M3FN => "float8_e4m3fn",
            F8E4M3FNUZ => "float8_e4m3fnuz",
            F8E5M2 => "float8_e5m2",
            F8E5M2FNUZ => "float8_e5m2fnuz",
            F8E8M0FNU => "float8_e8m0fnu",
            F4E2M1 => "float4_e2m1",
            U4 => "uint4",
            I4 => "int4",
            U2 => "uint2",
            I2 => "int2",
            String => "string",
        }
    }

    /// The value of `TensorProto.DataType`; `None` for types that ONNX lacks.
    pub fn onnx_code(self) -> Option<i32> {
        use DType::*;
        Some(match self {
            F32 => 1,
            U8 => 2,
            I8 => 3,
            U16 => 4,
            I16 => 5,
            I32 => 6,
            I64 => 7,
            String => 8,
            Bool => 9,
            F16 => 10,
            F64 => 11,
            U32 => 12,
            U64 => 13,
            C64 => 14,
            C128 => 15,
            BF16 => 16,
            F8E4M3FN => 17,
            F8E4M3FNUZ => 18,
            F8E5M2 => 19,
            F8E5M2FNUZ => 20,
            U4 => 21,
            I4 => 22,
            F4E2M1 => 23,
            F8E8M0FNU => 24,
            U2 => 25,
            I2 => 26,
            C32 => return None,
        })
    }

    pub fn from_onnx_code(code: i32) -> Option<DType> {
        ALL.into_iter().find(|dtype| dtype.onnx_code() == Some(code))
    }
}

/// Every element type.
pub const ALL: [DType; 27] = {
    use DType::*;
    [
        Bool, U8, I8, U16, I16, U32, I32, U64, I64, F16, BF16, F32, F64, C32, C64, C128, F8E4M3FN,
        F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU, F4E2M1, U4, I4, U2, I2, String,
    ]
};

impl std::fmt::Display for DType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_onnx_codes_are_one_to_one() {
        for dtype in ALL {
            assert_eq!(DType::from_name(dtype.name()), Some(dtype));
            if let Some(code) = dtype.onnx_code() {
                assert_eq!(DType::from_onnx_code(code), Some(dtype));
            }
        }
        assert_eq!(DType::from_onnx_code(0), None);
    }

    #[test]
    fn narrow_types_are_packed() {
        assert_eq!(DType::U4.byte_len(3), Some(2));
        assert_eq!(DType::I2.byte_len(5), Some(2));
        assert_eq!(DType::F64.byte_len(u64::MAX), None);
    }
}
