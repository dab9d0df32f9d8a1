//! `repeat_interleave` with a tensor of repeats: element `i` of the result comes from the first place at which the
//! running sum of the repeats is above `i`.

use modelexport_graph::DType;

use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor", |cx| {
        let dtype = cx.out()?.dtype;
        let places = places(cx)?;
        Ok(cx.cast(places, dtype).into())
    }),
    Row::new(
        "aten::repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor",
        lower,
    ),
];

/// The place that each element of the result comes from.
fn places(cx: &mut Context<'_, '_>) -> Result<ValueId> {
    let repeats = cx.tensor("repeats")?;
    let repeats = cx.cast(repeats, DType::I64);
    let (zero, one) = (cx.const_int(0), cx.const_int(1));
    let ends = cx.emit("CumSum", &[repeats, zero], vec![]);
    let count = cx.reduce("ReduceSum", repeats, &[0], false);
    let range = cx.emit("Range", &[zero, count, one], vec![]);
    let range = cx.unsqueeze(range, &[1]);
    let passed = cx.emit("GreaterOrEqual", &[range, ends], vec![]);
    let passed = cx.cast(passed, DType::I64);
    Ok(cx.reduce("ReduceSum", passed, &[1], false))
}

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let mut x = cx.tensor("self")?;
    let axis = match cx.int_opt("dim")? {
        Some(dim) => cx.normalize_axis("dim", dim, cx.meta("self")?.sizes.len())?,
        None => {
            x = cx.reshape_static(x, &[-1]);
            0
        }
    };
    let places = places(cx)?;
    Ok(cx.emit("Gather", &[x, places], attrs![axis = axis]).into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @r"
        aten.repeat_interleave.Tensor(repeats: i64[3]) -> i64[u0]
            t1 = Unsqueeze(Range(0, ReduceSum(repeats, [0], keepdims=0), 1), [1])
            ReduceSum(Cast(GreaterOrEqual(t1, CumSum(repeats, 0)), to=i64), [1], keepdims=0)
        aten.repeat_interleave.self_Tensor(self: f32[3, 2], repeats: i64[3], dim=0) -> f32[u0, 2]
            t1 = Unsqueeze(Range(0, ReduceSum(repeats, [0], keepdims=0), 1), [1])
            t2 = ReduceSum(Cast(GreaterOrEqual(t1, CumSum(repeats, 0)), to=i64), [1], keepdims=0)
            Gather(self, t2, axis=0)
        ");
    }
}
