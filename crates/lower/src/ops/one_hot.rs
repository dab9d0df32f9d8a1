//! `one_hot`: `OneHot` with values 0 and 1. Where the number of classes is left open, it is the largest index plus
//! one.

use modelexport_graph::DType;

use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[Row::new("aten::one_hot(Tensor self, int num_classes=-1) -> Tensor", lower)];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    let classes = cx.int("num_classes")?;
    let depth = if classes >= 0 {
        cx.const_ints(&[classes])
    } else {
        let largest = cx.reduce("ReduceMax", x, &[], false);
        let one = cx.const_scalar(DType::I64, 1.0);
        let count = cx.emit("Add", &[largest, one], vec![]);
        cx.unsqueeze(count, &[0])
    };
    let values = cx.const_ints(&[0, 1]);
    if !cx.meta("self")?.sizes.is_empty() {
        return Ok(cx.emit("OneHot", &[x, depth, values], attrs![axis = -1]).into());
    }
    // A single index is no input for `OneHot`.
    let row = cx.unsqueeze(x, &[0]);
    let hot = cx.emit("OneHot", &[row, depth, values], attrs![axis = -1]);
    Ok(cx.squeeze(hot, &[0]).into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @r"
        aten.one_hot.default(self: i64[4], num_classes=5) -> i64[4, 5]
            OneHot(self, [5], [0, 1], axis=-1)
        ");
    }
}
