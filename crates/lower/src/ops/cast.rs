//! Conversions of element type. What the program says of the result tells the type; devices, layouts and copies mean
//! nothing in ONNX.
//!
//! - Floats become integers by cutting towards zero and booleans by being other than zero, as `Cast` does. What is
//!   too large for a `float8` becomes infinite or NaN (`saturate=0`); only `float8_e4m3fn` has the largest number there.
//! - Real numbers become complex with an imaginary part of zero; complex ones become real by losing theirs.
//! - `view.dtype` reads the same bits as another type: `Cast` between integers of one width, which wraps. ONNX up to
//!   opset 24 has nothing for other types.

use modelexport_graph::DType;

use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::ops::support::complex::append_zero;
use crate::registry::{Outputs, Row};

macro_rules! casts {
    ($($name:literal),* $(,)?) => {
        pub static ROWS: &[Row] = &[
            $(Row::new(
                concat!("aten::_cast_", $name, "(Tensor self, bool non_blocking=False) -> Tensor"),
                lower,
            ),)*
            Row::new(
                "aten::_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, \
                 bool? pin_memory=None, bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor",
                lower,
            ),
            Row::new(
                "aten::to.device(Tensor(a) self, Device device, ScalarType dtype, bool non_blocking=False, \
                 bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
                lower,
            ),
            Row::new(
                "aten::to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, \
                 MemoryFormat? memory_format=None) -> Tensor(a)",
                lower,
            ),
            Row::new(
                "aten::to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, \
                 Device? device=None, bool? pin_memory=None, bool non_blocking=False, bool copy=False, \
                 MemoryFormat? memory_format=None) -> Tensor(a)",
                lower,
            ),
            Row::new(
                "aten::to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, \
                 MemoryFormat? memory_format=None) -> Tensor(a)",
                lower,
            ),
            Row::new("aten::type_as(Tensor self, Tensor other) -> Tensor", lower),
            Row::new("aten::view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)", same_bits),
            Row::new("aten::view_copy.dtype(Tensor self, ScalarType dtype) -> Tensor", same_bits),
        ];
    };
}

casts! { "Byte", "Char", "Double", "Float", "Half", "Int", "Long", "Short" }

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    let (from, to) = (cx.meta("self")?.dtype, cx.out()?.dtype);
    let value = match (from.is_complex(), to.is_complex()) {
        (false, true) => {
            let part = convert(cx, x, to.real())?;
            let column = cx.unsqueeze(part, &[-1]);
            append_zero(cx, column)
        }
        (true, false) => {
            let first = cx.const_int(0);
            let part = cx.emit("Gather", &[x, first], attrs![axis = -1]);
            convert(cx, part, to)?
        }
        _ => convert(cx, x, to.real())?,
    };
    Ok(value.into())
}

fn convert(cx: &mut Context<'_, '_>, x: ValueId, dtype: DType) -> Result<ValueId> {
    let since = match dtype {
        DType::F8E4M3FN | DType::F8E4M3FNUZ | DType::F8E5M2 | DType::F8E5M2FNUZ => 19,
        DType::F8E8M0FNU => 24,
        DType::F4E2M1 => 23,
        _ => return Ok(cx.cast(x, dtype)),
    };
    if cx.opset < since {
        return cx.refuse(format!("converts to {dtype}, which ONNX has from opset {since} on"));
    }
    if cx.dtype(x) == dtype {
        return Ok(x);
    }
    Ok(cx.emit("Cast", &[x], attrs![to = dtype, saturate = dtype == DType::F8E4M3FN]))
}

fn same_bits(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    let (from, to) = (cx.meta("self")?.dtype, cx.out()?.dtype);
    let is_whole = |dtype: DType| dtype.is_integer() || dtype == DType::Bool;
    if from == to || (is_whole(from) && is_whole(to) && from.bits() == to.bits()) {
        return Ok(cx.cast(x, to).into());
    }
    cx.refuse(format!("reads the bits of {from} as {to}, which ONNX up to opset 24 cannot express"))
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
