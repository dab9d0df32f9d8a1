//! `max_unpool2d/3d`: `ScatterElements` of the maxima into zeros, channel by channel.

use modelexport_graph::Dim;

use super::support::compute::product;
use super::support::window::last;
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor", |cx| unpool(cx, 2)),
    Row::new(
        "aten::max_unpool3d(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, int[3] padding) -> Tensor",
        |cx| unpool(cx, 3),
    ),
];

fn unpool(cx: &mut Context<'_, '_>, axes: usize) -> Result<Outputs> {
    let (input, out) = (cx.meta("self")?, cx.out()?);
    let (x, places) = (cx.tensor("self")?, cx.tensor("indices")?);
    let lead: Vec<Dim> = input.sizes.iter().take(input.sizes.len() - axes).cloned().collect();
    let with = |plane: Dim| lead.iter().cloned().chain([plane]).collect::<Vec<Dim>>();
    let flat = with(product(last(&input.sizes, axes)));
    let (x, places) = (cx.reshape(x, &flat)?, cx.reshape(places, &flat)?);
    let zero = cx.const_scalar(out.dtype, 0i64);
    let zeros = cx.expand(zero, &with(product(last(&out.sizes, axes))))?;
    let filled = cx.emit("ScatterElements", &[zeros, places, x], attrs![axis = lead.len() as i64]);
    Ok(cx.reshape(filled, &out.sizes)?.into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @r"
        aten.max_unpool2d.default(self: f32[2, 3, 3, 4], indices: i64[2, 3, 3, 4], output_size=[6, 8]) -> f32[2, 3, 6, 8]
            t1 = ScatterElements(f32[2, 3, 48], Reshape(indices, [2, 3, 12]), Reshape(self, [2, 3, 12]), axis=2)
            Reshape(t1, [2, 3, 6, 8])
        aten.max_unpool3d.default(self: f32[2, 3, 2, 3, 4], indices: i64[2, 3, 2, 3, 4], output_size=[4, 6, 8], stride=[2, 2, 2], padding=[0, 0, 0]) -> f32[2, 3, 4, 6, 8]
            t1 = ScatterElements(f32[2, 3, 192], Reshape(indices, [2, 3, 24]), Reshape(self, [2, 3, 24]), axis=2)
            Reshape(t1, [2, 3, 4, 6, 8])
        ");
    }
}
