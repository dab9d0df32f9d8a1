//! Operands of elementwise operators: tensors and Python numbers under one name, in the type that PyTorch computes
//! in.

use modelexport_graph::DType;

use super::complex::is_complex;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::kernels::kernel_type;
use crate::promotion::{Operand, ScalarKind, result_type};

/// Refuses nodes that read or give complex numbers, for lowerings that would compute their parts independently.
pub(crate) fn real_only(cx: &Context<'_, '_>) -> Result<()> {
    if is_complex(cx) {
        return cx.refuse("has no lowering for complex numbers");
    }
    Ok(())
}

/// The type that PyTorch promotes the named arguments to.
pub(crate) fn common_type(cx: &mut Context<'_, '_>, names: &[&str]) -> Result<DType> {
    let mut operands = Vec::with_capacity(names.len());
    for name in names {
        operands.push(match cx.meta_opt(name) {
            Some(meta) => Operand::Tensor { dtype: meta.dtype, rank: meta.sizes.len() },
            None => match cx.scalar_opt(name)? {
                Some(scalar) => Operand::Scalar(ScalarKind::of(scalar, |value| cx.dtype(value))),
                None => continue,
            },
        });
    }
    Ok(result_type(&operands))
}

/// A tensor or number as a tensor of `dtype`.
pub(crate) fn operand(cx: &mut Context<'_, '_>, name: &str, dtype: DType) -> Result<ValueId> {
    match operand_opt(cx, name, dtype)? {
        Some(value) => Ok(value),
        None => cx.wrong_kind(name, "a tensor or a number", None),
    }
}

pub(crate) fn operand_opt(cx: &mut Context<'_, '_>, name: &str, dtype: DType) -> Result<Option<ValueId>> {
    if cx.meta_opt(name).is_some() {
        let value = cx.tensor(name)?;
        return Ok(Some(cx.cast(value, dtype)));
    }
    Ok(cx.scalar_opt(name)?.map(|scalar| cx.scalar_value(scalar, dtype)))
}

/// Two operands of an arithmetic operator, in the type in which `op` runs for results of `dtype`.
///
/// Where that type is wider than `dtype`, numbers and 0-D tensors keep the wider precision, as in PyTorch, which
/// rounds only tensors to the common type; its subtraction rounds all.
pub(crate) fn arithmetic_operands(
    cx: &mut Context<'_, '_>,
    op: &str,
    names: [&str; 2],
    dtype: DType,
) -> Result<[ValueId; 2]> {
    let kernel = kernel_type(op, dtype, cx.opset);
    let mut one = |name: &str| -> Result<ValueId> {
        let rounds = op == "Sub" || cx.meta_opt(name).is_some_and(|meta| !meta.sizes.is_empty());
        let value = operand(cx, name, if rounds { dtype } else { kernel })?;
        Ok(cx.cast(value, kernel))
    };
    Ok([one(names[0])?, one(names[1])?])
}
