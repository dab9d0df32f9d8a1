//! `isin`: every element is compared with every test element.

use modelexport_graph::DType;

use crate::context::Context;
use crate::error::Result;
use crate::ops::support::compute::product;
use crate::ops::support::fill::filled;
use crate::ops::support::operands::{common_type, operand, real_only};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new(
        "aten::isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> Tensor",
        |cx| lower(cx, "element", "test_elements"),
    ),
    Row::new(
        "aten::isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool invert=False) -> Tensor",
        |cx| lower(cx, "elements", "test_element"),
    ),
    Row::new(
        "aten::isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> Tensor",
        |cx| lower(cx, "elements", "test_elements"),
    ),
];

fn lower(cx: &mut Context<'_, '_>, elements: &str, tests: &str) -> Result<Outputs> {
    real_only(cx)?;
    let dtype = common_type(cx, &[elements, tests])?;
    let (x, test) = (operand(cx, elements, dtype)?, operand(cx, tests, dtype)?);
    let found = match cx.meta_opt(tests) {
        Some(meta) if meta.sizes.iter().any(|size| size.is(0)) => {
            let sizes = &cx.out()?.sizes;
            filled(cx, sizes, DType::Bool, false, None)?
        }
        Some(meta) if !meta.sizes.is_empty() => {
            let test = cx.reshape(test, &[product(&meta.sizes)])?;
            let is_number = cx.meta_opt(elements).is_none_or(|meta| meta.sizes.is_empty());
            let column = if is_number { x } else { cx.unsqueeze(x, &[-1]) };
            let equal = cx.test("Equal", &[column, test]);
            let axis = cx.out()?.sizes.len() as i64;
            if meta.sizes.iter().any(|size| cx.may_be_empty(size)) {
                let numbers = cx.cast(equal, DType::I32);
                let count = cx.reduce("ReduceSum", numbers, &[axis], false);
                cx.cast(count, DType::Bool)
            } else {
                cx.apply_reduce("ReduceMax", equal, &[axis], false)
            }
        }
        _ => cx.test("Equal", &[x, test]),
    };
    let found = if cx.bool("invert")? { cx.emit("Not", &[found], vec![]) } else { found };
    Ok(found.into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @"
        aten.isin.Scalar_Tensor(element=2, test_elements: i64[3]) -> bool[]
            ReduceMax(Equal(2, test_elements), [0], keepdims=0)
        aten.isin.Tensor_Scalar(elements: i64[3, 4], test_element=2) -> bool[3, 4]
            Equal(elements, 2)
        aten.isin.Tensor_Tensor(elements: i64[3, 4], test_elements: i64[3]) -> bool[3, 4]
            ReduceMax(Equal(Unsqueeze(elements, [-1]), test_elements), [2], keepdims=0)
        ");
    }
}
