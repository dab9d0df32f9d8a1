//! `item`: the number in a tensor of one element, as a symbol that other sizes and numbers are computed from. It is
//! kept as a 1-D tensor of one element: `Cast`, `Reshape`.

use modelexport_graph::DType;

use crate::context::Context;
use crate::error::Result;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::item(Tensor self) -> Scalar", item),
    Row::new("aten::_local_scalar_dense(Tensor self) -> Scalar", item),
];

fn item(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    // Truth values are symbols with the numbers 0 and 1.
    let dtype = match cx.meta("self")?.dtype {
        float if float.is_float() => DType::F64,
        complex if complex.is_complex() => return cx.refuse("takes a complex number out of a tensor"),
        _ => DType::I64,
    };
    let number = cx.cast(x, dtype);
    Ok(match cx.meta("self")?.sizes.len() {
        0 => cx.unsqueeze(number, &[0]),
        1 => number,
        _ => cx.reshape_static(number, &[1]),
    }
    .into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @r"
        aten.item.default(self: f32[]) -> f0
            Cast(self, to=f64)
        aten._local_scalar_dense.default(self: f32[]) -> f0
            Cast(self, to=f64)
        ");
    }
}
